"""Marks of uncertainty in XES: what those of times say, as spans, and what has no model here.

    mark of an event                                        what becomes of it
    list uncertainty:continuous_strong, of two dates        any time from the one to the other
    container uncertainty:continuous_weak, a GAUSSIAN       mass around the mean (cepctl/ingestion/spans.py)
      a UNIFORM of two dates                                any time between them
      a HISTOGRAM of (date, date, probability)              these buckets
    u:time:timestamp_min, u:time:timestamp_max, and both    any time from the one to the other; one that is
      with uncertainty:time: or uncertainty: before them    missing is time:timestamp
    uncertainty:discrete_*, :indeterminacy, u:missing, ...  the first alternative is taken; counted

The keys of lists and containers are those of Pegoraro, Uysal and van der Aalst, "An XES Extension for
Uncertain Event Data" (2021), HISTOGRAM is a density function of our own.  `u:` is what PROVED writes, and a
lone `uncertainty:time:timestamp_max` what is written for alignments with uncertain data.  Marks that are
understood are no attributes of the event, the others stay.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from cepctl.errors import UncertaintyModelError
from cepctl.io.contract.natural_columns import Value
from cepctl.io.contract.reader import SPAN, InstantBucket, Span
from cepctl.io.contract.times import LogTime
from cepctl.numeric.precision import MASS_TOLERANCE
from cepctl.schema import parse_duration

ACTIVITY, TIMESTAMP, START_TIMESTAMP = "concept:name", "time:timestamp", "start_timestamp"
STRONG, WEAK = "uncertainty:continuous_strong", "uncertainty:continuous_weak"
DENSITY, PARAMETERS = "uncertainty:density_function", "uncertainty:function_parameters"
PROBABILITY = "uncertainty:probability"
INDETERMINACY = "uncertainty:indeterminacy"
START_SPAN = f"{SPAN}.start"
_ENDS = tuple(f"{prefix}timestamp" for prefix in ("u:time:", "uncertainty:time:", "uncertainty:"))
_OF_TIMES = frozenset({STRONG, WEAK, *(f"{name}_{end}" for name in _ENDS for end in ("min", "max"))})
_PERHAPS_NOT = frozenset({INDETERMINACY, "u:missing", "uncertainty:entry"})
_DISCRETE = ("uncertainty:discrete_strong", "uncertainty:discrete_weak")
_ACTIVITIES = frozenset({"u:concept:name", "uncertainty:name"})
_PLAIN = _OF_TIMES | _PERHAPS_NOT | _ACTIVITIES | {*_DISCRETE, "uncertainty:timestamp"}
MARKS = _PLAIN | {f"{name}:nested" for name in _PLAIN}

# Notes for the report, each completed with a number.
_FIRST = "{}: {{:,}}; rows are computed as if the first alternative had happened"
PERHAPS_NOT = _FIRST.format("events that may not have happened")
ACTIVITIES = _FIRST.format("events of several activities")
OTHER_VALUES = _FIRST.format("events with other values that are uncertain")
DENSITIES = (
    "uncertain times whose density function is none of GAUSSIAN, UNIFORM and HISTOGRAM: {:,}; rows are "
    "computed as if the time written first had been that of the event"
)
UNREADABLE = (
    "uncertain times that cannot be read: {:,}; rows are computed as if the time written first had been that "
    "of the event"
)
SECONDS = "standard deviations without a unit, read as seconds: {:,}"
NO_MEAN = "means that are not times, replaced by that of the event: {:,}"
WITHOUT_MODEL = frozenset({PERHAPS_NOT, ACTIVITIES, OTHER_VALUES, DENSITIES, UNREADABLE})

ReadTime = Callable[[Value], LogTime | None]
_Pair = tuple[str, Value]
# How many standard deviations a mean in seconds since 1970 may be away from the time of the event.
_FAR = 10


@dataclass
class UnderstoodMarks:
    """What marks say: `attributes` of the event without those that are understood, with spans instead.

    `notes` name what was assumed, and what has no model (WITHOUT_MODEL).
    """

    attributes: dict[str, Value]
    notes: list[str] = field(default_factory=list)
    spans: dict[str, Span] = field(default_factory=dict)

    def understood(self, *names: str) -> None:
        for name in names:
            self.attributes.pop(name, None)


def understood_marks(attributes: dict[str, Value], read_time: ReadTime, *, lasting: bool) -> UnderstoodMarks:
    """Read the marks of an event.

    `attributes`: of the event, some of them in MARKS.  Not modified.  `read_time`: reads a time as the log
    writes it; None where that is none.  `lasting`: whether events last from their start_timestamp on.
    """
    marks = UnderstoodMarks(dict(attributes))
    _read_discrete(marks)
    if any(name in attributes for name in _OF_TIMES):
        _read_ends(marks, read_time)
        if STRONG in attributes:
            _read_strong(marks, read_time, lasting=lasting)
        if WEAK in attributes:
            _read_weak(marks, read_time, lasting=lasting)
    names = {TIMESTAMP: SPAN, START_TIMESTAMP: START_SPAN}
    # Columns of spans have a type of their own (io/contract/reader.py).
    marks.attributes |= {names[name]: span for name, span in marks.spans.items()}  # type: ignore[misc]
    return marks


def _read_discrete(marks: UnderstoodMarks) -> None:
    """Note alternatives; the first of several activities is that of an event which names none."""
    own = marks.attributes
    pairs = [pair for name in _DISCRETE if name in own for pair in _pairs(own[name], name)]
    keys = {key for key, _ in pairs} - {PROBABILITY}
    named = [value for key, value in pairs if key == ACTIVITY]
    if named and ACTIVITY not in own:
        own[ACTIVITY] = named[0]
    if INDETERMINACY in keys or any(name.removesuffix(":nested") in _PERHAPS_NOT for name in own):
        marks.notes.append(PERHAPS_NOT)
    if named or any(name.removesuffix(":nested") in _ACTIVITIES for name in own):
        marks.notes.append(ACTIVITIES)
    if keys - {ACTIVITY, INDETERMINACY} or "uncertainty:timestamp:nested" in own:
        marks.notes.append(OTHER_VALUES)


def _read_ends(marks: UnderstoodMarks, read_time: ReadTime) -> None:
    """Read the first and the last time that an event may have, of which one may be its own."""
    own = marks.attributes
    for name in _ENDS:
        ends = [f"{name}_min", f"{name}_max"]
        if not any(end in own for end in ends):
            continue
        first, last = (own.get(end, own.get(TIMESTAMP)) for end in ends)
        if TIMESTAMP not in own:
            own[TIMESTAMP] = first
        span = _between(read_time(first), read_time(last))
        if span is None:
            marks.notes.append(UNREADABLE)
        else:
            marks.spans[TIMESTAMP] = span
            marks.understood(*ends)


def _read_strong(marks: UnderstoodMarks, read_time: ReadTime, *, lasting: bool) -> None:
    wanted = {TIMESTAMP, START_TIMESTAMP} if lasting else {TIMESTAMP}
    pairs = list(_pairs(marks.attributes[STRONG], STRONG))
    spans: dict[str, Span | None] = {}
    for name in wanted & {key for key, _ in pairs}:
        dates = [value for key, value in pairs if key == name]
        spans[name] = _between(*map(read_time, dates)) if len(dates) == 2 else None
        marks.attributes.setdefault(name, dates[0])
    others = {key for key, _ in pairs} - wanted
    if others - {START_TIMESTAMP}:
        marks.notes.append(OTHER_VALUES)
    if None in spans.values() or not pairs:
        marks.notes.append(UNREADABLE)
    marks.spans |= {name: span for name, span in spans.items() if span is not None}
    if not others and spans and None not in spans.values():
        marks.understood(STRONG)


def _read_weak(marks: UnderstoodMarks, read_time: ReadTime, *, lasting: bool) -> None:
    pairs = list(_pairs(marks.attributes[WEAK], WEAK))
    function = next((str(value).strip().upper() for key, value in pairs if key == DENSITY), "")
    given = [pair for pair in pairs if pair[0] != DENSITY]
    if function == "HISTOGRAM":
        spans = _histograms(given, read_time)
    elif function == "UNIFORM":
        dates = [read_time(value) for _, value in given]
        spans = {TIMESTAMP: _between(*dates) if len(dates) == 2 else None}
    elif function in ("GAUSSIAN", "NORMAL"):
        spans = {TIMESTAMP: _gaussian(marks, given, read_time)}
    else:
        marks.notes.append(DENSITIES)
        return
    if not spans or None in spans.values():
        marks.notes.append(UNREADABLE)
        return
    own = marks.attributes
    marks.spans |= {
        name: span for name, span in spans.items() if span and name in own and (lasting or name == TIMESTAMP)
    }
    if lasting or START_TIMESTAMP not in spans:
        marks.understood(WEAK)


def _gaussian(marks: UnderstoodMarks, given: Sequence[_Pair], read_time: ReadTime) -> Span | None:
    """The span of a mean and a standard deviation; the former in a date, or in seconds since 1970."""
    if len(given) != 2:
        return None
    turned = "mean" in given[1][0] or "std" in given[0][0] or "sigma" in given[0][0]
    (_, centre), (_, spread) = reversed(given) if turned else given
    sigma = _microseconds(spread)
    if sigma is None or not 0 < sigma < math.inf:
        return None
    if _number(spread) is not None:
        marks.notes.append(SECONDS)
    own = read_time(marks.attributes.get(TIMESTAMP))
    seconds = _number(centre)
    if seconds is None:
        mean = read_time(centre) or own
    else:
        mean = own
        micros = round(seconds * 1e6) if math.isfinite(seconds) else None
        if own is None or micros is None or abs(micros - own.micros) > _FAR * sigma:
            marks.notes.append(NO_MEAN)
        else:
            mean = LogTime(micros, own.zone_seconds)
    if mean is None:
        return None
    if own is None and seconds is None:
        marks.attributes[TIMESTAMP] = centre
    return [InstantBucket(mean.micros, mean.nanos, mean.micros, mean.nanos, 1.0, sigma)._asdict()]


def _histograms(given: Sequence[_Pair], read_time: ReadTime) -> dict[str, Span | None]:
    """The buckets of each time: triples of two dates under its name, and their probability."""
    found: dict[str, list[InstantBucket]] = {}
    if len(given) % 3:
        return {}
    for (name, lo), (_, hi), (_, mass) in zip(given[::3], given[1::3], given[2::3], strict=True):
        first, last, p = read_time(lo), read_time(hi), _number(mass)
        if first is None or last is None or p is None:
            return {name: None}
        bucket = InstantBucket(first.micros, first.nanos, last.micros, last.nanos, p)
        found.setdefault(name, []).append(bucket)
    return {name: _checked(buckets) for name, buckets in found.items()}


def _checked(buckets: list[InstantBucket]) -> Span | None:
    """Sorted disjoint buckets of positive mass that sum to 1, else None."""
    kept = sorted(bucket for bucket in buckets if bucket.p > 0)
    total = math.fsum(bucket.p for bucket in kept)
    wrong = any(bucket.first > bucket.last or not 0 <= bucket.p <= 1 + MASS_TOLERANCE for bucket in buckets)
    overlapping = any(left.last >= right.first for left, right in pairwise(kept))
    if wrong or overlapping or not abs(total - 1) <= MASS_TOLERANCE:
        return None
    return [bucket._replace(p=bucket.p / total)._asdict() for bucket in kept]


def _between(first: LogTime | None, last: LogTime | None) -> Span | None:
    """Any time from the one to the other, both included."""
    if first is None or last is None:
        return None
    end = last.micros + last.fold
    if (first.micros, first.nanos) > (end, last.nanos):
        return None
    return [InstantBucket(first.micros, first.nanos, end, last.nanos, 1.0)._asdict()]


def _number(value: Value) -> float | None:
    try:
        return None if value is None else float(value)
    except ValueError:
        return None


def _microseconds(value: Value) -> float | None:
    """A length of time, in seconds where it has no unit."""
    seconds = _number(value)
    if seconds is not None:
        return seconds * 1e6
    try:
        return float(parse_duration(str(value)))
    except UncertaintyModelError:
        return None


def _pairs(value: Any, key: str) -> Iterator[_Pair]:
    """Everything that stands in a list or container, with its own key, in order.

    The value of an attribute with a structure is JSON (io/xes/attributes.py), of several under one key JSON
    texts of that kind.
    """
    if isinstance(value, str) and value[:1] in ("[", "{"):
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, dict):
        if value.keys() == {"value", "nested"}:
            if value["value"] is not None:
                yield key, value["value"]
            value = value["nested"]
        for name, item in value.items():
            yield from _pairs(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _pairs(item, key)
    elif value is not None:
        yield key, value
