"""Clocks for whole columns of events: the name of each event's clock, and the offset of that clock.

A rule with a clock gives it to the events that it fits; any other rule takes a clock away, since it says anew
what a logged time means.  An event that no rule fits keeps the clock that it brought.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.shared import Offset, checked_offset, offset_text
from cepctl.errors import UncertaintyModelError
from cepctl.event_table import OFFSET_TEXTS
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.schema import LATEST_TICK, TimeUnit, tick_text
from cepctl.uncertainty.clock_records import NO_PIECE
from cepctl.uncertainty.clock_rules import ClockRule
from cepctl.uncertainty.model import Rule
from cepctl.uncertainty.recorded_offsets import RECORDED_NAME, RecordedOffset

Columns = Mapping[str, pa.Array | pa.ChunkedArray]
_PER_MICROSECOND = 1_000


class Unstamped(Enum):
    """Why a rule cannot tell which clock stamped an event."""

    NO_VALUE = "no value"
    NO_HOST = "no such host"
    NO_PIECE = "nothing recorded at that time"


@dataclass(frozen=True)
class Stamped:
    """n events with their clocks: name and offset as text (OFFSET_TEXTS), null where an event has none.

    `moved`: by how many ticks own parts move, since the clock is known to have been so wrong; shape (n,).
    """

    clock: pa.Array
    offset: pa.Array
    moved: Ticks

    @classmethod
    def none(cls, count: int) -> Stamped:
        """Events without clocks."""
        nothing, no_text = pa.nulls(count, pa.string()), pa.nulls(count, OFFSET_TEXTS)
        return cls(nothing, no_text, np.zeros(count, dtype=np.int64))


@dataclass(frozen=True, eq=False)
class LookUp:
    """n events in tables of records: each table is looked into once, whatever many rules name it.

    `readings`: what their clocks showed, in nanoseconds, shape (n,).
    """

    events: Columns
    readings: Ticks
    _found: dict[tuple[str, int], tuple[Indexes, Flags]] = field(default_factory=dict)

    def pieces(self, clock: ClockRule, offset: RecordedOffset) -> tuple[Indexes, Flags]:
        """The piece of records of each event, and which events have a host that is recorded."""
        by, records = clock.by or "", offset.records
        if (by, id(records)) not in self._found:
            self._found[by, id(records)] = records.pieces(_texts_of(self.events[by]), self.readings)
        return self._found[by, id(records)]


def stamped(
    brought: Stamped, instants: Ticks, look_up: LookUp, won: Sequence[Flags], rules: Sequence[Rule],
    unit: TimeUnit,
) -> Stamped:  # fmt: skip
    """Give every event its clock.

    `brought`: the clocks that the events have so far.  `instants`: the logged times, in the resolution of the
    unit.  `won`: for each rule the events that it fits.  `rules`, `unit`: as
    `cepctl.uncertainty.assign.assign` takes them.

    Raises
    ------
    UncertaintyModelError
        If an offset is not a whole number of ticks.
    """
    names, offsets, moved = brought.clock, brought.offset, brought.moved
    for rule, rows in zip(rules, won, strict=True):
        if not rows.any():
            continue
        mask = pa.array(rows)
        if rule.clock is not None and rule.keeps_intervals:
            _require_unmoved(rule, names, mask)
        if rule.clock is None:
            own, text = pa.scalar(None, pa.string()), pa.scalar(None, OFFSET_TEXTS)
        elif isinstance(rule.clock.offset, RecordedOffset):
            recorded = rule.clock.offset
            pieces, _ = look_up.pieces(rule.clock, recorded)
            own, text = recorded.names(rule.clock.by or "", pieces), _texts(rule, recorded, pieces, unit)
            moved = np.where(rows, recorded.moves(pieces, look_up.readings, unit), moved)
        else:
            own = _names(rule.clock, instants, look_up.events, unit)
            text = _of_all(offset_text(rule_offset(rule, unit)), len(mask))
        names, offsets = pc.if_else(mask, own, names), pc.if_else(mask, text, offsets)
    return Stamped(names, offsets, moved)


def _require_unmoved(rule: Rule, names: pa.Array, mask: pa.Array) -> None:
    """Raise UncertaintyModelError where the own part that a rule would keep was moved by records before."""
    moved = pc.match_substring_regex(names.filter(mask), RECORDED_NAME)
    if pc.any(moved).as_py():
        name = names.filter(mask).filter(moved)[0].as_py()
        raise UncertaintyModelError(
            f"rule {rule.number}: clock: the events on '{name}' were moved already by what was recorded of "
            "that clock; ingest the logs again, or say in the rule what their times mean (interval, "
            "granularity)"
        )


def nanoseconds_of(instants: Ticks, unit: TimeUnit) -> Ticks:
    """Times in the resolution of a unit as nanoseconds; what 64 bits do not hold, at their end."""
    each = _PER_MICROSECOND // unit.per_microsecond
    return np.clip(instants, -(LATEST_TICK // each), LATEST_TICK // each) * each


def unstamped(clock: ClockRule, look_up: LookUp) -> Iterator[tuple[Unstamped, Flags]]:
    """The events whose clock cannot be told, by reason."""
    events, count = look_up.events, len(look_up.readings)
    if clock.by is None:
        return
    if clock.by not in events:
        yield Unstamped.NO_VALUE, np.ones(count, np.bool_)
        return
    has_value = np.asarray(pc.is_valid(events[clock.by]).to_numpy(zero_copy_only=False), dtype=np.bool_)
    yield Unstamped.NO_VALUE, ~has_value
    if isinstance(clock.offset, RecordedOffset):
        pieces, has_host = look_up.pieces(clock, clock.offset)
        yield Unstamped.NO_HOST, has_value & ~has_host
        yield Unstamped.NO_PIECE, has_host & (pieces == NO_PIECE)


def _texts(rule: Rule, recorded: RecordedOffset, pieces: Indexes, unit: TimeUnit) -> pa.Array:
    try:
        return recorded.texts(pieces, unit)
    except UncertaintyModelError as problem:
        raise UncertaintyModelError(f"rule {rule.number}: {problem}") from problem


def _of_all(text: str, count: int) -> pa.DictionaryArray:
    """One offset for all of n events."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int32)), pa.array([text], pa.string()))


def _texts_of(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    texts = values.cast(pa.string())
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts


def _names(clock: ClockRule, instants: Ticks, events: Columns, unit: TimeUnit) -> pa.Array:
    if clock.by is None:
        names = pa.array([clock.name]).take(pa.array(np.zeros(len(instants), np.int64)))
    else:
        names = pc.binary_join_element_wise(pa.scalar(clock.by), _texts_of(events[clock.by]), "=")
    if clock.period is None:
        return names
    period = TimeUnit(clock.period)
    begun, place = np.unique(instants // (clock.period * unit.per_microsecond), return_inverse=True)
    texts = pa.array([tick_text(int(number), period) for number in begun], pa.string())
    return pc.binary_join_element_wise(names, texts.take(pa.array(place)), "@")


def rule_offset(rule: Rule, unit: TimeUnit) -> Offset:
    """The offset of a rule's clocks in ticks, where all have the same.

    Raises
    ------
    UncertaintyModelError
        If it is not a whole number of ticks, or longer than there are ticks.
    """
    assert rule.clock is not None
    shape = rule.clock.offset
    assert not isinstance(shape, RecordedOffset)
    try:
        offset = checked_offset((each.first, each.last, each.mass) for each in shape.buckets(unit))
    except UncertaintyModelError as problem:
        raise UncertaintyModelError(f"rule {rule.number}: {problem}") from problem
    if offset is None:
        raise UncertaintyModelError(
            f"rule {rule.number}: clock: the offset is longer than there are ticks of {unit}; choose a "
            "coarser time_unit"
        )
    return offset
