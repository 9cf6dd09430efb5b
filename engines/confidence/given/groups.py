"""Groups of matches some of whose events are tied: the row and all ties that it touches, together.

Some row of a group holds and all components that any of them touches do: that is a union of rows, each of
which asks for the ties of all these components, too. Divided by the probability of the components it is the
occurrence. Of a series they need the events that some row touches; what lies between, before and after weighs
these.

On clocks the components are those that clocks connect (wholes), and both probabilities are unions of events
on clocks: of a whole alone it is one row that asks for its ties.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies, Units
from cepctl.engines.confidence.clocks.unions import RowsOnClocks, occurrences_of_rows
from cepctl.engines.confidence.coupled.problem import Clauses, Problems, Tied, clauses_of, owned
from cepctl.engines.confidence.given.components import NeededRanks, Sections, needed_of, piece_probability
from cepctl.engines.confidence.given.on_clocks import GivenOnClocks, TiesOf
from cepctl.engines.confidence.given.series import series_of, weighted_events
from cepctl.engines.confidence.given.work import require_few, require_uncrowded, too_many_together
from cepctl.engines.confidence.occurrence.counted_records import nothing_counted
from cepctl.engines.confidence.occurrence.occurrence import Occurrences, Weighted
from cepctl.engines.confidence.occurrence.rows import Rows
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Reals

MeasuringRows: TypeAlias = Callable[[Clauses], Occurrences]
"""From clauses of events that share clocks to the occurrences of groups."""


@dataclass(frozen=True)
class GroupWholes:
    """Pairs of a group and a whole that its rows touch, by group; and the ties of the wholes of each."""

    known: GivenOnClocks
    groups: int
    group: Indexes
    whole: Indexes
    ties: TiesOf

    @classmethod
    def of(cls, known: GivenOnClocks, problems: Sequence[Problems], groups: int) -> GroupWholes:
        """`match` of the problems is their group.

        Raises
        ------
        QueryTooLargeError
            If a group needs more tied events than can be summed together.
        """
        named = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        for each in problems:
            width = each.variables.event.shape[1]
            named.append((np.repeat(each.match, width), each.variables.event.reshape(-1)))
            named.append((np.repeat(each.match, np.diff(each.factors.offsets)), each.factors.event))
        group, whole = known.wholes_of(*(np.concatenate(each) for each in zip(*named, strict=True)))
        return cls(known, groups, group, whole, known.ties_of(groups, group, whole))

    def tied(self, problems: Problems) -> Tied:
        """What each problem asks for besides: all ties of its group."""
        at, begins = owned(self.ties.offsets, problems.match)
        problem = np.repeat(np.arange(len(problems.match)), np.diff(begins))
        return problem, self.ties.left[at], self.ties.right[at], self.ties.bound[at]

    def occurrences(
        self, problems: Sequence[Problems], measuring: MeasuringRows, *, limited: bool
    ) -> Occurrences:
        """Of each group the probability of its rows and ties together, over that of its ties.

        `measuring`: how clauses of events that share clocks are measured; `limited`: whether some variable of
        the problems has a constant limit of its own.

        Raises
        ------
        QueryTooLargeError
            As `measuring` does.
        """
        rows = clauses_of(problems, self.groups, limited=limited, tied=[self.tied(each) for each in problems])
        both = measuring(rows)
        return replace(both, probability=both.probability / self.given(measuring))

    def given(self, measuring: MeasuringRows) -> Reals:
        """Of each group the probability of its ties."""
        wholes, of = np.unique(self.whole, return_inverse=True)
        alone = whole_probability(self.known, wholes, measuring)
        found = np.ones(self.groups)
        np.multiply.at(found, self.group, alone[of.reshape(-1)])
        return found


def whole_probability(known: GivenOnClocks, wholes: Indexes, measuring: MeasuringRows) -> Reals:
    """That all ties of each of some wholes hold: a group of one row, which asks for nothing else."""
    ties = known.ties_of(len(wholes), np.arange(len(wholes)), wholes)
    count = len(ties.left)
    every = np.arange(len(wholes) + 1), ties.offsets, np.zeros(count, dtype=bool), np.arange(count + 1)
    return measuring(Clauses(*every, ties.left, ties.right, ties.bound)).probability


def ties_of_wholes(known: GivenOnClocks, alone: Problems) -> Tied:
    """What is given of the events of problems that share clocks, each of which is its own `match`."""
    return GroupWholes.of(known, [alone], len(alone.match)).tied(alone)


@dataclass(frozen=True)
class GivenRowsOnClocks(RowsOnClocks):
    """Rows of events that share clocks, together with all ties of the wholes that they touch."""

    wholes: GroupWholes
    width: int

    @classmethod
    def beside(
        cls, known: GivenOnClocks, masses: Masses, problems: Problems, *besides: Tied
    ) -> GivenRowsOnClocks:
        """Each problem as a row of its own."""
        alone = replace(problems, match=np.arange(len(problems.match)))
        wholes = GroupWholes.of(known, [alone], len(alone.match))
        clauses = Rows.of(masses, problems, wholes.tied(alone), *besides).clauses
        return cls(masses, clauses, known.clocks, wholes, problems.variables.event.shape[1])

    def probability(self) -> Reals:
        """P(row and its ties) / P(its ties)."""
        given = self.wholes.given(partial(occurrences_of_rows, self.clocks, self.masses))
        return super().probability() / given

    def refusal(self, problems: Problems, row: int) -> QueryTooLargeError:
        """That what is tied to a row takes too many products."""
        return too_many_together(self.width)


@dataclass(frozen=True)
class GroupComponents:
    """What the rows of groups need of components: pairs of a group and a piece of one, by group."""

    group: Indexes
    pieces: Sections
    needed: NeededRanks

    @classmethod
    def of(cls, clauses: Clauses, ties: EventTies, masses: Masses) -> GroupComponents:
        """What the groups of clauses need; events that stand for others are none of these."""
        problem, event = clauses.events()
        own = np.flatnonzero(event < len(ties.component))
        return cls.touching(clauses.group_of_problems[problem[own]], event[own], ties, masses)

    @classmethod
    def touching(
        cls, group: Indexes, event: Indexes, ties: EventTies, masses: Masses, *, scaled: bool = True
    ) -> GroupComponents:
        """What groups need that touch events: pairs, with repetitions; `scaled` as in `needed_of`."""
        tied = np.flatnonzero(ties.touches(event))
        group, component, rank = group[tied], ties.component[event[tied]], ties.rank[event[tied]]
        order = np.lexsort((rank, component, group))
        group, component, rank = group[order], component[order], rank[order]
        fresh, again = np.ones(len(group), dtype=bool), np.zeros(len(group), dtype=bool)
        fresh[1:] = (np.diff(group) != 0) | (np.diff(component) != 0)
        again[1:] = ~fresh[1:] & (np.diff(rank) == 0)
        group, component, rank, fresh = group[~again], component[~again], rank[~again], fresh[~again]
        begin = np.flatnonzero(fresh)
        offsets = np.append(begin, len(group))
        pieces = Sections.between(ties, component[begin], rank[begin], rank[offsets[1:] - 1])
        needed = needed_of(ties, masses, pieces, offsets, rank, scaled=scaled)
        return cls(group[begin], pieces, needed)

    def probability(self, ties: EventTies, masses: Masses, count: int) -> Reals:
        """Of `count` groups the probability that the ties of their pieces hold."""
        product = np.ones(count)
        share = piece_probability(ties, masses, self.pieces, self.needed)
        np.multiply.at(product, self.group, share)
        return product

    def tied(self, group: Indexes) -> Tied:
        """The ties of the group of each problem: problem, left and right event, and bound."""
        begin = np.searchsorted(self.group, group)
        sizes = np.searchsorted(self.group, group, side="right") - begin
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        pair = np.repeat(begin - offsets[:-1], sizes) + np.arange(offsets[-1])
        needed = self.needed
        at, tie_offsets = owned(needed.tie_offsets, pair)
        problem = np.repeat(np.repeat(np.arange(len(sizes)), sizes), np.diff(tie_offsets))
        return problem, needed.left[at], needed.right[at], needed.bound[at]

    def weighted(self, ties: EventTies, count: int) -> Weighted:
        """What stands for events before or after which are others of their series; and links.

        Raises
        ------
        QueryTooLargeError
            If a group needs more tied events than can be summed together.
        """
        require_few(self.needed.variables)
        units = series_of(ties).units
        require_uncrowded(units.records[self.pieces.component])
        group, event, instead = (
            np.concatenate(each)
            for each in zip(self._passed(ties, units), self._of_units(ties, units), strict=True)
        )
        order = np.argsort(group, kind="stable")
        offsets = np.searchsorted(group[order], np.arange(count + 1)).astype(np.int64)
        linked = np.repeat(self.group, np.diff(self.needed.link_offsets))
        link_offsets = np.searchsorted(linked, np.arange(count + 1)).astype(np.int64)
        laws = series_of(ties).laws
        links = self.needed.links
        return Weighted(
            laws, offsets, event[order], instead[order], link_offsets, links, nothing_counted(count)
        )

    def _passed(self, ties: EventTies, units: Units) -> Instead:
        """First and last events of pieces of series that are no units."""
        passed = np.flatnonzero(~units.are(self.pieces.component))
        pieces = self.pieces.taken(passed)
        follows, leads = pieces.follow(), pieces.lead(ties)
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
        return np.repeat(self.group[passed], changed.sum(axis=1)), ends[changed], instead[changed]

    def _of_units(self, ties: EventTies, units: Units) -> Instead:
        """All touched events of units: the first weighed by what is before it, the last by what is after."""
        needed, pieces, series = self.needed, self.pieces, series_of(ties)
        piece = np.repeat(np.arange(len(pieces.size)), np.diff(needed.touched_offsets))
        some = np.flatnonzero(units.are(pieces.component)[piece])
        piece, rank = piece[some], needed.rank[some]
        component, first = pieces.component[piece], pieces.first[piece]
        last, alone = first + pieces.size[piece] - 1, pieces.size[piece] == 1
        before = alone | ((rank == first) & (rank > 0))
        after = alone | ((rank == last) & (rank < ties.sizes[component] - 1))
        event = ties.members[ties.member_offsets[component] + rank]
        laws = len(series.place) + 3 * len(series.ratio)
        records = np.count_nonzero(series.unit_place >= 0)
        instead = laws + (before + 2 * after) * records + series.unit_place[event]
        return self.group[piece], event, instead


Instead: TypeAlias = tuple[Indexes, Indexes, Indexes]
"""Events of groups, and those that stand for them: group, event and the other."""


def ties_of_problems(ties: EventTies, masses: Masses, alone: Problems) -> Tied:
    """What is given of the events of problems, each of which is its own `match`."""
    count, width = alone.variables.event.shape
    factors = alone.factors
    rows = np.arange(count)
    problem = np.concatenate([np.repeat(rows, width), np.repeat(rows, np.diff(factors.offsets))])
    event = np.concatenate([alone.variables.event.reshape(-1), factors.event])
    return GroupComponents.touching(problem, event, ties, masses, scaled=False).tied(rows)
