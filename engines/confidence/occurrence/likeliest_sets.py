"""The most probable set of members between neighbours, and of those that round to it the first in order.

Given the ticks of the neighbours (`separator_nodes`) members are independent, so that a set is as probable
as the sum over nodes of the product of its members.  No set that goes on from some members is more probable
than the same sum with, at each node by itself, the likeliest members that may follow.  Sets that cannot be
the best by this bound are left out; of sets whose probabilities round alike the one that starts first is
the best, and then the one whose text is smallest, which is the first to be met where members are added by
their ids.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.kernels.kernel import inner
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Indexes, Reals, Ticks
from cepctl.numeric.precision import CONFIDENCE_DECIMALS

_SCALE = 10.0**CONFIDENCE_DECIMALS
_SLACK = 0.5 + 1e-6
_LATEST = np.iinfo(np.int64).max


class MembersBetween(NamedTuple):
    """Who can be between some neighbours, at each of the nodes of these.

    `weight`, shape (n,), and `inside`, shape (n, m): how probable each of m uncertain members is inside.
    `column`, `lower`, shape (p,): all possible members in the order of their ids; a column of -1 for those
    that are there in every world.  `low`, shape (h,): first ticks of the neighbours.  `upper_by`,
    `lower_by`: how far a member may be after each, and each after a member.
    """

    weight: Reals
    inside: Reals
    column: Indexes
    lower: Ticks
    low: Ticks
    upper_by: Ticks
    lower_by: Ticks


@inner
def likeliest_set(between, least, most, bound, chosen):
    """Fill which of the possible members are in the best set of `least` to `most`.

    Returns its probability and its first tick; -1 for what takes more than so many products.
    """
    order = _descending(between.inside)
    largest, work = _largest(between, order, least, bound)
    if largest < 0.0:
        return -1.0, np.int64(0)
    return _first_of_equals(between, order, least, most, largest, bound, work, chosen)


@inner
def _descending(inside):
    """The members at each node, the likeliest first."""
    order = np.empty(inside.shape, np.int64)
    for q in range(inside.shape[0]):
        _rank(inside[q], order[q])
    return order


@inner
def _rank(values, order):
    """Fill the places of values, that of the largest first; of equal ones the first."""
    for i in range(len(values)):
        at = i
        while at > 0 and values[order[at - 1]] < values[i]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = i


@inner
def _highest(between, order, product, rank, first, need):
    """At least the probability of any set that adds `need` members of rank `first` or later to a product."""
    total = 0.0
    for q in range(len(product)):
        value, left = between.weight[q] * product[q], need
        i = 0
        while left > 0 and value > 0.0:
            if rank[order[q, i]] >= first:
                value *= between.inside[q, order[q, i]]
                left -= 1
            i += 1
        total += value
    return total


@inner
def _largest(between, order, least, bound):
    """The largest probability of a set, up to what rounds alike, and the work; -1 beyond the bound."""
    nodes, members = between.inside.shape
    need = least
    for p in range(len(between.column)):
        need -= between.column[p] < 0
    need = max(need, 0)
    rank = np.arange(members)
    product = np.ones((need + 1, nodes))
    if need == 0:
        return min(_highest(between, order, product[0], rank, 0, 0), 1.0), 0
    ranked = _by_probability(between, rank)
    at, depth, best, work = np.zeros(need, np.int64), 0, -1.0, 0
    while depth >= 0:
        p = at[depth]
        work += nodes * (members + 1)
        if work > bound:
            return -1.0, work
        if members - p < need - depth or _no_better(
            _highest(between, order, product[depth], rank, p, need - depth), best
        ):
            depth -= 1
            continue
        at[depth] = p + 1
        for q in range(nodes):
            product[depth + 1, q] = product[depth, q] * between.inside[q, ranked[p]]
        if depth + 1 == need:
            best = max(best, _highest(between, order, product[need], rank, 0, 0))
        else:
            depth += 1
            at[depth] = p + 1
    return min(best, 1.0), work


@inner
def _no_better(bound, best):
    return best >= 0.0 and np.rint(min(bound, 1.0) * _SCALE) <= np.rint(best * _SCALE)


@inner
def _by_probability(between, rank):
    """The uncertain members, the likeliest first; fills the rank of each."""
    nodes, members = between.inside.shape
    whole = np.zeros(members)
    for q in range(nodes):
        for i in range(members):
            whole[i] += between.weight[q] * between.inside[q, i]
    ranked = np.empty(members, np.int64)
    _rank(whole, ranked)
    for i in range(members):
        rank[ranked[i]] = i
    return ranked


@inner
def _first_of_equals(between, order, least, most, largest, bound, work, chosen):
    """Of the sets as probable as the largest, when rounded, the first; fills `chosen`."""
    nodes, members = between.inside.shape
    count, neighbours = len(between.column), len(between.low)
    certain_after, columns_to, earliest = _suffixes(between)
    rank = np.arange(members)
    product, uncertain = np.ones((members + 1, nodes)), np.zeros(count + 1, np.int64)
    value = np.full(count + 1, -1.0)
    low, lower = np.empty((count + 1, neighbours), np.int64), np.empty(count + 1, np.int64)
    low[0], lower[0] = between.low, _LATEST
    selected, following = np.empty(count, np.int64), np.zeros(count + 1, np.int64)
    target = np.rint(largest * _SCALE) - _SLACK
    confidence, first, depth = -1.0, np.int64(_LATEST), 0
    while depth >= 0:
        p = following[depth]
        if count - p < max(least - depth, 1):
            depth -= 1
            continue
        following[depth] = p + 1
        lower[depth + 1] = min(lower[depth], between.lower[p])
        _raise(between, low[depth], p, low[depth + 1])
        size = depth + 1
        later = earliest[p + 1] if size < most else _LATEST
        if confidence >= 0.0 and _start(between, low[size], min(lower[size], later)) >= first:
            continue
        uncertain[size] = uncertain[depth]
        if between.column[p] >= 0:
            uncertain[size] += 1
            for q in range(nodes):
                product[uncertain[size], q] = (
                    product[uncertain[depth], q] * between.inside[q, between.column[p]]
                )
        need = max(least - size - certain_after[p + 1], 0)
        if need > members - columns_to[p + 1]:
            continue
        highest = value[depth]
        if highest < 0.0 or need > 0 or between.column[p] >= 0:
            work += nodes * (members + 1)
            highest = _highest(between, order, product[uncertain[size]], rank, columns_to[p + 1], need)
        work += neighbours + 1
        if work > bound:
            return -1.0, first
        if highest <= 0.0 or highest * _SCALE < target:
            continue
        value[size] = highest if need == 0 else -1.0
        selected[depth] = p
        start = _start(between, low[size], lower[size])
        if size >= least and (confidence < 0.0 or start < first):
            confidence, first = min(highest, 1.0), start
            chosen[:] = False
            for i in range(size):
                chosen[selected[i]] = True
        if size < most:
            depth += 1
            following[depth] = p + 1
    return confidence, first


@inner
def _suffixes(between):
    """Per place: certain members from there on, uncertain ones before it, the first tick from there on."""
    count = len(between.column)
    certain, columns = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    earliest = np.full(count + 1, _LATEST)
    for p in range(count - 1, -1, -1):
        certain[p] = certain[p + 1] + (between.column[p] < 0)
        earliest[p] = min(earliest[p + 1], between.lower[p])
    for p in range(count):
        columns[p + 1] = columns[p] + (between.column[p] >= 0)
    return certain, columns, earliest


@inner
def _raise(between, low, p, into):
    """The first ticks of the neighbours beside one more member."""
    for v in range(len(low)):
        into[v] = low[v]
        if between.upper_by[v] < UNBOUNDED:
            into[v] = max(into[v], plus(between.lower[p], -between.upper_by[v]))


@inner
def _start(between, low, lower):
    """The first tick of a match whose members begin no earlier than `lower`."""
    start, least = np.int64(_LATEST), lower
    for v in range(len(low)):
        start = min(start, low[v])
        if between.lower_by[v] < UNBOUNDED:
            least = max(least, plus(low[v], -between.lower_by[v]))
    return min(start, least)
