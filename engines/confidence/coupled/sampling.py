"""Confidence by sampling worlds, with a guaranteed error, where exact sums would cost too much.

A sampled world gives every event of a match and every rival a tick from its own mass; the match holds
in it when one of the match's coupled problems does.  Hoeffding (1963, Theorem 2): the mean of n such
answers is further than `error` from the probability with a probability of at most 2 exp(-2 n error^2).

The generator is SplitMix64 (Steele, Lea, Flood 2014), seeded by the signature; events are drawn in
code-point order of their ids.  So a match has the same estimate wherever and beside whatever it is
sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from math import ceil, log
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.tick_sums import plus, tick_count
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE, Problems
from cepctl.engines.confidence.coupled.sampled_conditions import conditions_of
from cepctl.engines.kernels.kernel import kernel

Seeds: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint64]]
FAILURE_PROBABILITY = 1e-6
"""How probable it is at most that a sampled confidence is further off than the error it carries."""

STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
_UNUSED_BITS = np.uint64(11)
_UNIT = 2.0**-53


@dataclass(frozen=True)
class Sampling:
    """That confidences may be sampled: the error allowed to them, and the events they speak of."""

    error: float
    events: Events

    def probabilities(self, groups: Sequence[Group], problems: Sequence[Problems]) -> tuple[Indexes, Reals]:
        """Probability that at least one problem of a match holds, for every match that has any.

        Parameters
        ----------
        groups
            Members of every block, by match.
        problems
            What is to be estimated; `match` says to which match a problem belongs.

        Returns
        -------
        The matches, ascending, and an estimate for each, shape (k,).
        """
        conditions = conditions_of(problems, self.events.id_rank)
        seeds = self.seeds(groups, conditions.match)
        hits = np.zeros(len(seeds), dtype=np.int64)
        count = sample_size(self.error)
        _count_hits(conditions, self.events.masses.buckets, seeds, count, hits)
        return conditions.match, hits / count

    def seeds(self, groups: Sequence[Group], rows: Indexes) -> Seeds:
        """A number for each of some matches that follows from its signature alone."""
        return np.array([self.seed(groups, int(row)) for row in rows], dtype=np.uint64)

    def seed(self, groups: Sequence[Group], row: int) -> int:
        """A number that follows from the signature alone."""
        ids = self.events.ids
        blocks = [ids.gather(each.members[each.offsets[row] : each.offsets[row + 1]]) for each in groups]
        text = "\n".join("\t".join(block.to_list()) for block in blocks)
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def sample_size(error: float) -> int:
    """Worlds to sample for this error, at a probability of failure of FAILURE_PROBABILITY.

    Examples
    --------
    >>> sample_size(0.01)
    72544
    """
    return ceil(log(2.0 / FAILURE_PROBABILITY) / (2.0 * error * error))


@kernel
def _count_hits(conditions, buckets, seeds, count, hits):
    """Per match, in how many of `count` worlds one of its problems holds."""
    problem_offsets, event_offsets = conditions.problem_offsets, conditions.event_offsets
    variable_offsets, factor_offsets = conditions.variable_offsets, conditions.factor_offsets
    for match in range(len(seeds)):
        events = conditions.events[event_offsets[match] : event_offsets[match + 1]]
        ticks = np.empty(len(events), dtype=np.int64)
        state = seeds[match]
        for _ in range(count):
            for e in range(len(events)):
                state += STEP
                ticks[e] = drawn(state, events[e], buckets)
            for p in range(problem_offsets[match], problem_offsets[match + 1]):
                own = conditions.variables[variable_offsets[p] : variable_offsets[p + 1]]
                others = conditions.factors[factor_offsets[p] : factor_offsets[p + 1]]
                between = conditions.edges[conditions.edge_spans[p, 0] : conditions.edge_spans[p, 1]]
                if _constraints_hold(own, between, ticks) and _factors_hold(
                    own, others, conditions.regions, conditions.bounds, ticks
                ):
                    hits[match] += 1
                    break


@kernel
def drawn(state, event, buckets):
    """A tick of an event, from its mass and a state of the generator."""
    starts, lo, hi, density = buckets.starts, buckets.lo, buckets.hi, buckets.density
    mixed = (state ^ (state >> _SHIFT_1)) * _MIX_1
    mixed = (mixed ^ (mixed >> _SHIFT_2)) * _MIX_2
    mixed = mixed ^ (mixed >> _SHIFT_3)
    left = np.float64(mixed >> _UNUSED_BITS) * _UNIT
    last = starts[event + 1] - 1
    for b in range(starts[event], last):
        mass = density[b] * tick_count(lo[b], hi[b])
        if left < mass:
            return _within(left, lo[b], hi[b], density[b])
        left -= mass
    return _within(left, lo[last], hi[last], density[last])


_FARTHEST = 2.0**63 - 1024.0  # The greatest float that int64 holds.


@kernel
def _within(left, lo, hi, density):
    return min(plus(lo, np.int64(min(left / density, _FARTHEST))), hi)


@kernel
def _constraints_hold(own, between, ticks):
    """Whether every variable is in its valid interval, and every pair as far apart as its edges say."""
    for i in range(len(own)):
        if not own[i, 1] <= ticks[own[i, 0]] <= own[i, 2]:
            return False
    for d in range(len(between)):
        if ticks[own[between[d, 0], 0]] > plus(ticks[own[between[d, 1], 0]], between[d, 2]):
            return False
    return True


@kernel
def _factors_hold(own, others, regions, bounds, ticks):
    """Whether every factor's event is in all its inner regions and in none of the others."""
    for f in range(len(others)):
        tick = ticks[others[f, 0]]
        for r in range(others[f, 1], others[f, 2]):
            inside = True
            for b in range(regions[r, 1], regions[r, 2]):
                at = bounds[b, 2]
                if bounds[b, 1] != NO_VARIABLE:
                    at = plus(at, ticks[own[bounds[b, 1], 0]])
                if (bounds[b, 0] and tick < at) or (not bounds[b, 0] and tick > at):
                    inside = False
                    break
            if inside != regions[r, 0]:
                return False
    return True
