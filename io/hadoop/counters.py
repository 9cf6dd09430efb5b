r"""Counters of any Hadoop history as one JSON text: `{group: {counter: value}}`.

    Hadoop 2 and 3     {"groups": [{"name", "counts": [{"name", "value"}]}]}
    Hadoop 0.20, 1.x   {(group)(its name)[(COUNTER)(its name)(value)][...]}{...}, brackets in names escaped

Text that is written otherwise, as by the oldest versions, stays as it is.
"""

from __future__ import annotations

import re
from typing import Any

from cepctl.io.hadoop.records import json_text

COUNTER_FIELDS = frozenset({"counters", "mapCounters", "reduceCounters", "totalCounters"})

_NAME = r"\(([^()\\]*(?:\\.[^()\\]*)*)\)"
_GROUP = re.compile(r"\{" + _NAME + _NAME, re.DOTALL)
_COUNTER = re.compile(r"\[" + _NAME + _NAME + r"\((-?\d{1,18})\)\]", re.DOTALL | re.ASCII)
_ESCAPED = re.compile(r"\\([](){}[\\])")


def compact_counters(value: Any) -> str | None:
    """Counters as `{group: {counter: value}}`; null where there are none.

    Examples
    --------
    >>> compact_counters("{(FS)(File systems)[(READ)(Bytes read)(7)]}")
    '{"FS":{"READ":7}}'
    """
    if isinstance(value, str):
        return _from_text(value) if value else None
    if not isinstance(value, dict):
        return None
    try:
        groups = {
            group["name"]: {count["name"]: count["value"] for count in group.get("counts", ())}
            for group in value.get("groups", ())
        }
    except (KeyError, TypeError, AttributeError):
        return json_text(value)
    return json_text(groups) if groups else None


def _from_text(text: str) -> str:
    groups: dict[str, dict[str, int]] = {}
    position = 0
    while group := _GROUP.match(text, position):
        position = group.end()
        counts = groups.setdefault(_name(group[1]), {})
        while counter := _COUNTER.match(text, position):
            counts[_name(counter[1])] = int(counter[3])
            position = counter.end()
        if text[position : position + 1] != "}":
            return text
        position += 1
    return json_text(groups) if position == len(text) else text


def _name(written: str) -> str:
    return _ESCAPED.sub(r"\1", written) if "\\" in written else written
