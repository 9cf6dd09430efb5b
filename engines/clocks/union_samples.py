"""Estimates where events share clocks: worlds are sampled, each of which draws every offset once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.clocks.union_frames import events_of_problems
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.sampling import STEP, Sampling, drawn, sample_size
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.occurrence.clauses import NO_EVENT, Clauses, clauses_of
from cepctl.engines.pattern.offset_bounds import stamps_of

_STEP, _NO_CLOCK = STEP, NO_CLOCK


@dataclass(frozen=True)
class ClockSampling(Sampling):
    """As `Sampling`, of events that share clocks."""

    def probabilities(self, groups: Sequence[Group], problems: Sequence[Problems]) -> tuple[Indexes, Reals]:
        """As `Sampling.probabilities`; constant limits of variables count as well."""
        assert self.events.clocks is not None
        matches = np.unique(np.concatenate([each.match for each in problems]))
        numbered = [
            Problems(each.structure, np.searchsorted(matches, each.match), each.variables, each.factors)
            for each in problems
        ]
        clauses = clauses_of(numbered, len(matches), limited=True)
        seeds = np.array([self.seed(groups, int(row)) for row in matches], dtype=np.uint64)
        hits, count = np.zeros(len(matches), dtype=np.int64), sample_size(self.error)
        drawing = _drawing(clauses, self.events.clocks.clock, self.events.id_rank)
        _count_hits(drawing, stamps_of(self.events.clocks), seeds, count, hits)
        return matches, hits / count


class _Drawing(NamedTuple):
    """What is drawn for each group: its clocks, then its events by the rank of their ids; and its clauses.

    `place`, of each event of a group, is that of its clock there, or -1.  `left` and `right` are places of
    events.
    """

    clock_offsets: Indexes
    clock: Indexes
    event_offsets: Indexes
    event: Indexes
    place: Indexes
    problem_offsets: Indexes
    clause_offsets: Indexes
    absent: Flags
    difference_offsets: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks


def _drawing(clauses: Clauses, clock: Indexes, id_rank: Indexes) -> _Drawing:
    groups = len(clauses.problem_offsets) - 1
    of_problem = np.repeat(np.arange(groups), np.diff(clauses.problem_offsets))
    problem, event = events_of_problems(clauses)
    width = len(id_rank) + 1
    event_of_rank = np.empty(width, dtype=np.int64)
    event_of_rank[id_rank] = np.arange(len(id_rank))
    names = np.unique(of_problem[problem] * width + id_rank[event])
    group, events = names // width, event_of_rank[names % width]
    stamped = np.flatnonzero(clock[events] != NO_CLOCK)
    clocks = int(clock.max(initial=-1)) + 2
    of_clocks = np.unique(group[stamped] * clocks + clock[events[stamped]])
    ends = np.arange(groups + 1)
    clock_offsets = np.searchsorted(of_clocks // clocks, ends).astype(np.int64)
    event_offsets = np.searchsorted(group, ends).astype(np.int64)
    place = np.full(len(events), -1, dtype=np.int64)
    wanted = group[stamped] * clocks + clock[events[stamped]]
    place[stamped] = np.searchsorted(of_clocks, wanted) - clock_offsets[group[stamped]]
    clause = np.repeat(np.arange(len(clauses.absent)), np.diff(clauses.difference_offsets))
    of_clause = np.repeat(np.arange(len(of_problem)), np.diff(clauses.clause_offsets))
    whose = of_problem[of_clause[clause]]

    def placed(side: Indexes) -> Indexes:
        known = side != NO_EVENT
        named = whose * width + id_rank[np.where(known, side, 0)]
        return np.where(known, np.searchsorted(names, named) - event_offsets[whose], NO_EVENT)

    return _Drawing(
        clock_offsets, of_clocks % clocks, event_offsets, events, place, clauses.problem_offsets,
        clauses.clause_offsets, clauses.absent, clauses.difference_offsets, placed(clauses.left),
        placed(clauses.right), clauses.bound,
    )  # fmt: skip


@kernel
def _count_hits(drawing, stamps, seeds, count, hits):
    """Per group, in how many of `count` worlds one of its problems holds."""
    for group in range(len(seeds)):
        clocks = drawing.clock[drawing.clock_offsets[group] : drawing.clock_offsets[group + 1]]
        first, last = drawing.event_offsets[group], drawing.event_offsets[group + 1]
        offset, tick = np.empty(len(clocks), np.int64), np.empty(last - first, np.int64)
        state = seeds[group]
        for _ in range(count):
            for c in range(len(clocks)):
                state += _STEP
                offset[c] = drawn(state, clocks[c], stamps.offsets)
            for e in range(first, last):
                state += _STEP
                tick[e - first] = drawn(state, drawing.event[e], stamps.own)
                if drawing.place[e] >= 0:
                    tick[e - first] += offset[drawing.place[e]]
            for p in range(drawing.problem_offsets[group], drawing.problem_offsets[group + 1]):
                if _holds(drawing, p, tick):
                    hits[group] += 1
                    break


@inner
def _holds(drawing, problem, tick):
    """Whether every clause of a problem holds."""
    for k in range(drawing.clause_offsets[problem], drawing.clause_offsets[problem + 1]):
        every = True
        for d in range(drawing.difference_offsets[k], drawing.difference_offsets[k + 1]):
            x, y = drawing.left[d], drawing.right[d]
            left = np.int64(0) if x < 0 else tick[x]
            right = np.int64(0) if y < 0 else tick[y]
            if left > plus(right, drawing.bound[d]):
                every = False
                break
        if every == drawing.absent[k]:
            return False
    return True
