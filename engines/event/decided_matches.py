"""Matches and those who can break them, measured in the way that their events ask for.

Their events may share clocks, or something may be given of them; else they are independent of each other.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.columns.bindings import Bindings, single_events, take
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.pattern.difference_constraints import possible

if TYPE_CHECKING:
    from cepctl.engines.event.alternative import PreparedAlternative
    from cepctl.engines.pattern.rivals import Rivals


def decided(prepared: PreparedAlternative, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
    """Time range and confidence of matches that the given rivals can break.

    Raises
    ------
    QueryTooLargeError
        If a match exceeds the bound on the work and estimates are not allowed.
    """
    clocks, ties = prepared.events.clocks, prepared.events.ties
    if ties is not None and clocks is not None:
        return _on_tied_clocks(prepared, clocks, ties, bound, rivals)
    if ties is not None:
        return decided_with_ties(prepared, prepared.events.masses, ties, bound, rivals)
    if clocks is None:
        return _independent(prepared, prepared.events.masses, bound, rivals)
    return _on_clocks(prepared, clocks, bound, rivals)


def decided_with_ties(
    prepared: PreparedAlternative,
    masses: Masses,
    ties: EventTies,
    bound: dict[int, Bindings],
    rivals: list[Rivals],
) -> Measured:
    """Matches some of whose events may be tied: each of these with its components."""
    from cepctl.engines.given.confidences import are_tied, tied_matches

    count = len(prepared.measure.groups(bound)[0].sizes)
    tied = are_tied(ties, bound, rivals, count)
    found = impossible(count)
    for rows in (np.flatnonzero(~tied), np.flatnonzero(tied)):
        if len(rows):
            chosen = {i: take(each, rows) for i, each in bound.items()}
            others = [each.taken(rows) for each in rivals]
            if tied[rows[0]]:
                measure = replace(prepared.measure, masses=masses)
                if masses is not prepared.events.masses:
                    # As in `_independent`: what offsets are summed of is exact.
                    measure = replace(measure, sampling=None)
                found.put(rows, tied_matches(measure, ties, chosen, others))
            else:
                found.put(rows, if_possible(prepared, masses, chosen, others))
    return found


def if_possible(
    prepared: PreparedAlternative, masses: Masses, bound: dict[int, Bindings], rivals: list[Rivals]
) -> Measured:
    """As `_independent`, also of matches that cannot happen, which methods for chains never meet."""
    if not prepared.shape.only_single:
        return _independent(prepared, masses, bound, rivals)
    matches = single_events([bound[i] for i in prepared.search.singles])
    rows = np.flatnonzero(possible(*replace(prepared.measure, masses=masses).valid(matches)))
    if len(rows) == len(matches):
        return _independent(prepared, masses, bound, rivals)
    found = impossible(len(matches))
    if len(rows):
        chosen = {i: take(each, rows) for i, each in bound.items()}
        found.put(rows, _independent(prepared, masses, chosen, [each.taken(rows) for each in rivals]))
    return found


def _independent(
    prepared: PreparedAlternative, masses: Masses, bound: dict[int, Bindings], rivals: list[Rivals]
) -> Measured:
    """Matches of events with these masses, which are independent of each other."""
    measure = prepared.measure
    if masses is not prepared.events.masses:
        # Events where offsets put them are measured exactly: errors of a sum's terms would add up.  Every
        # combination of offsets has gaps and cuts of its own.
        own = prepared.events.clocks is not None and masses is prepared.events.clocks.own
        measure = replace(measure, masses=masses, sampling=None, shares_gaps=False, shares_cuts=own)
    if prepared.shape.plain_chain:
        return measure.chains(single_events([bound[i] for i in prepared.search.singles]))
    from cepctl.engines.measure.methods import rivalled_matches

    return rivalled_matches(measure, bound, rivals)


def _on_clocks(
    source: PreparedAlternative, clocks: EventClocks, bound: dict[int, Bindings], rivals: list[Rivals]
) -> Measured:
    """Time range and confidence of matches that the given rivals can break.

    Raises
    ------
    QueryTooLargeError
        If a match needs more work than is allowed, and estimates are not.
    """
    if source.options.approximate is None:
        return exactly_on_clocks(source, clocks, bound, rivals)
    from cepctl.engines.clocks.estimates import estimated_match, measured_or_estimated

    sampling = source.measure.sampling
    assert sampling is not None

    def exact(rows: Indexes) -> Measured:
        some = {i: take(each, rows) for i, each in bound.items()}
        return exactly_on_clocks(source, clocks, some, [each.taken(rows) for each in rivals])

    def estimate(row: Indexes) -> Measured:
        one = {i: take(each, row) for i, each in bound.items()}
        return estimated_match(clocks, sampling, source.measure.groups(one), list(source.problems(one)))

    return measured_or_estimated(exact, estimate, len(source.measure.groups(bound)[0].sizes))


def _on_tied_clocks(
    source: PreparedAlternative,
    clocks: EventClocks,
    ties: EventTies,
    bound: dict[int, Bindings],
    rivals: list[Rivals],
) -> Measured:
    """The same where something is given of the events, or of others of their clocks.

    Raises
    ------
    QueryTooLargeError
        If a match needs more work than is allowed.
    """
    from cepctl.engines.given.clocked_confidences import given_on_clocks
    from cepctl.engines.given.on_clocks import GivenOnClocks

    known = GivenOnClocks.of(clocks, ties)
    count = len(source.measure.groups(bound)[0].sizes)
    touching = known.touch(count, list(bound.values()), rivals)
    found = impossible(count)
    for rows in (np.flatnonzero(~touching), np.flatnonzero(touching)):
        if len(rows):
            chosen = {i: take(each, rows) for i, each in bound.items()}
            others = [each.taken(rows) for each in rivals]
            if touching[rows[0]]:
                masses, shape = source.events.masses, source.shape
                decide = partial(decided_with_ties, source)
                found.put(rows, given_on_clocks(known, masses, shape, chosen, others, decide))
            else:
                found.put(rows, exactly_on_clocks(source, clocks, chosen, others))
    return found


def exactly_on_clocks(
    source: PreparedAlternative, clocks: EventClocks, bound: dict[int, Bindings], rivals: list[Rivals]
) -> Measured:
    """The same, without estimates."""
    from cepctl.engines.clocks.chains import clock_chains
    from cepctl.engines.clocks.conditioned import conditioned

    shape, envelopes = source.shape, source.events.masses
    if not shape.plain_chain:
        return conditioned(clocks, envelopes, shape, bound, rivals, partial(if_possible, source))
    matches = single_events([bound[i] for i in source.search.singles])
    on_own_parts = partial(_possible_chains, source, clocks.own)
    found, left = clock_chains(clocks, source.search.system, source.plan.window, matches, on_own_parts)
    if len(left):
        chosen = {i: take(each, left) for i, each in bound.items()}
        found.put(left, conditioned(clocks, envelopes, shape, chosen, [], partial(if_possible, source)))
    return found


def _possible_chains(source: PreparedAlternative, masses: Masses, matches: Indexes) -> Measured:
    """Plain chains of events with these masses; those that cannot happen, too."""
    measure = replace(source.measure, masses=masses, sampling=None, shares_gaps=False)
    return measure.possible_chains(matches)
