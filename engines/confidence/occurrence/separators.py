"""Independent parts of a group's problems, and the separators of a part: given these, others are independent.

They are a smallest set of events that leaves in no clause two others: a vertex cover of what is compared.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.laws import is_weighted
from cepctl.engines.columns.tick_sums import sort_cuts
from cepctl.engines.confidence.occurrence.asked import Sets, Words, all_bits
from cepctl.engines.confidence.occurrence.counted_records import (
    CountedRecords,
    Links,
    counted_within,
    is_linked,
    links_within,
)
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Flags, Indexes, Ticks

MOST_TOGETHER = 1024
"""Problems of one part."""
MOST_SEPARATORS = 12


class ConnectedProblems(NamedTuple):
    """Problems that share events with each other and with no other problem of the group.

    `event`: row numbers, by the rank of their ids.  Clauses as in `Settled`, with the places of events here;
    `mask`, shape (clauses, words), has a bit for each problem that asks for the clause.  `links`: between
    places of events; `counted`: events, by row number, that stand for records.
    """

    problems: int
    event: Indexes
    absent: Flags
    offsets: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks
    mask: Sets
    links: Links
    counted: CountedRecords


@inner
def part_numbers(settled, problems, apart):
    """The part of each of some problems, numbered by their first problems; and how many there are.

    `apart`: events, as flags, that do not join those which share them.
    """
    parent = np.arange(len(settled.event))
    some = np.full(len(problems), -1)
    for i in range(len(problems)):
        p = problems[i]
        for k in settled.asked[settled.problem_offsets[p] : settled.problem_offsets[p + 1]]:
            for d in range(settled.offsets[k], settled.offsets[k + 1]):
                for e in (settled.left[d], settled.right[d]):
                    if e >= 0 and not apart[e]:
                        root = root_of(parent, e)
                        if some[i] < 0:
                            some[i] = root
                        parent[root] = root_of(parent, some[i])
    number = np.empty(len(problems), np.int64)
    known = np.full(len(parent), -1)
    count = 0
    for i in range(len(problems)):
        if some[i] < 0:
            number[i] = count
            count += 1
            continue
        root = root_of(parent, some[i])
        if known[root] < 0:
            known[root] = count
            count += 1
        number[i] = known[root]
    return number, count


@inner
def root_of(parent, member):
    """The member that stands for all that are joined to one; the way there is halved."""
    while parent[member] != member:
        parent[member] = parent[parent[member]]
        member = parent[member]
    return member


@inner
def problems_by_part(number, parts):
    """The problems of each part, as nested offsets."""
    offsets = np.zeros(parts + 1, np.int64)
    for p in range(len(number)):
        offsets[number[p] + 1] += 1
    for which in range(parts):
        offsets[which + 1] += offsets[which]
    problem, filled = np.empty(len(number), np.int64), offsets[:-1].copy()
    for p in range(len(number)):
        problem[filled[number[p]]] = p
        filled[number[p]] += 1
    return offsets, problem


@inner
def part_of(settled, links, counted, problems, offsets, numbers, place):
    """One part, and the block of each of its clauses; the work is that of the part alone.

    Block b has the problems offsets[b] to offsets[b + 1] - 1; a clause that several blocks ask for is there
    for each.  `numbers`, of each clause, and `place`, -1 for each event, are working space; `place` stays as
    it was.
    """
    clauses, events = _used(settled, problems)
    block = np.zeros(len(clauses), np.int64)
    if len(offsets) > 2:
        clauses, block = _by_block(settled, problems, offsets)
    differences = 0
    for k in clauses:
        differences += settled.offsets[k + 1] - settled.offsets[k]
    event = np.empty(len(events), np.int64)
    for i in range(len(events)):
        place[events[i]], event[i] = i, settled.event[events[i]]
    part = ConnectedProblems(
        len(problems), event, np.empty(len(clauses), np.bool_), np.zeros(len(clauses) + 1, np.int64),
        np.empty(differences, np.int64), np.empty(differences, np.int64), np.empty(differences, np.int64),
        np.zeros((len(clauses), words_for(np.diff(offsets).max())), np.uint64), links_within(links, place),
        counted_within(counted, place),
    )  # fmt: skip
    _fill(part, settled, clauses, place)
    place[events] = -1
    first = 0
    for b in range(len(offsets) - 1):
        while first < len(block) and block[first] == b:
            numbers[clauses[first]] = first
            first += 1
        _mark(part, settled, problems[offsets[b] : offsets[b + 1]], numbers)
    return part, block


@inner
def _mark(part, settled, problems, numbers):
    """Write which problems of one block ask for its clauses."""
    for i in range(len(problems)):
        p = problems[i]
        for k in settled.asked[settled.problem_offsets[p] : settled.problem_offsets[p + 1]]:
            part.mask[numbers[k], i >> 6] |= np.uint64(1) << np.uint64(i & 63)


@inner
def _by_block(settled, problems, offsets):
    """The clauses of the problems of each block, one block after the other, and the block of each."""
    asked = 0
    for p in problems:
        asked += settled.problem_offsets[p + 1] - settled.problem_offsets[p]
    clauses, block = np.empty(asked, np.int64), np.empty(asked, np.int64)
    count = 0
    for b in range(len(offsets) - 1):
        own, _ = _used(settled, problems[offsets[b] : offsets[b + 1]])
        for k in own:
            clauses[count], block[count] = k, b
            count += 1
    return clauses[:count], block[:count]


@inner
def in_blocks(settled, problems, part, separators):
    """The problems of a part, those together that share more than separators, and where these begin."""
    apart = np.zeros(len(settled.event), np.bool_)
    for e in range(len(settled.event)):
        for separator in separators:
            if part.event[separator] == settled.event[e]:
                apart[e] = True
    number, count = part_numbers(settled, problems, apart)
    offsets, place = problems_by_part(number, count)
    return problems[place], offsets


@inner
def words_for(problems):
    """How many words so many problems need."""
    return (problems + 63) // 64


@inner
def words_of(block, offsets):
    """The words of blocks whose problems begin at `offsets`."""
    begins = np.zeros(len(offsets), np.int64)
    for b in range(len(offsets) - 1):
        begins[b + 1] = begins[b] + words_for(offsets[b + 1] - offsets[b])
    full = np.empty(begins[-1], np.uint64)
    for b in range(len(offsets) - 1):
        for w in range(begins[b], begins[b + 1]):
            full[w] = all_bits(offsets[b + 1] - offsets[b] - 64 * (w - begins[b]))
    return Words(block, begins, full)


@inner
def _used(settled, problems):
    """The clauses of problems and their events, ascending."""
    asked = 0
    for p in problems:
        asked += settled.problem_offsets[p + 1] - settled.problem_offsets[p]
    clauses, count = np.empty(asked, np.int64), 0
    for p in problems:
        for k in settled.asked[settled.problem_offsets[p] : settled.problem_offsets[p + 1]]:
            clauses[count] = k
            count += 1
    clauses = clauses[: sort_cuts(clauses, count)]
    named = 0
    for k in clauses:
        named += 2 * (settled.offsets[k + 1] - settled.offsets[k])
    events, count = np.empty(named, np.int64), 0
    for k in clauses:
        for d in range(settled.offsets[k], settled.offsets[k + 1]):
            for e in (settled.left[d], settled.right[d]):
                if e >= 0:
                    events[count] = e
                    count += 1
    return clauses, events[: sort_cuts(events, count)]


@inner
def _fill(part, settled, clauses, place):
    """Write clauses into a part, with the places of their events there."""
    at = 0
    for i in range(len(clauses)):
        k = clauses[i]
        part.absent[i] = settled.absent[k]
        for d in range(settled.offsets[k], settled.offsets[k + 1]):
            part.left[at] = -1 if settled.left[d] < 0 else place[settled.left[d]]
            part.right[at] = -1 if settled.right[d] < 0 else place[settled.right[d]]
            part.bound[at] = settled.bound[d]
            at += 1
        part.offsets[i + 1] = at


@inner
def separators_of(part, buckets):
    """Whether MOST_SEPARATORS events cover all comparisons, and a smallest cover, ascending.

    Events with weights or links are separators in any case, and are not counted.
    """
    one, other = compared_events(part)
    chosen = np.zeros(len(part.event), np.bool_)
    for i in range(len(part.event)):
        chosen[i] = is_weighted(buckets, part.event[i]) or is_linked(part.links, i)
    edge, side = np.empty(MOST_SEPARATORS + 1, np.int64), np.empty(MOST_SEPARATORS + 1, np.int64)
    first = _uncovered(one, other, chosen)
    if first < 0:
        return True, _places(chosen)
    for size in range(1, MOST_SEPARATORS + 1):
        depth = 0
        edge[0], side[0] = first, -1
        while depth >= 0:
            if side[depth] >= 0:
                chosen[_end(one, other, edge[depth], side[depth])] = False
            side[depth] += 1
            if side[depth] == 2:
                depth -= 1
                continue
            chosen[_end(one, other, edge[depth], side[depth])] = True
            left = _uncovered(one, other, chosen)
            if left < 0:
                return True, _places(chosen)
            if depth + 1 < size:
                depth += 1
                edge[depth], side[depth] = left, -1
    return False, _places(chosen)


@inner
def _end(one, other, edge, side):
    return one[edge] if side == 0 else other[edge]


@inner
def compared_events(part):
    """Pairs of events that some clause compares, each once."""
    count = len(part.event)
    found = np.zeros((count, count), np.bool_)
    for k in range(len(part.absent)):
        for i in range(part.offsets[k], part.offsets[k + 1]):
            for j in range(part.offsets[k], part.offsets[k + 1]):
                _note(found, part.left[i], part.right[j])
                _note(found, part.left[i], part.left[j])
                _note(found, part.right[i], part.right[j])
    for i in range(len(part.links.left)):
        _note(found, part.links.left[i], part.links.right[i])
    pairs = 0
    for a in range(count):
        for b in range(a + 1, count):
            pairs += found[a, b]
    one, other = np.empty(pairs, np.int64), np.empty(pairs, np.int64)
    pairs = 0
    for a in range(count):
        for b in range(a + 1, count):
            if found[a, b]:
                one[pairs], other[pairs] = a, b
                pairs += 1
    return one, other


@inner
def _places(chosen):
    """Where something is true."""
    found = np.empty(len(chosen), np.int64)
    count = 0
    for i in range(len(chosen)):
        if chosen[i]:
            found[count] = i
            count += 1
    return found[:count]


@inner
def _note(found, a, b):
    if a >= 0 and b >= 0 and a != b:
        found[min(a, b), max(a, b)] = True


@inner
def _uncovered(one, other, chosen):
    for i in range(len(one)):
        if not chosen[one[i]] and not chosen[other[i]]:
            return i
    return -1
