"""Time range and confidence of matches that groups, AND or rivals decide, each by the cheapest exact way.

what ties the events of a match                          measured by
order and window alone                                   the closed form of chains
besides, rivals that can reach one gap each, or lie      a table per gap: all ticks of narrow
at one edge of the window                                intervals, few ticks of wide ones
three events and rivals that stay out of both gaps       a sum over both ends and cells between
no rivals, a set of members between two events           a sum over both of a product over members
anything else                                            nested sums (coupled problems)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.bindings import Bindings, Group, single_events, take
from cepctl.engines.columns.masses import ticks_between
from cepctl.engines.confidence.alike_matches import alike_matches
from cepctl.engines.confidence.coupled.confidences import coupled_confidences
from cepctl.engines.confidence.coupled.deciding_rivals import deciding_in_chains
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains, gap_chains
from cepctl.engines.confidence.gaps.opened_rings import OpenedRing
from cepctl.engines.confidence.gaps.polynomials import agreed_confidence
from cepctl.engines.confidence.gaps.shared_gaps import shared_gap_chains
from cepctl.engines.confidence.gaps.tables import gap_confidence, narrow
from cepctl.engines.confidence.gaps.time_range import range_of_places
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.sets.between import has_set_between, sets_between
from cepctl.engines.measure.measure import Measure
from cepctl.engines.measure.rival_blocks import coupled_blocks
from cepctl.engines.pattern.rivals import Rivals, certainly_broken, spans_of


def rivalled_matches(measure: Measure, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
    """Measure matches that the given rivals can break.

    Raises
    ------
    QueryTooLargeError
        If a match exceeds the bound on the work and there is no sampling.
    """
    if measure.shape.only_single and measure.sampling is None and measure.shapes is not None:
        event = single_events([bound[i] for i in sorted(bound)])
        same = alike_matches(event, rivals, measure.shapes)
        rows = np.flatnonzero(same == np.arange(len(same)))
        if len(rows) < len(same):
            distinct = {i: take(each, rows) for i, each in bound.items()}
            found = _measured(measure, distinct, [each.taken(rows) for each in rivals])
            return measure.moved(found, rows, event[:, 0], same)
    return _measured(measure, bound, rivals)


def _measured(measure: Measure, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
    """Measure matches one by one."""
    shape, masses, groups = measure.shape, measure.masses, measure.groups(bound)
    parts = _Parts(len(groups[0].sizes))
    left = ~certainly_broken(rivals, masses, spans_of(masses, groups))
    if shape.only_single:
        event = single_events([bound[i] for i in sorted(bound)])
        chains = _Chains(event, *measure.valid(event))
        deciding = deciding_in_chains(rivals, masses, measure.system, chains.lower, chains.upper)
        alone = left.copy()
        for each in deciding:
            alone[each.row] = False
        rows = np.flatnonzero(alone)
        if len(rows):
            parts.put(rows, measure.chains(event[rows]))
            left &= ~alone
        ring = measure.opened
        if ring is not None and left.any():
            rows, found = _with_gaps(measure, ring, chains, rivals, deciding, np.flatnonzero(left))
            parts.put(rows, found)
            left[rows] = False
        if ring is not None and not ring.by and event.shape[1] == 3 and left.any():
            rows, found = _with_shared_rivals(measure, chains, deciding, np.flatnonzero(left))
            parts.put(rows, found)
            left[rows] = False
    if has_set_between(shape) and left.any():
        rows, found = _of_sets(measure, groups, np.flatnonzero(left))
        parts.put(rows, found)
        left[rows] = False
    rows = np.flatnonzero(left)
    if len(rows):
        chosen = measure.groups({i: take(each, rows) for i, each in bound.items()})
        reaching = [each.taken(rows) for each in rivals]
        for begin, end in coupled_blocks(shape, chosen, reaching, measure.memory):
            block = np.arange(begin, end)
            members = [group.take(block) for group in chosen]
            near = [each.taken(block) for each in reaching]
            matches = CoupledMatches(shape, masses, members, near)
            found = coupled_confidences(matches, measure.sampling)
            parts.put(rows[block], found)
    return parts.measured()


MOST_TICKS_OF_ONE = 200
"""Widest interval that is tabulated for a gap of one match alone: a table costs the square of its ticks."""


class _Chains(NamedTuple):
    """Matches that bind single events, and the valid intervals of these: shape (n, l)."""

    event: Indexes
    lower: Ticks
    upper: Ticks


def _with_gaps(
    measure: Measure,
    ring: OpenedRing,
    matches: _Chains,
    rivals: list[Rivals],
    deciding: list[Rivals],
    rows: Indexes,
) -> tuple[Indexes, Measured]:
    """Measure those of some matches whose rivals tie no gaps together; also says which."""
    masses = measure.opened_masses
    usable, chains = _gaps(measure, ring, matches, rivals, rows)
    rows = rows[usable]
    start, end, possible = range_of_places(masses, chains, measure.window, ring.first, ring.last)
    confidence = np.empty(len(chains.event))
    tabulated = narrow(masses, chains)
    if not measure.shares_gaps:
        widths = ticks_between(masses.lower[chains.event], masses.upper[chains.event])
        tabulated &= (widths <= MOST_TICKS_OF_ONE).all(axis=1)
    chosen = np.flatnonzero(tabulated)
    confidence[chosen] = gap_confidence(masses, chains.taken(chosen), measure.window)
    wide = np.flatnonzero(~tabulated)
    if len(wide):
        confidence[wide] = agreed_confidence(
            masses, chains.taken(wide), measure.window, possible[wide],
            lambda some: _gaps(measure, ring, matches, deciding, rows[wide[some]])[1],
            # Two events have but one gap: what is cut more finely then costs less than what is done once.
            together=measure.shares_cuts or matches.event.shape[1] == 2,
        )  # fmt: skip
    start = np.where(possible, start - ring.moved[ring.first], 1)
    end = np.where(possible, end - ring.moved[ring.last], 0)
    solved = np.flatnonzero(~np.isnan(confidence))
    found = Measured(confidence[solved], np.zeros(len(solved)), start[solved], end[solved])
    return rows[solved], found


def _with_shared_rivals(
    measure: Measure, matches: _Chains, deciding: list[Rivals], rows: Indexes
) -> tuple[Indexes, Measured]:
    """Measure those of some matches whose rivals stay out of both gaps; also says which."""
    event, lower, upper = (each[rows] for each in matches)
    found, measured = shared_gap_chains(
        *(measure.masses, event, lower, upper, measure.system),
        [each.taken(rows) for each in deciding],
        measure.window,
    )
    return rows[found], measured


def _of_sets(measure: Measure, groups: list[Group], rows: Indexes) -> tuple[Indexes, Measured]:
    """Measure those of some matches whose members lie between two events; also says which."""
    found, measured = sets_between(measure.shape, measure.masses, [each.take(rows) for each in groups])
    return rows[found], measured


def _gaps(
    measure: Measure, ring: OpenedRing, matches: _Chains, rivals: list[Rivals], rows: Indexes
) -> tuple[Flags, GapChains]:
    """Gaps of some opened matches with these rivals; also says which have rivals that tie none together."""
    masses = measure.masses
    event, lower, upper = (each[rows] for each in matches)
    reaching = [(ring.gaps[region], each.taken(rows)) for each in rivals for region in each.rule.regions]
    return gap_chains(
        measure.opened_masses, ring.events(event, len(masses.lower)), ring.ticks(lower), ring.ticks(upper),
        ring.system(measure.system), reaching, ring.copies(len(masses.lower)),
    )  # fmt: skip


class _Parts:
    """Columns of measured matches, filled some rows at a time; impossible until then."""

    def __init__(self, count: int) -> None:
        self.confidence: Reals = np.zeros(count)
        self.error: Reals = np.zeros(count)
        self.start: Ticks = np.ones(count, dtype=np.int64)
        self.end: Ticks = np.zeros(count, dtype=np.int64)

    def put(self, rows: Indexes | Flags, found: Measured) -> None:
        self.confidence[rows], self.error[rows] = found.confidence, found.error
        self.start[rows], self.end[rows] = found.start, found.end

    def measured(self) -> Measured:
        return Measured(self.confidence, self.error, self.start, self.end)
