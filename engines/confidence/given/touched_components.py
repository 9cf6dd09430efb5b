"""The components that coupled problems touch, and the problems that touch components alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.arrays import Indexes
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import Factors, Problems, owned
from cepctl.engines.confidence.given.components import Pieces, structure_texts


@dataclass(frozen=True)
class Touched:
    """Pairs of a problem and a component that it touches, in the order of problems: shape (t,).

    The components of one problem are numbered as its variables, and then its factors, meet them: `slot`.
    `pieces` says which part of each component is needed.
    """

    problem: Indexes
    pieces: Pieces
    slot: Indexes

    def of(self, problems: Indexes) -> Indexes:
        """The pairs of problems that touch equally many, shape (n, slots)."""
        begin = np.searchsorted(self.problem, problems)
        end = np.searchsorted(self.problem, problems, side="right")
        pairs: Indexes = begin[:, None] + np.arange(int((end - begin)[0]))
        return pairs


def touched(problems: Problems, ties: EventTies) -> Touched:
    """Which components the problems touch."""
    count, width = problems.variables.event.shape
    factors = problems.factors
    owner = np.repeat(np.arange(count), np.diff(factors.offsets))
    problem = np.concatenate([np.repeat(np.arange(count), width), owner])
    place = np.concatenate([np.tile(np.arange(width), count), width + np.arange(len(owner))])
    event = np.concatenate([problems.variables.event.reshape(-1), factors.event])
    tied = np.flatnonzero(ties.touches(event))
    problem, place, event = problem[tied], place[tied], event[tied]
    component, rank = ties.component[event], ties.rank[event]
    order = np.lexsort((place, component, problem))
    problem, component, place, rank = problem[order], component[order], place[order], rank[order]
    fresh = np.ones(len(problem), dtype=bool)
    fresh[1:] = (np.diff(problem) != 0) | (np.diff(component) != 0)
    begin = np.flatnonzero(fresh)
    if not len(begin):
        none = np.zeros(0, dtype=np.int64)
        return Touched(none, Pieces(none, none, none), none)
    first, last = np.minimum.reduceat(rank, begin), np.maximum.reduceat(rank, begin)
    problem, component, place = problem[begin], component[begin], place[begin]
    order = np.lexsort((place, problem))
    problem = problem[order]
    pieces = Pieces.between(ties, component, first, last).taken(order)
    slot = np.arange(len(problem)) - np.searchsorted(problem, problem)
    return Touched(problem, pieces, slot)


def touching_alike(problems: Problems, ties: EventTies, touching: Touched) -> Iterator[Indexes]:
    """The problems that touch components, those together whose components are alike, and touched alike."""
    rows = np.unique(touching.problem)
    keys = _keys(problems, ties, touching, rows)
    for key in np.unique(keys):
        yield rows[keys == key]


def place_of(ties: EventTies, touching: Touched, problem: Indexes, event: Indexes) -> tuple[Indexes, Indexes]:
    """Slot, and place in its piece, of events of problems; -1 where an event is not tied."""
    count = len(ties.sizes)
    component = ties.component[event]
    names = touching.problem * count + touching.pieces.component
    order = np.argsort(names, kind="stable")
    at = np.searchsorted(names[order], problem * count + component)
    pair = order[np.minimum(at, len(order) - 1)]
    place = ties.rank[event] - touching.pieces.first[pair]
    return np.where(component >= 0, touching.slot[pair], -1), np.where(component >= 0, place, -1)


def _keys(problems: Problems, ties: EventTies, touching: Touched, rows: Indexes) -> Indexes:
    """Numbers of some problems, equal where they touch components alike."""
    pieces = touching.pieces
    first, which = distinct_rows(np.stack([pieces.component, pieces.first, pieces.size], axis=1))
    texts = structure_texts(ties, pieces.taken(first)).gather(which)
    components = pl.DataFrame({"problem": touching.problem, "text": texts})
    width = problems.variables.event.shape[1]
    event = problems.variables.event[rows]
    places = pl.DataFrame(
        {
            "problem": np.repeat(rows, width),
            "text": _named(ties, touching, np.repeat(rows, width), event.reshape(-1)),
        }
    )
    frames = [components, places, _factor_texts(problems.factors, ties, touching)]
    told = pl.concat(
        [frame.with_columns(pl.lit(number).alias("part")) for number, frame in enumerate(frames)]
    )
    keys = told.group_by("problem", maintain_order=True).agg(
        pl.concat_str(pl.col("part").cast(pl.String), pl.lit(":"), "text").str.join("|").alias("key")
    )
    keys = keys.sort("problem")
    return keys.get_column("key").rank("dense").to_numpy().astype(np.int64)


def _named(ties: EventTies, touching: Touched, problem: Indexes, event: Indexes) -> pl.Series:
    """Where an event of a problem stands among its components: slot and rank, or nothing."""
    slot, rank = place_of(ties, touching, problem, event)
    frame = pl.DataFrame({"slot": slot, "rank": rank})
    return frame.select(
        pl.when(pl.col("slot") < 0).then(pl.lit("-")).otherwise(pl.format("{}.{}", "slot", "rank"))
    ).to_series()


def _factor_texts(factors: Factors, ties: EventTies, touching: Touched) -> pl.DataFrame:
    """Of each tied factor its problem, its place and its regions, as a text."""
    factor = np.flatnonzero(ties.touches(factors.event))
    owner = np.repeat(np.arange(len(factors.offsets) - 1), np.diff(factors.offsets))[factor]
    regions, region_offsets = owned(factors.region_offsets, factor)
    bounds, bound_offsets = owned(factors.bound_offsets, regions)
    of_bounds = pl.DataFrame(
        {
            "region": np.repeat(np.arange(len(regions)), np.diff(bound_offsets)),
            "is_lower": factors.is_lower[bounds],
            "variable": factors.variable[bounds],
            "constant": factors.constant[bounds],
        }
    )
    of_bounds = of_bounds.group_by("region", maintain_order=True).agg(
        pl.format("{},{},{}", pl.col("is_lower").cast(pl.Int8), "variable", "constant")
        .str.join(";")
        .alias("bounds")
    )
    of_regions = pl.DataFrame(
        {
            "region": np.arange(len(regions)),
            "factor": np.repeat(np.arange(len(factor)), np.diff(region_offsets)),
            "inside": factors.inside[regions],
        }
    ).join(of_bounds, on="region", how="left", maintain_order="left")
    told = of_regions.group_by("factor", maintain_order=True).agg(
        pl.format("{}:{}", pl.col("inside").cast(pl.Int8), pl.col("bounds").fill_null(""))
        .str.join("/")
        .alias("text")
    )
    places = _named(ties, touching, owner, factors.event[factor])
    told = told.with_columns(
        pl.concat_str(places.gather(told.get_column("factor")), pl.lit("="), "text").alias("text")
    )
    return told.select(pl.Series("problem", owner).gather(told.get_column("factor")), "text")
