"""Who is asked what: events that are not separators, and clauses that separators alone decide, by level.

A problem need not be watched any longer where another one that is alive asks less of the events to come.
Sets of problems are bits, 64 of them a word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.confidence.occurrence.counted_records import hidden_below
from cepctl.engines.kernels.kernel import inlined, inner
from cepctl.numeric.arrays import Indexes

Bits = np.ndarray[tuple[int], np.dtype[np.uint64]]
Sets = np.ndarray[tuple[int, int], np.dtype[np.uint64]]
NONE, ONE = np.uint64(0), np.uint64(1)


class Words(NamedTuple):
    """Blocks of problems, which share separators alone with those of others, and the words of each.

    `block`: that of each clause.  Block i owns the words begins[i] to begins[i + 1] - 1; `full`: all bits.
    """

    block: Indexes
    begins: Indexes
    full: Bits


class Others(NamedTuple):
    """The events that are not separators, in the order in which they are taken, block by block.

    `offsets`: block i owns offsets[i] to offsets[i + 1] - 1.  `clause_offsets`, `clause`: those that speak of
    each.  `problems`: bits of those that do; `done`: of those that speak of none after it; both of shape
    (events, words of the largest block).  `level`: the deepest separator that it is compared with, -1 for
    none.
    """

    offsets: Indexes
    event: Indexes
    clause_offsets: Indexes
    clause: Indexes
    problems: Sets
    done: Sets
    level: Indexes


@inner
def all_bits(count):
    """The set of so many problems."""
    return ~NONE if count >= 64 else (ONE << np.uint64(count)) - ONE


@inner
def others_of(part, words, level_of):
    """Those of most problems first, so that few states are open at a time; of as many by their ids."""
    block, blocks, widest = np.full(len(level_of), -1), len(words.begins) - 1, part.mask.shape[1]
    owner, deepest = np.full(len(part.absent), -1), np.full(len(level_of), -1)
    sizes, problems = np.zeros(len(level_of), np.int64), np.zeros((len(level_of), widest), np.uint64)
    for k in range(len(part.absent)):
        owner[k], level = _owner_and_level(part, k, level_of)
        if owner[k] >= 0:
            sizes[owner[k]] += 1
            for w in range(widest):
                problems[owner[k], w] |= part.mask[k, w]
            block[owner[k]] = words.block[k]
            deepest[owner[k]] = max(deepest[owner[k]], level)
    of_block = np.zeros(blocks + 1, np.int64)
    events = np.empty(len(level_of), np.int64)
    for i in range(blocks):
        some = _most_first(block, i, problems)
        of_block[i + 1] = of_block[i] + len(some)
        events[of_block[i] : of_block[i + 1]] = some
    events = events[: of_block[-1]]
    offsets = np.zeros(len(events) + 1, np.int64)
    place = np.full(len(level_of), -1)
    for i in range(len(events)):
        offsets[i + 1] = offsets[i] + sizes[events[i]]
        place[events[i]] = i
    clause, filled = np.empty(offsets[-1], np.int64), offsets[:-1].copy()
    for k in range(len(owner)):
        if owner[k] >= 0:
            clause[filled[place[owner[k]]]] = k
            filled[place[owner[k]]] += 1
    done = np.zeros((len(events), widest), np.uint64)
    for b in range(blocks):
        for w in range(widest):
            later = NONE
            for i in range(of_block[b + 1] - 1, of_block[b] - 1, -1):
                done[i, w] = problems[events[i], w] & ~later
                later |= problems[events[i], w]
    return Others(of_block, events, offsets, clause, problems[events], done, deepest[events])


@inner
def _most_first(block, own, problems):
    """The events of a block that are not separators, those of most problems first."""
    found = np.empty(len(block), np.int64)
    count = 0
    for e in range(len(block)):
        if block[e] == own:
            at = count
            while at > 0 and _bit_count(problems[found[at - 1]]) < _bit_count(problems[e]):
                found[at] = found[at - 1]
                at -= 1
            found[at] = e
            count += 1
    return found[:count]


@inner
def _bit_count(words):
    count = 0
    for bits in words:
        left = bits
        while left != NONE:
            left &= left - ONE
            count += 1
    return count


@inner
def _owner_and_level(part, k, level_of):
    """The event of a clause that is not a separator and the deepest of its separators; -1 for none."""
    owner, deepest = -1, -1
    for d in range(part.offsets[k], part.offsets[k + 1]):
        for e in (part.left[d], part.right[d]):
            if e >= 0:
                deepest = max(deepest, level_of[e])
                if level_of[e] < 0:
                    owner = e
    return owner, deepest


@inner
def levels_of_clauses(part, level_of):
    """The deepest separator of each clause of separators alone; -1 for one that speaks of another event."""
    found = np.empty(len(part.absent), np.int64)
    for k in range(len(found)):
        owner, deepest = _owner_and_level(part, k, level_of)
        found[k] = deepest if owner < 0 else -1
    return found


@inner
def clauses_of_levels(level_of_clause, levels):
    """The clauses of separators alone, by the level that decides them."""
    offsets = np.zeros(levels + 1, np.int64)
    for level in level_of_clause:
        if level >= 0:
            offsets[level + 1] += 1
    for level in range(levels):
        offsets[level + 1] += offsets[level]
    found, filled = np.empty(offsets[-1], np.int64), offsets[:-1].copy()
    for k in range(len(level_of_clause)):
        level = level_of_clause[k]
        if level >= 0:
            found[filled[level]] = k
            filled[level] += 1
    return offsets, found


@inner
def settled_at(part, words, tree, level_of, level_of_clause, others):
    """Per level, in words, the problems that it settles: they ask of nothing that depends on it.

    The only problem of a part asks of others at the level that they are compared with, several at the last.
    What links weigh is not the same on a whole cell.
    """
    alone = part.problems == 1
    found = np.empty((len(tree.end), len(words.full)), np.uint64)
    for level in range(len(tree.end)):
        end = tree.end[level]
        found[level, :] = words.full
        for b in range(len(words.begins) - 1):
            for i in range(others.offsets[b], others.offsets[b + 1]):
                if not alone or level <= others.level[i] < end:
                    for at in range(words.begins[b], words.begins[b + 1]):
                        found[level, at] &= ~others.problems[i, at - words.begins[b]]
        for k in range(len(part.absent)):
            if level < level_of_clause[k] < end:
                first = words.begins[words.block[k]]
                for at in range(first, words.begins[words.block[k] + 1]):
                    found[level, at] &= ~part.mask[k, at - first]
        if hidden_below(part.links, level_of, level, end) > 0:
            found[level, :] = NONE
    return found


@inner
def difference_holds(part, d, tick):
    """Whether a difference holds at the ticks of its events."""
    x, y = part.left[d], part.right[d]
    left = np.int64(0) if x < 0 else tick[x]
    right = np.int64(0) if y < 0 else tick[y]
    return left <= plus(right, part.bound[d])


@inner
def holds(part, k, tick):
    """Whether a clause holds at the ticks of its events."""
    for d in range(part.offsets[k], part.offsets[k + 1]):
        if not difference_holds(part, d, tick):
            return part.absent[k]
    return not part.absent[k]


@inlined
def leave_alive(part, words, before, after, clauses, tick):
    """Write the problems, in words, that the clauses of a separator leave of others; whether any is."""
    some = NONE
    for w in range(len(after)):
        after[w] = before[w]
    for k in clauses:
        first, asking = words.begins[words.block[k]], NONE
        for w in range(first, words.begins[words.block[k] + 1]):
            asking |= part.mask[k, w - first] & after[w]
        if asking != NONE and not holds(part, k, tick):
            for w in range(first, words.begins[words.block[k] + 1]):
                after[w] &= ~part.mask[k, w - first]
    for w in range(len(after)):
        some |= after[w]
    return some != NONE


_MOST_WORDS = 1 << 22


class Implied(NamedTuple):
    """At stage s problem[j] leaves out the problems by[j], for j from offsets[s] to offsets[s + 1] - 1.

    Each block has a stage before its events, and one after each of them.  Problems are numbered within their
    block.  Of those that ask the same, the first stays.
    """

    offsets: Indexes
    problem: Indexes
    by: Sets


@inner
def implied_problems(part, words, others):
    """Who leaves out whom; nobody does where the list would be too long."""
    widest, rows, blocks = part.mask.shape[1], 0, len(words.begins) - 1
    for b in range(blocks):
        stages = others.offsets[b + 1] - others.offsets[b] + 1
        rows += stages * 64 * (words.begins[b + 1] - words.begins[b])
    offsets = np.zeros(len(others.event) + blocks + 1, np.int64)
    if rows * widest > _MOST_WORDS:
        rows, blocks = 0, 0
    found = Implied(offsets, np.empty(rows, np.int64), np.empty((rows, widest), np.uint64))
    for b in range(blocks - 1, -1, -1):
        rows = _of_block(part, words, others, b, found, rows)
    for stage in range(len(offsets) - 1):
        offsets[stage + 1] += offsets[stage]
    return Implied(offsets, found.problem[rows:], found.by[rows:])


@inner
def _of_block(part, words, others, block, found, rows):
    """Write a block before those from `rows` on; returns where it begins.

    From the last event back problems ask for more and more, so that ever fewer ask for all that one asks.
    """
    full = words.full[words.begins[block] : words.begins[block + 1]]
    asking = np.zeros((64 * len(full), part.mask.shape[1]), np.uint64)
    for p in range(len(asking)):
        asking[p, : len(full)] = full
    for i in range(others.offsets[block + 1] - 1, others.offsets[block] - 1, -1):
        for at in range(others.clause_offsets[i], others.clause_offsets[i + 1]):
            mask = part.mask[others.clause[at]]
            for p in range(len(asking)):
                if _has(mask, p):
                    for w in range(len(mask)):
                        asking[p, w] &= mask[w]
        last = rows
        for p in range(len(asking) - 1, -1, -1):
            if _has(full, p) and _left_out(asking, p, found.by[rows - 1]):
                rows -= 1
                found.problem[rows] = p
        found.offsets[i + block + 1] = last - rows
    return rows


@inner
def _left_out(asking, p, found):
    """Write the problems that one leaves out: those that ask more, and those as much that come later."""
    some = NONE
    for w in range(len(found)):
        found[w] = asking[p, w]
    for q in range(p + 1):
        if _has(found, q) and (q == p or _has(asking[q], p)):
            found[q >> 6] &= ~(ONE << np.uint64(q & 63))
    for bits in found:
        some |= bits
    return some != NONE


@inner
def _has(bits, p):
    return p >> 6 < len(bits) and (bits[p >> 6] >> np.uint64(p & 63)) & ONE != NONE
