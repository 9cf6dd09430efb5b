"""How probable a growing group can be at most: its members lie between cells of its neighbours' ticks.

Members are independent once the ticks s and t of the neighbours are known.  So cut the intervals of both
into a few cells; while s lies in cell i and t in cell j, a member lies after the first tick of i and before
the last one of j.  Then

    confidence <= sum over i, j of P(s in i) P(t in j) * product over members of P(first of i < x < last of j)

which falls with every member.  A group carries its products along, so that another member costs one factor
for each pair of cells.  Where a group holds every event between its neighbours, one that is not chosen lies
outside of the narrowest gap, from the last tick of i to the first one of j; where another group is the
neighbour, or events further away end the gap, from and to the ticks that are certainly between them
(`SureGap`).  The members of a sequence are a chain with their neighbours, whose probability is known in
closed form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import LAST, shifted
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure, valid_bounds
from cepctl.engines.search.kleene.cell_products import (
    CellGaps,
    count_tries,
    lengthen,
    narrow,
    pair_cells,
    share_of_cells,
)
from cepctl.engines.search.search import Search, reach
from cepctl.engines.search.threshold import upper_bounds
from cepctl.numeric.arrays import Indexes, Reals, Ticks

_MOST_CELLS = 16
"""Cells of a neighbour: more would bound more closely, and cost more for every member."""


@dataclass(frozen=True)
class SureGap:
    """Ticks at which every event that fits is in a group, in each world that returns the match.

    From `first` to `last`, ends included, shape (n,); none where first > last.  Where the event of a single
    component decides an end, that is `after` or `until` (-1 for none), and the gap begins one tick after the
    one and ends `reach` ticks from the other.
    """

    first: Ticks
    last: Ticks
    after: int = -1
    until: int = -1
    reach: int = -1


@dataclass(frozen=True)
class CellBounds:
    """Partial matches beside which groups of one component grow, and the cells of their neighbours' ticks.

    `rows` has shape (n, l); `before` and `after` are the columns of the neighbours, -1 where nothing limits
    the members on that side.  `cells` has the first ticks of the cells of either, and the tick after the
    last one, shape (n, cells + 1).  `gaps` are those of the members, `others` those of what else is bound.
    """

    masses: Masses
    system: Ticks
    column: int
    rows: Indexes
    before: int
    after: int
    cells: tuple[Ticks, Ticks]
    gaps: CellGaps
    others: tuple[tuple[Group, CellGaps], ...]

    @classmethod
    def of(
        cls,
        search: Search,
        shape: Shape,
        events: Events,
        rows: Indexes,
        bound: dict[int, Bindings],
        component: int,
        sure: SureGap | None = None,
    ) -> CellBounds | None:
        """None where nothing is bound that limits the members; `sure` where a group holds all in its gap."""
        system, column, masses = search.system, search.singles.index(component), events.masses
        single = [search.singles.index(i) for i, each in bound.items() if not isinstance(each, Group)]
        place = {i: shape.block_of(search.singles[i]) - shape.block_of(component) for i in single}
        before = _nearest({i: -place[i] for i in single}, system[:, column])
        after = _nearest(place, system[column, :])
        if sure is not None and sure.until >= 0:
            after = search.singles.index(sure.until)
        if before < 0 and after < 0:
            return None
        events_bound = rows[:, single]
        limits = np.ix_(single, single)
        valid = valid_bounds(masses.lower[events_bound], masses.upper[events_bound], system[limits])
        cells = {i: _cells(*(each[:, single.index(i)] for each in valid)) for i in {before, after} - {-1}}
        both = cells[max(before, after)]
        ends = cells.get(before, both), cells.get(after, both)

        def gaps(other: int) -> CellGaps:
            low = int(system[before, other]) if before >= 0 else UNBOUNDED
            high = int(system[other, after]) if after >= 0 else UNBOUNDED
            first, last = _widest(ends, -low, high)
            return CellGaps(first, first, last, last, before == after or min(before, after) < 0)

        others = [
            (Group(np.arange(len(rows) + 1), np.ascontiguousarray(rows[:, i])), gaps(i))
            for i in single
            if i not in (before, after)
        ]
        others += [
            (each, gaps(search.singles.index(i))) for i, each in bound.items() if isinstance(each, Group)
        ]
        widest = reach(events.masses, search.system, rows, tuple(single), column)
        known = None if sure is None else _narrowest(ends, sure, at=(before, after), singles=search.singles)
        own = _between(gaps(column), widest, known)
        return cls(*(masses, system, column, rows, before, after, ends, own, tuple(others)))

    @property
    def size(self) -> int:
        """How many numbers a group carries along: one for each pair of cells."""
        before, after = (int(each.shape[1]) - 1 for each in self.cells)
        return before if self.gaps.together else before * after

    def started(self, rows: Indexes) -> Reals:
        """P(the neighbours lie in a pair of cells, and leave room for what else is bound), (n, size)."""
        buckets = self.masses.buckets
        before, after = (each[rows] for each in self.cells)
        known = [
            column if column >= 0 else max(self.before, self.after) for column in (self.before, self.after)
        ]
        shares = [np.empty((len(rows), each.shape[1] - 1)) for each in (before, after)]
        share_of_cells(buckets, self.rows[rows, known[0]], before, shares[0])
        if self.gaps.together:
            weights = shares[0]
        else:
            share_of_cells(buckets, self.rows[rows, known[1]], after, shares[1])
            apart = self.system[self.before, self.after], self.system[self.after, self.before]
            weights = np.empty((len(rows), self.size))
            pair_cells(before, after, int(apart[0]), int(apart[1]), shares[0], shares[1], weights)
        for group, gaps in self.others:
            own = group.take(rows)
            narrow(buckets, gaps, rows, own.offsets, own.members, False, weights)
        return weights

    def longer(self, rows: Indexes, weights: Reals, following: Group, *, whole: bool) -> Reals:
        """What groups with one more member carry along; the sum of a row bounds the confidence.

        `rows`, `weights`: the partial match of every group that grows, and what it carries along, shape (n,
        size).  `following`: the events that may be the next member of each.  `whole`: whether the events that
        are passed over must lie outside of the gap.
        """
        found = np.empty((len(following.members), weights.shape[1]))
        lengthen(
            *(
                self.masses.buckets,
                self.gaps,
                rows,
                weights,
                following.offsets,
                following.members,
                whole,
                found,
            )
        )
        return found

    def tries(
        self, rows: Indexes, weights: Reals, following: Group, window: int | None, least: float, allowed: int
    ) -> int:
        """How many sets of `following` are tried beside each row before they all fall below `least`.

        Ends after more than `allowed`; members of a set share the `window`.
        """
        events = self.masses.buckets, self.gaps, rows, weights, following.offsets, following.members
        return int(count_tries(*events, np.int64(min(window or LAST, LAST)), least, np.int64(allowed)))

    def finished(self, rows: Indexes, weights: Reals, left_out: Group) -> Reals:
        """Bounds of groups without these events, which then lie outside of the gap; shape (n,)."""
        found = weights.copy()
        narrow(self.masses.buckets, self.gaps, rows, left_out.offsets, left_out.members, True, found)
        return np.asarray(found.sum(axis=1))

    def of_sequences(self, rows: Indexes, members: Indexes) -> Reals:
        """Bounds of sequences, whose members in order have shape (n, size); shape (n,)."""
        first = [self.before] if self.before >= 0 and self.system[self.before, self.column] < 0 else []
        last = [self.after] if self.after >= 0 and self.system[self.column, self.after] < 0 else []
        columns = first + [self.column] * members.shape[1] + last
        if len(columns) < 2:
            return np.ones(len(members))
        chain = np.concatenate([self.rows[rows][:, first], members, self.rows[rows][:, last]], axis=1)
        steps = range(len(columns))
        edges = [
            (i, j, int(self.system[columns[i], columns[j]]))
            for i in steps
            for j in steps
            if columns[i] != columns[j]
        ]
        edges += [(i, i + 1, -1) for i in steps[:-1]]
        return upper_bounds(self.masses, chain, closure(len(columns), edges))


def _nearest(place: dict[int, int], limits: Ticks) -> int:
    """The column that limits the members most closely: the nearest on its side, else one beyond."""
    known = [i for i in place if limits[i] < UNBOUNDED]
    beside = [i for i in known if place[i] > 0]
    if beside:
        return min(beside, key=lambda i: place[i])
    return min(known, key=lambda i: int(limits[i]), default=-1)


def _cells(lower: Ticks, upper: Ticks) -> Ticks:
    """Cut intervals into a few cells: the first tick of each, and that after the last; (n, cells + 1)."""
    width = upper - lower
    usual = (width >= 0) & (width < LAST // _MOST_CELLS)
    count = int(min(width[usual].max(initial=0) + 1, _MOST_CELLS)) if usual.all() else _MOST_CELLS
    parts = np.arange(count + 1)
    # In parts of the ends, since the width of some exceeds int64.
    even = lower[:, None] + (np.where(usual, width, 0)[:, None] + 1) * parts // count
    uneven = lower[:, None] // count * (count - parts) + upper[:, None] // count * parts
    found = np.where(usual[:, None], even, uneven)
    found[:, 0], found[:, -1] = lower, np.maximum(upper + 1, lower)
    return np.clip(found, found[:, :1], found[:, -1:])


def _widest(cells: tuple[Ticks, Ticks], low: int, high: int) -> tuple[Ticks, Ticks]:
    """From `low` ticks after the first tick of one neighbour's cells to `high` after the other's last."""
    first, last = np.full_like(cells[0][:, 1:], -LAST), np.full_like(cells[1][:, 1:], LAST)
    if low > -UNBOUNDED:
        first = shifted(cells[0][:, :-1], low)
    if high < UNBOUNDED:
        last = shifted(cells[1][:, 1:] - 1, high)
    return np.ascontiguousarray(first), np.ascontiguousarray(last)


def _narrowest(
    cells: tuple[Ticks, Ticks], sure: SureGap, *, at: tuple[int, int], singles: Sequence[int]
) -> tuple[Ticks, Ticks]:
    """The ticks that are in the gap wherever in their cells the events in the columns `at` lie."""
    first = np.broadcast_to(sure.first[:, None], cells[0][:, 1:].shape)
    last = np.broadcast_to(sure.last[:, None], cells[1][:, 1:].shape)
    if sure.after >= 0 and singles.index(sure.after) == at[0]:
        first = cells[0][:, 1:]
    if sure.until >= 0 and singles.index(sure.until) == at[1]:
        last = shifted(cells[1][:, :-1], sure.reach)
    return np.ascontiguousarray(first), np.ascontiguousarray(last)


def _between(gaps: CellGaps, widest: tuple[Ticks, Ticks], narrowest: tuple[Ticks, Ticks] | None) -> CellGaps:
    """Gaps none of which goes beyond `widest`, with what is certainly in them; nothing is unless told."""
    first, last = np.maximum(gaps.first, widest[0][:, None]), np.minimum(gaps.last, widest[1][:, None])
    if narrowest is None:
        narrowest = np.ones_like(first), np.zeros_like(last)
    return CellGaps(first, narrowest[0], last, narrowest[1], gaps.together)
