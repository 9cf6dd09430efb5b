"""Which matches are measured alike, step by step: events and rivals in the same places with the same masses.

Where clocks are coarse, many events share one interval, and the matches that bind one or another of them are
one problem.  It is measured once.  Two matches are alike where both lists agree:

    bound events     the mass of each, in pattern order
    rivals           the mass of each and the rules that it may break, in the order of events

No method looks at more of an event than its mass and its place among others, so alike matches get the same
number to the last bit.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import njit

from cepctl.arrays import Indexes
from cepctl.engines.columns.alike_events import mixed
from cepctl.engines.pattern.rivals import Rivals


def alike_matches(event: Indexes, rivals: Sequence[Rivals], first: Indexes) -> Indexes:
    """For each of n matches the first one that is alike, shape (n,).

    Parameters
    ----------
    event
        Shape (n, l): the events of each match, which binds single ones.
    rivals
        Pairs of a match and an event, for every rule.
    first
        For every event the first one with its mass, as `alike_events` gives it.
    """
    count, length = event.shape
    rules = max(len(rivals), 1)
    sizes = np.full(count, length, dtype=np.int64)
    for each in rivals:
        sizes += np.bincount(each.row, minlength=count)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    keys = np.empty(offsets[-1], dtype=np.int64)
    begin = offsets[:-1] + length
    keys[offsets[:-1, np.newaxis] + np.arange(length)] = first[event]
    at = begin.copy()
    for rule, each in enumerate(rivals):
        _put_rivals(each.row, each.event, rule, rules, at, keys)
    _name_by_mass(begin, offsets, first, rules, keys)
    found = np.empty(count, dtype=np.int64)
    table = np.full(1 << max((2 * count).bit_length(), 1), -1, dtype=np.int64)
    _fill(offsets, keys, table, found)
    return found


@njit(nogil=True, cache=True)
def _put_rivals(rows, events, rule, rules, at, keys):
    for i in range(len(rows)):
        keys[at[rows[i]]] = events[i] * rules + rule
        at[rows[i]] += 1


@njit(nogil=True, cache=True)
def _name_by_mass(begin, offsets, first, rules, keys):
    """Sort the rivals of each match by event and rule, and name each by its mass.

    The same event under a further rule is told from another with the same mass by its sign.
    """
    for row in range(len(begin)):
        own = keys[begin[row] : offsets[row + 1]]
        for i in range(1, len(own)):
            if own[i - 1] > own[i]:
                own.sort()
                break
        before = -1
        for i in range(len(own)):
            event, rule = own[i] // rules, own[i] % rules
            key = first[event] * rules + rule
            own[i] = -1 - key if event == before else key
            before = event


@njit(nogil=True, cache=True)
def _fill(offsets, keys, table, found):
    """Look every match up in a hash table of those before it, of which half at least is free."""
    for row in range(len(found)):
        digest = np.uint64(0)
        for i in range(offsets[row], offsets[row + 1]):
            digest = mixed(digest ^ np.uint64(keys[i]))
        place = np.int64(digest & np.uint64(len(table) - 1))
        while table[place] >= 0 and not _same(offsets, keys, table[place], row):
            place = (place + 1) & (len(table) - 1)
        if table[place] < 0:
            table[place] = row
        found[row] = table[place]


@njit(nogil=True, cache=True)
def _same(offsets, keys, one, other):
    size = offsets[one + 1] - offsets[one]
    same = offsets[other + 1] - offsets[other] == size
    for i in range(size if same else 0):
        same = same and keys[offsets[one] + i] == keys[offsets[other] + i]
    return same
