"""Where the events of one match lie: per bin of time the probability, before and given the match.

Given the match, each event is held to one bin after the other: a copy of it that happens in the bin takes
its place, and the match is measured again.  That times the mass of the bin is the probability of both.  Of
interval events a bin tells how probable it is that they are under way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, events_in, take
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.endpoints import Endpoints, agreeing, cut_masses, of_points
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.intervals.measure import MeasureOnClocks
from cepctl.engines.confidence.intervals.rows import measured
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.pattern.blocks import Rivals
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import measure
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Reals, Ticks


def prior_shares(masses: Masses, event: int, edges: Reals) -> Reals:
    """Probability that an event lies in each bin, shape (bins,).

    Examples
    --------
    >>> one = np.array([1]), np.array([4])
    >>> masses = Masses(*one, np.array([0, 1]), *one, np.array([0.25]))
    >>> prior_shares(masses, 0, np.array([0.5, 1.5, 4.5])).tolist()
    [0.25, 0.75]
    """
    first, last = bin_ticks(edges)
    event_of_bins = np.full(len(first), event)
    return np.minimum(cut_masses(masses, event_of_bins, first, last)[1], 1.0)


def bin_ticks(edges: Reals) -> tuple[Ticks, Ticks]:
    """First and last tick of each bin, shape (bins,); a bin narrower than a tick may hold none."""
    cuts = np.ceil(edges).astype(np.int64)
    return cuts[:-1], cuts[1:] - 1


def posterior_shares(
    prepared: PreparedAlternative,
    bound: dict[int, Bindings],
    members: Sequence[int],
    rivals: list[Rivals],
    edges: Reals,
) -> list[Reals] | None:
    """Per member the probability of each bin given the match, shape (bins,) each.

    None where a rival is a member itself, which a copy in its place would hide, and where measuring so
    often is too much work.
    """
    if any(each.rule.members_too for each in rivals):
        return None
    first, last = bin_ticks(edges)
    bins = len(first)
    # A copy of each member for each bin that it can be in.
    member, bin_of = (each.reshape(-1) for each in np.indices((len(members), bins)))
    event = np.array(members)[member]
    masses, mass = cut_masses(prepared.events.masses, event, first[bin_of], last[bin_of])
    held = np.flatnonzero(mass > 0.0)
    if not len(held):
        return None
    member, bin_of, mass = member[held], bin_of[held], mass[held]
    copies = prepared.events.masses.followed_by(masses.take(held))
    count = len(prepared.events)
    rows = np.zeros(len(held), dtype=np.int64)
    number = np.arange(len(rows))
    replaced: dict[int, Bindings] = {}
    place = 0
    for i, each in bound.items():
        batch = take(each, rows)
        size = len(each.members) if isinstance(each, Group) else 1
        matrix = events_in(batch).reshape(len(rows), size).copy()
        own = (member >= place) & (member < place + size)
        matrix[own, member[own] - place] = count + number[own]
        flat = matrix.reshape(-1)
        replaced[i] = replace(batch, members=flat) if isinstance(batch, Group) else flat
        place += size
    repeated = [
        replace(each, row=np.repeat(number, len(each.event)), event=np.tile(each.event, len(number)))
        for each in rivals
    ]
    try:
        asked = replace(prepared.measure, masses=copies, sifted=False)
        found = measure(Batch(asked, replaced, repeated))
    except QueryTooLargeError:
        return None
    joint = np.where(found.start <= found.end, found.confidence, 0.0) * mass
    shares = np.zeros((len(members), bins))
    shares[member, bin_of] = joint
    return [each / each.sum() if each.sum() > 0 else each for each in shares]


def under_way(endpoints: Endpoints, event: int, ticks: Ticks) -> Reals:
    """P(start <= tick <= end) of one event by its law, for each of n ticks, shape (n,)."""
    count = len(ticks)
    start, end = np.full(count, event), np.full(count, endpoints.end[event])
    starts, begun = cut_masses(endpoints.masses, start, np.full(count, FIRST), ticks)
    ends, not_over = cut_masses(endpoints.masses, end, ticks, np.full(count, LAST))
    lengths = endpoints.shortest[start], endpoints.longest[start]
    places = np.arange(count)
    both = agreeing(starts.followed_by(ends), places, count + places, *lengths)
    found: Reals = np.where((begun > 0) & (not_over > 0), begun * not_over * both, 0.0)
    shares: Reals = np.minimum(found / endpoints.whole[event], 1.0)
    return shares


_UNDER_WAY = (((0, 2, 0), (2, 1, 0)),)
"""Of an event and a moment: it does not start after the moment, nor end before."""


def endpoint_spans(events: Events) -> Masses:
    """First and last ticks of all endpoints, in any world; only these are meant."""
    return events.endpoint_stamps.envelopes


def shares_under_way(events: Events, event: int, ticks: Ticks) -> Reals:
    """P(start <= tick <= end) of one event that lasts, for each of n ticks, shape (n,)."""
    ends, stamps = events.endpoints, events.endpoint_stamps
    if stamps.clock[event] == NO_CLOCK:
        return under_way(ends, event, ticks)
    count = len(ticks)
    starts = ends.masses.take(np.array([event])).followed_by(Masses.at(ticks))
    masses = starts.followed_by(ends.masses.take(ends.end[[event]]))
    plain = of_points(starts)
    alone = Endpoints(masses, plain.end, plain.shortest, plain.longest, plain.whole)
    for into, values in ((alone.shortest, ends.shortest), (alone.longest, ends.longest)):
        into[0] = values[event]
    alone.whole[0], alone.end[0] = ends.whole[event], count + 1
    clock = np.full(count + 2, NO_CLOCK)
    clock[[0, count + 1]] = stamps.clock[event]
    measure = MeasureOnClocks(_UNDER_WAY, alone, clocks=replace(stamps, clock=clock, own=masses))
    pairs = np.stack([np.zeros(count, dtype=np.int64), 1 + np.arange(count)], axis=1)
    found = measured(measure, pairs)
    shares: Reals = found.confidence
    return shares


_BETWEEN = (((2, 0, 0), (0, 4, 0)),)
"""Of an event and two moments: it is neither before the first nor after the second."""


def shares_between(
    stamps: EventClocks, own: Masses, clock: int, other: int, first: Ticks, last: Ticks
) -> Reals:
    """P(first <= own part + offset - other offset <= last) for n pairs of ticks, shape (n,); of tied clocks.

    `own`: that of one event; `clock`, `other`: whose offsets, NO_CLOCK for none.
    """
    found, some = np.zeros(len(first)), np.flatnonzero(first <= last)
    count = len(some)
    masses = own.followed_by(Masses.at(first[some])).followed_by(Masses.at(last[some]))
    clocks = replace(stamps, clock=np.append(clock, np.full(2 * count, other)), own=masses)
    places = 1 + np.arange(count)
    rows = np.stack([np.zeros(count, dtype=np.int64), places, places + count], axis=1)
    measure = MeasureOnClocks(_BETWEEN, of_points(masses), clocks=clocks)
    found[some] = measured(measure, rows).confidence
    return found
