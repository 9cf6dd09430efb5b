"""Lines that are JSON objects, and values of them as attributes."""

from __future__ import annotations

import json
from typing import Any

from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.unicode_text import NotUnicodeError, is_unicode


def json_object(line: bytes | str) -> dict[str, Any] | None:
    """The object that a line is; None for any other line, however deeply it is nested.

    Raises
    ------
    NotUnicodeError
        If some text in it is not Unicode.
    """
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if may_hold_half_pairs(line) and not is_unicode(value):
        raise NotUnicodeError
    return value if isinstance(value, dict) else None


def may_hold_half_pairs(line: bytes | str) -> bool:
    """Whether a text of JSON writes halves of surrogate pairs, with or without their other halves."""
    if isinstance(line, str):
        return "\\ud" in line or "\\uD" in line
    return b"\\ud" in line or b"\\uD" in line or b"\xed" in line


def flat_value(value: Any) -> Value:
    """A value as an attribute: nested ones as JSON text."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
