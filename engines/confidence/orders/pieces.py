"""Time cut into pieces in which events have one mass per tick; cut again around ticks at which one is held.

A sum over the ticks of one event takes few of them: while these move inside a stretch of time that no cut
enters, every piece that they cut is longer or shorter by as much, and all sums are polynomials in the tick,
of a degree that the events cut by it bound (`cepctl.engines.confidence.quadrature`).

    name here      meaning
    held           the event at whose ticks the others are summed
    offsets        where time is cut besides, from the tick of the held event
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.quadrature import place_nodes


@dataclass(frozen=True)
class Pieces:
    """P pieces of time for E events, the same for n ways to place what is held.

    `cut`, shape (n, P + 1): first tick of each piece, and the one after the last.  `each`, shape (E, P): mass
    of a tick.  `weight`, shape (n,): how much each way counts.  `marks`: for each offset of what is held
    the piece that begins there.
    """

    cut: Ticks
    each: Reals
    weight: Reals
    marks: tuple[int, ...] = ()

    @property
    def lengths(self) -> Reals:
        """Ticks of each piece, shape (n, P)."""
        return np.diff(self.cut, axis=1).astype(np.float64)

    def cleared(self, event: int | Indexes, where: Flags | slice) -> Pieces:
        """The same, where events cannot happen in some pieces."""
        each = self.each.copy()
        each[event, where] = 0.0
        return replace(self, each=each)


def pieces_of(masses: Masses, events: Indexes) -> Pieces:
    """All of the time in which some events can happen."""
    sizes = np.diff(masses.starts)[events]
    owner = np.repeat(np.arange(len(events)), sizes)
    bucket = np.concatenate([np.arange(masses.starts[e], masses.starts[e + 1]) for e in events])
    lo, hi, density = masses.lo[bucket], masses.hi[bucket] + 1, masses.density[bucket]
    cut = np.unique(np.concatenate([lo, hi]))
    inside = (cut[:-1] >= lo[:, None]) & (cut[:-1] < hi[:, None])
    each = np.zeros((len(events), len(cut) - 1))
    np.add.at(each, owner, inside * density[:, None])
    return Pieces(cut[None, :], each, np.ones(1))


def held(
    pieces: Pieces, event: int, offsets: Sequence[int], counts: Indexes, changes: Sequence[int] = ()
) -> Iterator[Pieces]:
    """All ways to hold an event at one tick, with cuts there, after it, and at `offsets` from it.

    `pieces` are placed in one way.  `offsets` ascend, and 0 is among them; the cut after the tick comes with
    it.  `counts`: how many events each row stands for.  `changes`: other distances from a cut at which what
    is summed may change, where it is a sum itself.
    """
    cut, each = pieces.cut[0], pieces.each
    edges = np.unique(np.concatenate([cut - offset for offset in (*offsets, *changes)]))
    for piece in np.flatnonzero(each[event] > 0.0):
        first, end = int(cut[piece]), int(cut[piece + 1])
        inner = edges[(edges > first) & (edges < end)]
        bounds = [first, *inner.tolist(), end]
        for begin, stop in pairwise(bounds):
            yield _held(pieces, event, offsets, counts, begin, stop, nested=bool(changes))


def _held(
    pieces: Pieces, event: int, offsets: Sequence[int], counts: Indexes, begin: int, stop: int, *,
    nested: bool,
) -> Pieces:  # fmt: skip
    """The ways to hold an event at the ticks from `begin` to `stop` - 1: no cut meets another there."""
    cut, each = pieces.cut[0], pieces.each
    own = int(np.searchsorted(cut, begin, side="right"))
    marks = [(offset, int(np.searchsorted(cut, begin + offset, side="right"))) for offset in offsets]
    at = offsets.index(0)
    marks.insert(at + 1, (1, own))
    inside = [(offset, place) for offset, place in marks if 0 < place < len(cut)]
    happens = each > 0.0
    cut_pieces = slice(None) if nested else [place - 1 for _, place in inside]
    others = np.asarray(happens[:, cut_pieces].any(axis=1))
    others[event] = False
    nodes, weights = _nodes(stop - begin, int(counts[others].sum()) + nested)
    ticks = begin + nodes
    columns: list[Ticks] = []
    source: list[int] = []
    for i, tick in enumerate(cut.tolist()):
        columns.append(np.full(len(ticks), tick))
        source.append(i)
        for offset, place in inside:
            if place == i + 1:
                columns.append(ticks + offset)
                source.append(i)
    source.pop()
    found: list[int] = []
    for number, (_, place) in enumerate(marks):
        before = sum(0 < other < len(cut) for _, other in marks[:number])
        found.append(0 if place == 0 else min(place + before, len(source)))
    masses = each[:, source].copy()
    masses[event] = 0.0
    masses[event, found[at]] = 1.0
    del found[at + 1]
    return Pieces(np.stack(columns, axis=1), masses, weights * each[event, own - 1], tuple(found))


@lru_cache(maxsize=4096)
def _nodes(ticks: int, degree: int) -> tuple[Indexes, Reals]:
    room = degree + 2 + (degree + 1) * (degree + 1) // 4
    nodes, weights = np.empty(room, dtype=np.int64), np.empty(room)
    count = place_nodes(ticks, degree, nodes, weights)
    return nodes[:count], weights[:count]
