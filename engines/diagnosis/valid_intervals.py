"""What a match leaves to its events and to the offsets of their clocks; the alternative it belongs to.

A row of the output names its events and no more.  Held to the constraints of the pattern once more, its
events get the part of their intervals that they can use: order, window and timing constraints together
(ZDI10, section 5.1: vlb and vub).  Every member of a Kleene group is a variable of its own here, so one
match has as many constraints as its groups are large; matches of one layout are tightened together.
Absences narrow no valid interval: they are probabilities, not bounds.

Of the offset of a clock it is told what of it order, window and timing of the match allow, and the same of
how far one clock is ahead of another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.ties import names_in_order
from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import places_in_runs, rows_alike
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.clocks.offset_masses import Difference, mass_between, shares_of_sum, support
from cepctl.engines.confidence.intervals.rows import valid
from cepctl.engines.diagnosis.posteriors import bin_ticks, prior_shares, shares_between
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternative, prepared_alternatives
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure, valid_bounds
from cepctl.engines.pattern.offset_bounds import offsets_of, valid_on_clocks
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.plan.passed_over import readings_apart
from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class BoundEvents:
    """The events of n matches one after the other: match i owns entries offsets[i] to offsets[i + 1].

    `rows` holds the row of each entry in the event table, `places` its place in the signature: 0 for the
    first positive component of the pattern.
    """

    offsets: Indexes
    rows: Indexes
    places: Indexes


@dataclass(frozen=True)
class ValidIntervals:
    """Per entry of BoundEvents its valid interval in ticks; per match the alternative it belongs to."""

    lower: Ticks
    upper: Ticks
    alternatives: Indexes


def bound_events(signatures: pa.ChunkedArray, ids: pa.Array) -> BoundEvents:
    """Find the events of signatures by their ids, of which none may be missing.

    Examples
    --------
    >>> signatures = pa.chunked_array([[[["a1"], ["b1", "b2"]]]], pa.list_(pa.list_(pa.string())))
    >>> bound_events(signatures, pa.array(["b2", "a1", "b1"]))
    BoundEvents(offsets=array([0, 3]), rows=array([1, 2, 0]), places=array([0, 1, 1]))
    """
    places, counts, names = [], [], []
    for chunk in signatures.chunks:
        components = chunk.flatten()
        per_match = chunk.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        sizes = components.value_lengths().to_numpy(zero_copy_only=False).astype(np.int64)
        places.append(np.repeat(places_in_runs(per_match)[1], sizes))
        ends = np.concatenate([[0], np.cumsum(sizes)])[np.cumsum(per_match)]
        counts.append(np.diff(ends, prepend=0))
        names.append(components.flatten())
    found = pc.index_in(pa.chunked_array(names, pa.string()), ids)
    offsets = np.concatenate([[0], np.cumsum(np.concatenate([[], *counts]))]).astype(np.int64)
    rows = found.to_numpy().astype(np.int64)
    return BoundEvents(offsets, rows, np.concatenate([[], *places]).astype(np.int64))


def valid_intervals(plan: Plan, events: Events, bound: BoundEvents) -> ValidIntervals:
    """Tighten the intervals of bound events by the constraints of their pattern.

    `plan`: the plan that returned the matches.  `events`: at least the events that are bound, with the
    attributes of the plan.  `bound`: the matches; each fits at least one alternative of the plan.  Returns
    shapes as those of `bound`.  Where the events of a match fit several alternatives of an OR, an interval
    reaches as far as any of them lets it, and the match belongs to the first.
    """
    # What runs of any size leave to their events the order and window of their reading say.
    runs = any(each.in_runs(plan.strategy) for each in plan.alternatives)
    prepared = (
        [
            prepared_alternative(plan, each, events, MatchOptions())
            for each in readings_apart(plan, of_runs=True)
        ]
        if runs
        else prepared_alternatives(plan, events, MatchOptions())
    )
    fits = [_fits(each, len(events)) for each in prepared]
    lower, upper = np.empty_like(bound.rows), np.empty_like(bound.rows)
    alternatives = np.zeros(len(bound.offsets) - 1, dtype=np.int64)
    for matches, entries, layout in _layouts(bound):
        rows = bound.rows[entries]
        least, most = np.full(rows.shape, np.iinfo(np.int64).max), np.full(rows.shape, np.iinfo(np.int64).min)
        for number in reversed(range(len(prepared))):
            if len(fits[number]) != layout.max() + 1:
                continue
            possible = fits[number][layout, rows].all(axis=1)
            earliest, latest = _valid(prepared[number], events, layout, rows)
            possible &= (earliest <= latest).all(axis=1)
            least[possible] = np.minimum(least, earliest)[possible]
            most[possible] = np.maximum(most, latest)[possible]
            alternatives[matches[possible]] = number
        lower[entries], upper[entries] = least, most
    return ValidIntervals(lower, upper, alternatives)


def _valid(
    prepared: PreparedAlternative, events: Events, layout: Indexes, rows: Indexes
) -> tuple[Ticks, Ticks]:
    """What the pattern leaves to events, shape (n, l); to those that last from start to end."""
    if not prepared.lasting:
        return valid_of(events, _system_of_members(prepared, layout), rows)
    (search,) = prepared.lasting
    lower, upper = valid(search.measure, rows)
    return lower[:, ::2], upper[:, 1::2]


def _fits(prepared: PreparedAlternative, events: int) -> Flags:
    """Whether each event fits each positive component alone, shape (components, events)."""
    singles = prepared.search.singles
    flags = np.zeros((len(singles), events), dtype=np.bool_)
    for place, component in enumerate(singles):
        flags[place, prepared.search.candidates[component]] = True
    return flags


def _layouts(bound: BoundEvents) -> Iterator[tuple[Indexes, Indexes, Indexes]]:
    """Matches with the same places, their entries (a row per match), and those places."""
    sizes = np.diff(bound.offsets)
    for size in np.unique(sizes):
        matches = np.flatnonzero(sizes == size)
        entries = bound.offsets[matches][:, None] + np.arange(size)
        for layout, chosen in rows_alike(bound.places[entries]):
            yield matches[chosen], entries[chosen], layout


def _system_of_members(prepared: PreparedAlternative, layout: Indexes) -> Ticks:
    """Closed constraints over all bound events, shape (entries, entries); each member counts."""
    system = prepared.search.system
    within = UNBOUNDED if prepared.plan.window is None else prepared.plan.window - 1
    components = [prepared.alternative.components[i] for i in prepared.search.singles]
    edges = []
    for i, left in enumerate(layout):
        for j, right in enumerate(layout):
            limit = int(system[left, right])
            if left == right and i != j:
                limit = -1 if components[left].ordered and i < j else within
            edges.append((i, j, limit))
    return closure(len(layout), edges)


_AT_ZERO = Masses.at(np.zeros(1, dtype=np.int64))


@dataclass(frozen=True)
class OffsetShown:
    """An offset, or how far one clock is ahead of `other`, in ticks; what of it a match can use.

    `probability` is that of the usable part by itself, which no confidence of the match exceeds.
    """

    clock: str
    other: str | None
    lower: int
    upper: int
    valid_lower: int
    valid_upper: int
    probability: float


def valid_of(events: Events, system: Ticks, matches: Indexes) -> tuple[Ticks, Ticks]:
    """Valid lower and upper bounds of bound events, shape (n, l), which may share clocks and be tied.

    The intervals of a row that cannot happen are empty.
    """
    if events.ties is None:
        return _valid_alike(events, system, matches)
    lower, upper = np.ones(matches.shape, dtype=np.int64), np.zeros(matches.shape, dtype=np.int64)
    systems = tied_systems(events.ties, system, matches)
    for each, rows in rows_alike(systems):
        length = range(matches.shape[1])
        closed = closure(len(length), [(i, j, int(each[i, j])) for i in length for j in length])
        if (np.diag(closed) >= 0).all():
            lower[rows], upper[rows] = _valid_alike(events, closed, matches[rows])
    return lower, upper


def _valid_alike(events: Events, system: Ticks, matches: Indexes) -> tuple[Ticks, Ticks]:
    if events.clocks is not None:
        return valid_on_clocks(events.clocks, system, matches)
    # Of a row that cannot happen it says, other than that on clocks, what is left to each event.
    return valid_bounds(events.masses.lower[matches], events.masses.upper[matches], system)


def time_shares(events: Events, event: int, edges: Reals) -> Reals:
    """Probability that an event lies in each bin, shape (bins,); an offset is part of it."""
    stamps = events.stamps
    if stamps.clock[event] == NO_CLOCK:
        return prior_shares(events.masses, event, edges)
    first, last = bin_ticks(edges)
    clock = int(stamps.clock[event])
    if stamps.is_tied[clock]:
        return shares_between(stamps, stamps.own.take(np.array([event])), clock, NO_CLOCK, first, last)
    shares: Reals = np.zeros(len(first))
    shares_of_sum(stamps.own.buckets, event, stamps.offsets.buckets, clock, first, last, shares)
    return np.minimum(shares, 1.0)


def shared_offsets(
    plan: Plan, events: Events, system: Ticks, match: Sequence[int]
) -> tuple[OffsetShown, ...]:
    """What a possible match leaves of the offsets of its clocks, one by one and by pairs."""
    names, offsets = names_in_order(plan.clocks), events.stamps.offsets.buckets
    clocks, bound = offsets_of(events.stamps, system, np.array(match, dtype=np.int64))
    # Slot 0 stands for no clock.
    slots = {0: NO_CLOCK, **{slot: int(clock) for slot, clock in enumerate(clocks, 1)}}
    found = []
    for slot, other in ((i, j) for i in slots for j in slots if i and (j == 0 or j > i)):
        difference = Difference(offsets, slots[slot], slots[other])
        first, last = support(difference)
        least, most = max(first, -int(bound[other, slot])), min(last, int(bound[slot, other]))
        name = names[slots[other]] if other else None
        pair = slots[slot], slots[other]
        if events.stamps.is_tied[[each for each in pair if each != NO_CLOCK]].any():
            ends = np.array([least]), np.array([most])
            mass = float(shares_between(events.stamps, _AT_ZERO, *pair, *ends)[0])
        else:
            mass = min(float(mass_between(difference, least, most)), 1.0)
        found.append(OffsetShown(names[slots[slot]], name, int(first), int(last), least, most, mass))
    return tuple(sorted(found, key=lambda each: (each.other is not None, each.clock, each.other or "")))


def tied_systems(ties: EventTies, system: Ticks, matches: Indexes) -> Ticks:
    """The system of a pattern with the ties of the events of each match, shape (n, l, l), not closed.

    Parameters
    ----------
    ties
        What ties the events.
    system
        Bounds of `t_i - t_j` for events i and j of every match, shape (l, l).
    matches
        Row numbers of events, shape (n, l).
    """
    component, rank = ties.component[matches], ties.rank[matches]
    pair = (component[:, :, None] == component[:, None, :]) & (component[:, :, None] >= 0)
    match, left, right = np.nonzero(pair & ~np.eye(matches.shape[1], dtype=bool))
    own = component[match, left]
    found = np.full(len(match), UNBOUNDED, dtype=np.int64)
    serial = ties.serial[own]
    found[serial] = _along(ties, own[serial], rank[match, left][serial], rank[match, right][serial])
    for number in np.unique(own[~serial]):
        at = np.flatnonzero(own == number)
        apart = _closed(ties, int(number))
        found[at] = apart[rank[match[at], left[at]], rank[match[at], right[at]]]
    systems = np.repeat(system[None, :, :], len(matches), axis=0)
    systems[match, left, right] = np.minimum(systems[match, left, right], found)
    return systems


def _along(ties: EventTies, component: Indexes, left: Indexes, right: Indexes) -> Ticks:
    """The sum of the ties of a series from one rank to another; no bound the other way."""
    total = np.concatenate([[0], np.cumsum(ties.bound)])
    begin = ties.tie_offsets[component]
    forward = left < right
    apart = total[begin + np.where(forward, right, 0)] - total[begin + np.where(forward, left, 0)]
    return np.where(forward, apart, UNBOUNDED)


def _closed(ties: EventTies, component: int) -> Ticks:
    at = slice(int(ties.tie_offsets[component]), int(ties.tie_offsets[component + 1]))
    edges = zip(
        ties.rank[ties.left[at]].tolist(),
        ties.rank[ties.right[at]].tolist(),
        ties.bound[at].tolist(),
        strict=True,
    )
    return closure(int(ties.sizes[component]), list(edges))
