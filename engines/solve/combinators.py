"""Methods that make simpler batches of one: what is given, offsets of clocks, orders, laws, spans, samples.

One that has the simpler batches measured again, by whatever method takes them, is given the door to all.
Under laws of order here is what decides each match, and how probable it is by the law of its keys.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cepctl.engines.columns.bindings import Group, events_in, flattened, places_of
from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.endpoints import cut_masses
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.numbering import distinct_rows, places_in_runs
from cepctl.engines.confidence.measured import Measured, Total, impossible
from cepctl.engines.confidence.work import nobody
from cepctl.engines.pattern.blocks import BoundMatches, Region, Rivals, Shape, gap_of
from cepctl.engines.pattern.difference_constraints import closed_system, possible, valid_bounds
from cepctl.engines.pattern.shapes import edge_of
from cepctl.engines.pattern.total_orders import Step, TotalOrder, total_orders
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.points import Found, nested
from cepctl.numeric.arrays import Flags, Indexes, Reals
from cepctl.numeric.precision import SMALLEST

if TYPE_CHECKING:
    from cepctl.engines.confidence.orders.asked import LawRows


def met_masses(masses: Masses, one: Indexes, other: Indexes) -> tuple[Masses, Reals]:
    """The masses of n pairs of independent events given that both happen at one tick.

    Returns
    -------
    The masses, and how probable each meeting is, shape (n,): 0 where none can be, and the mass means nothing,
    positive otherwise.

    Examples
    --------
    >>> from cepctl.engines.columns.masses import Masses
    >>> starts = np.array([0, 1, 2])
    >>> events = Masses.of_buckets(starts, np.array([0, 2]), np.array([3, 5]), np.array([0.25, 0.25]))
    >>> met, share = met_masses(events, np.array([0]), np.array([1]))
    >>> met.lower.tolist(), met.upper.tolist(), share.tolist()
    ([2], [3], [0.125])
    """
    sizes = np.diff(masses.starts)
    row, place = places_in_runs(sizes[one] * sizes[other])
    first, second = np.divmod(place, sizes[other][row])
    first, second = masses.starts[one][row] + first, masses.starts[other][row] + second
    lo = np.maximum(masses.lo[first], masses.lo[second])
    hi = np.minimum(masses.hi[first], masses.hi[second])
    kept = lo <= hi
    # One bucket that means nothing for those that never meet.
    bare = np.flatnonzero(np.bincount(row[kept], minlength=len(one)) == 0)
    row, lo, hi, first, second = (each[kept] for each in (row, lo, hi, first, second))
    highest = np.maximum.reduceat(masses.density, masses.starts[:-1])
    scale = highest[one], highest[other]
    density = (masses.density[first] / scale[0][row]) * (masses.density[second] / scale[1][row])
    whole = np.bincount(row, weights=density * ticks_between(lo, hi), minlength=len(one)).astype(np.float64)
    density = density / whole[row]
    share = np.where(whole > 0.0, np.maximum(whole * scale[0] * scale[1], SMALLEST), 0.0)
    row = np.concatenate([row, bare])
    order = np.argsort(row, kind="stable")
    never = masses.lower[one[bare]]
    buckets = (
        np.concatenate([lo, never])[order],
        np.concatenate([hi, never])[order],
        np.concatenate([density, np.ones(len(bare))])[order],
    )
    return Masses.of_buckets(np.searchsorted(row[order], np.arange(len(one) + 1)), *buckets), share


Door: TypeAlias = Callable[[Batch], Measured]


def endpoints(batch: Batch, rows: Indexes) -> Found:
    """Matches of interval events; those are measured together whose groups are of the same sizes."""
    from cepctl.engines.confidence.intervals.rows import measured
    from cepctl.engines.confidence.intervals.search import measures_by_size

    whole, found = batch.taken(rows), impossible(len(rows))
    bound = [whole.bound[i] for i in sorted(whole.bound)]
    for measure, matches, some in measures_by_size(batch.lasting, bound):
        spans = None if whole.spans is None else whole.spans.take(some)
        found.put(some, measured(replace(measure, heard=batch.measure.heard), matches, spans))
    return rows, found


def untied(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Matches that nothing given says anything of."""
    some = rows[~touched(batch)[rows]]
    if not len(some):
        return some, impossible(0)
    free = replace(batch.measure, depends=batch.measure.depends.but_for_ties(), sifted=False)
    return some, door(replace(batch, measure=free).taken(some))


def unstamped(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Matches none of whose events has a clock, which then have the same bits whatever is beside them."""
    stamped = batch.clocks.clock != NO_CLOCK
    some = rows[~batch.matches.involving(stamped.__getitem__)[rows]]
    if not len(some):
        return some, impossible(0)
    free = replace(batch.measure, depends=batch.measure.depends.but_for_clocks(), sifted=False)
    return some, door(replace(batch, measure=free).taken(some))


def touched(batch: Batch) -> Flags:
    """Which matches bind a tied event, have such a rival, or are on a clock of such events."""
    if not batch.form.on_clocks:
        return batch.matches.involving(batch.ties.touches)
    return batch.given_on_clocks.touch(len(batch), list(batch.bound.values()), batch.rivals)


def sampled(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Matches exactly, and each that costs too much from worlds of its own; its range is exact."""
    from cepctl.engines.confidence.clocks.estimates import estimated_match, measured_or_estimated
    from cepctl.engines.confidence.coupled.assembly import coupled_problems

    measure, whole = batch.measure, batch.taken(rows)
    sampling, tied = measure.sampling, batch.tied
    assert sampling is not None
    alone = replace(measure, sampling=None, affordable=sampling.affordable, heard=nobody)
    exactly = replace(whole, measure=alone)

    def estimate(row: Indexes) -> Measured:
        one = whole.taken(row)
        return estimated_match(batch.clocks, sampling, one.groups, list(coupled_problems(one.coupled)), tied)

    return rows, measured_or_estimated(lambda some: door(exactly.taken(some)), estimate, len(rows))


def given(batch: Batch, rows: Indexes) -> Found:
    """Matches beside all that is tied to their events, in the worlds that remain."""
    from cepctl.engines.confidence.given.known_order import broken_by_order, rivals_left, settled_by_order

    whole, measure, ties = batch.taken(rows), batch.measure, batch.ties
    found, open_still = impossible(len(rows)), np.arange(len(rows))
    if measure.shape.only_single and whole.spans is None and not measure.shape.hides_ends:
        events, masses = whole.events, measure.masses
        whole = replace(whole, rivals=rivals_left(whole.rivals, events, ties, masses))
        settled, certain = settled_by_order(measure.shape, whole.rivals, events, ties, masses)
        found.put(settled, certain)
        broken = broken_by_order(whole.rivals, events, ties, masses)
        broken[settled] = True
        open_still = np.flatnonzero(~broken)
    if len(open_still):
        found.put(open_still, nested(whole, open_still)[1])
    return rows, found


def clock_chains(batch: Batch, rows: Indexes) -> Found:
    """Chains without rivals, over one offset or one difference of two at most."""
    from cepctl.engines.confidence.clocks import chains

    measure, clocks = batch.measure, batch.clocks
    on_own_parts = measure.placed(clocks.own).chains
    events = batch.taken(rows).events
    found, left = chains.clock_chains(clocks, measure.system, measure.window, events, on_own_parts)
    if len(left) and clocks.is_tied.any():
        from cepctl.engines.confidence.clocks.tied_chains import tied_chains

        tied, of_tied = tied_chains(clocks, measure.system, events[left])
        found.put(left[tied], of_tied)
        left = np.delete(left, tied)
    if not len(left):
        return rows, found
    measured = np.setdiff1d(np.arange(len(rows)), left)
    return rows[measured], found.taken(measured)


def within(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Independent matches within their spans: what they show is cut, other events stay as they are."""
    whole = batch.taken(rows)
    assert whole.spans is not None
    strangers = np.unique(np.concatenate([np.zeros(0, np.int64), *(each.event for each in whole.rivals)]))
    row, event, numbered = flattened(whole.bound)
    hidden = whole.measure.shape.hidden_at_ends
    free = np.repeat([i in hidden for i in numbered], [len(events_in(each)) for each in numbered.values()])
    spans = whole.spans.take(row).but_for(free).followed_by_everywhere(len(strangers))
    events = np.concatenate([event, strangers])
    masses, share = cut_masses(batch.measure.masses, events, spans.first, spans.last)
    inside = np.ones(len(rows))
    np.multiply.at(inside, row, share[: len(row)])
    found, possible = impossible(len(rows)), np.flatnonzero(inside > 0.0)
    if len(possible):
        rivals = []
        for each in whole.rivals:
            # An event that a match binds may be another rule's rival of it: it is cut there, too.
            stranger = len(row) + np.searchsorted(strangers, each.event)
            rivals.append(replace(each, event=places_of(row, event, each.row, each.event, stranger)))
        cut = BoundMatches(numbered, rivals).taken(possible)
        part = door(batch.placed(batch.measure.placed(masses), cut))
        found.put(possible, replace(part, confidence=inside[possible] * part.confidence))
    return rows, found


def in_each_order(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Matches with AND: a sum over the orders of their events, each measured as a chain.

    Events at one tick are one event of the chain, whose mass is the product of theirs.  Where an error is
    allowed, a match that costs too much is measured from worlds of its own.
    """
    whole = batch.taken(rows)
    if batch.measure.sampling is None:
        return rows, _summed(door, whole)
    from cepctl.engines.confidence.clocks.estimates import measured_or_estimated

    exactly = replace(whole, measure=replace(whole.measure, sampling=None, heard=nobody))
    return rows, measured_or_estimated(
        lambda some: _summed(door, exactly.taken(some)), lambda row: nested(whole, row)[1], len(rows)
    )


def _summed(door: Door, whole: Batch) -> Measured:
    total = Total(len(whole))
    for order in total_orders(whole.measure.shape):
        rows = _possible(whole, order)
        if len(rows):
            share, chains = _in_order(whole.taken(rows), order)
            found = door(chains)
            # Intervals that overlap need share no tick.
            met = np.flatnonzero(share > 0.0)
            found = found.taken(met)
            total.add(rows[met], share[met] * found.confidence, found.start, found.end)
    return total.measured()


def _possible(whole: Batch, order: TotalOrder) -> Indexes:
    """The matches that may have their events in an order, as far as intervals say."""
    masses, lower, upper = whole.measure.masses, [], []
    for step in order.steps:
        events = [_single(whole, component) for component in step]
        lower.append(np.max([masses.lower[each] for each in events], axis=0))
        upper.append(np.min([masses.upper[each] for each in events], axis=0))
    ends = np.stack(lower, axis=1), np.stack(upper, axis=1)
    return np.flatnonzero(possible(*valid_bounds(*ends, _system(order))))


def _in_order(whole: Batch, order: TotalOrder) -> tuple[Reals, Batch]:
    """How probable it is that what shares a tick does so, and the chains beside that."""
    masses, share = whole.measure.masses, np.ones(len(whole))
    bound: dict[int, Indexes] = {}
    for number, step in enumerate(order.steps):
        masses, bound[number], met = _met(masses, whole, step)
        share = share * met
    chain = order.chain
    measure = replace(
        whole.measure, shape=chain, system=_system(order), masses=masses, sampling=None, sifted=False
    )
    rivals = []
    for each in whole.rivals:
        rule = order.rule(each.rule)
        if rule is not None:
            rivals.append(Rivals(rule, each.row, each.event))
    known = {*chain.rules}
    more = tuple(dict.fromkeys(each.rule for each in rivals if each.rule not in known))
    chain = replace(chain, rules=(*chain.rules, *more))
    return share, Batch(replace(measure, shape=chain), dict(bound), rivals)


def _met(masses: Masses, whole: Batch, step: Step) -> tuple[Masses, Indexes, Reals]:
    """The event of each chain that stands for a step, and how probable it is that the step has one tick.

    `masses` are followed by those of events that stand for several.
    """
    first, *others = (_single(whole, component) for component in step)
    share = np.ones(len(whole))
    for other in others:
        distinct, place = distinct_rows(np.stack([first, other], axis=1))
        met, shares = met_masses(masses, first[distinct], other[distinct])
        first = len(masses.lower) + place
        masses, share = masses.followed_by(met), share * shares[place]
    return masses, first, share


def _single(whole: Batch, component: int) -> Indexes:
    events = whole.bound[component]
    assert not isinstance(events, Group)
    return events


def _system(order: TotalOrder) -> Indexes:
    return closed_system(range(len(order.steps)), order.shape.window)


def under_laws(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Any matches of single events in order: their ranges as without a law, their confidences by it."""
    measure = batch.measure
    orders = measure.depends.orders
    assert orders is not None
    lawless = replace(measure, depends=measure.depends.but_for_orders())
    plain = replace(batch, measure=lawless).taken(rows)
    found = door(plain)
    # What holds in every world does under every law.
    possible = np.flatnonzero(found.possible & (found.confidence < 1.0))
    if not len(possible) or measure.ranges_only:
        return rows, found
    lawful = orders.probabilities(rows_of(plain.taken(possible)), measure.window)
    confidence = found.confidence.copy()
    confidence[possible] = np.where(np.isnan(lawful), confidence[possible], lawful)
    return rows, replace(found, confidence=confidence)


def rows_of(batch: Batch) -> LawRows:
    """What the matches of a batch ask; only rivals that can decide one count."""
    from cepctl.engines.confidence.orders.asked import LawRows

    shape, deciding = batch.measure.shape, batch.deciding
    if not deciding:
        return LawRows.plain(batch.events)
    gaps = [_bits({_gap(region, shape) for region in each.rule.regions}) for each in deciding]
    row = np.concatenate([each.row for each in deciding])
    rival = np.concatenate([each.event for each in deciding])
    words = np.repeat(gaps, [len(each.row) for each in deciding])
    order = np.lexsort((rival, row))
    new = np.ones(len(order), dtype=bool)
    new[1:] = (np.diff(row[order]) != 0) | (np.diff(rival[order]) != 0)
    begins = np.flatnonzero(new)
    joined = np.bitwise_or.reduceat(words[order], begins) if len(begins) else words
    return LawRows(batch.events, row[order][begins], rival[order][begins], joined)


def _bits(gaps: set[int]) -> int:
    return sum(1 << gap for gap in gaps)


def _gap(region: Region, shape: Shape) -> int:
    """The number of a gap: 0 before the first event, that of the events after the last."""
    between = gap_of(region)
    if between is not None:
        return between + 1
    edge = edge_of(region, shape)
    if edge is None and len(region) == 1:
        edge = "after" if region[0].is_lower else "before"
    assert edge is not None
    return 0 if edge == "before" else len(shape.blocks)
