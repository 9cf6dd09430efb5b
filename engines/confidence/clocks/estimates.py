"""Estimates where events share clocks: worlds are sampled, each of which draws every offset once.

A match on shared clocks, or of tied events, that costs too much to be exact is sampled by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.clocks import NO_CLOCK, NO_TIE, EventClocks
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.confidence.clocks.union_ranges import NEVER, ends_on_clocks
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.sampling import STEP, Sampling, drawn, sample_size
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.occurrence.clauses import NO_EVENT, Clauses, Tied, clauses_of
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.offset_bounds import stamps_of
from cepctl.errors import QueryTooLargeError

_STEP = STEP
_NO_TIE = NO_TIE
_MOST_DRAWN = 100
"""How many worlds are drawn at most for each that is wanted."""


@dataclass(frozen=True)
class ClockSampling(Sampling):
    """As `Sampling`, of events that share clocks."""

    def probabilities(self, groups: Sequence[Group], problems: Sequence[Problems]) -> tuple[Indexes, Reals]:
        """As `Sampling.probabilities`; constant limits of variables count as well."""
        clocks, matches = self.events.stamps, np.unique(np.concatenate([each.match for each in problems]))
        numbered = [
            Problems(each.structure, np.searchsorted(matches, each.match), each.variables, each.factors)
            for each in problems
        ]
        clauses = clauses_of(numbered, len(matches), limited=True)
        seeds = np.array([self.seed(groups, int(row)) for row in matches], dtype=np.uint64)
        hits, count = np.zeros(len(matches), dtype=np.int64), sample_size(self.error)
        drawing = _drawing(clauses, clocks, self.events.id_rank)
        if not _count_hits(drawing, stamps_of(clocks), seeds, count, hits):
            raise QueryTooLargeError(
                f"--approximate draws offsets of clocks until {count:,} satisfy the ties of their segments, "
                f'and fewer than one of {_MOST_DRAWN} does; write residual = "epoch" in the rule of the clock'
            )
        return matches, hits / count


class _Drawing(NamedTuple):
    """What is drawn for each group: its clocks, then its events by the rank of their ids; and its clauses.

    `tie`, of each clock of a group, is that to the one before it.  `place`, of each event of a group, is that
    of its clock there, or -1.  `left` and `right` are places of events.
    """

    clock_offsets: Indexes
    clock: Indexes
    tie: Ticks
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


def _drawing(clauses: Clauses, stamps: EventClocks, id_rank: Indexes) -> _Drawing:
    clock = stamps.clock
    groups, of_problem = clauses.groups, clauses.group_of_problems
    problem, event = clauses.events()
    width = len(id_rank) + 1
    event_of_rank = np.empty(width, dtype=np.int64)
    event_of_rank[id_rank] = np.arange(len(id_rank))
    names = np.unique(of_problem[problem] * width + id_rank[event])
    group, events = names // width, event_of_rank[names % width]
    stamped = np.flatnonzero(clock[events] != NO_CLOCK)
    clocks = len(stamps.tie) + 1
    of_clocks = np.unique(group[stamped] * clocks + clock[events[stamped]])
    whose, chained = stamps.with_chains(of_clocks // clocks, of_clocks % clocks)
    of_clocks = whose * clocks + chained
    ends = np.arange(groups + 1)
    clock_offsets = np.searchsorted(of_clocks // clocks, ends).astype(np.int64)
    event_offsets = np.searchsorted(group, ends).astype(np.int64)
    place = np.full(len(events), -1, dtype=np.int64)
    wanted = group[stamped] * clocks + clock[events[stamped]]
    place[stamped] = np.searchsorted(of_clocks, wanted) - clock_offsets[group[stamped]]
    whose = of_problem[clauses.problem_of_differences]

    def placed(side: Indexes) -> Indexes:
        known = side != NO_EVENT
        named = whose * width + id_rank[np.where(known, side, 0)]
        return np.where(known, np.searchsorted(names, named) - event_offsets[whose], NO_EVENT)

    return _Drawing(
        clock_offsets, chained, stamps.tie[chained], event_offsets, events, place, clauses.problem_offsets,
        clauses.clause_offsets, clauses.absent, clauses.difference_offsets, placed(clauses.left),
        placed(clauses.right), clauses.bound,
    )  # fmt: skip


@kernel
def _count_hits(drawing, stamps, seeds, count, hits):
    """Per group, in how many of `count` worlds one of its problems holds; False where too few obey ties."""
    for group in range(len(seeds)):
        clocks = drawing.clock[drawing.clock_offsets[group] : drawing.clock_offsets[group + 1]]
        first, last = drawing.event_offsets[group], drawing.event_offsets[group + 1]
        offset, tick = np.empty(len(clocks), np.int64), np.empty(last - first, np.int64)
        tie = drawing.tie[drawing.clock_offsets[group] : drawing.clock_offsets[group + 1]]
        state, broken = seeds[group], 0
        for _ in range(count):
            c = 0
            while c < len(clocks):
                state += _STEP
                offset[c] = drawn(state, clocks[c], stamps.offsets)
                if tie[c] != _NO_TIE and abs(offset[c] - offset[c - 1]) > tie[c]:
                    broken += 1
                    if broken > _MOST_DRAWN * count:
                        return False
                    # All of a chain are drawn again.
                    while tie[c] != _NO_TIE:
                        c -= 1
                else:
                    c += 1
            for e in range(first, last):
                state += _STEP
                tick[e - first] = drawn(state, drawing.event[e], stamps.own)
                if drawing.place[e] >= 0:
                    tick[e - first] += offset[drawing.place[e]]
            for p in range(drawing.problem_offsets[group], drawing.problem_offsets[group + 1]):
                if _holds(drawing, p, tick):
                    hits[group] += 1
                    break
    return True


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


def measured_or_estimated(
    exact: Callable[[Indexes], Measured], estimate: Callable[[Indexes], Measured], count: int
) -> Measured:
    """Measure `count` matches; those that `exact` refuses are found by halving, and estimated one by one."""
    found = impossible(count)
    waiting = [np.arange(count)] if count else []
    while waiting:
        rows = waiting.pop()
        try:
            found.put(rows, exact(rows))
        except QueryTooLargeError:
            if len(rows) == 1:
                found.put(rows, estimate(rows))
            else:
                waiting += [rows[len(rows) // 2 :], rows[: len(rows) // 2]]
    return found


def estimated_match(
    clocks: EventClocks,
    sampling: Sampling,
    groups: Sequence[Group],
    problems: Sequence[Problems],
    tied: Callable[[Problems], Tied] | None = None,
) -> Measured:
    """One match, from sampled worlds; whether it is possible, and its time range, are exact.

    `tied` tells what is given of the events of problems, each of which is its own `match`.

    Raises
    ------
    QueryTooLargeError
        If the search for its range takes too long.
    """
    start, end, possible = NEVER, -NEVER, []
    for each in problems:
        if not len(each.match):
            continue
        alone = Problems(each.structure, np.arange(len(each.match)), each.variables, each.factors)
        known = () if tied is None else (tied(alone),)
        clauses = clauses_of([alone], len(alone.match), limited=True, tied=known)
        ends = (each.variables.event[:, place] for place in each.structure.ends)
        first, last = ends_on_clocks(clocks, clauses, *ends)
        happens = np.flatnonzero(first != NEVER)
        if len(happens):
            start, end = min(start, int(first.min())), max(end, int(last[happens].max()))
            possible.append(each.taken(happens))
    if not possible:
        return impossible(1)
    _, estimate = sampling.probabilities(groups, possible)
    return Measured(
        estimate, np.full(1, sampling.error), np.full(1, start, np.int64), np.full(1, end, np.int64)
    )
