"""The clocks of events, as columns: who stamped each event, its own part, the masses of the offsets.

An event happens at its own tick plus the offset of its clock.  The masses that an event has beside these only
say where it can be (`envelopes`): they are no one's probabilities, so their densities are not numbers.
Ties leave the offsets that some offset of each tied clock is near enough to; in a chain every such offset is
that of some world, told by going along the chain and back.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.shared import empty_own_part, extremes
from cepctl.clocks.ties import Clocks, names_in_order, ties_of
from cepctl.engines.columns.masses import Masses, masses_of, ticks_between
from cepctl.errors import ContradictionError, EventSchemaError
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.schema import CLOCK

NO_CLOCK, NO_TIE = -1, -1


@dataclass(frozen=True)
class EventClocks:
    """Of n events the place of each one's clock (NO_CLOCK for none), shape (n,), and the own parts.

    `offsets` are the masses of the clocks, in their order; `tie`, shape (k,), is how far the offset of each
    can be from that of the clock before it, NO_TIE where nothing ties them; `names` are those of the clocks.
    """

    clock: Indexes
    own: Masses
    offsets: Masses
    tie: Ticks
    names: tuple[str, ...] = ()

    @classmethod
    def none(cls, masses: Masses) -> EventClocks:
        """Events that no clock stamped: all of them is their own part."""
        nothing, starts = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
        offsets = Masses(nothing, nothing, starts, nothing, nothing, np.zeros(0))
        return cls(np.full(len(masses.lower), NO_CLOCK), masses, offsets, nothing)

    @cached_property
    def chain(self) -> Indexes:
        """The first clock of the chain of each, shape (k,); one that nothing ties is its own."""
        number = np.arange(len(self.tie))
        return np.maximum.accumulate(np.where(self.tie == NO_TIE, number, 0))

    @cached_property
    def is_tied(self) -> Flags:
        """Which clocks are tied to some other, shape (k,)."""
        found = self.tie != NO_TIE
        found[:-1] |= found[1:]
        return np.asarray(found)

    @cached_property
    def along(self) -> Ticks:
        """How far each offset can be from that of the first clock of its chain: ties added up, shape (k,)."""
        total = np.cumsum(np.where(self.tie == NO_TIE, 0, self.tie))
        return np.asarray(total - total[self.chain])

    def with_chains(self, owner: Indexes, clock: Indexes) -> tuple[Indexes, Indexes]:
        """Pairs of an owner and a clock, ascending, and for each owner all that are tied to its clocks."""
        if not self.is_tied.any():
            return owner, clock
        many = len(self.tie)
        named = np.unique(owner * many + self.chain[clock])
        first = named % many
        return _spread(named // many, first, first + np.bincount(self.chain, minlength=many)[first] - 1)

    def with_between(self, owner: Indexes, clock: Indexes) -> tuple[Indexes, Indexes]:
        """Pairs of an owner and a clock, ascending, and for each owner all between two of one chain."""
        if not self.is_tied.any() or not len(owner):
            return owner, clock
        chain = self.chain[clock]
        begins = np.flatnonzero(np.append(True, (np.diff(owner) != 0) | (np.diff(chain) != 0)))
        last = np.append(begins[1:], len(owner)) - 1
        return _spread(owner[begins], clock[begins], clock[last])

    @cached_property
    def extremes(self) -> tuple[Ticks, Ticks]:
        """The least and the greatest offset of each clock, and after them 0, which NO_CLOCK takes."""
        return _extremes(self.offsets)

    @property
    def envelopes(self) -> Masses:
        """Where events can be; events without a clock keep their masses."""
        own, stamped = self.own, self.clock != NO_CLOCK
        if not stamped.any():
            return own
        least, most = self.extremes
        lower, upper = own.lower + least[self.clock], own.upper + most[self.clock]
        if own.uniform:
            return Masses(lower, upper, own.starts, lower, upper, np.where(stamped, np.nan, own.density))
        owner = np.repeat(np.arange(len(lower)), np.diff(own.starts))
        kept = np.flatnonzero(~stamped[owner])
        alone = np.flatnonzero(stamped)
        whose = np.concatenate([owner[kept], alone])
        order = np.argsort(whose, kind="stable")
        lo = np.concatenate([own.lo[kept], lower[alone]])[order]
        hi = np.concatenate([own.hi[kept], upper[alone]])[order]
        density = np.concatenate([own.density[kept], np.full(len(alone), np.nan)])[order]
        starts = np.searchsorted(whose[order], np.arange(len(lower) + 1))
        return Masses(lower, upper, starts, lo, hi, density)


def _spread(owner: Indexes, first: Indexes, last: Indexes) -> tuple[Indexes, Indexes]:
    """Each owner with all numbers from its first to its last one."""
    sizes = last - first + 1
    begins = np.cumsum(sizes) - sizes
    return np.repeat(owner, sizes), np.arange(int(sizes.sum())) + np.repeat(first - begins, sizes)


def event_clocks(events: pa.Table, clocks: Clocks) -> EventClocks | None:
    """Read the clocks of an event table; None where none of them stamped an event.

    Raises
    ------
    EventSchemaError
        If an interval is narrower than the offset of its clock, or as `masses_of` does.
    """
    if CLOCK not in events.column_names or events.column(CLOCK).null_count == len(events):
        return None
    names = names_in_order(clocks)
    place = pc.index_in(events.column(CLOCK), pa.array(names, pa.string()))
    if place.null_count == len(events):
        return None
    clock = pc.fill_null(place, NO_CLOCK).to_numpy().astype(np.int64)
    offsets = _masses_of_offsets(clocks, names)
    least, most = _extremes(offsets)
    lower, upper = (np.asarray(events.column(name).to_numpy(), np.int64) for name in ("lower", "upper"))
    own_lower, own_upper = lower - least[clock], upper - most[clock]
    for row in np.flatnonzero((own_lower > own_upper) & (lower <= upper))[:1].tolist():
        name = names[clock[row]]
        event = f"event '{events.column('event_id')[row].as_py()}'"
        raise EventSchemaError(empty_own_part(event, int(lower[row]), int(upper[row]), name, clocks[name]))
    own = events
    for name, ticks in (("lower", own_lower), ("upper", own_upper)):
        own = own.set_column(own.column_names.index(name), name, pa.array(ticks))
    return EventClocks(clock, masses_of(own), offsets, _ties(clocks, names), tuple(names))


def clocks_in_order(clocks: Clocks) -> EventClocks:
    """Clocks that stamped no event."""
    names, nothing = names_in_order(clocks), np.zeros(0, dtype=np.int64)
    own = Masses(nothing, nothing, np.zeros(1, dtype=np.int64), nothing, nothing, np.zeros(0))
    return EventClocks(nothing, own, _masses_of_offsets(clocks, names), _ties(clocks, names), tuple(names))


def _ties(clocks: Clocks, names: list[str]) -> Ticks:
    tie = np.full(len(names), NO_TIE, dtype=np.int64)
    number = {name: at for at, name in enumerate(names)}
    for each in ties_of(clocks):
        tie[number[each.after]] = each.ticks
    return tie


def _extremes(offsets: Masses) -> tuple[Ticks, Ticks]:
    return np.append(offsets.lower, 0), np.append(offsets.upper, 0)


def _masses_of_offsets(clocks: Clocks, names: list[str]) -> Masses:
    ends = np.array([extremes(clocks[name]) for name in names], dtype=np.int64).reshape(-1, 2)
    starts = np.concatenate([[0], np.cumsum([len(clocks[name]) for name in names])]).astype(np.int64)
    buckets = [bucket for name in names for bucket in clocks[name]]
    lo, hi = (np.array([bucket[side] for bucket in buckets], dtype=np.int64) for side in (0, 1))
    mass = np.array([bucket[2] for bucket in buckets])
    return Masses(ends[:, 0].copy(), ends[:, 1].copy(), starts, lo, hi, mass / ticks_between(lo, hi))


_Buckets: TypeAlias = list[tuple[int, int, float]]


def left_by_ties(stamped: EventClocks) -> EventClocks:
    """The clocks of events with the offsets that ties leave, renormalised.

    Raises
    ------
    ContradictionError
        If there is no world; names the clocks.
    """
    tied = np.flatnonzero(stamped.tie != NO_TIE).tolist()
    left = _buckets(stamped.offsets)
    for clock, other in [(each, each - 1) for each in tied] + [(each - 1, each) for each in reversed(tied)]:
        ticks = int(stamped.tie[max(clock, other)])
        left[clock] = _near(left[clock], left[other], ticks)
        if not left[clock]:
            names = stamped.names
            raise ContradictionError(
                f"no possible world: the offsets of the clocks '{names[clock]}' and '{names[other]}' "
                f"differ by more than the {ticks} ticks that `jump` allows; correct what was recorded of them"
            )
    if left == _buckets(stamped.offsets):
        return stamped
    whole = [math.fsum((hi - lo + 1) * density for lo, hi, density in each) for each in left]
    lo, hi, density = (np.array([bucket[side] for each in left for bucket in each]) for side in range(3))
    sizes = [len(each) for each in left]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return replace(stamped, offsets=Masses.of_buckets(starts, lo, hi, density / np.repeat(whole, sizes)))


def _buckets(offsets: Masses) -> list[_Buckets]:
    every = list(zip(offsets.lo.tolist(), offsets.hi.tolist(), offsets.density.tolist(), strict=True))
    starts = offsets.starts.tolist()
    return [every[begin:end] for begin, end in pairwise(starts)]


def _near(buckets: Sequence[tuple[int, int, float]], others: _Buckets, ticks: int) -> _Buckets:
    """What of some buckets is as near to others; all are in order."""
    spans: list[tuple[int, int]] = []
    for lo, hi, _ in others:
        begin = lo - ticks
        if spans and begin <= spans[-1][1] + 1:
            begin = spans.pop()[0]
        spans.append((begin, hi + ticks))
    return [
        (max(lo, begin), min(hi, end), density)
        for lo, hi, density in buckets
        for begin, end in spans
        if lo <= end and begin <= hi
    ]
