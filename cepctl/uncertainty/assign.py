"""Intervals for whole columns of raw events: the first rule that fits, else what the reader says.

    time      raw tick t = floor(time / unit); a rule or the reader's default turns it into
              [lower, upper] and, where its mass is a histogram, pmf
    no time   the event keeps the interval that it brought

Ticks saturate at 64 bits.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import QuerySemanticError, UncertaintyModelError
from cepctl.event_table import PMF_TYPE
from cepctl.language.ast import Attribute, EventTime, Expression
from cepctl.numeric.arrays import Flags, Ticks
from cepctl.schema import TICK_MAX, TICK_MIN, TimeUnit
from cepctl.uncertainty.model import Rule
from cepctl.uncertainty.shapes import Bucket, Granularity, Histogram, widened
from cepctl.uncertainty.stamping import LookUp, Stamped, Unstamped, nanoseconds_of, stamped, unstamped

if TYPE_CHECKING:
    import polars as pl

    from cepctl.plan.polars_expressions import Leaf

DAY = Granularity(86_400_000_000)


@dataclass(frozen=True)
class RawTimes:
    """What assigning reads, one entry per event; times since the epoch, in the resolution of the time unit.

    `before` and `after` are the reader's default around the time, counted alike; `lower`, `upper`
    and `pmf` what the event brought; `known` says which events have a time, `given` an interval.  `clocks`
    are those that the events bring, where clocks are asked for; the intervals then are own parts.  `readings`
    are the times of which records of clocks speak, where those are not the instants: of ends those of starts.
    `fold` is how much later another instant is that each may be as well, 0 for none.
    """

    instants: Ticks
    known: Flags
    zone_seconds: Ticks
    before: Ticks
    after: Ticks
    lower: Ticks
    upper: Ticks
    given: Flags
    pmf: pa.Array
    clocks: Stamped | None = None
    readings: Ticks | None = None
    fold: Ticks | None = None


@dataclass(frozen=True)
class Assigned:
    """Intervals in ticks, both ends included; `pmf` is null where the mass is uniform.

    `rules` are the numbers of those that some event's interval or clock comes from.  Where events have
    clocks, the intervals are their own parts; `clocks` are None where none were asked for.  `unstamped`
    counts the events that a rule passes over since it cannot tell their clock, by its number and why.
    `ruled` are the events whose interval is that of a rule.
    """

    lower: Ticks
    upper: Ticks
    pmf: pa.Array
    rules: frozenset[int]
    ruled: Flags
    clocks: Stamped | None = None
    unstamped: Mapping[tuple[int, Unstamped], int] = field(default_factory=dict)


def assign(
    times: RawTimes,
    events: Mapping[str, pa.Array | pa.ChunkedArray],
    rules: Sequence[Rule],
    unit: TimeUnit,
    default: Granularity | None = None,
) -> Assigned:
    """Give every event its interval.

    `times`: the raw times.  `events`: `event_type`, `source` and the attributes, by name, for the conditions
    of the rules.  `rules`: in order; the first that fits an event wins.  `unit`: length of a tick.
    `default`: granularity of events that no rule fits and that brought no interval, in place of the reader's
    `before` and `after`.

    Raises
    ------
    UncertaintyModelError
        If a condition cannot be evaluated, or a duration exceeds the range of ticks.
    """
    raw = times.instants // unit.counts
    lower = np.where(times.given, times.lower, _plus(raw, -_up(times.before, unit)))
    # The tick of the latest instant, so that a precision ends just before its next unit.
    into = times.instants - raw * unit.counts
    latest = _plus(raw, (into + times.after) // unit.counts)
    upper = np.where(times.given, times.upper, latest)
    if default is not None:
        plain = times.known & ~times.given
        first, last = _unit_around(times, default, unit)
        lower, upper = np.where(plain, first, lower), np.where(plain, last, upper)
    masses: list[tuple[Flags, tuple[Bucket, ...]]] = []
    used: set[int] = set()
    counted = times.instants if times.readings is None else times.readings
    look_up = LookUp(events, nanoseconds_of(counted, unit))
    won, passed = fitted(rules, look_up, times.known)
    for rule, rows in zip(rules, won, strict=True):
        if not rows.any():
            continue
        used.add(rule.number)
        if rule.keeps_intervals:
            continue
        if rule.shape is None or isinstance(rule.shape, Granularity):
            buckets: tuple[Bucket, ...] = ()
            first, last = _span(times, raw, rule, unit)
        else:
            buckets = _widened(rule.shape, rule, unit)
            first, last = _plus(raw, buckets[0].first), _plus(raw, buckets[-1].last)
        masses.append((rows, buckets))
        lower, upper = np.where(rows, first, lower), np.where(rows, last, upper)
    ruled = np.logical_or.reduce([np.zeros(len(raw), np.bool_), *(rows for rows, _ in masses)])
    pmf, clocks = _with_masses(times.pmf, raw, masses), times.clocks
    if times.fold is not None:
        upper, pmf = _twice(lower, upper, pmf, np.where(times.given, 0, times.fold) // unit.counts)
    if clocks is not None:
        clocks = stamped(clocks, times.instants, look_up, won, rules, unit)
    return Assigned(lower, upper, pmf, frozenset(used), ruled, clocks, passed)


def _widened(shape: Histogram, rule: Rule, unit: TimeUnit) -> tuple[Bucket, ...]:
    """The histogram of a rule around t, widened by its interval."""
    buckets = shape.buckets(unit)
    return buckets if rule.interval is None else widened(buckets, *rule.interval.offsets(unit))


def _span(times: RawTimes, raw: Ticks, rule: Rule, unit: TimeUnit) -> tuple[Ticks, Ticks]:
    first, last = raw, raw
    if isinstance(rule.shape, Granularity):
        first, last = _unit_around(times, rule.shape, unit)
    if rule.interval is None:
        return first, last
    before, after = rule.interval.offsets(unit)
    return _plus(first, before), _plus(last, after)


def _unit_around(times: RawTimes, granularity: Granularity, unit: TimeUnit) -> tuple[Ticks, Ticks]:
    """Ticks of the whole unit that contains each time, in the zone in which it was written."""
    length = granularity.microseconds * unit.per_microsecond
    if Fraction(length).denominator != 1:
        raise UncertaintyModelError(
            f"a granularity of {TimeUnit(granularity.microseconds)} is not a whole number of "
            f"microseconds, which ticks of {unit} are; name a finer time_unit, such as '1 ns'"
        )
    grain, zone = int(length), times.zone_seconds * (1_000_000 * unit.per_microsecond)
    # Where 64 bits would not hold the start of the unit, the first instant that they hold stands for it.
    begun = np.maximum(_plus(times.instants, zone), TICK_MIN + grain)
    start = _plus(begun // grain * grain, -zone)
    return start // unit.counts, -(-_plus(start, grain) // unit.counts) - 1


def _up(reach: Ticks, unit: TimeUnit) -> Ticks:
    return -(-reach // unit.counts)


def _plus(ticks: Ticks, offset: Ticks | int) -> Ticks:
    """Saturating sum."""
    offsets = np.asarray(offset, dtype=np.int64)
    over = (offsets > 0) & (ticks > TICK_MAX - np.maximum(offsets, 0))
    under = (offsets < 0) & (ticks < TICK_MIN - np.minimum(offsets, 0))
    safe = np.where(over | under, 0, ticks) + np.where(over | under, 0, offsets)
    return np.where(over, TICK_MAX, np.where(under, TICK_MIN, safe))


def _with_masses(
    brought: pa.Array, raw: Ticks, masses: Sequence[tuple[Flags, tuple[Bucket, ...]]]
) -> pa.Array:
    """The pmf column: what events brought, replaced where a rule fitted."""
    if not masses:
        return brought
    touched = np.logical_or.reduce([rows for rows, _ in masses])
    pieces = [brought.filter(pa.array(~touched))]
    order = [np.flatnonzero(~touched)]
    for rows, buckets in masses:
        places = np.flatnonzero(rows)
        order.append(places)
        pieces.append(_histograms(raw[places], buckets) if buckets else pa.nulls(len(places), PMF_TYPE))
    back = np.argsort(np.concatenate(order), kind="stable")
    return pa.concat_arrays(pieces).take(pa.array(back))


def _twice(lower: Ticks, upper: Ticks, pmf: pa.Array, later: Ticks) -> tuple[Ticks, pa.Array]:
    """Upper ends and masses of events that may also be so many ticks `later`: two pieces, one half each."""
    rows = np.flatnonzero(later)
    if not len(rows):
        return upper, pmf
    known = pmf.take(pa.array(rows)).to_pylist()
    masses = []
    for first, last, shift, mass in zip(
        lower[rows].tolist(), upper[rows].tolist(), later[rows].tolist(), known, strict=True
    ):
        pieces = [
            (each["lo"], each["hi"], each["p"] / 2) for each in mass or [{"lo": first, "hi": last, "p": 1}]
        ]
        pieces += [(lo + shift, hi + shift, p) for lo, hi, p in pieces]
        masses.append(_summed(pieces) if last >= first + shift else _buckets(pieces))
    places = np.arange(len(pmf))
    places[rows] = len(pmf) + np.arange(len(rows))
    every = pa.concat_arrays([pmf.cast(PMF_TYPE), pa.array(masses, PMF_TYPE)])
    return upper + later, every.take(pa.array(places))


def _buckets(pieces: Iterable[tuple[int, int, float]]) -> list[dict[str, float]]:
    return [{"lo": lo, "hi": hi, "p": p} for lo, hi, p in pieces]


def _summed(pieces: Sequence[tuple[int, int, float]]) -> list[dict[str, float]]:
    """Pieces that overlap as buckets that do not."""
    cuts = sorted({edge for lo, hi, _ in pieces for edge in (lo, hi + 1)})
    parts = (
        (
            lo,
            after - 1,
            sum(p * (after - lo) / (hi - first + 1) for first, hi, p in pieces if first <= lo <= hi),
        )
        for lo, after in pairwise(cuts)
    )
    return _buckets(part for part in parts if part[2] > 0)


def _histograms(raw: Ticks, buckets: tuple[Bucket, ...]) -> pa.Array:
    """One histogram per raw tick, shape (n, number of buckets) laid out as a list column."""
    low = _plus(raw[:, None], np.array([[bucket.first for bucket in buckets]]))
    high = _plus(raw[:, None], np.array([[bucket.last for bucket in buckets]]))
    mass = np.tile([bucket.mass for bucket in buckets], len(raw))
    values = pa.StructArray.from_arrays(
        [pa.array(low.ravel()), pa.array(high.ravel()), pa.array(mass)], fields=list(PMF_TYPE.value_type)
    )
    offsets = np.arange(len(raw) + 1, dtype=np.int32) * len(buckets)
    return pa.ListArray.from_arrays(pa.array(offsets), values, type=PMF_TYPE)


def rows_of_rules(
    rules: Sequence[Rule], events: Mapping[str, pa.Array | pa.ChunkedArray], known: Flags
) -> list[Flags]:
    """For each rule the events that it wins: those with a time that it is the first to fit."""
    return fitted(rules, LookUp(events, np.zeros(len(known), dtype=np.int64)), known)[0]


def fitted(
    rules: Sequence[Rule], look_up: LookUp, known: Flags
) -> tuple[list[Flags], dict[tuple[int, Unstamped], int]]:
    """The events that each rule wins; how many some rules pass over since they cannot tell their clock.

    `known`: which events have a time.
    """
    events, free = look_up.events, known.copy()
    won = []
    passed: dict[tuple[int, Unstamped], int] = {}
    for rule in rules:
        rows = free.copy()
        if rule.event_type is not None:
            rows &= _matches(events["event_type"], rule.event_type, basename=False)
        if rule.source is not None:
            rows &= _matches(events["source"], rule.source, basename=True)
        if rule.of is not None:
            rows &= _matches(events["event_type"], rule.of, basename=False) | _matches(
                events["source"], rule.of, basename=True
            )
        for name, value in rule.attributes:
            rows &= _has(events.get(name), value, len(known))
        if rule.where is not None and rows.any():
            rows &= _holds(rule, rule.where, events, len(known))
        if rule.clock is not None:
            for why, without in unstamped(rule.clock, look_up):
                if count := int((rows & without).sum()):
                    passed[rule.number, why] = count
                rows &= ~without
        free &= ~rows
        won.append(rows)
    return won, passed


def _matches(column: pa.Array | pa.ChunkedArray, glob: str, *, basename: bool) -> Flags:
    """Rows whose text fits a glob; with `basename` also those whose last path component does."""
    encoded = pc.dictionary_encode(column)
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    fits = re.compile(fnmatch.translate(glob)).match
    values = [
        bool(fits(text) or (basename and fits(text.rpartition("/")[2])))
        for text in encoded.dictionary.to_pylist()
    ]
    found: Flags = np.asarray([*values, False], dtype=np.bool_)[pc.fill_null(encoded.indices, len(values))]
    return found


def _has(column: pa.Array | pa.ChunkedArray | None, value: str, count: int) -> Flags:
    """Rows with this value as text; numbers are compared as numbers."""
    if column is None:
        return np.zeros(count, np.bool_)
    if pa.types.is_floating(column.type):
        try:
            same = pc.equal(column, float(value))
        except ValueError:
            return np.zeros(count, np.bool_)
    else:
        same = pc.equal(pc.cast(column, pa.string()), value)
    found: Flags = np.asarray(pc.fill_null(same, False).to_numpy(zero_copy_only=False), np.bool_)
    return found


def _holds(
    rule: Rule, where: Expression, events: Mapping[str, pa.Array | pa.ChunkedArray], count: int
) -> Flags:
    # Few models have conditions, and Polars takes longer to import than a small log to read.
    import polars as pl

    from cepctl.plan.polars_expressions import compile_expression

    columns: dict[str, pl.Series] = {}

    def column(leaf: Leaf) -> pl.Expr:
        if not isinstance(leaf, Attribute | EventTime) or leaf.variable:
            raise UncertaintyModelError(
                f"rule {rule.number}: where reads attributes by their bare names: node = 'n7'"
            )
        name = leaf.which if isinstance(leaf, EventTime) else leaf.name
        if name not in columns:
            values = pl.from_arrow(events[name]) if name in events else pl.Series([None] * count)
            assert isinstance(values, pl.Series)
            columns[name] = values
        return pl.col(name)

    try:
        condition = compile_expression(where, column)
        frame = pl.DataFrame(columns) if columns else pl.DataFrame({"": [0] * count})
        answer = frame.select(condition.cast(pl.Boolean).fill_null(False).alias("fits")).get_column("fits")
    except (pl.exceptions.PolarsError, QuerySemanticError) as problem:
        raise UncertaintyModelError(f"rule {rule.number}: where cannot be evaluated: {problem}") from problem
    flags: Flags = answer.to_numpy() if len(answer) == count else np.full(count, bool(answer[0]))
    return flags
