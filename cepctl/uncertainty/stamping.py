"""Clocks for whole columns of events: the name of each event's clock, and the offset of that clock.

A rule with a clock gives it to the events that it fits; any other rule takes a clock away, since it says anew
what a logged time means.  An event that no rule fits keeps the clock that it brought.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Flags, Ticks
from cepctl.clocks import Offset, checked_offset, offset_text
from cepctl.errors import UncertaintyModelError
from cepctl.schema import TimeUnit, parse_duration, tick_text
from cepctl.uncertainty.clock_rules import ClockRule, OffsetHistogram, OffsetNormal, OffsetShape
from cepctl.uncertainty.model import Rule
from cepctl.uncertainty.shapes import Normal, ticks_up

Columns = Mapping[str, pa.Array | pa.ChunkedArray]


@dataclass(frozen=True)
class Stamped:
    """n events with their clocks: name and offset as text (cepctl.clocks), null where an event has none."""

    clock: pa.Array
    offset: pa.Array


def stamped(
    brought: Stamped, instants: Ticks, won: Sequence[Flags], rules: Sequence[Rule], events: Columns,
    unit: TimeUnit,
) -> Stamped:  # fmt: skip
    """Give every event its clock.

    `brought`: the clocks that the events have so far.  `instants`: the logged times, in the resolution of the
    unit.  `won`: for each rule the events that it fits.  `rules`, `events`, `unit`: as
    `cepctl.uncertainty.assign.assign` takes them.

    Raises
    ------
    UncertaintyModelError
        If an offset is not a whole number of ticks.
    """
    names, offsets = brought.clock, brought.offset
    for rule, rows in zip(rules, won, strict=True):
        if not rows.any():
            continue
        mask = pa.array(rows)
        if rule.clock is None:
            own, text = pa.scalar(None, pa.string()), pa.scalar(None, pa.string())
        else:
            own = _names(rule.clock, instants, events, unit)
            text = pa.scalar(offset_text(rule_offset(rule, unit)), pa.string())
        names, offsets = pc.if_else(mask, own, names), pc.if_else(mask, text, offsets)
    return Stamped(names, offsets)


def stamps(clock: ClockRule, events: Columns, count: int) -> Flags:
    """The events that a clock can have stamped: those with a value of the column `by`."""
    if clock.by is None:
        return np.ones(count, np.bool_)
    if clock.by not in events:
        return np.zeros(count, np.bool_)
    return np.asarray(pc.is_valid(events[clock.by]).to_numpy(zero_copy_only=False), dtype=np.bool_)


def _names(clock: ClockRule, instants: Ticks, events: Columns, unit: TimeUnit) -> pa.Array:
    if clock.by is None:
        names = pa.array([clock.name]).take(pa.array(np.zeros(len(instants), np.int64)))
    else:
        values = events[clock.by].cast(pa.string())
        values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        names = pc.binary_join_element_wise(pa.scalar(clock.by), values, "=")
    if clock.period is None:
        return names
    period = TimeUnit(clock.period)
    begun, place = np.unique(instants // (clock.period * unit.per_microsecond), return_inverse=True)
    texts = pa.array([tick_text(int(number), period) for number in begun], pa.string())
    return pc.binary_join_element_wise(names, texts.take(pa.array(place)), "@")


def rule_offset(rule: Rule, unit: TimeUnit) -> Offset:
    """The offset of a rule's clocks in ticks.

    Raises
    ------
    UncertaintyModelError
        If it is not a whole number of ticks, or longer than there are ticks.
    """
    assert rule.clock is not None
    shape = rule.clock.offset
    try:
        _require_whole(shape, unit)
        if isinstance(shape, OffsetNormal):
            found = [(b.first, b.last, b.mass) for b in Normal(shape.sigma, shape.cut).buckets(unit)]
        elif isinstance(shape, OffsetHistogram):
            found = [(ticks_up(lo, unit), ticks_up(hi, unit) - 1, mass) for lo, hi, mass in shape.buckets]
        else:
            found = [(-ticks_up(shape.before, unit), ticks_up(shape.after, unit), 1.0)]
    except UncertaintyModelError as problem:
        raise UncertaintyModelError(f"rule {rule.number}: {problem}") from problem
    offset = checked_offset(found)
    if offset is None:
        raise UncertaintyModelError(
            f"rule {rule.number}: clock: the offset is longer than there are ticks of {unit}; choose a "
            "coarser time_unit"
        )
    return offset


def _require_whole(shape: OffsetShape, unit: TimeUnit) -> None:
    for text in () if isinstance(shape, OffsetNormal) else shape.written:
        if (parse_duration(text) / unit.microseconds).denominator != 1:
            raise UncertaintyModelError(
                f"clock: the offset '{text}' is not a whole number of ticks of {unit}; write one that is, or "
                "name a finer time_unit"
            )
