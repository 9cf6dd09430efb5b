"""What is needed of components of tied events, and which pieces are alike, so that they are solved together.

Two pieces are alike where their ties are between events at the same places, with the same bounds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import Edge
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure

_MOST_REDUCED = 64


@dataclass(frozen=True)
class Pieces:
    """What is needed of components: of a series the events from one to another, of others all; shape (p,).

    `first`: the rank of the first event needed, `size`: how many are.
    """

    component: Indexes
    first: Indexes
    size: Indexes

    @classmethod
    def whole(cls, ties: EventTies, components: Indexes) -> Pieces:
        """All of some components."""
        return cls(components, np.zeros(len(components), np.int64), ties.sizes[components])

    @classmethod
    def between(cls, ties: EventTies, components: Indexes, first: Indexes, last: Indexes) -> Pieces:
        """What is needed of components that are touched at ranks from `first` to `last`."""
        serial = ties.serial[components]
        sizes = ties.sizes[components]
        return cls(components, np.where(serial, first, 0), np.where(serial, last - first + 1, sizes))

    def taken(self, which: Indexes) -> Pieces:
        """Some of the pieces."""
        return Pieces(self.component[which], self.first[which], self.size[which])

    def ties(self, ties: EventTies) -> tuple[Indexes, Indexes]:
        """Which ties lie inside of each piece, and their offsets: tie i of a series is after rank i."""
        serial = ties.serial[self.component]
        begin = ties.tie_offsets[self.component]
        count = np.where(serial, self.size - 1, ties.tie_offsets[self.component + 1] - begin)
        offsets = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        return np.repeat(begin + np.where(serial, self.first, 0) - offsets[:-1], count) + np.arange(
            offsets[-1]
        ), offsets

    def follow(self) -> Flags:
        """Which pieces have events of their series before them."""
        return np.asarray(self.first > 0)

    def lead(self, ties: EventTies) -> Flags:
        """Which have some after them."""
        return np.asarray(self.first + self.size < ties.sizes[self.component])


def structure_texts(ties: EventTies, pieces: Pieces) -> pl.Series:
    """One text for each of some pieces: equal where they are alike."""
    at, offsets = pieces.ties(ties)
    owner = np.repeat(np.arange(len(pieces.size)), np.diff(offsets))
    frame = pl.DataFrame(
        {
            "piece": owner,
            "left": ties.rank[ties.left[at]] - pieces.first[owner],
            "right": ties.rank[ties.right[at]] - pieces.first[owner],
            "bound": ties.bound[at],
        }
    )
    told = pl.format("{},{},{}", "left", "right", "bound")
    texts = frame.group_by("piece", maintain_order=True).agg(told.str.join(";").alias("text"))
    whole = pl.DataFrame(
        {
            "piece": np.arange(len(pieces.size)),
            "size": pieces.size,
            "follows": pieces.follow(),
            "leads": pieces.lead(ties),
        }
    ).join(texts, on="piece", how="left", maintain_order="left")
    return whole.select(
        pl.concat_str("size", "follows", "leads", pl.col("text").fill_null(""), separator="/")
    ).to_series()


def ties_between_ranks(ties: EventTies, pieces: Pieces, number: int) -> list[Edge]:
    """The ties of a piece between the places of its events, without those that others imply."""
    at, _ = pieces.taken(np.array([number])).ties(ties)
    first = int(pieces.first[number])
    edges = [
        (int(left) - first, int(right) - first, int(bound))
        for left, right, bound in zip(
            ties.rank[ties.left[at]], ties.rank[ties.right[at]], ties.bound[at], strict=True
        )
    ]
    if ties.serial[pieces.component[number]]:
        return edges
    return without_implied(int(pieces.size[number]), edges)


def without_implied(count: int, edges: Sequence[Edge]) -> list[Edge]:
    """Edges that say the same: one that a way over others implies is left out."""
    if count > _MOST_REDUCED:
        return list(edges)
    kept = list(dict.fromkeys(edges))
    # Those between events far apart are implied by the ways between.
    for edge in sorted(kept, key=lambda each: -abs(each[0] - each[1])):
        others = [each for each in kept if each is not edge]
        i, j, bound = edge
        if _reach(count, others, i, j) <= bound:
            kept = others
    return kept


def _reach(count: int, edges: Sequence[Edge], i: int, j: int) -> int:
    found = int(closure(count, edges)[i, j])
    return found if found < UNBOUNDED else UNBOUNDED
