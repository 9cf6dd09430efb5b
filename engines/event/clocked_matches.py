"""Matches of events that share clocks: measured exactly, or estimated where that costs too much and may be.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.clocks.chains import clock_chains
from cepctl.engines.clocks.conditioned import conditioned
from cepctl.engines.columns.bindings import Bindings, single_events, take
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.event.decided_matches import decided_with_ties, if_possible
from cepctl.engines.pattern.rivals import Rivals

if TYPE_CHECKING:
    from cepctl.engines.event.alternative import PreparedAlternative


def decided_on_clocks(
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


def decided_on_tied_clocks(
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
