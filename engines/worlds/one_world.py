"""One possible world: the events without their ticks, when each of them is, and what a match binds of them.

A world has one own tick for every event, and one offset for every clock.  An event happens at its own tick
plus the offset of its clock; without a clock at its own tick.  All of these are independent, so the
probability of a world is the product of their masses.  Where clocks are tied, worlds that break a tie are
left out: then a world has an offset for each clock of a chain, whether it stamped an event or not.  Source:
docs/shared-clocks.md.

The law of an interval event is that of two independent stamps, given that the end is not before the start
and that the length lies within its bounds.  Source: docs/what-lasts.md, "What a probability says".

What is bound is the same in many worlds, so it remembers what ticks play no part in.  The components of one
repetition of `SEQ(B b[], C c[])+`, in the order of the pattern, are a turn: each turn is wholly after the one
before; `b[i]` and `c[i]` are of one, `c[i-1]` is of the one before.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any, TypeAlias, TypeVar, cast

import pyarrow as pa

from cepctl.clocks.ties import TiedClocks
from cepctl.errors import EventSchemaError, QueryTooLargeError
from cepctl.plan.plan import Alternative, Plan
from cepctl.schema import EARLIEST_TICK, LATEST_TICK

Value: TypeAlias = object
Row: TypeAlias = Mapping[str, Value]
"""The columns of one event."""
Span: TypeAlias = tuple[int, int]
"""The ticks of start and end."""
Mass: TypeAlias = tuple[tuple[int, int], ...]
"""The ticks of positive mass of one event or clock, each with its weight, a whole number."""
SpanMass: TypeAlias = tuple[tuple[Span, int], ...]
"""The same of an event that may last."""
MAX_WORLDS = 100_000
_CLOCKS = "\0clocks"
"""In the row of an event that a clock stamped, all clocks."""
Buckets: TypeAlias = Sequence[tuple[int, int, float]]
Group: TypeAlias = tuple[int, ...]
Bound: TypeAlias = Mapping[int, Group]
Answer = TypeVar("Answer")
Edge: TypeAlias = int | float
"""A tick, or an infinity where a gap has no end."""


class Times(tuple[int, ...]):
    """The start of every event in one world, and the `ends` beside them."""

    ends: tuple[int, ...]

    @classmethod
    def of(cls, spans: Sequence[Span]) -> Times:
        """From start and end of every event."""
        times = cls([start for start, _ in spans])
        times.ends = tuple([end for _, end in spans])
        return times


def lasts(row: Row) -> bool:
    """Whether an event has an end of its own."""
    return row.get("end_lower") is not None


def _point_mass(starts: Mass) -> SpanMass:
    """An event that does not last."""
    return tuple(((tick, tick), weight) for tick, weight in starts)


def _lasting_mass(row: Row, starts: Mass, ends: Mass) -> SpanMass:
    """The law of an event that lasts; empty where it cannot happen."""
    bounds: Mapping[str, Any] = row
    shortest = max(0, bounds.get("length_lower") or 0)
    longest = bounds.get("length_upper")
    return tuple(
        ((start, end), weight * other)
        for start, weight in starts
        for end, other in ends
        if shortest <= end - start and (longest is None or end - start <= longest)
    )


MAX_WORK = 10_000_000
MAX_SETS = 100_000
"""Sets that the events which fit a Kleene component may form in one world, beside the same other events."""


@dataclass(frozen=True)
class Stream:
    """The events of the input without their ticks, numbered from 0 in code-point order of their ids.

    `keys[e]` holds the values of all `[attr]` of the query together, None if one of them is null.
    """

    rows: tuple[Row, ...]
    keys: tuple[tuple[object, ...] | None, ...]

    @classmethod
    def of(cls, rows: Iterable[Row], partition_by: Sequence[str]) -> Stream:
        ordered = tuple(sorted(rows, key=lambda row: str(row["event_id"])))
        return cls(ordered, tuple(_key(row, partition_by) for row in ordered))

    def __len__(self) -> int:
        return len(self.rows)


def _key(row: Row, partition_by: Sequence[str]) -> tuple[object, ...] | None:
    values = tuple(row[name] for name in partition_by)
    return None if None in values else values


@dataclass
class Work:
    """Groups tried so far, over all worlds; a Kleene component can try 2^n of n events in each."""

    tried: int = 0

    def require_few_sets(self, variable: str, events: int) -> None:
        """Raise QueryTooLargeError where so many events form more than MAX_SETS sets."""
        if 2**events - 1 > MAX_SETS:
            raise QueryTooLargeError(
                f"{events:,} events fit the Kleene group {variable}[] in one possible world, and form "
                f"2^{events:,} - 1 sets, the worlds engine lists at most {MAX_SETS:,}; use --engine event, "
                "fewer events, or a shorter WITHIN"
            )

    def spend(self) -> None:
        """Count one group; raises QueryTooLargeError above MAX_WORK."""
        self.tried += 1
        if self.tried > MAX_WORK:
            raise QueryTooLargeError(
                f"the search through the possible worlds takes more than {MAX_WORK:,} steps, the worlds "
                "engine does no more; use --engine event, fewer events, or a shorter WITHIN"
            )


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
    return _lasting_mass(row, starts, _own_ticks(row, "end_", clocks)) if lasts(row) else _point_mass(starts)


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


Ticks: TypeAlias = Times


@dataclass
class Room:
    """How many bindings more are kept, for sets may be many millions."""

    left: int = 50_000


class Binding(dict[int, Group]):
    """What a search has bound so far: the same object in each world, while there is room."""

    def __init__(self, groups: Bound, room: Room) -> None:
        super().__init__(groups)
        self.room = room
        self.remembered: dict[object, Any] = {}
        """Answers to questions in which ticks play no part."""

    @cached_property
    def events(self) -> tuple[int, ...]:
        """All bound events."""
        return tuple(event for group in self.values() for event in group)

    def longer(self, component: int, group: Group) -> Binding:
        """What is bound with the events of one more component."""
        found: Binding | None = self.remembered.get((component, group))
        if found is None:
            found = Binding({**self, component: group}, self.room)
            if self.room.left:
                self.room.left -= 1
                self.remembered[component, group] = found
        return found


def remembered(bound: Bound, question: object, answer: Callable[[], Answer]) -> Answer:
    """What ticks play no part in, found out once for what a search has bound."""
    if not isinstance(bound, Binding):
        return answer()
    if question not in bound.remembered:
        bound.remembered[question] = answer()
    found: Answer = bound.remembered[question]
    return found


def extent(ticks: Ticks, bound: Bound) -> tuple[int, int]:
    """Smallest and largest tick of the bound events."""
    events = events_of(bound)
    return first_tick(ticks, events), last_tick(ticks, events)


def events_of(bound: Bound) -> tuple[int, ...]:
    """All bound events."""
    if isinstance(bound, Binding):
        return bound.events
    return tuple(event for group in bound.values() for event in group)


def events_in(bound: Bound, block: Sequence[int]) -> Sequence[int]:
    """Those of some components."""
    if len(block) == 1:
        return bound.get(block[0], ())
    return [event for component in block for event in bound.get(component, ())]


def first_tick(ticks: Ticks, events: Iterable[int]) -> int:
    """The smallest tick of some events."""
    return min(map(ticks.__getitem__, events))


def last_tick(ticks: Ticks, events: Iterable[int]) -> int:
    """The largest last tick of some events."""
    return max(map(ticks.ends.__getitem__, events))


Turn: TypeAlias = tuple[int, ...]


def turn_of(alternative: Alternative, component: int) -> Turn:
    """The components that are repeated together with one; none where it is not repeated."""
    if not alternative.repeated:
        return ()
    return next((turn for turn in alternative.repeated if component in turn), ())


def in_one_group(alternative: Alternative, bound: Bound) -> Iterator[Group]:
    """What a signature shows: the events of each component, those of repetitions together in their order."""
    for component in alternative.positive:
        turn = turn_of(alternative, component)
        if component not in bound:
            continue
        if not turn:
            yield bound[component]
        elif component == turn[0]:
            yield tuple(event for each in zip(*(bound[i] for i in turn), strict=True) for event in each)


def of_one_repetition(together: Sequence[frozenset[str]], index: Mapping[str, int]) -> bool:
    """Whether what is read of components that are repeated together is of one repetition."""
    return all(len({at for name, at in index.items() if name in names}) <= 1 for names in together)
