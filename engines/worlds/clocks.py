"""What makes up a possible world: one own tick for every event, and one offset for every clock.

An event happens at its own tick plus the offset of its clock; without a clock at its own tick.  All of these
are independent, so the probability of a world is the product of their masses.  Where clocks are tied, worlds
that break a tie are left out: then a world has an offset for each clock of a chain, whether it stamped an
event or not.  Source: docs/shared-clocks.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeAlias, cast

import pyarrow as pa

from cepctl.clocks.ties import TiedClocks
from cepctl.engines.worlds.stream import (
    Mass,
    Row,
    SpanMass,
    Times,
    lasting_mass,
    lasts,
    point_mass,
)
from cepctl.errors import EventSchemaError, QueryTooLargeError
from cepctl.plan.plan import Plan
from cepctl.schema import EARLIEST_TICK, LATEST_TICK

MAX_WORLDS = 100_000
_CLOCKS = "\0clocks"
"""In the row of an event that a clock stamped, all clocks."""

Buckets: TypeAlias = Sequence[tuple[int, int, float]]


@dataclass(frozen=True)
class VaryingTicks:
    """All that varies between worlds: `owns[e]` of event e; `offsets[c]` of clock c.

    `clock_of[e]` is the place of event e's clock among the offsets, None where it has none.  `ties` are two
    such places each, and how far their offsets may be apart.
    """

    owns: tuple[SpanMass, ...]
    offsets: tuple[Mass, ...]
    clock_of: tuple[int | None, ...]
    ties: tuple[tuple[int, int, int], ...] = ()

    @classmethod
    def of(cls, rows: Sequence[Row], clocks: Mapping[str, Buckets]) -> VaryingTicks:
        """From events in their order; raises EventSchemaError where an event or a clock has no mass."""
        stamping = [cast("str | None", row.get("clock")) for row in rows]
        names = sorted({name for name in stamping if name is not None})
        for name in names:
            if name not in clocks:
                raise EventSchemaError(f"clock '{name}' has no offset; ingest the events again")
        ties = clocks.ties if isinstance(clocks, TiedClocks) else ()
        while more := {name for tie in ties for name in tie[:2] if {*tie[:2]} & {*names}} - {*names}:
            names += sorted(more)
        places = [(names.index(a), names.index(b), most) for a, b, most in ties if a in names]
        return cls(
            tuple(own_mass(row, clocks) for row in rows),
            tuple(_weights(_positive(clocks[name])) for name in names),
            tuple(None if name is None else names.index(name) for name in stamping),
            tuple(places),
        )

    def worlds(self) -> Iterator[tuple[Times, int]]:
        """Every possible world: start and end of every event, and the world's weight.

        Raises
        ------
        QueryTooLargeError
            If there are more than MAX_WORLDS.
        """
        count = math.prod(len(mass) for mass in (*self.owns, *self.offsets))
        if count > MAX_WORLDS:
            raise too_many_worlds(count)
        for offsets in product(*self.offsets):
            if any(abs(offsets[a][0] - offsets[b][0]) > most for a, b, most in self.ties):
                continue
            moved = [0 if clock is None else offsets[clock][0] for clock in self.clock_of]
            weight = math.prod(each for _, each in offsets)
            own = [
                [((start + shift, end + shift), each) for (start, end), each in mass]
                for mass, shift in zip(self.owns, moved, strict=True)
            ]
            spans = product(*([span for span, _ in mass] for mass in own))
            weights = product(*([each for _, each in mass] for mass in own))
            for world, each in zip(spans, weights, strict=True):
                yield Times.of(world), weight * math.prod(each)


def plain_rows(events: pa.Table) -> list[Row]:
    """The events as rows of Python's types; logged times in nanoseconds are integers, for it has none."""
    for place, each in enumerate(events.schema):
        if pa.types.is_timestamp(each.type) and each.type.unit == "ns":
            events = events.set_column(place, each.name, events.column(place).cast(pa.int64()))
    rows: list[Row] = events.to_pylist()
    return rows


def rows_of(plan: Plan, events: pa.Table) -> list[Row]:
    """The events as rows, which know the clocks."""
    rows = plain_rows(events)
    return [row if row.get("clock") is None else {**row, _CLOCKS: plan.clocks} for row in rows]


def worlds_of_events(rows: Sequence[Row]) -> Iterator[tuple[Times, int]]:
    """The worlds of some events alone, whose rows know the clocks, with weights."""
    known = [cast("Mapping[str, Buckets]", row[_CLOCKS]) for row in rows if _CLOCKS in row]
    return VaryingTicks.of(rows, known[0] if known else {}).worlds()


def can_happen(row: Row, clocks: Mapping[str, Buckets]) -> bool:
    """Whether an event has any mass at all: one that lasts may end before its start, whatever the world."""
    return not lasts(row) or bool(own_mass(row, clocks))


def too_many_worlds(worlds: int) -> QueryTooLargeError:
    """What is said where worlds are too many to visit."""
    return QueryTooLargeError(
        f"the events that can matter have at least {worlds:,} possible worlds, the worlds engine "
        f"visits at most {MAX_WORLDS:,}; use --engine event, fewer events, or a coarser time unit"
    )


def own_mass(row: Row, clocks: Mapping[str, Buckets]) -> SpanMass:
    """The own part of an event, from its start to its end."""
    starts = _own_ticks(row, "", clocks)
    return lasting_mass(row, starts, _own_ticks(row, "end_", clocks)) if lasts(row) else point_mass(starts)


def _own_ticks(row: Row, side: str, clocks: Mapping[str, Buckets]) -> Mass:
    """The own part of a start, or of an `end_`: its histogram, or all alike between its bounds.

    Of bounds those of the offset are taken off.
    """
    histogram = cast("list[Mapping[str, float]] | None", row.get(f"{side}pmf"))
    if histogram:
        return _of_event(row, [(int(b["lo"]), int(b["hi"]), b["p"]) for b in histogram])
    lower, upper = cast(int, row[f"{side}lower"]), cast(int, row[f"{side}upper"])
    clock = cast("str | None", row.get("clock"))
    if clock is not None:
        offset = _positive(clocks[clock])
        lower, upper = lower - offset[0][0], upper - offset[-1][1]
    return _of_event(row, [(lower, upper, 1.0)])


def _of_event(row: Row, buckets: Buckets) -> Mass:
    if any(lo > hi for lo, hi, _ in buckets):
        raise EventSchemaError(
            f"event '{row['event_id']}' has lower > upper; correct the event or its histogram"
            if row.get("clock") is None
            else f"event '{row['event_id']}' has an interval narrower than the offset of its clock "
            f"'{row['clock']}'; widen the interval or narrow the offset"
        )
    positive = _positive(buckets)
    if not positive:
        raise EventSchemaError(f"event '{row['event_id']}' has a histogram without positive mass")
    if positive[0][0] < EARLIEST_TICK or positive[-1][1] > LATEST_TICK:
        raise EventSchemaError(
            f"event '{row['event_id']}' reaches beyond the range of ticks, -2^62 to 2^62; "
            "ingest it with a coarser time_unit"
        )
    return _weights(positive)


def _positive(buckets: Iterable[tuple[int, int, float]]) -> list[tuple[int, int, float]]:
    return sorted(bucket for bucket in buckets if bucket[2] > 0)


def _weights(buckets: Buckets) -> Mass:
    """Whole-number weights of single ticks, in proportion to their mass."""
    ticks = sum(hi - lo + 1 for lo, hi, _ in buckets)
    if ticks > MAX_WORLDS:
        raise too_many_worlds(ticks)
    per_tick = [Fraction(p) / (hi - lo + 1) for lo, hi, p in buckets]
    scale = math.lcm(*(p.denominator for p in per_tick))
    shared = math.gcd(*(int(p * scale) for p in per_tick))
    return tuple(
        (tick, int(p * scale) // shared)
        for (lo, hi, _), p in zip(buckets, per_tick, strict=True)
        for tick in range(lo, hi + 1)
    )
