"""Groups of matches some of whose events are tied: what each row asks for, and what is given, together.

Some row of a group holds and all components that any of them touches do: that is a union of rows, each of
which asks for the ties of all these components, too.  Divided by the probability of the components it is the
occurrence.  Of a series they need the events from the first to the last that some row touches; what is before
and after weighs the masses of these two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.given.components import piece_probability
from cepctl.engines.given.series import series_of, weighted_events
from cepctl.engines.given.structures import Pieces
from cepctl.engines.given.touched_components import touched
from cepctl.engines.given.work import require_few
from cepctl.engines.occurrence.occurrence import Weighted


@dataclass(frozen=True)
class GroupComponents:
    """What the rows of groups need of components: pairs of a group and a piece of one, by group."""

    group: Indexes
    pieces: Pieces

    @classmethod
    def of(cls, problems: Sequence[Problems], ties: EventTies) -> GroupComponents:
        """`match` of the problems is their group."""
        none = np.zeros(0, dtype=np.int64)
        named = [(none, none, none, none)]
        for each in problems:
            touching = touched(each, ties)
            pieces = touching.pieces
            last = pieces.first + pieces.size - 1
            named.append((each.match[touching.problem], pieces.component, pieces.first, last))
        group, component, first, last = (np.concatenate(each) for each in zip(*named, strict=True))
        order = np.lexsort((component, group))
        group, component, first, last = group[order], component[order], first[order], last[order]
        fresh = np.ones(len(group), dtype=bool)
        fresh[1:] = (np.diff(group) != 0) | (np.diff(component) != 0)
        begin = np.flatnonzero(fresh)
        if not len(begin):
            return cls(none, Pieces(none, none, none))
        pieces = Pieces.between(
            ties, component[begin], np.minimum.reduceat(first, begin), np.maximum.reduceat(last, begin)
        )
        require_few(pieces.size)
        return cls(group[begin], pieces)

    def probability(self, ties: EventTies, masses: Masses, count: int) -> Reals:
        """Of `count` groups the probability that the ties of their pieces hold."""
        product = np.ones(count)
        np.multiply.at(product, self.group, piece_probability(ties, masses, self.pieces))
        return product

    def ties_of(self, problems: Problems, ties: EventTies) -> tuple[Indexes, Indexes, Indexes, Ticks]:
        """The ties of each problem's group: problem, left and right event, and bound."""
        begin = np.searchsorted(self.group, problems.match)
        sizes = np.searchsorted(self.group, problems.match, side="right") - begin
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        pair = np.repeat(begin - offsets[:-1], sizes) + np.arange(offsets[-1])
        at, tie_offsets = self.pieces.taken(pair).ties(ties)
        problem = np.repeat(np.repeat(np.arange(len(sizes)), sizes), np.diff(tie_offsets))
        return problem, ties.left[at], ties.right[at], ties.bound[at]

    def weighted(self, ties: EventTies, count: int) -> Weighted:
        """The first and last events of pieces that have others of their series before or after them."""
        pieces, follows, leads = self.pieces, self.pieces.follow(), self.pieces.lead(ties)
        begin = ties.member_offsets[pieces.component] + pieces.first
        ends = np.stack([ties.members[begin], ties.members[begin + pieces.size - 1]], axis=1)
        instead = ends.copy()
        for follow in (False, True):
            for lead in (False, True):
                for alone in (False, True):
                    some = np.flatnonzero(
                        (follows == follow) & (leads == lead) & ((pieces.size == 1) == alone)
                    )
                    if len(some):
                        instead[some] = weighted_events(ties, ends[some], follows=follow, leads=lead)
        changed = instead != ends
        changed[:, 1] &= pieces.size > 1
        group = np.repeat(self.group, changed.sum(axis=1))
        offsets = np.searchsorted(group, np.arange(count + 1)).astype(np.int64)
        return Weighted(series_of(ties).laws, offsets, ends[changed], instead[changed])
