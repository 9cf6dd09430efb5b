"""Events of Kubernetes: something that was seen once, or so many times between a first and a last time.

    with `intervals`   one event from the first to the last time
    without            one event at the first time, and one at the last where that is another

Of what was seen in between the log has a number, and no times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_FIRSTS = ("firstTimestamp", "deprecatedFirstTimestamp", "eventTime")
_LASTS = ("lastTimestamp", "deprecatedLastTimestamp", "series.lastObservedTime", "eventTime")
_COUNTS = ("count", "deprecatedCount", "series.count")
_OBJECTS = ("involvedObject", "regarding")
IN_BETWEEN = (
    "times that events of Kubernetes were seen between their first and their last time, of which the log has "
    "a number alone: {:,}"
)


def is_kubernetes_event(record: Mapping[str, Any]) -> bool:
    """Whether an object of JSON is an event of Kubernetes."""
    return "reason" in record and any(isinstance(record.get(name), dict) for name in _OBJECTS)


def occurrences(record: Mapping[str, Any], *, intervals: bool) -> Iterator[dict[str, Any]]:
    """The events that a flat record is, each with `time`, and `end_time` where it lasts."""
    first, last = _bounds(record)
    own = {f"attr:{name}" if name in ("time", "end_time") else name: each for name, each in record.items()}
    if first == last:
        yield {**own, "time": first}
    elif intervals:
        yield {**own, "time": first, "end_time": last}
    else:
        yield {**own, "time": first}
        yield {**own, "time": last}


def seen_between(record: Mapping[str, Any]) -> int:
    """How many times an event was seen of which a flat record has no time."""
    count = next((record[name] for name in _COUNTS if type(record.get(name)) is int), 1)
    first, last = _bounds(record)
    return max(int(count) - (1 if first == last else 2), 0)


def _bounds(record: Mapping[str, Any]) -> tuple[Any, Any]:
    """The first and the last time; where one of them is missing, the other."""
    created = record.get("metadata.creationTimestamp")
    first, last = _said(record, _FIRSTS), _said(record, _LASTS)
    return first or last or created, last or first or created


def _said(record: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((record[name] for name in names if record.get(name)), None)
