"""Components of tied events that are alike, so that they are solved together.

Two components are alike where their ties are between events of the same ranks, with the same bounds.

Runs inside Spark workers: imports NumPy and Polars only.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from cepctl.arrays import Indexes
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import Edge, owned
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure

_MOST_REDUCED = 64


def structure_texts(ties: EventTies, components: Indexes) -> pl.Series:
    """One text for each of some distinct components: equal where they are alike."""
    at, offsets = owned(ties.tie_offsets, components)
    frame = pl.DataFrame(
        {
            "component": np.repeat(np.arange(len(components)), np.diff(offsets)),
            "left": ties.rank[ties.left[at]],
            "right": ties.rank[ties.right[at]],
            "bound": ties.bound[at],
        }
    )
    told = pl.format("{},{},{}", "left", "right", "bound")
    texts = frame.group_by("component", maintain_order=True).agg(told.str.join(";").alias("text"))
    return texts.get_column("text")


def ties_between_ranks(ties: EventTies, component: int) -> list[Edge]:
    """The ties of a component between the ranks of its events, without those that others imply."""
    at = slice(int(ties.tie_offsets[component]), int(ties.tie_offsets[component + 1]))
    edges = [
        (int(left), int(right), int(bound))
        for left, right, bound in zip(
            ties.rank[ties.left[at]], ties.rank[ties.right[at]], ties.bound[at], strict=True
        )
    ]
    return without_implied(int(ties.sizes[component]), edges)


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
