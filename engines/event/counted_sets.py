"""GROUP BY over a Kleene group: sets that differ in certain members alone are one row that counts them.

Of the events that can be between the neighbours of a group, some are there in every world.  A set is as
probable as its uncertain members are together, so that a row stands for all sets with the same ones: for the
sum of C(certain, t) over all t that make as many members as are asked for.  Of these rows those with the
fewest uncertain members say whether there is any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb

import numpy as np

from cepctl.engines.columns.bindings import Bindings, CountedRows, Group, MatchBatch, take_matches
from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.confidence.measured import Measured, Total
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.search.kleene.candidates import group_candidates
from cepctl.engines.search.kleene.counts import GroupBudget
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.numeric.precision import SMALLEST
from cepctl.plan.group_sizes import CountedSets

_ROWS_AT_ONCE, _SETS_AT_ONCE = 1 << 12, 1 << 15


def counted_matches(
    source: PreparedAlternative, sets: CountedSets, rows: Indexes, budget: GroupBudget
) -> Iterator[MatchBatch]:
    """The matches of neighbours: one for each set of uncertain members, with the number of its matches.

    Parameters
    ----------
    source
        The alternative, prepared.
    sets
        The Kleene component, and how many members it may have.
    rows
        Neighbours as `cepctl.engines.search.search.enumeration_parts` yields them, shape (n, l).
    budget
        How many sets of uncertain members may be made.

    Raises
    ------
    QueryTooLargeError
        If there are more.
    """
    for begin in range(0, len(rows), _ROWS_AT_ONCE):
        room = _Room.of(source, sets, rows[begin : begin + _ROWS_AT_ONCE])
        yield from room.matches(budget)


@dataclass(frozen=True)
class _Room:
    """Neighbours, and who can be between them: in every world, or in some; in the order of their ids."""

    source: PreparedAlternative
    sets: CountedSets
    bound: dict[int, Bindings]
    certain: Group
    uncertain: Group

    @classmethod
    def of(cls, source: PreparedAlternative, sets: CountedSets, rows: Indexes) -> _Room:
        search = source.search
        bound: dict[int, Bindings] = {
            i: rows[:, column] for column, i in enumerate(search.singles) if i != sets.component
        }
        row, event, certain = possible_members(source, sets.component, rows)
        ends = np.arange(len(rows) + 1)
        groups = (Group(np.searchsorted(row[some], ends), event[some]) for some in (certain, ~certain))
        room = cls(source, sets, bound, *groups)
        enough = room.certain.sizes + room.uncertain.sizes >= sets.least
        return room if enough.all() else room._taken(np.flatnonzero(enough))

    def _taken(self, rows: Indexes) -> _Room:
        bound = take_matches(self.bound, rows)
        return replace(
            self, bound=bound, certain=self.certain.take(rows), uncertain=self.uncertain.take(rows)
        )

    def matches(self, budget: GroupBudget) -> Iterator[MatchBatch]:
        """One for each set of uncertain members that some set of certain ones completes."""
        sizes = self.uncertain.sizes
        if not len(sizes):
            return
        widest = int(sizes.max())
        component = self.source.alternative.components[self.sets.component]
        budget.spend(sum(1 << int(each) for each in sizes), widest, component)
        offsets = np.concatenate([[0], np.cumsum(1 << sizes)]).astype(np.int64)
        for begin in range(0, int(offsets[-1]), _SETS_AT_ONCE):
            number = np.arange(begin, min(begin + _SETS_AT_ONCE, int(offsets[-1])))
            row = np.searchsorted(offsets, number, side="right") - 1
            yield from self._chosen(row, number - offsets[row], widest)

    def _chosen(self, row: Indexes, bits: Indexes, widest: int) -> Iterator[MatchBatch]:
        chosen: Flags = (bits[:, None] >> np.arange(widest)) & 1 == 1
        size, certain = chosen.sum(axis=1), self.certain.sizes[row]
        least = np.maximum(np.maximum(self.sets.least - size, (size == 0).astype(np.int64)), 0)
        most = certain if self.sets.most is None else np.minimum(certain, self.sets.most - size)
        allowed = np.flatnonzero(least <= most)
        if not len(allowed):
            return
        row, chosen, certain = row[allowed], chosen[allowed], certain[allowed]
        size, least, most = size[allowed], least[allowed], most[allowed]
        fewest = np.maximum(self.sets.least - certain, (certain == 0).astype(np.int64))
        sets = _Sets(self, row, chosen, least, most)
        found = self._measured(sets)
        happens = np.flatnonzero(found.possible)
        if len(happens):
            matches = _numbers(certain[happens], least[happens], most[happens])
            deciding: Flags = size[happens] == np.maximum(fewest[happens], 0)
            yield self._batch(sets.taken(happens), found.taken(happens), matches, deciding)

    def _measured(self, sets: _Sets) -> Measured:
        """Confidence and range of sets without more certain members than they need."""
        bound = take_matches(self.bound, sets.row)
        return self.source.judged(self._in_order(bound, sets.group(sets.least)))

    def _batch(self, sets: _Sets, found: Measured, matches: Reals, fewest: Flags) -> MatchBatch:
        """The first of the matches of each row, as they are ordered, with the range of all of them."""
        whole, certain, more = Total(len(found.start)), self._ends(), np.flatnonzero(sets.most > 0)
        whole.put(slice(None), found)
        whole.widen(more, certain.start[sets.row[more]], certain.end[sets.row[more]])
        bound = self._in_order(take_matches(self.bound, sets.row), sets.first(whole.start < found.start))
        values = tuple(bound[i] for i in self.source.search.singles)
        exact = np.maximum(found.confidence, SMALLEST)
        confidence = np.where(found.error > 0.0, found.confidence, exact)
        counted = CountedRows(matches, confidence * matches, confidence, whole.start, fewest)
        return MatchBatch(values, whole.start, whole.end, confidence, found.error, counted)

    def _in_order(self, bound: dict[int, Bindings], group: Group) -> dict[int, Bindings]:
        whole = bound | {self.sets.component: group}
        return {i: whole[i] for i in self.source.search.singles}

    def _ends(self) -> Total:
        """The first and the last tick of all certain members of each row."""
        masses, certain, found = self.source.events.masses, self.certain, Total(len(self.certain.sizes))
        found.widen(certain.owner, masses.lower[certain.members], masses.upper[certain.members])
        return found


@dataclass(frozen=True)
class _Sets:
    """Sets of uncertain members of some rows of a room, shape (n,); `chosen`, shape (n, m), says which.

    `least`, `most`: how many certain members complete each.
    """

    room: _Room
    row: Indexes
    chosen: Flags
    least: Indexes
    most: Indexes

    def taken(self, which: Indexes) -> _Sets:
        return _Sets(self.room, self.row[which], self.chosen[which], self.least[which], self.most[which])

    def group(self, certain: Indexes, besides: Indexes | None = None) -> Group:
        """The sets, each with its first `certain` certain members, and the one at the place `besides`."""
        room = self.room
        owner, column = np.nonzero(self.chosen)
        uncertain = room.uncertain.members[room.uncertain.offsets[self.row[owner]] + column]
        every = np.repeat(np.arange(len(certain)), certain)
        within = np.arange(len(every)) - np.repeat(np.cumsum(certain) - certain, certain)
        if besides is not None:
            # One before it moves the others on by a place.
            at = besides[every]
            within = np.where(at < 0, within, np.where(within == 0, at, within - 1 + (within - 1 >= at)))
        others = room.certain.members[room.certain.offsets[self.row[every]] + within]
        owner, event = np.concatenate([owner, every]), np.concatenate([uncertain, others])
        order = np.lexsort((room.source.events.id_rank[event], owner))
        return Group(np.searchsorted(owner[order], np.arange(len(certain) + 1)), event[order])

    def first(self, earlier: Flags) -> Group:
        """Of the sets that a row stands for the first as matches are ordered: by their start, then text.

        `earlier`: where a certain member begins before all else that a row has, so that it must be in it.
        """
        room = self.room
        rank, certain = room.source.events.id_rank, room.certain
        besides = np.where(earlier, _earliest(certain, room.source.events.masses.lower)[self.row], -1)
        last = np.full(len(self.row), -1, dtype=np.int64)
        owner, column = np.nonzero(self.chosen)
        members = room.uncertain.members[room.uncertain.offsets[self.row[owner]] + column]
        np.maximum.at(last, owner, rank[members])
        held = np.flatnonzero(besides >= 0)
        begin = certain.offsets[self.row]
        last[held] = np.maximum(last[held], rank[certain.members[begin[held] + besides[held]]])
        # Those before the last member come first: a text that goes on with a smaller id is smaller.
        every = certain.take(self.row)
        before = np.bincount(
            every.owner, weights=rank[every.members] < last[every.owner], minlength=len(last)
        ).astype(np.int64)
        inside = (besides >= 0) & (before <= besides)
        wanted = np.clip(before + inside, np.maximum(self.least, besides >= 0), self.most)
        return self.group(wanted, besides)


def _earliest(group: Group, lower: Ticks) -> Indexes:
    """The place of the member of each group that can be first, of several the one of the smallest id."""
    order = np.lexsort((np.arange(len(group.members)), lower[group.members], group.owner))
    found = np.full(len(group.sizes), -1, dtype=np.int64)
    some = np.flatnonzero(group.sizes)
    found[some] = order[group.offsets[:-1][some]] - group.offsets[:-1][some]
    return found


def possible_members(
    source: PreparedAlternative, component: int, rows: Indexes
) -> tuple[Indexes, Indexes, Flags]:
    """Pairs of a row and a member that it can have, by row and id; and which it has in every world."""
    search = source.search
    bound: dict[int, Bindings] = {i: rows[:, c] for c, i in enumerate(search.singles) if i != component}
    row, event = group_candidates(search, source.shape, source.events, rows, bound, component)
    return row, event, _certainly_between(source, component, rows[row], event)


def _certainly_between(source: PreparedAlternative, component: int, rows: Indexes, event: Indexes) -> Flags:
    """Which possible members are as asked beside their neighbours in every world that has these."""
    search, events = source.search, source.events
    lower, upper = events.masses.lower, events.masses.upper
    column = search.singles.index(component)
    found = np.ones(len(event), dtype=bool)
    for other in range(len(search.singles)):
        if other != column:
            for bound, left, right in (
                (search.system[column, other], event, rows[:, other]),
                (search.system[other, column], rows[:, other], event),
            ):
                if bound < UNBOUNDED:
                    found &= upper[left] - lower[right] <= bound
    for timing in search.alternative.timings:
        if timing.left == component and timing.right is None:
            found &= upper[event] <= timing.bound
        elif timing.right == component and timing.left is None:
            found &= -lower[event] <= timing.bound
    found &= (events.stamps.clock[event] == NO_CLOCK) & ~events.is_tied(event)
    return found


def _numbers(certain: Indexes, least: Indexes, most: Indexes) -> Reals:
    """How many sets of so many certain members, from `least` to `most` of them, there are."""
    asked = np.stack([certain, least, most], axis=1)
    distinct, which = distinct_rows(asked)
    numbers = [
        float(sum(comb(of, some) for some in range(first, last + 1)))
        for of, first, last in asked[distinct].tolist()
    ]
    return np.array(numbers)[which]
