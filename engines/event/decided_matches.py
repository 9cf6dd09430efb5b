"""Matches and those who can break them, measured in the way that their events ask for.

Their events may share clocks, or something may be given of them; else they are independent of each other.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cepctl.engines.columns.bindings import Bindings, single_events, take
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
        from cepctl.engines.event.clocked_matches import decided_on_tied_clocks

        return decided_on_tied_clocks(prepared, clocks, ties, bound, rivals)
    if ties is not None:
        return decided_with_ties(prepared, prepared.events.masses, ties, bound, rivals)
    if clocks is None:
        return _independent(prepared, prepared.events.masses, bound, rivals)
    from cepctl.engines.event.clocked_matches import decided_on_clocks

    return decided_on_clocks(prepared, clocks, bound, rivals)


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
