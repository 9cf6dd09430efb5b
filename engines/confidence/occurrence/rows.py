"""Probability and ends of problems each by itself, a row being a key of one row; and which matches are sure.

A match fails where each of its problems does: some present clause of a problem fails, or all differences of
an absent one hold.  Whether such a world is left is searched for as the ends of time ranges are: no sum says
that a match holds in every world that satisfies what is given, since its last digit may err.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from cepctl.engines.columns.bindings import TickSpans
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.problem import (
    NO_EVENT,
    Clauses,
    CoupledMatches,
    Part,
    Problems,
    Tied,
    clauses_of,
    gathered,
    owned,
    present,
)
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.occurrence.ends import NEVER, ends_of
from cepctl.engines.confidence.occurrence.occurrence import Weighted, occurrences_by_rank
from cepctl.engines.confidence.work import ALLOW, NARROW, NESTED, most_products, too_costly
from cepctl.engines.pattern.difference_constraints import valid_bounds
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

WORK_BOUND = most_products(NESTED)
"""Products of masses that a single row may take."""


def most_allowed() -> str:
    """What a row may take, in words."""
    return f"{WORK_BOUND:,} products"


@dataclass(frozen=True)
class Rows:
    """n rows, each a group of one problem, of independent events with these masses."""

    masses: Masses
    clauses: Clauses

    @classmethod
    def of(cls, masses: Masses, problems: Problems, *besides: Tied) -> Rows:
        """Each problem as a row of its own, which asks for some differences `besides`."""
        count = len(problems.match)
        alone = replace(problems, match=np.arange(count))
        every = zip(own_limits(masses, problems), *besides, strict=True)
        problem, left, right, bound = (np.concatenate(each) for each in every)
        tied = problem, left, right, bound
        return cls(masses, clauses_of([alone], count, limited=False, tied=[tied]))

    def taken(self, chosen: Indexes) -> Self:
        """Some of the rows."""
        return replace(self, clauses=self.clauses.of_groups(chosen))

    def probability(self) -> Reals:
        """Of each row, NaN where it takes more than WORK_BOUND products; shape (n,)."""
        return self.under(Weighted.none(self.masses.laws, self.clauses.groups), WORK_BOUND)

    def under(self, weighted: Weighted, affordable: int | None = None) -> Reals:
        """The probabilities under other laws on the same ticks, or weights; NaN of all behind a refused one.

        `affordable`: how many products a row may take where others are measured also if one takes more.
        """
        rank, refuses = np.arange(len(weighted.buckets.lower)), affordable is None
        most = WORK_BOUND if affordable is None else affordable
        return occurrences_by_rank(rank, self.clauses, weighted, most, all_or_none=refuses).probability

    def ends(self, first: Indexes, last: Indexes) -> tuple[Ticks, Ticks]:
        """The earliest ticks of events `first` and the latest of `last`, as `ends_of` finds them.

        Raises
        ------
        QueryTooLargeError
            If there are too many ways in which rivals of a row can be away.
        """
        return ends_of(EventClocks.none(self.masses), self.clauses, first, last, NESTED)

    def refusal(self, problems: Problems, row: int) -> QueryTooLargeError:
        """That one of the problems that rows were made of takes too many products."""
        variables = problems.variables.event.shape[1]
        others = int(np.diff(problems.factors.offsets)[row])
        why = f"it couples {variables} events with {others} others"
        return too_costly("the exact confidence of a match", NESTED, most_allowed(), why, NARROW, ALLOW)


def shown_events(problems: Problems) -> tuple[Indexes, Indexes]:
    """The events of the first and the last variable that matches show, of each problem."""
    first, last = problems.structure.ends
    return problems.variables.event[:, first], problems.variables.event[:, last]


def own_limits(masses: Masses, problems: Problems) -> Tied:
    """What constants leave to variables, where that is less than their edges and intervals do."""
    event, lower, upper = problems.variables
    widest = valid_bounds(masses.lower[event], masses.upper[event], problems.structure.system)
    low, low_place = np.nonzero(lower > widest[0])
    high, high_place = np.nonzero(upper < widest[1])
    return (
        np.concatenate([low, high]),
        np.concatenate([np.full(len(low), NO_EVENT), event[high, high_place]]),
        np.concatenate([event[low, low_place], np.full(len(high), NO_EVENT)]),
        np.concatenate([-lower[low, low_place], upper[high, high_place]]),
    )


def within_spans(spans: TickSpans, first: Indexes, last: Indexes) -> Tied:
    """That what lies between the two events of each problem lies within its span."""
    begins, ends = np.flatnonzero(spans.first > FIRST), np.flatnonzero(spans.last < LAST)
    return (
        np.concatenate([begins, ends]),
        np.concatenate([np.full(len(begins), NO_EVENT), last[ends]]),
        np.concatenate([first[begins], np.full(len(ends), NO_EVENT)]),
        np.concatenate([-spans.first[begins], spans.last[ends]]),
    )


NEARLY = 1e-9
"""What misses 1 by less may be sure."""


def with_sure_ones(
    found: Measured,
    matches: CoupledMatches,
    clocks: EventClocks,
    tied: Callable[[Problems], Tied] | None = None,
) -> Measured:
    """Confidences that miss 1 by what sums are rounded, of matches that are sure, are 1.

    `tied` tells what is given of the events of problems, each of which is its own `match`.
    """
    near = np.flatnonzero((found.confidence != 1.0) & (np.abs(found.confidence - 1.0) < NEARLY))
    if not len(near):
        return found
    some, count = matches.taken(near), 0
    numbered, limits, match = [], [], []
    given: list[Tied] = []
    for problems in coupled_problems(some):
        alone = replace(problems, match=np.arange(len(problems.match)))
        numbered.append(replace(problems, match=count + alone.match))
        limits.append(own_limits(some.masses, problems))
        if tied is not None:
            of, left, right, bound = tied(alone)
            given.append((problems.match[of], left, right, bound))
        match.append(problems.match)
        count += len(problems.match)
    clauses = clauses_of(numbered, count, limited=False, tied=limits)
    sure = surely_hold(clocks, clauses, np.concatenate(match), len(near), given)
    confidence = found.confidence.copy()
    confidence[near[sure]] = 1.0
    return replace(found, confidence=confidence)


def surely_hold(
    clocks: EventClocks, clauses: Clauses, match: Indexes, count: int, given: Sequence[Tied] = ()
) -> Flags:
    """Which of `count` matches hold in every world that is left, as far as single absences tell.

    Parameters
    ----------
    clocks
        Of all events.
    clauses
        Of the problems of matches, a group for each.
    match, count
        The match of each problem, and how many matches there are.
    given
        Differences that all worlds satisfy, by match.
    """
    differences = np.diff(clauses.difference_offsets)
    of_clause = match[clauses.problem_of_clauses]
    absent = np.flatnonzero(clauses.absent)
    # Each row below asks for a world in which a match fails: first by its present clauses, then by a rival.
    owner = np.concatenate([np.arange(count), of_clause[absent]])
    held, _ = owned(clauses.difference_offsets, absent)
    row = count + np.repeat(np.arange(len(absent)), differences[absent])
    parts = [
        _none_of(clauses, match),
        present(row, clauses.left[held], clauses.right[held], clauses.bound[held]),
    ]
    if given:
        of, *rest = (np.concatenate(each) for each in zip(*given, strict=True))
        sizes = np.bincount(of, minlength=count)
        at, offsets = owned(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), owner)
        by_match = np.argsort(of, kind="stable")[at]
        left, right, bound = (each[by_match] for each in rest)
        parts.append(present(np.repeat(np.arange(len(owner)), np.diff(offsets)), left, right, bound))
    rows = gathered(parts, np.arange(len(owner)), len(owner))
    nothing = np.full(len(owner), NO_EVENT)
    fails = ends_of(clocks, rows, nothing, nothing)[0] != NEVER
    found = np.ones(count, dtype=bool)
    found[owner[fails]] = False
    return found


def _none_of(clauses: Clauses, match: Indexes) -> Part:
    """That of each problem not all present clauses hold."""
    kept = np.flatnonzero(~clauses.absent)
    at, _ = owned(clauses.difference_offsets, kept)
    sizes = np.bincount(clauses.problem_of_clauses[kept], minlength=len(match))
    flags = np.ones(len(match), dtype=bool)
    return Part(match, flags, sizes, clauses.left[at], clauses.right[at], clauses.bound[at])
