"""Groups of one row of a summary: how many there are, and which of them never match in one world.

How many groups a row stands for is told where the intervals of its members decide that.

    asked of the members                          counted by
    nothing, up to a number of them               sums of binomials (`counts`)
    a value that rises or falls                   a table over the ticks at which they end (`sequences`)
    another order, many equal values, much work   nothing: they are listed

Where the events left out decide a group, few groups between the same neighbours are possible together.  The
probabilities of those that exclude each other add up:

    sets      a world has one group between two neighbours: all that fits there
    runs      two runs take the same events up to a tick, and at it each another one: both events have this
              tick, so that neither is taken by the other run
    chains    the same under contiguity; where a group ends a pattern, one may also begin another

Groups that begin a pattern begin at any of their members; nothing is said of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import numbers_of
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure, valid_bounds
from cepctl.engines.search.kleene.counts import count_sets, latest_beginnings
from cepctl.engines.search.kleene.sequences import Members, SequenceRoom
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.plan.group_sizes import sizes_asked
from cepctl.plan.plan import Alternative, Plan, Scope, Timing
from cepctl.plan.rising_values import rising_values

FEW_MEMBERS = 4
"""The sequences of so many members are listed sooner than counted one row after the other."""
_MOST_COMPARED = 1 << 12
"""Groups of one row that are compared with each other."""


@dataclass(frozen=True)
class RowsOfMembers:
    """Rows of neighbours, and the members of each that can be in a group alone.

    `one_member` is the reading with one member in the place of the `group`, a component; `rows` have a
    column for it, too.
    """

    one_member: PreparedAlternative
    group: int
    rows: Indexes
    members: Group

    def counts(self) -> list[int] | list[int | None]:
        """The number of groups of each row; None where it is not known without listing them."""
        plan = self.one_member.plan
        alternative = plan.alternatives[0]
        sizes = sizes_asked(alternative, self.group)
        most = None if sizes is None else sizes.most
        if alternative.components[self.group].ordered and any(
            link.scope is Scope.ORDER for link in alternative.links
        ):
            return self._sequences(most)
        return self._sets(most)

    def _sets(self, most: int | None) -> list[int]:
        lower, upper = self._intervals(self.rows[self.members.owner], self.members.members)
        system, own = self.one_member.search.system, self._column
        reach = latest_beginnings(lower, upper, system, own)
        owner = self.members.owner
        return count_sets(owner, len(self.rows), lower[:, own], upper[:, own], reach, most)

    def _sequences(self, most: int | None) -> list[int | None]:
        """Row by row; what has few members is left to be listed."""
        found: list[int | None] = [None] * len(self.rows)
        rising = rising_values(self.one_member.plan.alternatives[0])
        many = np.flatnonzero(self.members.sizes > FEW_MEMBERS)
        if rising is None or not len(many):
            return found
        values = self.one_member.events.frame.get_column(rising.attribute)
        if values.dtype.is_float() and values.is_nan().any():
            return found
        number = numbers_of(values)
        begin, latest, last, span = self._rooms
        for row in many.tolist():
            event = self.members.members[self.members.offsets[row] : self.members.offsets[row + 1]]
            null = number[event] < 0
            if rising.over_nulls and null.any():
                continue
            compared = event[~null]
            lower, upper = self._intervals(self.rows[[row] * len(compared)], compared)
            value = -number[compared] if rising.falling else number[compared]
            own = Members(value, lower[:, self._column], upper[:, self._column], rising.equal, most)
            count = own.count(SequenceRoom(int(begin[row]), int(latest[row]), int(last[row]), span))
            # One without a value can only be alone.
            found[row] = None if count is None else count + int(null.sum())
        return found

    @property
    def _column(self) -> int:
        """The column of the group."""
        return self.one_member.search.singles.index(self.group)

    def _intervals(self, rows: Indexes, member: Indexes) -> tuple[Ticks, Ticks]:
        """The intervals of neighbours with a member each, as far as constants leave them."""
        bound, search, masses = rows.copy(), self.one_member.search, self.one_member.events.masses
        bound[:, self._column] = member
        lower, upper = masses.lower[bound], masses.upper[bound]
        for timing in search.alternative.timings:
            _limit_by_constant(timing, search.singles, lower, upper)
        return lower, upper

    @cached_property
    def _rooms(self) -> tuple[Ticks, Ticks, Ticks, int]:
        """Of each row the ticks from and to which members lie after one, and the last of all; their span.

        Two variables stand for the group: the tick before its first member, and the one behind its last.
        """
        search, own = self.one_member.search, self._column
        count = len(search.singles)
        before, behind = own, count
        edges = [(before, behind, -2)]
        for i in range(count):
            for j in range(count):
                bound = int(search.system[i, j])
                if i == j or bound >= UNBOUNDED:
                    continue
                if j == own:
                    edges.append((i, before, bound + 1))
                elif i == own:
                    edges.append((behind, j, bound + 1))
                else:
                    edges.append((i, j, bound))
        system = closure(count + 1, edges)
        lower, upper = self._widest
        first, last = valid_bounds(lower, upper, system)
        span = int(system[behind, before])
        span = span if span == UNBOUNDED else span - 1
        return first[:, before], last[:, before], last[:, behind] - 1, span

    @property
    def _widest(self) -> tuple[Ticks, Ticks]:
        """Intervals of neighbours, and of the ticks before and behind their members; shape (n, l + 1)."""
        members, own = self.members, self._column
        first = members.offsets[:-1]
        lower, upper = self._intervals(self.rows, members.members[first])
        each_lower, each_upper = self._intervals(self.rows[members.owner], members.members)
        begin = np.minimum.reduceat(each_lower[:, own], first) - 1
        end = np.maximum.reduceat(each_upper[:, own], first) + 1
        lower[:, own], upper[:, own] = begin, end
        return np.column_stack([lower, begin]), np.column_stack([upper, end])


def _limit_by_constant(timing: Timing, singles: tuple[int, ...], lower: Indexes, upper: Indexes) -> None:
    """A timing constraint between an event and a constant cuts the event's interval, in place."""
    if timing.not_equal or (timing.left is not None and timing.right is not None):
        return
    if timing.right is None and timing.left in singles:
        column = upper[:, singles.index(timing.left)]
        np.minimum(column, timing.bound, out=column)
    elif timing.left is None and timing.right in singles:
        column = lower[:, singles.index(timing.right)]
        np.maximum(column, -timing.bound, out=column)


def classes_of(
    plan: Plan, shown: Alternative, group: int, row: Indexes, members: Group, masses: Masses
) -> Indexes:
    """A number for each match, different where two of a row exclude each other; shape (n,).

    `shown`: the alternative as rows show it; `group`: its component; `members`: those of each match.
    """
    alone = np.zeros(len(row), dtype=np.int64)
    if not plan.strategy.whole_groups or shown.positive[0] == group:
        return alone
    trailing = shown.positive[-1] == group
    ordered = shown.components[group].ordered
    if not ordered and trailing and plan.strategy.asks_all:
        return alone
    order = np.argsort(row, kind="stable")
    sorted_members = members.take(order)
    offsets = np.searchsorted(row[order], np.arange(int(row.max(initial=-1)) + 2))
    label = np.arange(len(row))
    _join(
        *(offsets, sorted_members.offsets, sorted_members.members, masses.lower, masses.upper),
        *(ordered, trailing, _MOST_COMPARED, label),
    )
    found = np.empty_like(label)
    found[order] = label
    return found


@kernel
def _join(offsets, begins, members, lower, upper, ordered, trailing, most, label):
    """Give those of a row one label that may match together, and those that these may match with."""
    for row in range(len(offsets) - 1):
        start, stop = offsets[row], offsets[row + 1]
        if stop - start > most:
            label[start:stop] = start
            continue
        for one in range(start, stop):
            for other in range(one + 1, stop):
                mine, theirs = _root(label, one), _root(label, other)
                if mine != theirs and _together(one, other, begins, members, lower, upper, ordered, trailing):
                    label[max(mine, theirs)] = min(mine, theirs)
        for one in range(start, stop):
            label[one] = _root(label, one)


@inner
def _root(label, at):
    while label[at] != at:
        at = label[at]
    return at


@inner
def _together(one, other, begins, members, lower, upper, ordered, trailing):
    """Whether some world may have both groups."""
    size, length = begins[one + 1] - begins[one], begins[other + 1] - begins[other]
    place = 0
    while place < min(size, length) and members[begins[one] + place] == members[begins[other] + place]:
        place += 1
    if place == min(size, length):
        return size == length or (ordered and trailing)
    if not ordered:
        return False
    mine, theirs = members[begins[one] + place], members[begins[other] + place]
    if lower[mine] > upper[theirs] or lower[theirs] > upper[mine]:
        return False
    tied = True
    for at in range(begins[one], begins[one + 1]):
        tied &= members[at] != theirs
    for at in range(begins[other], begins[other + 1]):
        tied &= members[at] != mine
    return tied
