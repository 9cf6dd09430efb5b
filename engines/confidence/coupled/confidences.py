"""Confidence and time range of matches whose events are tied in any way: their problems solved and added up.

The problems of one match are mutually exclusive, so their probabilities add up.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.arrays import Flags, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.certainty import always_in_one_order, certainly_in_order
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import Problems, reordered
from cepctl.engines.confidence.coupled.sampling import Sampling
from cepctl.engines.confidence.coupled.solve import coupled_confidence, first_ticks, mirrored, tick_range
from cepctl.engines.confidence.measured import Measured, Total

_LAST = np.iinfo(np.int64).max


def coupled_confidences(matches: CoupledMatches, sampling: Sampling | None = None) -> Measured:
    """Measure matches.

    Raises
    ------
    QueryTooLargeError
        If a problem exceeds the bound on its work; with `sampling` only if the search for its range does.
    """
    masses, total = matches.masses, Total(len(matches))
    error = np.zeros(len(matches))
    given_up: list[Problems] = []
    certain = certainly_in_order(matches.shape, masses, matches.groups)
    rivals_of_own = np.zeros(len(matches), dtype=bool)
    for each in matches.rivals:
        if each.rule.members_too:
            rivals_of_own[each.row] = True
    # Which of its own events break a match depends on their order.
    certain &= ~rivals_of_own | always_in_one_order(masses, matches.groups)
    for problems in coupled_problems(matches):
        part, first = _solved(masses, problems, error > 0, give_up=sampling is not None)
        last = -first_ticks(*mirrored(masses, problems))
        unknown = np.isnan(part) & (first != _LAST)
        if sampling is not None and unknown.any():
            given_up.append(problems.taken(np.flatnonzero(unknown)))
            error[problems.match[unknown]] = sampling.error
        certain[problems.match[_with_rivals(matches, problems, rivals_of_own)]] = False
        total.add(problems.match, np.where(unknown, 0.0, part), first, last)
    if sampling is not None and given_up:
        sampled, estimate = sampling.probabilities(matches.groups, given_up)
        total.confidence[sampled] = np.minimum(total.confidence[sampled] + estimate, 1.0)
    total.confidence[certain], error[certain] = 1.0, 0.0
    return replace(total.measured(), error=error)


def _with_rivals(matches: CoupledMatches, problems: Problems, rivals_of_own: Flags) -> Flags:
    """Problems with a rival that can decide: an event that must be outside of some region.

    Of events that are bound, `<>` leaves such regions; whether that can fail is known without a sum.  Rules
    of absence do so only in matches whose own events are their rivals, too: `rivals_of_own`.
    """
    factors, count = problems.factors, len(matches.masses.lower)
    outside = np.concatenate([[0], np.cumsum(~factors.inside)])
    some = np.flatnonzero(np.diff(outside[factors.region_offsets]) > 0)
    problem = np.searchsorted(factors.offsets, some, side="right") - 1
    bound = np.concatenate([group.owner * count + group.members for group in matches.groups])
    others = rivals_of_own[problems.match[problem]]
    others |= ~np.isin(problems.match[problem] * count + factors.event[some], bound)
    found = np.zeros(len(problems.match), dtype=bool)
    found[problem[others]] = True
    return found


def _solved(masses: Masses, problems: Problems, sampled: Flags, *, give_up: bool) -> tuple[Reals, Ticks]:
    """As `coupled_confidence`; matches that are `sampled` anyway are not summed any further."""
    hopeless = sampled[problems.match]
    if not hopeless.any():
        return coupled_confidence(masses, problems, give_up=give_up)
    part, first = np.full(len(hopeless), np.nan), np.zeros(len(hopeless), dtype=np.int64)
    kept = np.flatnonzero(~hopeless)
    part[kept], first[kept] = coupled_confidence(masses, problems.taken(kept), give_up=give_up)
    first[hopeless] = first_ticks(masses, problems.taken(np.flatnonzero(hopeless)))
    return part, first


def shown_range(matches: CoupledMatches) -> tuple[Ticks, Ticks]:
    """First and last tick of what matches show, which need not be that of their first and last events.

    Matches that cannot happen start after their end.
    """
    total = Total(len(matches))
    for problems in coupled_problems(matches):
        if len(problems.match):
            both = with_ends(problems, problems.structure.ends)
            total.widen(problems.match, *tick_range(matches.masses, *both))
    return total.start, total.end


def with_ends(problems: Problems, ends: tuple[int, int]) -> tuple[Problems, Problems]:
    """The same problems with one variable first, and with another one last.

    The smallest possible tick is that of the first variable of a problem, the largest that of the last one.
    """
    first, last = ends
    places = range(problems.variables.event.shape[1])
    return (
        reordered(problems, [first, *(i for i in places if i != first)]),
        reordered(problems, [*(i for i in places if i != last), last]),
    )
