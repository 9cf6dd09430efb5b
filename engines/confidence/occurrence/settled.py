"""The clauses of one group brought to one order, and groups that ask the same as others at another time.

Differences that the intervals decide fall away, clauses are numbered once each, and of problems only those
stay that ask for something no other leaves out: one that asks all that another asks, and more, adds nothing
to the union of both.  The events of a group are in the order of their ids' ranks, which no other group
changes, so that the order depends on nothing but its events and their ids.

Regular and coarse stamps put few intervals at few distances, so that the rows of many keys are those of
another key at another time.  The sum over their union knows nothing of time but distances, so such groups
have the same probability to the last bit.  What a group asks is a list of numbers, compared as those of
matches are (`alike_matches`):

    of each problem       how many clauses it has
    of each clause        how many differences, and whether it is absent
    of each difference    its bound, and the places of its events in the order of their ids
    of each event         its shape, and where it is; of groups that know constants by the ticks themselves
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.tick_sums import LAST, plus, sort_cuts
from cepctl.engines.confidence.coupled.problem import NO_EVENT, Clauses
from cepctl.engines.confidence.needless_sums import first_alike
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Ticks

_FEWEST = 1 << 8
"""Of fewer groups none is looked for."""
_TRIED = 1 << 10
"""So many groups say whether they repeat: to look takes a fiftieth of measuring them."""
_PROBLEM, _CLAUSE = -1, -2
"""Stand in the place of what a group asks; differences have natural ones."""


class PlacesOfEvents(NamedTuple):
    """The events of a group by the rank of their ids, and the places among them that differences compare."""

    event: Indexes
    left: Indexes
    right: Indexes


@inner
def _places_of_events(clauses, group, rank, row_of_rank):
    """The events of a group, as its differences name them one after the other."""
    first, last = clauses.problem_offsets[group], clauses.problem_offsets[group + 1]
    low = clauses.difference_offsets[clauses.clause_offsets[first]]
    high = clauses.difference_offsets[clauses.clause_offsets[last]]
    ranks = _ranks(clauses.left[low:high], clauses.right[low:high], rank)
    event = np.empty(len(ranks), np.int64)
    for i in range(len(ranks)):
        event[i] = row_of_rank[ranks[i]]
    left, right = np.empty(high - low, np.int64), np.empty(high - low, np.int64)
    for i in range(high - low):
        left[i] = _place(clauses.left[low + i], rank, ranks)
        right[i] = _place(clauses.right[low + i], rank, ranks)
    return PlacesOfEvents(event, left, right)


@inner
def _ranks(left, right, rank):
    """The distinct ranks of all events, ascending."""
    found = np.empty(2 * len(left), np.int64)
    count = 0
    for i in range(len(left)):
        if left[i] != NO_EVENT:
            found[count] = rank[left[i]]
            count += 1
        if right[i] != NO_EVENT:
            found[count] = rank[right[i]]
            count += 1
    return found[: sort_cuts(found, count)]


@inner
def _place(event, rank, ranks):
    return np.int64(NO_EVENT) if event == NO_EVENT else np.int64(np.searchsorted(ranks, rank[event]))


class Settled(NamedTuple):
    """Problems of one group, by distinct clauses; an event is its place among `event`, by the rank of its id.

    `event`: row numbers.  Clause k owns the differences from offsets[k] to offsets[k + 1] - 1.  Problem p
    asks for the clauses asked[problem_offsets[p] : problem_offsets[p + 1]], ascending.
    """

    event: Indexes
    absent: Flags
    offsets: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks
    problem_offsets: Indexes
    asked: Indexes


ALWAYS, KEPT, NEVER = 0, 1, 2


@inner
def settled(clauses, group, rank, row_of_rank, lower, upper):
    """The problems of a group that no other implies."""
    first, last = clauses.problem_offsets[group], clauses.problem_offsets[group + 1]
    begin, end = clauses.clause_offsets[first], clauses.clause_offsets[last]
    low, high = clauses.difference_offsets[begin], clauses.difference_offsets[end]
    own = _places_of_events(clauses, group, rank, row_of_rank)
    event, left, right = own.event, own.left, own.right
    least, most = np.empty(len(event), np.int64), np.empty(len(event), np.int64)
    for i in range(len(event)):
        least[i], most[i] = lower[event[i]], upper[event[i]]
    bound = clauses.bound[low:high].copy()
    absent = clauses.absent[begin:end].copy()
    offsets = np.empty(end - begin + 1, np.int64)
    state = np.empty(end - begin, np.int64)
    kept = 0
    for k in range(end - begin):
        offsets[k] = kept
        state[k], absent[k], kept = _decided(
            absent[k], clauses.difference_offsets[begin + k] - low,
            clauses.difference_offsets[begin + k + 1] - low, left, right, bound, least, most, kept,
        )  # fmt: skip
    offsets[end - begin] = kept
    lists, numbers = _lists_of(absent, offsets, left, right, bound)
    order = _merge_sorted(lists, numbers, end - begin)
    number = np.empty(end - begin, np.int64)
    chosen = np.empty(end - begin, np.int64)
    distinct = 0
    for i in range(end - begin):
        k = order[i]
        if i == 0 or not _before(lists, numbers, k, order[i - 1]):
            chosen[distinct] = k
            distinct += 1
        number[k] = distinct - 1
    problem_offsets = np.zeros(last - first + 1, np.int64)
    asked = np.empty(end - begin, np.int64)
    possible = 0
    for p in range(last - first):
        at = problem_offsets[possible]
        size = 0
        holds = True
        for k in range(
            clauses.clause_offsets[first + p] - begin, clauses.clause_offsets[first + p + 1] - begin
        ):
            holds &= state[k] != NEVER
            if state[k] == KEPT:
                asked[at + size] = number[k]
                size += 1
        if holds:
            problem_offsets[possible + 1] = at + sort_cuts(asked[at : at + size], size)
            possible += 1
    new_absent, new_offsets, new_left, new_right, new_bound = _taken(
        chosen[:distinct], absent, offsets, left, right, bound
    )
    kept_offsets, kept_asked = _not_implied(
        new_absent, new_offsets, new_left, new_right, new_bound, problem_offsets[: possible + 1], asked
    )
    return Settled(event, new_absent, new_offsets, new_left, new_right, new_bound, kept_offsets, kept_asked)


@inner
def _decided(absent, begin, end, left, right, bound, least, most, kept):
    """What intervals leave of one clause, written from `kept` on: its state, whether absent, the next place.

    An absent clause with one difference is the present one of its contrary.
    """
    start = kept
    for i in range(begin, end):
        x, y, c = left[i], right[i], bound[i]
        state = _state_of_difference(x, y, c, least, most)
        if not absent:
            if state != KEPT:
                return state, False, start
        elif state == NEVER:
            return ALWAYS, False, start
        if state == KEPT:
            at = kept
            while at > start and (left[at - 1], right[at - 1], bound[at - 1]) > (x, y, c):
                left[at], right[at], bound[at] = left[at - 1], right[at - 1], bound[at - 1]
                at -= 1
            left[at], right[at], bound[at] = x, y, c
            kept += 1
    if absent and kept == start:
        return NEVER, False, start
    if absent and kept == start + 1:
        left[start], right[start], bound[start] = right[start], left[start], -bound[start] - 1
        return KEPT, False, kept
    return KEPT, absent, kept


@inner
def _state_of_difference(x, y, c, least, most):
    """Whether t_x - t_y <= c holds in every world, in none, or in some."""
    if x == y:
        return ALWAYS if c >= 0 else NEVER
    if c == LAST:
        return ALWAYS
    x_least, x_most = (np.int64(0), np.int64(0)) if x == NO_EVENT else (least[x], most[x])
    y_least, y_most = (np.int64(0), np.int64(0)) if y == NO_EVENT else (least[y], most[y])
    if x_most <= plus(y_least, c):
        return ALWAYS
    return KEPT if x_least <= plus(y_most, c) else NEVER


@inner
def _lists_of(absent, offsets, left, right, bound):
    """What each clause asks as a list of numbers, as nested offsets."""
    count = len(absent)
    begins, found = np.empty(count + 1, np.int64), np.empty(count + 3 * offsets[count], np.int64)
    at = 0
    for k in range(count):
        begins[k] = at
        found[at] = absent[k]
        at += 1
        for i in range(offsets[k], offsets[k + 1]):
            found[at], found[at + 1], found[at + 2] = left[i], right[i], bound[i]
            at += 3
    begins[count] = at
    return begins, found


@inner
def _taken(chosen, absent, offsets, left, right, bound):
    """Some clauses, one after the other."""
    moved, new_absent = np.zeros(len(chosen) + 1, np.int64), np.empty(len(chosen), np.bool_)
    for i in range(len(chosen)):
        moved[i + 1] = moved[i] + offsets[chosen[i] + 1] - offsets[chosen[i]]
        new_absent[i] = absent[chosen[i]]
    new_left, new_right = np.empty(moved[-1], np.int64), np.empty(moved[-1], np.int64)
    new_bound = np.empty(moved[-1], np.int64)
    for i in range(len(chosen)):
        for at in range(moved[i], moved[i + 1]):
            d = offsets[chosen[i]] + at - moved[i]
            new_left[at], new_right[at], new_bound[at] = left[d], right[d], bound[d]
    return new_absent, moved, new_left, new_right, new_bound


@inner
def _not_implied(absent, offsets, left, right, bound, problem_offsets, asked):
    """The problems that imply no other one, the shortest first; their offsets and clauses."""
    count = len(problem_offsets) - 1
    order = _merge_sorted(problem_offsets, asked, count)
    kept = np.empty(count, np.int64)
    kept_count = 0
    # What asks all that another asks has a clause on the same events as the first of it.
    events = _event_numbers(absent, offsets, left, right)
    newest, older = np.full(len(absent), -1), np.full(count, -1)
    for at in range(count):
        p = order[at]
        begin, end = problem_offsets[p], problem_offsets[p + 1]
        implied = at > 0 and problem_offsets[order[0]] == problem_offsets[order[0] + 1]
        for j in range(begin, end):
            i = newest[events[asked[j]]]
            while i >= 0 and not implied:
                implied = _asks_all(absent, offsets, left, right, bound, problem_offsets, asked, p, kept[i])
                i = older[i]
        if not implied:
            kept[kept_count] = p
            if end > begin:
                first = events[asked[begin]]
                older[kept_count], newest[first] = newest[first], kept_count
            kept_count += 1
    new_offsets = np.zeros(kept_count + 1, np.int64)
    for i in range(kept_count):
        new_offsets[i + 1] = new_offsets[i] + problem_offsets[kept[i] + 1] - problem_offsets[kept[i]]
    new_asked = np.empty(new_offsets[-1], np.int64)
    for i in range(kept_count):
        for at in range(new_offsets[i], new_offsets[i + 1]):
            new_asked[at] = asked[problem_offsets[kept[i]] + at - new_offsets[i]]
    return new_offsets, new_asked


@inner
def _event_numbers(absent, offsets, left, right):
    """Numbers of clauses, in their order: the same for present ones that compare the same events."""
    number = np.arange(len(absent))
    for k in range(1, len(absent)):
        a, b = offsets[k - 1], offsets[k]
        if not absent[k - 1] and not absent[k] and left[a] == left[b] and right[a] == right[b]:
            number[k] = number[k - 1]
    return number


@inner
def _asks_all(absent, offsets, left, right, bound, problem_offsets, asked, p, q):
    """Whether every clause of problem q follows from one of problem p."""
    for i in range(problem_offsets[q], problem_offsets[q + 1]):
        k = asked[i]
        found = False
        for j in range(problem_offsets[p], problem_offsets[p + 1]):
            own = asked[j]
            if own == k:
                found = True
                break
            if absent[own] or absent[k]:
                continue
            a, b = offsets[own], offsets[k]
            if left[a] == left[b] and right[a] == right[b] and bound[a] <= bound[b]:
                found = True
                break
        if not found:
            return False
    return True


@inner
def _before(offsets, asked, one, other):
    """Whether a list stands before or beside another: by how long they are, then by their numbers."""
    size, others = offsets[one + 1] - offsets[one], offsets[other + 1] - offsets[other]
    if size != others:
        return size < others
    for i in range(size):
        a, b = asked[offsets[one] + i], asked[offsets[other] + i]
        if a != b:
            return a < b
    return True


@inner
def _merge_sorted(offsets, asked, count):
    """The order of lists."""
    order, other = np.arange(count), np.empty(count, np.int64)
    width = 1
    while width < count:
        for begin in range(0, count, 2 * width):
            i, j = begin, min(begin + width, count)
            middle, end = j, min(begin + 2 * width, count)
            for at in range(begin, end):
                if j >= end or (i < middle and _before(offsets, asked, order[i], order[j])):
                    other[at] = order[i]
                    i += 1
                else:
                    other[at] = order[j]
                    j += 1
        order, other = other, order
        width *= 2
    return order


def moved_groups(events: Events, clauses: Clauses) -> Indexes | None:
    """For each of g groups the first that it is when moved, shape (g,).

    None where hardly any repeats, or there are so few of them, that it is quicker to measure each.
    """
    count = clauses.groups
    if count < _FEWEST or not events.masses.can_be_moved:
        return None
    if count > _TRIED and _mostly_differ(_alike(events, clauses.of_groups(np.arange(_TRIED)))):
        return None
    found = _alike(events, clauses)
    return None if _mostly_differ(found) else found


def _mostly_differ(first: Indexes) -> bool:
    """Whether all but an eighth of some groups differ."""
    return bool(8 * np.count_nonzero(first == np.arange(len(first))) > 7 * len(first))


def _alike(events: Events, clauses: Clauses) -> Indexes:
    rank = events.id_rank - 1
    row_of_rank = np.empty(len(events), dtype=np.int64)
    row_of_rank[rank] = np.arange(len(events))
    # A difference has two events at most.
    most = len(clauses.clause_offsets) + len(clauses.absent) + 3 * len(clauses.bound)
    offsets = np.zeros(clauses.groups + 1, dtype=np.int64)
    keys, places = np.empty(most, dtype=np.int64), np.empty(most, dtype=np.int64)
    masses = events.masses
    _write(clauses, rank, row_of_rank, masses.shape_numbers, masses.upper, offsets, keys, places)
    return first_alike(offsets, keys, places)


@kernel
def _write(clauses, rank, row_of_rank, shape, place, offsets, keys, places):
    """Write what each group asks."""
    at = 0
    for group in range(len(offsets) - 1):
        own = _places_of_events(clauses, group, rank, row_of_rank)
        first, last = clauses.problem_offsets[group], clauses.problem_offsets[group + 1]
        begin, end = clauses.clause_offsets[first], clauses.clause_offsets[last]
        for p in range(first, last):
            keys[at], places[at] = clauses.clause_offsets[p + 1] - clauses.clause_offsets[p], _PROBLEM
            at += 1
        for k in range(begin, end):
            size = clauses.difference_offsets[k + 1] - clauses.difference_offsets[k]
            keys[at], places[at] = 2 * size + clauses.absent[k], _CLAUSE
            at += 1
        low, width, fixed = clauses.difference_offsets[begin], len(own.event) + 1, False
        for i in range(len(own.left)):
            keys[at], places[at] = clauses.bound[low + i], (own.left[i] + 1) * width + own.right[i] + 1
            fixed |= own.left[i] == NO_EVENT or own.right[i] == NO_EVENT
            at += 1
        since = np.int64(0) if fixed or not len(own.event) else place[own.event[0]]
        for event in own.event:
            keys[at], places[at] = shape[event], place[event] - since
            at += 1
        offsets[group + 1] = at
