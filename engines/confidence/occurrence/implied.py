"""Problems that need not be watched any longer: another one that is alive asks less of the events to come."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.confidence.occurrence.asked import NONE, ONE, Sets
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes

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
