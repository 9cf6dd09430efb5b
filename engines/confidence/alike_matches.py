"""Which matches are measured alike, step by step: events and rivals of the same shapes at the same distances.

Where clocks are coarse, many events share one interval, and the matches that bind one or another of them are
one problem.  Where stamps are regular, as those of samples are, what happens around one match happens around
others at other times.  Each problem is measured once.  Two matches are alike where both lists agree:

    bound events     the shape of each and its distance from the first, in pattern order
    rivals           the same of each and the rules that it may break, in the order of events

No method looks at more of an event than its mass and its place among others, and none knows of time but
distances, where no rule compares a rival's tick with a constant; so alike matches get the same number to the
last bit, and time ranges as far apart as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.masses import Masses, alike_events, mixed, shapes_of
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.rivals import Rivals


class PlacedShapes(NamedTuple):
    """For every event, the first one of the same shape, and the tick that this shape is placed at."""

    shape: Indexes
    place: Ticks


def placed_shapes(masses: Masses, *, movable: bool) -> PlacedShapes | None:
    """Shapes of all events; None where each has one of its own.

    Where matches are not `movable`, since something compares ticks with constants, places are part of shapes.
    """
    count = len(masses.lower)
    if movable and masses.can_be_moved:
        found = PlacedShapes(alike_events(shapes_of(masses)), masses.upper)
    else:
        found = PlacedShapes(alike_events(masses), np.zeros(count, dtype=np.int64))
    return None if (found.shape == np.arange(count)).all() else found


def alike_matches(event: Indexes, rivals: Sequence[Rivals], shapes: PlacedShapes) -> Indexes:
    """For each of n matches the first one that is alike, shape (n,).

    Parameters
    ----------
    event
        Shape (n, l): the events of each match, which binds single ones.
    rivals
        Pairs of a match and an event, for every rule.
    shapes
        Those of all events, as `placed_shapes` gives them.
    """
    count, length = event.shape
    bits = len(rivals).bit_length()
    sizes = np.full(count, length, dtype=np.int64)
    for each in rivals:
        sizes += np.bincount(each.row, minlength=count)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    keys, places = np.empty((2, offsets[-1]), dtype=np.int64)
    begin = offsets[:-1] + length
    own = offsets[:-1, np.newaxis] + np.arange(length)
    keys[own] = shapes.shape[event]
    places[own] = shapes.place[event]
    at = begin.copy()
    for rule, each in enumerate(rivals):
        _put_rivals(each.row, each.event, rule, bits, at, keys)
    _name_by_shape(begin, offsets, shapes.shape, shapes.place, bits, keys, places)
    found = np.empty(count, dtype=np.int64)
    table = np.full(1 << max((2 * count).bit_length(), 1), -1, dtype=np.int64)
    _fill(offsets, keys, places, table, found)
    return found


@kernel
def _put_rivals(rows, events, rule, bits, at, keys):
    for i in range(len(rows)):
        keys[at[rows[i]]] = events[i] << bits | rule
        at[rows[i]] += 1


@kernel
def _name_by_shape(begin, offsets, shape, place, bits, keys, places):
    """Sort the rivals of each match by event and rule, name them by shape, and count places from the first.

    The same event under a further rule is told from another with the same mass by its sign.
    """
    for row in range(len(begin)):
        own = keys[begin[row] : offsets[row + 1]]
        for i in range(1, len(own)):
            if own[i - 1] > own[i]:
                own.sort()
                break
        since, before = places[offsets[row]], -1
        for i in range(offsets[row], begin[row]):
            places[i] -= since
        for i in range(len(own)):
            event = own[i] >> bits
            key = shape[event] << bits | (own[i] & ((1 << bits) - 1))
            own[i] = -1 - key if event == before else key
            places[begin[row] + i] = place[event] - since
            before = event


@kernel
def _fill(offsets, keys, places, table, found):
    """Look every match up in a hash table of those before it, of which half at least is free."""
    for row in range(len(found)):
        digest = np.uint64(0)
        for i in range(offsets[row], offsets[row + 1]):
            digest = mixed(digest ^ (np.uint64(keys[i]) + (np.uint64(places[i]) << np.uint64(24))))
        place = np.int64(digest & np.uint64(len(table) - 1))
        while table[place] >= 0 and not _same(offsets, keys, places, table[place], row):
            place = (place + 1) & (len(table) - 1)
        if table[place] < 0:
            table[place] = row
        found[row] = table[place]


@inner
def _same(offsets, keys, places, one, other):
    size = offsets[one + 1] - offsets[one]
    same = offsets[other + 1] - offsets[other] == size
    for i in range(size if same else 0):
        a, b = offsets[one] + i, offsets[other] + i
        same = same and keys[a] == keys[b] and places[a] == places[b]
    return same
