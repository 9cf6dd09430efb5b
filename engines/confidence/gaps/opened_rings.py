"""Where order and window are opened, so that absence at an edge of the window is a gap between two events.

With a window of W ticks the events of a chain lie on a ring: the last one, moved back by W, lies before the
first one, as each lies before the next.

    a < b < c < a + W          so          c - W < a < b,  and b < (c - W) + W

An event that is absent before the chain, where the window reaches, is absent between c - W and a; one that is
absent after it, between c and a + W.  A ring can be opened at any gap that no rule of absence speaks of:
what is left is a chain in the same window whose rivals lie in gaps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.blocks import Region, Shape, gap_of
from cepctl.engines.pattern.shapes import edge_of
from cepctl.numeric.arrays import Flags, Indexes, Ticks

_BEFORE = -1
_LONGEST_WINDOW = 1 << 60
"""Ticks that lie a longer window beyond the ends of time might leave int64 when they are added to."""


@dataclass(frozen=True)
class OpenedRing:
    """A chain in another order.

    `order`: which event of a match stands at each place, shape (l,).  `is_moved`: whether it stands there as
    its copy, moved `by` so many ticks.  `gaps`: the number of the gap that a region is; `closed`: those that
    hold the tick of the event behind the gap, too.
    """

    order: Indexes
    is_moved: Flags
    by: int
    gaps: Mapping[Region, int]
    closed: frozenset[Region] = frozenset()

    @property
    def moved(self) -> Ticks:
        """By how many ticks each event is moved, shape (l,)."""
        return np.where(self.is_moved, self.by, 0)

    @property
    def first(self) -> int:
        """The place of the first event of a match."""
        return int(np.flatnonzero(self.order == 0)[0])

    @property
    def last(self) -> int:
        """The place of the last event of a match."""
        return int(np.flatnonzero(self.order == len(self.order) - 1)[0])

    def copies(self, count: int) -> Indexes:
        """By how much the number of an event grows for what lies in each gap, shape (l - 1,).

        Of `count` events that is the copy where both ends of the gap are moved; only the gap at the edge of
        the window, where copies meet events, is as it was in time.
        """
        return np.where(self.is_moved[:-1] & self.is_moved[1:], count, 0)

    def events(self, event: Indexes, count: int) -> Indexes:
        """The events of matches, shape (n, l), in this order: of `count` events, or of their moved copies."""
        return np.asarray(event.take(self.order, axis=1) + np.where(self.is_moved, count, 0))

    def ticks(self, ticks: Ticks) -> Ticks:
        """Ticks of the events of matches, shape (n, l), in this order."""
        return np.asarray(ticks.take(self.order, axis=1) + self.moved)

    def system(self, system: Ticks) -> Ticks:
        """Closed constraints over the events of a match, in this order."""
        apart = self.moved[:, np.newaxis] - self.moved
        return np.asarray(system[np.ix_(self.order, self.order)] + apart)

    def masses(self, masses: Masses) -> Masses:
        """Masses of all events, and after them those of their moved copies."""
        return masses.followed_by(masses.moved(self.by)) if self.is_moved.any() else masses


def opened_ring(shape: Shape) -> OpenedRing | None:
    """How the chains of a shape are opened; None where some rule speaks of anything but gaps of the ring."""
    length = len(shape.blocks)
    places: dict[Region, int] = {}
    closed = set[Region]()
    for region in (region for rule in shape.rules for region in rule.regions):
        place = _place(region, shape)
        if place is None:
            place = gap_of(_opened_behind(region))
            closed.add(region)
        if place is None:
            return None
        places[region] = place
    used = set(places.values())
    inside = set(range(length - 1))
    edges, free = used - inside, inside - used
    if not shape.only_single:
        return None
    if not edges:
        return replace(_opened(length, length - 1, 0, places), closed=frozenset(closed))
    if len(edges) > 1 or not free or shape.window is None or shape.window > _LONGEST_WINDOW:
        return None
    ring = _opened(length, max(free), -shape.window if edges == {_BEFORE} else shape.window, places)
    return replace(ring, closed=frozenset(closed))


def _opened_behind(region: Region) -> Region:
    """A region without the tick that its end is."""
    return tuple(
        replace(end, constant=-1) if not end.is_lower and end.constant == 0 else end for end in region
    )


def _place(region: Region, shape: Shape) -> int | None:
    """The number of a gap; that of the one before the chain is -1, of the one after it l - 1."""
    edge = edge_of(region, shape)
    if edge is None:
        return gap_of(region)
    return _BEFORE if edge == "before" else len(shape.blocks) - 1


def _opened(length: int, cut: int, by: int, places: Mapping[Region, int]) -> OpenedRing:
    """Opened after event `cut`: up to it all are moved where `by` is positive, else those after it."""
    order = np.roll(np.arange(length), -(cut + 1))
    is_moved = (order <= cut) == (by > 0) if by else np.zeros(length, dtype=bool)
    return OpenedRing(
        order, is_moved, by, {region: (place - cut - 1) % length for region, place in places.items()}
    )
