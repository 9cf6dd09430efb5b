"""Probability and ends of problems each by itself: a row is a key of one row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from cepctl.engines.columns.bindings import TickSpans
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.coupled.clauses import NO_EVENT, Clauses, Tied, clauses_of
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.occurrence.ends import ends_of
from cepctl.engines.confidence.occurrence.occurrence import Weighted, occurrences_by_rank
from cepctl.engines.confidence.work import ALLOW, NARROW, NESTED, most_products, too_costly
from cepctl.engines.pattern.difference_constraints import valid_bounds
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Reals, Ticks

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
