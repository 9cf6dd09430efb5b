"""How probable one difference is between two records of units: alone, or beside how all stand, as is asked.

Record i of n on m ticks is at tick s with C(s, i) C(m - 1 - s, n - 1 - i) / C(m, n), and not before a tick
if at most i records are before it.  Both are chances of how many of some ticks are taken, so at one tick they
are known for all records of a unit together.  Where the units overlap, moved by the bound, the sum over the
tick of the one is by few nodes; what all pairs of two units share is placed and found once.

However the records of a unit stand among each other (`paths_of_units`), the ticks that have some are equally
probable choices of so many of the unit's.  So the step at which a record is taken has the tick of the record
of this rank, and two steps are as far apart as the records of their ranks are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.confidence.given.paths_of_units import count_apart, count_at_once, count_taken, lattice_of
from cepctl.engines.confidence.given.units import sum_of, weights_of_paths
from cepctl.engines.confidence.quadrature import most_nodes, place_certain_nodes
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes, Reals, Ticks

_NOTHING = 1e-290
STEP = 16
"""Degrees are rounded up to a multiple: so units of about as many records share their nodes."""


class OneDistance(NamedTuple):
    """Questions that ask for one difference, `t_left - t_right <= bound`, beside how records stand.

    `bound`: shape (k,).  `question`, shape (k, 2): what is asked of the records of the left and of the right
    unit, as `Interleaved` has it; one question where it is one unit of time.  `writer`, `rank`: which record
    it is there; `first`: the first tick of the unit.
    """

    bound: Ticks
    question: Indexes
    writer: Indexes
    rank: Indexes
    first: Ticks


class _UnitNodes(NamedTuple):
    """Places and weights of a sum over so many ticks that is exact up to a degree."""

    ticks: np.int64
    degree: np.int64
    place: Indexes
    weight: Reals


@kernel
def apart_as_asked(asked, distance):
    """Of each question the probability that all of it holds; shape (k,)."""
    found = np.empty(len(distance.bound))
    nodes = _UnitNodes(np.int64(0), np.int64(-1), np.empty(0, np.int64), np.empty(0))
    for k in range(len(found)):
        left, right = distance.question[k, 0], distance.question[k, 1]
        if left == right:
            found[k] = _of_one_unit(asked, distance, k)
            continue
        at, beside = _placed(asked, distance, k, 0), _placed(asked, distance, k, 1)
        ticks, others = asked.ticks[left], asked.ticks[right]
        begin, end, shift = _where_open(distance.first[k], (ticks, others), distance.bound[k])
        found[k] = _beside(at, ticks, begin, True) * _all(beside)
        if begin == end:
            continue
        nodes = _nodes_over(nodes, end - begin, at.shape[1] + beside.shape[1] - 1)
        for n in range(len(nodes.place)):
            tick = begin + nodes.place[n]
            found[k] += nodes.weight[n] * _at(at, ticks, tick) * _beside(beside, others, tick + shift, False)
    return found


@inner
def _placed(asked, distance, k, side):
    """The chance of each way of one unit, by how many have met and the step that takes the record."""
    question = distance.question[k, side]
    lattice = lattice_of(asked, question)
    places = lattice.before.shape[1]
    paths = np.zeros((places, sum_of(lattice.records)))
    count_taken(lattice, distance.writer[k, side], distance.rank[k, side], paths)
    weights = weights_of_paths(lattice.records, asked.ticks[question], places)
    for met in range(places):
        for step in range(paths.shape[1]):
            paths[met, step] *= weights[met]
    return paths


@inner
def _all(paths):
    total = 0.0
    for met in range(paths.shape[0]):
        total += sum_of(paths[met])
    return total


@inner
def _at(paths, ticks, tick):
    """The probability with the record on a tick."""
    total = 0.0
    for met in range(paths.shape[0]):
        steps = paths.shape[1] - met
        chance = np.empty(steps)
        place_taken(steps - 1, ticks - 1, tick, chance)
        for step in range(steps):
            total += paths[met, step] * chance[step] * (steps / ticks)
    return total


@inner
def _beside(paths, ticks, tick, is_before):
    """The probability with the record before a tick, as more than its rank then are, or not before it."""
    total = 0.0
    for met in range(paths.shape[0]):
        steps = paths.shape[1] - met
        chance = np.empty(steps + 1)
        place_taken(steps, ticks, tick, chance)
        so_far = 0.0
        for i in range(steps):
            step = steps - 1 - i if is_before else i
            so_far += chance[step + 1] if is_before else chance[step]
            total += paths[met, step] * so_far
    return total


@inner
def _of_one_unit(asked, distance, k):
    """The probability by how many steps lie between both records, of which each may be the later one."""
    question, bound = distance.question[k, 0], distance.bound[k]
    lattice, ticks = lattice_of(asked, question), asked.ticks[question]
    places, together = lattice.before.shape[1], sum_of(lattice.records)
    left, right = distance.writer[k, 0], distance.writer[k, 1]
    left_rank, right_rank = distance.rank[k, 0], distance.rank[k, 1]
    # So many steps apart, the left record later, or the right one; or both at one.
    later, earlier = np.zeros((places, together + 1)), np.zeros((places, together + 1))
    at_once = np.zeros(places)
    count_apart(lattice, right, right_rank, left, left_rank, later)
    count_apart(lattice, left, left_rank, right, right_rank, earlier)
    count_at_once(lattice, left, left_rank, right, right_rank, at_once)
    weights, total = weights_of_paths(lattice.records, ticks, places), 0.0
    for met in range(places):
        steps = together - met
        near, far = np.empty(steps + 1), np.empty(steps + 1)
        # So many steps on the first ticks: as many places are at most that far apart.
        place_taken(steps, ticks, bound, near)
        place_taken(steps, ticks, -bound - 1, far)
        for apart in range(steps - 1, -1, -1):
            near[apart] += near[apart + 1]
        for apart in range(steps):
            far[apart + 1] += far[apart]
        found = at_once[met] if bound >= 0 else 0.0
        for apart in range(1, steps):
            found += later[met, apart] * near[apart] + earlier[met, apart] * far[apart - 1]
        total += weights[met] * found
    return total


class UnitPairs(NamedTuple):
    """Pairs of records, by the two units that they are of; shape (u,) but for what is said.

    `first`, `ticks`, `records`: of the left unit its first tick, how many ticks and how many records it has;
    shape (u, 2), the right one behind it.  `bound`: `t_left - t_right <= bound`.  The pairs of two units are
    those from offsets[u] on: the ranks of their records, `left` and `right`.
    """

    first: Ticks
    ticks: Ticks
    records: Indexes
    bound: Ticks
    offsets: Indexes
    left: Indexes
    right: Indexes


@kernel
def distance_probability(records, ticks, places, some, farther):
    """How probable it is that records so many places apart are at most `some` ticks apart, or `farther`.

    All of a unit, of so many records and ticks; each of shape (n,).  The ticks from one record to the next,
    from before the first and to behind the last are exchangeable: so the distance is as that of the record at
    the place, from 1 on, to what is before the unit, and it is small where enough are on the first ticks.
    """
    found = np.zeros(len(records))
    for k in range(len(records)):
        chance = np.empty(records[k] + 1)
        place_taken(records[k], ticks[k], some[k], chance)
        for d in range(0 if farther[k] else places[k], places[k] if farther[k] else records[k] + 1):
            found[k] += chance[d]
    return found


@kernel
def pair_probability(pairs):
    """Of each pair the probability that its difference holds; shape of `left`."""
    found = np.zeros(len(pairs.left))
    nodes = _UnitNodes(np.int64(0), np.int64(-1), np.empty(0, np.int64), np.empty(0))
    for u in range(len(pairs.bound)):
        records = pairs.records[u]
        begin, end, shift = _where_open(pairs.first[u], pairs.ticks[u], pairs.bound[u])
        _add_sure(pairs, u, begin, found)
        if begin == end:
            continue
        nodes = _nodes_over(nodes, end - begin, records[0] - 1 + records[1])
        _add_nodes(pairs, u, begin, shift, nodes, found)
    return found


@inner
def _nodes_over(known, ticks, degree):
    """Those that are known, where they are over as many ticks and as exact; else others."""
    degree += -degree % STEP
    if ticks == known.ticks and degree == known.degree:
        return known
    most = most_nodes(ticks, degree) + 1
    place, weight = np.empty(most, np.int64), np.empty(most)
    count = place_certain_nodes(ticks, degree, place, weight)
    return _UnitNodes(ticks, degree, place[:count], weight[:count])


@inner
def _where_open(first, ticks, bound):
    """At which ticks of the left unit the right record may be too early, or not: from one, up to one.

    Too early are those before the tick of the left record plus the shift, which is the third.
    """
    shift = first[0] - bound - first[1]
    begin, end = min(max(1 - shift, 0), ticks[0]), min(max(ticks[1] - shift, 0), ticks[0])
    return min(begin, end), end, shift


@inner
def _add_sure(pairs, u, begin, found):
    """Add where the left record is on one of the first ticks: the right one is never before these."""
    records = pairs.records[u, 0]
    chance = np.empty(records + 1)
    place_taken(records, pairs.ticks[u, 0], begin, chance)
    for i in range(records - 1, -1, -1):
        chance[i] += chance[i + 1]
    for p in range(pairs.offsets[u], pairs.offsets[u + 1]):
        found[p] += chance[pairs.left[p] + 1]


@inner
def _add_nodes(pairs, u, begin, shift, nodes, found):
    """Add where the tick of the left record says how probable it is that the right one is not before it."""
    ticks, records = pairs.ticks[u], pairs.records[u]
    at, not_before = np.empty(records[0]), np.empty(records[1] + 1)
    total = np.zeros(pairs.offsets[u + 1] - pairs.offsets[u])
    for k in range(len(nodes.place)):
        tick = begin + nodes.place[k]
        place_taken(records[0] - 1, ticks[0] - 1, tick, at)
        place_taken(records[1], ticks[1], tick + shift, not_before)
        for j in range(records[1]):
            not_before[j + 1] += not_before[j]
        for p in range(pairs.offsets[u], pairs.offsets[u + 1]):
            total[p - pairs.offsets[u]] += nodes.weight[k] * at[pairs.left[p]] * not_before[pairs.right[p]]
    for p in range(pairs.offsets[u], pairs.offsets[u + 1]):
        found[p] += total[p - pairs.offsets[u]] * records[0] / ticks[0]


@inner
def place_taken(records, ticks, some, chance):
    """How probable each number of records is on some of the ticks, of so many records on all of them.

    Fewer ticks than none are none, and more than all are all.
    """
    some = min(max(some, 0), ticks)
    chance[:] = 0.0
    likeliest = np.int64((some + 1.0) * (records + 1.0) / (ticks + 2.0))
    likeliest = min(max(likeliest, records + some - ticks), records, some)
    chance[likeliest] = total = term = 1.0
    for d in range(likeliest, min(records, some)):
        term *= (some - d) * (records - d) / ((d + 1.0) * (ticks - some - records + d + 1.0))
        if term < _NOTHING:
            break
        chance[d + 1] = term
        total += term
    term = 1.0
    for d in range(likeliest, max(records + some - ticks, 0), -1):
        term *= d * (ticks - some - records + d) / ((some - d + 1.0) * (records - d + 1.0))
        if term < _NOTHING:
            break
        chance[d - 1] = term
        total += term
    for d in range(records + 1):
        chance[d] /= total
