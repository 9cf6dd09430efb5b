"""Which fields of JSON records are times, and which of them is that of the event.

A time is found by name and values: a field that most records have, whose values are times, nearest to the
outside, then by the order of _TIMES.  Where a record is a header with an event inside that has a time of its
own (_OWN_TIMES), never later than the header's, the event happened at that time, and the header's says when
it arrived.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.times import parse_time
from cepctl.io.contract.written_times import possible_forms
from cepctl.io.tabular.epoch_times import TICKS, counts, since_1970, unit_of

FEWEST_SHARE = 0.5
"""Of the records, so many have the time at least."""
_TIMES = (
    *("timestamp", "time", "ts", "t", "eventtime", "datetime", "asctime", "eventtimestamp", "when", "date"),
    *("timegenerated", "systemtime", "occurredat", "createdat", "created", "creationtimestamp", "starttime"),
    *("startedat", "startdate", "start", "lasttimestamp", "firsttimestamp", "stagetimestamp", "published"),
    *("requestreceivedtimestamp", "receivetimestamp", "timemillis", "epochmillis", "epoch", "unixtime"),
    *("updatedat", "datestamp", "logtime", "timelocal", "requesttime", "epochsecond"),
)
_UNNAMED = len(_TIMES) + 2
# What the time of an event is called inside of a record that a collector made of it.
_OWN_TIMES = ("timecreated", "eventtime", "eventtimestamp", "timestamp", "occurredat", "timegenerated")
_OWN_SHARE = 0.9
_SIGNS = re.compile(r"[-_@$#\s]")
# What databases and converters of XML put around a value, and no name of it.
_DATED = (".$date", ".$numberLong", ".#attributes.SystemTime", ".@SystemTime", ".SystemTime")
_CLOCK = re.compile(r"\d[T ]?\d\d?:\d\d|:\d\d:\d\d")
_MOST_NUMBER = 1e300


def own_time(times: Sequence[str], records: Sequence[Mapping[str, Value]]) -> str | None:
    """The time that the event inside of a header has of its own; None where a record is no header.

    It is called like the time of an event, and is never later than the header's, at the outside.
    """
    for name in times[1:]:
        outer, plain = times[0], plain_name(undated(name).rpartition(".")[2])
        if plain not in _OWN_TIMES or undated(outer).count(".") or undated(name).count(".") < 1:
            continue
        both = [
            (header, own)
            for record in records
            if (own := _instant(record.get(name))) is not None
            and (header := _instant(record.get(outer))) is not None
        ]
        late = sum(own > header for header, own in both)
        if len(both) >= _OWN_SHARE * len(records) and not late:
            return name
    return None


def _instant(value: Any) -> float | None:
    """Seconds since 1970, near enough to compare times; None of what is no time."""
    if isinstance(value, str) and (time := parse_time(value)) is not None:
        return time.micros / 1e6 + time.nanos / 1e9
    if isinstance(value, bool) or not is_time(value):
        return None
    numbers = counts(pa.array([value] if isinstance(value, str) else [float(value)]))
    unit = unit_of(numbers, 0) if numbers.known[0] else None
    if unit is None or unit == TICKS:
        return None
    times = since_1970(numbers, unit)
    return float(times.micros[0]) / 1e6


def times_of(records: Sequence[Mapping[str, Value]]) -> tuple[str, ...]:
    """The fields that are times in most of these records, the one that tells their time first."""
    ranked = []
    for place, name in enumerate(dict.fromkeys(name for record in records for name in record)):
        plain = plain_name(undated(name).rpartition(".")[2])
        named = _rank_of(plain)
        values = [record.get(name) for record in records]
        timed = sum(map(is_time if named < _UNNAMED else _is_written, values))
        if timed >= FEWEST_SHARE * len(records):
            depth = undated(name).count(".")
            ranked.append((timed < 0.9 * len(records), named == _UNNAMED, depth, named, place, name))
    return tuple(each[-1] for each in sorted(ranked))


def _rank_of(plain: str) -> int:
    """How usual the name of a time is, from 0 on; what only ends like one comes after those of beginnings."""
    if plain in _TIMES:
        return _TIMES.index(plain)
    if plain.endswith(("timestamp", "datetime")):
        return len(_TIMES) + ("end" in plain)
    return _UNNAMED


def undated(name: str) -> str:
    """A name without what databases put around a value for its type."""
    for ending in _DATED:
        name = name.removesuffix(ending)
    return name


def plain_name(name: str) -> str:
    return _SIGNS.sub("", name).lower()


def is_time(value: Any) -> bool:
    """Whether a value is a time, also a number since 1970."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, int | float):
        # No time has as many digits as a float does not hold.
        return abs(value) < _MOST_NUMBER and _is_epoch(pa.array([float(value)]))
    if not isinstance(value, str):
        return False
    # Digits of numbers are ASCII; other text may be no Unicode.
    return _is_written(value) or (value.isascii() and _is_epoch(pa.array([value], pa.string())))


def _is_epoch(column: pa.Array) -> bool:
    numbers = counts(column)
    return bool(numbers.known[0]) and unit_of(numbers, 0) not in (None, TICKS)


def _is_written(value: Any) -> bool:
    """Whether a value is a text of a date with a time of day."""
    if not isinstance(value, str) or len(value) > 64 or _CLOCK.search(value) is None:
        return False
    return parse_time(value) is not None or bool(possible_forms(value))


def written_forms(values: Sequence[Any]) -> tuple[str, ...]:
    """The forms that all written times may be of; none where they are ISO 8601, or numbers."""
    texts = [value for value in values if isinstance(value, str) and _CLOCK.search(value)]
    if not texts or any(parse_time(text) is not None for text in texts):
        return ()
    possible = list(possible_forms(texts[0]))
    for text in texts[1:]:
        possible = [form for form in possible if form in possible_forms(text)] or possible
    return tuple(possible)
