"""Groups of rows taken apart: rows that share neither events nor clocks are independent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.ties import connected
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.occurrence.clauses import NO_EVENT, Clauses


@dataclass(frozen=True)
class UnionParts:
    """Clauses whose groups are independent parts, and the group `of` that each is a part of, shape (p,)."""

    clauses: Clauses
    of: Indexes
    groups: int

    def together(self, probability: Reals) -> Reals:
        """Of each group the probability that some part of it holds; shape (p,) to shape (groups,)."""
        none = np.ones(self.groups)
        np.multiply.at(none, self.of, 1.0 - probability)
        whole = np.bincount(self.of, minlength=self.groups) == 1
        found: Reals = 1.0 - none
        alone = whole[self.of]
        found[self.of[alone]] = probability[alone]
        return found


def union_parts(clocks: EventClocks, clauses: Clauses) -> UnionParts:
    """The independent parts of every group."""
    groups, problems = len(clauses.problem_offsets) - 1, len(clauses.clause_offsets) - 1
    group = np.repeat(np.arange(groups), np.diff(clauses.problem_offsets))
    problem, event = events_of_problems(clauses)
    # An event or a clock is shared within a group alone.
    count = len(clocks.clock)
    clock = clocks.clock[event]
    stamped = np.flatnonzero(clock != NO_CLOCK)
    width = count + len(clocks.offsets.lower)
    names = np.concatenate(
        [group[problem] * width + event, group[problem[stamped]] * width + count + clock[stamped]]
    )
    _, shared = np.unique(names, return_inverse=True)
    left = np.concatenate([problem, problem[stamped]])
    right = problems + shared.reshape(-1)
    label = connected(problems + int(shared.max(initial=-1)) + 1, left, right)[:problems]
    order = np.lexsort((np.arange(problems), label, group))
    fresh = np.ones(problems, dtype=bool)
    fresh[1:] = (np.diff(group[order]) != 0) | (np.diff(label[order]) != 0)
    starts = np.flatnonzero(fresh)
    chosen, clause_offsets = owned(clauses.clause_offsets, order)
    differences, difference_offsets = owned(clauses.difference_offsets, chosen)
    parted = Clauses(
        np.append(starts, problems).astype(np.int64), clause_offsets, clauses.absent[chosen],
        difference_offsets, clauses.left[differences], clauses.right[differences], clauses.bound[differences],
    )  # fmt: skip
    return UnionParts(parted, group[order][starts], groups)


def events_of_problems(clauses: Clauses) -> tuple[Indexes, Indexes]:
    """Pairs of a problem and an event that it speaks of, with repetitions."""
    clause = np.repeat(np.arange(len(clauses.absent)), np.diff(clauses.difference_offsets))
    of_clause = np.repeat(np.arange(len(clauses.clause_offsets) - 1), np.diff(clauses.clause_offsets))
    problem = np.tile(of_clause[clause], 2)
    event = np.concatenate([clauses.left, clauses.right])
    known = np.flatnonzero(event != NO_EVENT)
    return problem[known], event[known]
