"""For every gap of every chain, the rivals that can lie in it, as lists.

They are built by counting sort, so the pairs are never sorted as a whole.

A list holds 2 * event + 1 where the event can lie in the gap (see `deciding_rivals`), 2 * event where it
reaches there by raw intervals alone; ascending, each event once.  Where a moved copy of the event lies in the
gap, the list holds the event: a rival is one, wherever its copies lie.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.rivals import Rivals


class GapRivals(NamedTuple):
    """Lists of n chains with g gaps each, that of gap k of chain i at place p = i * g + k.

    `offsets`: shape (n * g + 1,), room for each list in `events`, of which `sizes[p]` are used.  `digests`: a
    number per list, equal where the events are; unequal lists nearly always differ.  `entangled`: shape (n,),
    chains with a rival that can lie in several of their gaps.
    """

    offsets: Indexes
    sizes: Indexes
    events: Indexes
    digests: Indexes
    entangled: Flags


def gap_rivals(
    masses: Masses,
    event: Indexes,
    lower: Ticks,
    upper: Ticks,
    room: Flags,
    rivals: Sequence[tuple[int, Rivals]],
    copies: Indexes,
) -> GapRivals:
    """List the rivals of each gap.

    Parameters
    ----------
    masses
        Masses of all events.
    event, lower, upper
        Shape (n, l): the events of each chain and their valid intervals.
    room
        Shape (n, l - 1): gaps that can be as wide as to hold a tick.
    rivals
        Number of a gap, and pairs of a chain and an event that may not lie in it.
    copies
        Shape (l - 1,): how much higher than that of an event the number of the copy is that lies in a gap.
    """
    count, gaps = len(event), event.shape[1] - 1
    raw = masses.lower[event], masses.upper[event]
    sizes = np.zeros(count * gaps, dtype=np.int64)
    for gap, each in rivals:
        _count(each.row, each.event, copies[gap], gap, masses.lower, masses.upper, *raw, sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    events = np.empty(offsets[-1], dtype=np.int64)
    ends = offsets[:-1].copy()
    for gap, each in rivals:
        bounds = masses.lower, masses.upper, *raw, lower, upper, room
        _list(each.row, each.event, copies[gap], gap, *bounds, ends, events)
    digests = np.empty(len(sizes), dtype=np.uint64)
    entangled = np.zeros(count, dtype=np.bool_)
    _settle(offsets, events, sizes, digests, entangled)
    return GapRivals(offsets, sizes, events, digests.view(np.int64), entangled)


@kernel
def _count(rows, rivals, copy, gap, lower, upper, raw_lower, raw_upper, sizes):
    gaps = raw_lower.shape[1] - 1
    for i in range(len(rows)):
        row, rival = rows[i], rivals[i] + copy
        if upper[rival] > raw_lower[row, gap] and lower[rival] < raw_upper[row, gap + 1]:
            sizes[row * gaps + gap] += 1


@kernel
def _list(
    rows, rivals, copy, gap, lower, upper, raw_lower, raw_upper, valid_lower, valid_upper, room, ends, events
):  # fmt: skip
    gaps = raw_lower.shape[1] - 1
    for i in range(len(rows)):
        row, rival = rows[i], rivals[i]
        since, until = lower[rival + copy], upper[rival + copy]
        if until > raw_lower[row, gap] and since < raw_upper[row, gap + 1]:
            place = row * gaps + gap
            inside = until > valid_lower[row, gap] and since < valid_upper[row, gap + 1] and room[row, gap]
            events[ends[place]] = 2 * rival + inside
            ends[place] += 1


@kernel
def _settle(offsets, events, sizes, digests, entangled):
    """Sort every list, leave each event once, and compare those of one chain."""
    gaps = len(sizes) // max(len(entangled), 1)
    for place in range(len(sizes)):
        sizes[place] = _once(events[offsets[place] : offsets[place + 1]])
        begin, digest = offsets[place], np.uint64(0)
        for i in range(begin, begin + sizes[place]):
            digest += _mixed(np.uint64(events[i] >> 1))
        digests[place] = digest
        row, gap = place // gaps, place % gaps
        for other in range(place - gap, place):
            entangled[row] = entangled[row] or _meet(
                events[begin : begin + sizes[place]], events[offsets[other] : offsets[other] + sizes[other]]
            )


@inner
def _once(events):
    """Sort a list in place, so that each event stands once at its begin; returns how many these are."""
    for i in range(1, len(events)):
        if events[i - 1] > events[i]:
            events.sort()
            break
    size = 0
    for i in range(len(events)):
        if size and events[i] >> 1 == events[size - 1] >> 1:
            events[size - 1] = events[i]
        else:
            events[size] = events[i]
            size += 1
    return size


@inner
def _meet(one, other):
    """Whether some event can lie in both gaps."""
    j = 0
    for i in range(len(one)):
        while j < len(other) and other[j] < one[i]:
            j += 1
        if j < len(other) and other[j] == one[i] and one[i] & 1:
            return True
    return False


@inner
def _mixed(value):
    """The finaliser of splitmix64."""
    value += np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))
