"""In which gaps of a chain its rivals must not lie, and at the ticks of which of its events.

name here    meaning
forbidden    bit p: a rival must not lie in the gap after event p; the window ends that after the last
never_at     bit p: nor at the tick of event p
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from cepctl.engines.kernels.kernel import inner
from cepctl.engines.pattern.blocks import Region, Shape, between
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.engines.pattern.shapes import edge_of
from cepctl.numeric.arrays import Flags, Indexes

MOST_EVENTS = 62
"""Of one chain: a bit for each."""


class Places(NamedTuple):
    """Rivals of n chains: chain i owns those from offsets[i] to offsets[i + 1] - 1."""

    offsets: Indexes
    rival: Indexes
    forbidden: Indexes
    never_at: Indexes


def places_of(shape: Shape, rivals: Sequence[Rivals], rows: Indexes) -> tuple[Flags, Places]:
    """Where the rivals of some chains must not lie; and which of these have rivals of that form alone."""
    length = len(shape.blocks)
    pairs: list[tuple[Indexes, Indexes, int, int]] = []
    usable = np.full(len(rows), length <= MOST_EVENTS)
    for each in (each.taken(rows) for each in rivals):
        for region in each.rule.regions:
            bits = None if each.rule.spared else _bits(region, shape)
            if bits is None:
                usable[each.row] = False
            else:
                pairs.append((each.row, each.event, *bits))
    none = np.zeros(0, dtype=np.int64)
    row = np.concatenate([none, *(each[0] for each in pairs)])
    event = np.concatenate([none, *(each[1] for each in pairs)])
    forbidden, never_at = (
        np.concatenate([none, *(np.full(len(each[0]), each[place]) for each in pairs)]) for place in (2, 3)
    )
    order = np.lexsort((event, row))
    row, event = row[order], event[order]
    first = np.flatnonzero(np.append(True, (row[1:] != row[:-1]) | (event[1:] != event[:-1]))[: len(row)])
    if len(first):
        forbidden = np.bitwise_or.reduceat(forbidden[order], first)
        never_at = np.bitwise_or.reduceat(never_at[order], first)
    row, event = row[first], event[first]
    lowest = forbidden & -forbidden
    # One stretch of gaps after the other: then adding the lowest bit leaves a single one.
    usable[row[(forbidden + lowest) & forbidden != 0]] = False
    return usable, Places(np.searchsorted(row, np.arange(len(rows) + 1)), event, forbidden, never_at)


def _bits(region: Region, shape: Shape) -> tuple[int, int] | None:
    """The gaps that a region holds whole, and the events whose ticks it holds; None for any other region."""
    last = len(shape.blocks) - 1
    if edge_of(region, shape) == "after":
        return 1 << last, 0
    found = between(region)
    if found is None or found.after != 1 or found.before not in (-1, 0) or found.begin >= found.end:
        return None
    begin, end = found.begin, found.end
    inside = ((1 << end) - 1) & ~((1 << (begin + 1)) - 1)
    return ((1 << end) - 1) & ~((1 << begin) - 1), inside | (1 << end if found.before == 0 else 0)


@inner
def ends_of(forbidden):
    """The event before the first gap that a rival is kept out of, and the one after the last; or both 0."""
    first, last = np.zeros(len(forbidden), dtype=np.int64), np.zeros(len(forbidden), dtype=np.int64)
    for r in range(len(forbidden)):
        bits = forbidden[r]
        while bits and bits & 1 == 0:
            bits >>= 1
            first[r] += 1
        last[r] = first[r]
        while bits:
            bits >>= 1
            last[r] += 1
    return first, last
