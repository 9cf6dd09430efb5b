"""TOML that people write, or that lies beside logs: nests and numbers without end are not valid."""

from __future__ import annotations

import tomllib
from typing import Any

_DEEPEST = 100
"""Brackets and dotted keys nest; who looks at what they hold may go down so far."""


def toml_document(text: str) -> dict[str, Any]:
    """The tables of a document.

    Raises
    ------
    TOMLDecodeError
        If it is not valid, nested too deeply to be read, or holds a number that Python does not read.
    """
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise tomllib.TOMLDecodeError("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        raise tomllib.TOMLDecodeError("a number in it has too many digits") from None
    if _is_too_deep(document):
        raise tomllib.TOMLDecodeError("it is nested too deeply")
    return document


def _is_too_deep(document: dict[str, Any]) -> bool:
    level: list[Any] = [document]
    for _ in range(_DEEPEST):
        inner = [each for value in level for each in (value.values() if isinstance(value, dict) else value)]
        level = [each for each in inner if isinstance(each, dict | list)]
        if not level:
            return False
    return True
