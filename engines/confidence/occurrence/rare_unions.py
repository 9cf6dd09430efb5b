"""Unions of rows that are improbable together: worlds are drawn in which some row holds.

A row is drawn in proportion to its probability, then a world in which it holds, from boxes around its
problems until one does.  Divided by how many rows hold there, and times the sum of all rows, it estimates
the union (Karp, Luby and Madras, "Monte-Carlo approximation algorithms for enumeration problems", Journal
of Algorithms 10 (1989)): the error is that of a mean of shares, times the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.tick_masses import mass_on
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.confidence.coupled import sampling
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.coupled.sampled_conditions import conditions_of
from cepctl.engines.confidence.coupled.sampling import Sampling, Seeds, sample_size
from cepctl.engines.kernels.kernel import inner, kernel

_MOST_DRAWN = 100
"""Worlds drawn for each that is wanted, at most."""
_STEP, _UNIT, _UNUSED_BITS = sampling.STEP, sampling._UNIT, sampling._UNUSED_BITS
_MIX_1, _MIX_2 = sampling._MIX_1, sampling._MIX_2
_SHIFT_1, _SHIFT_2, _SHIFT_3 = sampling._SHIFT_1, sampling._SHIFT_2, sampling._SHIFT_3
_drawn, _within = sampling.drawn, sampling._within
_constraints_hold, _factors_hold = sampling._constraints_hold, sampling._factors_hold


def rare_unions(
    of: Sampling, problems: Sequence[Problems], sizes: Indexes, confidence: Reals, seeds: Seeds
) -> Reals:
    """The probability that some row of each group holds, NaN where too few worlds were found.

    Parameters
    ----------
    of
        The error allowed, relative to the sum of a group's rows, and the events.
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
    conditions = conditions_of(
        [replace(each, match=group[each.match]) for each in problems], of.events.id_rank
    )
    row = row[np.argsort(group[row], kind="stable")]
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    found = np.full(len(sizes), np.nan)
    buckets = of.events.masses.buckets
    _estimate(conditions, buckets, row, offsets, confidence, seeds, sample_size(of.error), _MOST_DRAWN, found)
    return found


@kernel
def _estimate(conditions, buckets, row_of, row_offsets, confidence, seeds, count, most_drawn, found):
    for group in range(len(found)):
        first, last = conditions.problem_offsets[group], conditions.problem_offsets[group + 1]
        events = conditions.events[conditions.event_offsets[group] : conditions.event_offsets[group + 1]]
        rows = confidence[row_offsets[group] : row_offsets[group + 1]]
        own = row_of[first:last] - row_offsets[group]
        boxes = _box_masses(conditions, buckets, events, first, last)
        ticks = np.empty(len(events), dtype=np.int64)
        holds = np.zeros(len(rows), dtype=np.bool_)
        state, total, kept = seeds[group], 0.0, 0
        for _ in range(most_drawn * count):
            if kept == count:
                break
            state += _STEP
            chosen = _chosen(rows, _unit(state))
            state += _STEP
            p = _chosen(np.where(own == chosen, boxes, 0.0), _unit(state))
            for e in range(len(events)):
                state += _STEP
                ticks[e] = _drawn(state, events[e], buckets)
            problem = first + p
            for v in range(conditions.variable_offsets[problem], conditions.variable_offsets[problem + 1]):
                e, lower, upper = conditions.variables[v]
                state += _STEP
                ticks[e] = _drawn_between(_unit(state), events[e], buckets, lower, upper)
            if not _problem_holds(conditions, problem, ticks):
                continue
            holds[:] = False
            for q in range(last - first):
                if not holds[own[q]] and _problem_holds(conditions, first + q, ticks):
                    holds[own[q]] = True
            total += 1.0 / holds.sum()
            kept += 1
        if kept == count:
            found[group] = rows.sum() * total / count


@inner
def _problem_holds(conditions, p, ticks):
    own = conditions.variables[conditions.variable_offsets[p] : conditions.variable_offsets[p + 1]]
    others = conditions.factors[conditions.factor_offsets[p] : conditions.factor_offsets[p + 1]]
    between = conditions.edges[conditions.edge_spans[p, 0] : conditions.edge_spans[p, 1]]
    return _constraints_hold(own, between, ticks) and _factors_hold(
        own, others, conditions.regions, conditions.bounds, ticks
    )


@inner
def _box_masses(conditions, buckets, events, first, last):
    """The mass of the intervals that the variables of each problem are in."""
    found = np.ones(last - first)
    for p in range(first, last):
        for v in range(conditions.variable_offsets[p], conditions.variable_offsets[p + 1]):
            e, lower, upper = conditions.variables[v]
            found[p - first] *= mass_on(buckets, events[e], lower, upper)
    return found


@inner
def _drawn_between(unit, event, buckets, lower, upper):
    """A tick of an event inside of an interval, from its mass there."""
    left = unit * mass_on(buckets, event, lower, upper)
    found = lower
    for b in range(buckets.starts[event], buckets.starts[event + 1]):
        first, last = max(buckets.lo[b], lower), min(buckets.hi[b], upper)
        if first <= last:
            mass = buckets.density[b] * tick_count(first, last)
            found = _within(left, first, last, buckets.density[b])
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


@inner
def _unit(state):
    """A number from 0 to 1, from a state of the generator."""
    mixed = (state ^ (state >> _SHIFT_1)) * _MIX_1
    mixed = (mixed ^ (mixed >> _SHIFT_2)) * _MIX_2
    mixed = mixed ^ (mixed >> _SHIFT_3)
    return np.float64(mixed >> _UNUSED_BITS) * _UNIT
