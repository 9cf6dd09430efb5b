"""Confidence and time range of matches whose events are tied: P(match and what is given) / P(what is given).

Only the components that a problem touches count: of all others the probability cancels.  The first and the
last event that a match shows are variables of its problems: to cut these to a span of ticks cuts all of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.bindings import Bindings, Group, TickSpans
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.clauses import Tied
from cepctl.engines.confidence.coupled.confidences import with_ends
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import Problems, Variables
from cepctl.engines.confidence.coupled.solve import tick_range
from cepctl.engines.confidence.given.certain import decided_matches
from cepctl.engines.confidence.given.components import piece_probability
from cepctl.engines.confidence.given.separators import tied_probability
from cepctl.engines.confidence.given.series import series_of
from cepctl.engines.confidence.given.tied_problems import TiedProblems, tied_problems
from cepctl.engines.confidence.given.touched_components import Touched, touched
from cepctl.engines.confidence.given.work import require_few, searched, within_bound
from cepctl.engines.confidence.measured import Measured, Total, impossible
from cepctl.engines.confidence.points.rival_blocks import BlockMemory, coupled_blocks
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.engines.pattern.difference_constraints import possible, valid_bounds

_NEARLY = 1e-9
"""What misses 1 by less may be certain."""


def tied_matches(
    matches: CoupledMatches, ties: EventTies, memory: BlockMemory, spans: TickSpans | None = None
) -> Measured:
    """Measure matches that bind tied events, or that such events could break, in blocks that fit in memory.

    With `spans` the confidence is that of a match within its span; its time range then means nothing.

    Raises
    ------
    QueryTooLargeError
        If the events that are tied to a match need too much work.
    """
    found = impossible(len(matches))
    for begin, end in coupled_blocks(matches.shape, matches.groups, matches.rivals, memory):
        block = np.arange(begin, end)
        within = None if spans is None else spans.take(block)
        found.put(block, given_confidences(matches.taken(block), ties, within))
    return found


def ties_of_problems(ties: EventTies, alone: Problems) -> Tied:
    """What is given of the events of problems, each of which is its own `match`."""
    touching = touched(alone, ties)
    at, offsets = touching.pieces.ties(ties)
    return np.repeat(touching.problem, np.diff(offsets)), ties.left[at], ties.right[at], ties.bound[at]


def are_tied(ties: EventTies, bound: dict[int, Bindings], rivals: list[Rivals], count: int) -> Flags:
    """Which of `count` matches bind an event that is tied, or have such a rival."""
    found = np.zeros(count, dtype=bool)
    for each in bound.values():
        if isinstance(each, Group):
            found[each.owner[ties.touches(each.members)]] = True
        else:
            found |= ties.touches(each)
    for rival in rivals:
        found[rival.row[ties.touches(rival.event)]] = True
    return found


def given_confidences(matches: CoupledMatches, ties: EventTies, spans: TickSpans | None = None) -> Measured:
    """Measure matches, as `cepctl.engines.confidence.coupled.confidences` does, in the worlds that remain.

    With `spans` the confidence is that of a match within its span; its time range then means nothing.
    """
    total = Total(len(matches))
    for problems in coupled_problems(matches):
        found = _of_problems(matches.masses, ties, problems, spans, hides=matches.shape.hides_ends)
        total.add(problems.match, found.confidence, found.start, found.end)
    near = np.flatnonzero((total.confidence != 1.0) & (np.abs(total.confidence - 1.0) < _NEARLY))
    if len(near) and spans is None:
        certain = decided_matches(matches.taken(near), ties).always
        total.confidence[near] = np.where(certain, 1.0, np.minimum(total.confidence[near], 1.0))
    return total.measured()


def _of_problems(
    masses: Masses, ties: EventTies, problems: Problems, spans: TickSpans | None, *, hides: bool
) -> Total:
    """Each problem in the worlds that remain; the range and spans are those of what it shows."""
    total, touching = Total(len(problems.match)), touched(problems, ties)
    solve = _Solve(masses, ties, problems.structure.ends, hides)
    rows = np.setdiff1d(np.arange(len(problems.match)), touching.problem)
    free = problems.taken(rows)
    if len(rows):
        own = None if spans is None else spans.take(free.match)
        total.add(rows, *solve.measured(TiedProblems(free, free, free), own))
    require_few(touching.pieces.size)
    if len(touching.problem):
        sums = Total(len(problems.match))
        for each in tied_problems(problems, ties, masses, touching):
            own = None if spans is None else spans.take(problems.match[each.first.match])
            sums.add(each.first.match, *solve.measured(each, own))
        rows = np.unique(touching.problem)
        confidence = sums.confidence[rows] / given_probability(ties, masses, touching, rows)
        total.add(rows, confidence, sums.start[rows], sums.end[rows])
    return total


def given_probability(ties: EventTies, masses: Masses, touching: Touched, rows: Indexes) -> Reals:
    """The probability of the components that problems touch, shape of `rows`."""
    probability = piece_probability(ties, masses, touching.pieces)
    product = np.ones(int(rows.max()) + 1)
    np.multiply.at(product, touching.problem, probability)
    return product[rows]


@dataclass(frozen=True)
class _Solve:
    """How problems are solved of which `ends` are the first and the last variable that matches show.

    `hides`: whether there may be others of matches before or after these.
    """

    masses: Masses
    ties: EventTies
    ends: tuple[int, int]
    hides: bool

    def measured(self, problems: TiedProblems, spans: TickSpans | None) -> tuple[Reals, Indexes, Indexes]:
        """Probability, first and last tick of problems; with `spans` of those within these.

        The rest of a series can always be in order, wherever in their intervals its other events are: it
        changes no range.
        """
        if spans is not None:
            confidence = _within(self.ties, problems.weighted, self.ends, spans)
            never: Indexes = (confidence <= 0.0).astype(np.int64)
            return confidence, never, np.zeros(len(never), dtype=np.int64)
        first, last = problems.first, problems.last
        if self.hides:
            first, last = with_ends(first, self.ends)
        confidence = _summed(self.ties, problems.weighted)
        if self.masses.uniform and not len(first.factors.event):
            # Every end of a valid interval is reached in some world.
            return confidence, first.variables.lower[:, 0], last.variables.upper[:, -1]
        return confidence, *searched(lambda: tick_range(self.masses, first, last), first)


def _within(ties: EventTies, problems: Problems, ends: tuple[int, int], spans: TickSpans) -> Reals:
    """The probability of problems in which all between two variables lies within spans."""
    lower, upper = problems.variables.lower.copy(), problems.variables.upper.copy()
    first, last = ends
    lower[:, first] = np.maximum(lower[:, first], spans.first)
    upper[:, last] = np.minimum(upper[:, last], spans.last)
    lower, upper = valid_bounds(lower, upper, problems.structure.system)
    found, rows = np.zeros(len(problems.match)), np.flatnonzero(possible(lower, upper))
    if len(rows):
        variables = Variables(problems.variables.event[rows], lower[rows], upper[rows])
        found[rows] = _summed(ties, replace(problems.taken(rows), variables=variables))
    return found


def _summed(ties: EventTies, problems: Problems) -> Reals:
    laws = series_of(ties).laws
    return within_bound(lambda some: tied_probability(laws, some), problems)
