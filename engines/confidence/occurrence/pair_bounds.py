"""Certain bounds of the probability of a union of rows, from the probabilities of pairs of them.

From below it is the union of the best pair.  From above it is the sum of all, less what the pairs of a tree
have in common (Hunter, "An upper bound for the probability of a union", Journal of Applied Probability 13
(1976)): best is the heaviest tree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.engines.confidence.coupled.clauses import Clauses
from cepctl.numeric.arrays import Indexes, Reals

MOST_PAIRED = 64
"""Rows of a group whose pairs are looked at: the most probable ones."""
SHARES = 5 * MOST_PAIRED * (MOST_PAIRED - 1)
"""All pairs of a group together take a tenth of the work of one occurrence: a pair beyond its share of that
says nothing."""


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
