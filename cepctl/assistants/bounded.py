"""Answers of bounded size: the ends of long lists and texts are cut, and what was cut is said."""

from __future__ import annotations

import json
from typing import Any

MOST_CHARACTERS = 24_000
_MOST_ITEMS = 50
_MOST_TEXT = 2_000


def bounded(answer: dict[str, Any], most: int = MOST_CHARACTERS) -> dict[str, Any]:
    """The answer in at most so many characters of JSON; `cut` says which lists and texts are shortened.

    Examples
    --------
    >>> bounded({"rows": list(range(60))})["cut"]
    ['rows: the first 50 of 60']
    """
    items, text = _MOST_ITEMS, _MOST_TEXT
    while True:
        cut: dict[str, str] = {}
        shortened: dict[str, Any] = _shortened(answer, "", items, text, cut)
        found = {**shortened, "cut": list(cut.values())[:20]}
        if items <= 1 or len(_sent(found)) <= most:
            return found
        items, text = items // 2, max(text // 2, 100)


def _sent(answer: dict[str, Any]) -> str:
    """The text that is sent: the protocol's SDK writes every value on a line of its own."""
    return json.dumps(answer, ensure_ascii=False, indent=2, default=str)


def _shortened(value: Any, name: str, items: int, text: int, cut: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {
            key: _shortened(each, f"{name}.{key}".strip("."), items, text, cut) for key, each in value.items()
        }
    if isinstance(value, list):
        if len(value) > items:
            cut.setdefault(name, f"{name}: the first {items} of {len(value):,}")
        return [_shortened(each, f"{name}[]", items, text, cut) for each in value[:items]]
    if isinstance(value, str) and len(value) > text:
        cut.setdefault(name, f"{name}: the first {text} of {len(value):,} characters")
        return value[:text]
    return value
