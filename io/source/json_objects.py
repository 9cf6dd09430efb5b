"""Lines that are JSON objects, and values of them as attributes."""

from __future__ import annotations

import json
from typing import Any

from cepctl.io.contract.natural_columns import Value


def json_object(line: bytes | str) -> dict[str, Any] | None:
    """The object that a line is; None for any other line, however deeply it is nested."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def flat_value(value: Any) -> Value:
    """A value as an attribute: nested ones as JSON text."""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
