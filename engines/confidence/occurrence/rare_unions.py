"""Unions of rows that are improbable together: worlds are drawn in which some row holds.

A problem is drawn in proportion to the mass of the box around it, then a world in that box; where the problem
does not hold there, both are drawn anew.  So a row and a world in which it holds come together in proportion
to their probability.  One divided by how many rows hold there, on average, times the sum of all rows, is the
union (Karp, Luby and Madras, "Monte-Carlo approximation algorithms for enumeration problems", Journal of
Algorithms 10 (1989)): the error is that of a mean of shares, times the sum.  To draw a row by its probability
first, and another row where its box is missed, would favour rows that fill their boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.engines.columns.tick_masses import mass_on
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.sampled_worlds import (
    MOST_DRAWN,
    STEP,
    clauses_hold,
    draw_events,
    unit_of,
    within,
)
from cepctl.engines.confidence.coupled.sampling import Sampling, Seeds, sample_size
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes, Reals

_STEP = STEP


def rare_unions(
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
