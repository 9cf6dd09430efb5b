"""Occurrences that cost too much to be exact, where an error is allowed: close bounds, else sampled worlds.

Where bounds that are certain are close, their middle is the answer and half their distance its error.  They
follow from the probabilities of pairs of rows.  From below it is the union of the best pair.  From above it
is the sum of all, less what the pairs of a tree have in common (Hunter, "An upper bound for the probability
of a union", Journal of Applied Probability 13 (1976)): best is the heaviest tree.

Else worlds are sampled: where less than one row is expected those in which some row holds, which makes the
error as much smaller, else any, as for a confidence.  A problem is drawn in proportion to the mass of the box
around it, then a world in that box; where the problem does not hold there, both are drawn anew.  So a row and
a world in which it holds come together in proportion to their probability.  One divided by how many rows hold
there, on average, times the sum of all rows, is the union (Karp, Luby and Madras, "Monte-Carlo approximation
algorithms for enumeration problems", Journal of Algorithms 10 (1989)): the error is that of a mean of shares,
times the sum.  To draw a row by its probability first, and another row where its box is missed, would favour
rows that fill their boxes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.tick_masses import mass_on
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.confidence.coupled.problem import Clauses, Problems
from cepctl.engines.confidence.coupled.sampling import (
    MOST_DRAWN,
    STEP,
    Sampling,
    Seeds,
    clauses_hold,
    draw_events,
    sample_size,
    unit_of,
    within,
)
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes, Reals

MOST_PAIRED = 64
"""Rows of a group whose pairs are looked at: the most probable ones."""
SHARES = 5 * MOST_PAIRED * (MOST_PAIRED - 1)
"""All pairs of a group together take a tenth of the work of one occurrence: a pair beyond its share of that
says nothing."""
_STEP = STEP


@dataclass(frozen=True)
class Estimates:
    """Probabilities and how far they can be off, shape (n,)."""

    probability: Reals
    error: Reals


@dataclass(frozen=True)
class RowProblems:
    """What the rows of some groups ask for: `match` is the number of a row, those of a group together.

    `sizes`: how many rows each group has; `confidence`: of each row.
    """

    problems: Sequence[Problems]
    sizes: Indexes
    confidence: Reals


def estimated(
    sampling: Sampling,
    problems: Sequence[Problems],
    groups: Indexes,
    least: Reals,
    most: Reals,
    by_row: Callable[[Indexes], RowProblems],
) -> Estimates:
    """Estimate the probability that some problem of each group holds.

    Parameters
    ----------
    sampling
        The error allowed, and the events.
    problems
        Those of all groups; `match` is the number of a group.
    groups
        Which are estimated, ascending, shape (n,).
    least, most
        Certain bounds of each, shape (n,).
    by_row
        What the rows of some of these groups ask for, by their places in `groups`.
    """
    probability, error = (least + most) / 2, (most - least) / 2
    far = np.flatnonzero(error > sampling.error)
    rare = far[most[far] < 1.0]
    if len(rare) and sampling.events.independent:
        rows = by_row(rare)
        own = [part for each in problems if len((part := _of_groups(each, groups[rare])).match)]
        seeds = sampling.seeds([_events_of(own, len(rare), sampling)], np.arange(len(rare)))
        found = _rare_unions(sampling, rows.problems, rows.sizes, rows.confidence, seeds)
        known = ~np.isnan(found)
        expected = np.add.reduceat(rows.confidence, np.cumsum(rows.sizes) - rows.sizes)
        probability[rare[known]], error[rare[known]] = found[known], (expected * sampling.error)[known]
        far = np.setdiff1d(far, rare[known])
    if len(far):
        own = [part for each in problems if len((part := _of_groups(each, groups[far])).match)]
        sampled, estimate = sampling.probabilities([_events_of(own, len(far), sampling)], own)
        probability[far[sampled]] = estimate
        error[far] = sampling.error
    return Estimates(np.clip(probability, least, most), error)


def _of_groups(problems: Problems, groups: Indexes) -> Problems:
    """The problems of some groups, these numbered from 0."""
    place = np.searchsorted(groups, problems.match)
    rows = np.flatnonzero(groups[np.minimum(place, len(groups) - 1)] == problems.match)
    return replace(problems.taken(rows), match=place[rows])


def _events_of(problems: Sequence[Problems], groups: int, sampling: Sampling) -> Group:
    """The events that matches of each group bind, once each by the order of ids: what seeds its worlds."""
    rank = sampling.events.id_rank
    owner = np.concatenate([np.repeat(each.match, each.variables.event.shape[1]) for each in problems])
    event = np.concatenate([each.variables.event.reshape(-1) for each in problems])
    order = np.lexsort((rank[event], owner))
    owner, event = owner[order], event[order]
    fresh = np.ones(len(owner), dtype=bool)
    fresh[1:] = (owner[1:] != owner[:-1]) | (event[1:] != event[:-1])
    return Group(np.searchsorted(owner[fresh], np.arange(groups + 1)).astype(np.int64), event[fresh])


@dataclass(frozen=True)
class RowPairs:
    """Pairs of rows, shape (p,), and the group that each belongs to."""

    group: Indexes
    one: Indexes
    other: Indexes

    @classmethod
    def of(cls, sizes: Indexes) -> RowPairs:
        """All pairs of the first rows of each group; groups have so many rows, one after the other."""
        none = np.zeros(0, dtype=np.int64)
        found = [(none, none, none)]
        begin = 0
        for group, size in enumerate(sizes):
            one, other = np.triu_indices(min(int(size), MOST_PAIRED), 1)
            found.append((np.full(len(one), group), begin + one, begin + other))
            begin += int(size)
        return cls(*(np.concatenate(each) for each in zip(*found, strict=True)))

    def clauses(self, rows: Clauses) -> Clauses:
        """What each pair asks for, as a group of its own, from what each row asks for."""
        which = np.stack([self.one, self.other], axis=1).reshape(-1)
        both = rows.of_groups(which)
        return both._replace(problem_offsets=np.ascontiguousarray(both.problem_offsets[::2]))


def bounds_by_pairs(probability: Reals, sizes: Indexes, pairs: RowPairs, union: Reals) -> tuple[Reals, Reals]:
    """Bounds from below and above for each group, shape (groups,).

    Parameters
    ----------
    probability
        Of each row, those of a group one after the other, the most probable first.
    sizes
        How many rows each group has.
    pairs, union
        Pairs of rows, and the probability that one of both holds; NaN where it is not known.
    """
    begin = np.cumsum(sizes) - sizes
    least = np.maximum.reduceat(probability, begin)
    most = np.add.reduceat(probability, begin)
    known = np.flatnonzero(~np.isnan(union))
    np.maximum.at(least, pairs.group[known], union[known])
    common = np.maximum(probability[pairs.one] + probability[pairs.other] - union, 0.0)
    common[np.isnan(union)] = 0.0
    for group in range(len(sizes)):
        own = pairs.group == group
        size = min(int(sizes[group]), MOST_PAIRED)
        weight = np.zeros((size, size))
        weight[pairs.one[own] - begin[group], pairs.other[own] - begin[group]] = common[own]
        most[group] -= _heaviest_tree(np.maximum(weight, weight.T))
    return least, np.maximum(np.minimum(most, 1.0), least)


def _heaviest_tree(weight: Reals) -> float:
    """The weight of the heaviest tree over all rows (Prim), none of whose edges is negative."""
    best, left, total = weight[0].copy(), np.ones(len(weight), dtype=bool), 0.0
    left[0] = False
    while left.any():
        row = int(np.argmax(np.where(left, best, -1.0)))
        total += float(best[row])
        left[row] = False
        best = np.maximum(best, weight[row])
    return total


def _rare_unions(
    of: Sampling, problems: Sequence[Problems], sizes: Indexes, confidence: Reals, seeds: Seeds
) -> Reals:
    """The probability that some row of each group holds, NaN where too few worlds were found.

    Parameters
    ----------
    of
        The error allowed, relative to the sum of a group's rows, and the events, which are independent.
    problems
        What rows ask for; `match` is the number of a row, those of a group one after the other.
    sizes
        How many rows each group has.
    confidence
        Of each row.
    seeds
        Of each group.
    """
    group = np.repeat(np.arange(len(sizes)), sizes)
    row = np.concatenate([each.match for each in problems])
    worlds = of.worlds([replace(each, match=group[each.match]) for each in problems], np.arange(len(sizes)))
    row = row[np.argsort(group[row], kind="stable")]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    found = np.full(len(sizes), np.nan)
    buckets = of.events.masses.buckets
    _estimate(worlds, buckets, row, offsets, confidence, seeds, sample_size(of.error), MOST_DRAWN, found)
    return found


@kernel
def _estimate(worlds, buckets, row_of, row_offsets, confidence, seeds, count, most_drawn, found):
    none, clause_offsets = np.zeros(0, dtype=np.int64), worlds.clause_offsets
    clauses, differences = worlds.clauses, worlds.differences
    starts, lo, hi, density = buckets.starts, buckets.lo, buckets.hi, buckets.density
    for group in range(len(found)):
        first, last = worlds.problem_offsets[group], worlds.problem_offsets[group + 1]
        events = worlds.events[worlds.event_offsets[group] : worlds.event_offsets[group + 1]]
        rows = confidence[row_offsets[group] : row_offsets[group + 1]]
        own = row_of[first:last] - row_offsets[group]
        boxes = np.ones(last - first)
        for p in range(first, last):
            boxes[p - first] = _mass_of_box(worlds, buckets, events, p)
        tick = np.empty(len(events), dtype=np.int64)
        holds = np.zeros(len(rows), dtype=np.bool_)
        state, total, kept = seeds[group], 0.0, 0
        for _ in range(most_drawn * count):
            if kept == count:
                break
            state += _STEP
            p = first + _chosen(boxes, unit_of(state))
            state = draw_events(starts, lo, hi, density, events, state, none, tick)
            for k in range(clause_offsets[p], clause_offsets[p + 1] - 1):
                e, lower, upper = _limits(clauses, differences, k)
                if e >= 0:
                    state += _STEP
                    tick[e] = _drawn_between(unit_of(state), events[e, 0], buckets, lower, upper)
            if not clauses_hold(clauses, differences, clause_offsets[p], clause_offsets[p + 1], tick):
                continue
            # A world in which several problems of a row hold is that of the first one.
            if _first_of_row(worlds, first, p, own, holds, tick) == p:
                total += 1.0 / holds.sum()
                kept += 1
        if kept == count:
            found[group] = rows.sum() * total / count


@inner
def _mass_of_box(worlds, buckets, events, p):
    """The mass of the box around a problem: of the limits of its events, each by itself."""
    mass = 1.0
    for k in range(worlds.clause_offsets[p], worlds.clause_offsets[p + 1] - 1):
        e, lower, upper = _limits(worlds.clauses, worlds.differences, k)
        if e >= 0:
            mass *= mass_on(buckets, events[e, 0], lower, upper)
    return mass


@inner
def _first_of_row(worlds, first, p, own, holds, tick):
    """Find which rows hold in a world; returns the first problem that does of the row of `p`."""
    found, offsets = p, worlds.clause_offsets
    holds[:] = False
    for q in range(first, first + len(own)):
        row = own[q - first]
        if not holds[row] and clauses_hold(
            worlds.clauses, worlds.differences, offsets[q], offsets[q + 1], tick
        ):
            holds[row] = True
            if row == own[p - first]:
                found = q
    return found


@inner
def _limits(clauses, differences, k):
    """The event that a clause and the one after it limit, and its first and last tick; -1 for none."""
    d, are_present = clauses[k, 1], clauses[k, 0] == 0 and clauses[k + 1, 0] == 0
    if (
        are_present
        and max(differences[d, 1], differences[d + 1, 0]) < 0
        and (differences[d, 0] == differences[d + 1, 1])
    ):
        return differences[d, 0], -differences[d + 1, 2], differences[d, 2]
    return np.int64(-1), np.int64(0), np.int64(0)


@inner
def _drawn_between(unit, event, buckets, lower, upper):
    """A tick of an event inside of an interval, from its mass there."""
    left = unit * mass_on(buckets, event, lower, upper)
    found = lower
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        first, last = max(buckets.lo[b], lower), min(buckets.hi[b], upper)
        if first <= last:
            mass = buckets.density[b] * tick_count(first, last)
            found = within(left, first, last, buckets.density[b])
            if left < mass:
                break
            left -= mass
            found = last
    return found


@inner
def _chosen(weights, unit):
    """A place, in proportion to its weight."""
    left = unit * weights.sum()
    found = 0
    for i in range(len(weights)):
        if weights[i] > 0.0:
            found = i
            if left < weights[i]:
                break
            left -= weights[i]
    return found
