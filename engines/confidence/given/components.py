"""The probability that all ties of a component hold: found once for each component that a match touches.

Two pieces of components are alike where their ties are between events at the same places, with the same
bounds; alike pieces are solved together. Confidences are divided by these probabilities, the share of all
worlds in which GIVEN holds for the events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import (
    Edge,
    Problems,
    Structure,
    Variables,
    breakpoints,
    owned,
)
from cepctl.engines.confidence.given.separators import no_factors, tied_probability
from cepctl.engines.confidence.given.series import series_of
from cepctl.engines.confidence.given.work import require_few, within_bound
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure, valid_bounds

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


def share_of_worlds(events: Events, known: Events, chosen: Indexes) -> float:
    """The probability that what is given holds of some events and of all that are tied to them.

    Parameters
    ----------
    events, known
        All events, none of which has a clock, and the same in the worlds that remain.
    chosen
        Row numbers; each counts once.

    Raises
    ------
    QueryTooLargeError
        If some of them are tied to too many others.
    """
    ties, rows = known.tied, np.unique(chosen)
    components = np.unique(ties.component[rows])
    components = components[components >= 0]
    rows = np.union1d(rows, ties.members[owned(ties.member_offsets, components)[0]])
    share = float(np.prod(component_probability(ties, known.masses, components))) if len(components) else 1.0
    masses = events.masses
    at, offsets = owned(masses.starts, rows)
    owner = np.repeat(np.arange(len(rows)), np.diff(offsets))
    lo = np.maximum(masses.lo[at], known.masses.lower[rows][owner])
    hi = np.minimum(masses.hi[at], known.masses.upper[rows][owner])
    ticks = np.where(lo <= hi, ticks_between(lo, np.maximum(lo, hi)), 0.0)
    left = np.bincount(owner, ticks * masses.density[at], len(rows))
    return share * float(np.prod(np.minimum(left, 1.0)))


def component_probability(ties: EventTies, masses: Masses, components: Indexes) -> Reals:
    """The probability that all ties of each of these components hold, shape of `components`.

    Raises
    ------
    QueryTooLargeError
        If one needs more products than the bound on the work.
    """
    series = series_of(ties)
    require_few(ties.sizes[components[~ties.serial[components]]])
    unknown = np.unique(components[np.isnan(ties.probability[components])])
    for problems, alike in alike_components(ties, masses, unknown):
        ties.probability[alike] = within_bound(lambda some: tied_probability(series.laws, some), problems)
    return np.asarray(ties.probability[components])


def alike_components(
    ties: EventTies, masses: Masses, components: Indexes
) -> Iterator[tuple[Problems, Indexes]]:
    """Components as problems, those together whose ties are the same; and which these are."""
    if not len(components):
        return
    texts = structure_texts(ties, Pieces.whole(ties, components)).rank("dense").to_numpy()
    for text in np.unique(texts):
        alike = components[texts == text]
        yield _problems(ties, masses, alike), alike


def piece_probability(ties: EventTies, masses: Masses, pieces: Pieces) -> Reals:
    """What a match that needs these pieces is divided by, shape of `pieces`.

    Of a piece of a series it is the probability that its ties hold, its first event being given all before
    it, and its last one all after it; of a single event, whose mass is given both, it is 1.

    Raises
    ------
    QueryTooLargeError
        If one needs more products than the bound on the work.
    """
    serial = ties.serial[pieces.component]
    found = np.ones(len(pieces.size))
    found[~serial] = component_probability(ties, masses, pieces.component[~serial])
    some = np.flatnonzero(serial & (pieces.size > 1))
    if len(some):
        series = series_of(ties)
        begin = ties.member_offsets[pieces.component[some]] + pieces.first[some]
        first = series.place[ties.members[begin]]
        last = first + pieces.size[some] - 1
        steps = pieces.size[some] - 1
        offsets = np.concatenate([[0], np.cumsum(steps)])
        at = np.repeat(first + 1 - offsets[:-1], steps) + np.arange(offsets[-1])
        found[some] = np.multiply.reduceat(series.ratio[at], offsets[:-1]) * series.meeting[last]
    return found


def _problems(ties: EventTies, masses: Masses, components: Indexes) -> Problems:
    """Alike components as problems: all of their events are variables, in order."""
    size = int(ties.sizes[components[0]])
    event = ties.members[ties.member_offsets[components][:, None] + np.arange(size)]
    edges = tuple(ties_between_ranks(ties, Pieces.whole(ties, components), 0))
    system = closure(size, edges)
    structure = Structure(system, edges, (), breakpoints(size, edges, system, ()))
    variables = Variables(event, *valid_bounds(masses.lower[event], masses.upper[event], system))
    return Problems(structure, np.arange(len(components)), variables, no_factors(len(components)))
