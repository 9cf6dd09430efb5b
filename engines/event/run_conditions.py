"""Whether an event fits next, given what a run has taken before: conditions asked of the groups so far."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import aggregate_of, column_name, component_of, group_link_holds
from cepctl.language.ast import Aggregate, Attribute, EventTime, Expression, Probability, Variable
from cepctl.language.traversal import walk
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Alternative, Link
from cepctl.plan.polars_expressions import compile_expression


def reads_finished(expression: Expression, variable: str) -> bool:
    """Whether a condition reads `b[last]` or `b[]`, which are known of a finished group alone."""
    return any(
        (isinstance(each, Attribute | EventTime) and each.member == "last" and each.variable == variable)
        or (isinstance(each, Aggregate) and not each.before and each.variable == variable)
        for each in walk(expression)
    )


@dataclass(frozen=True)
class RunConditions:
    """The conditions of a reading, and `taken`: the component that takes each event of its runs, in order.

    `heard` hears how many each condition takes away, of those that the ones before it have let through.
    """

    events: Events
    reading: Alternative
    taken: tuple[int, ...]
    heard: Callable[[Link, int], None] | None = None

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(component.variable for component in self.reading.components)

    @property
    def has_sets(self) -> bool:
        """Whether some group has no order."""
        return any(self.is_of_set(at) for at in range(len(self.taken)))

    def is_of_set(self, place: int) -> bool:
        """Whether the event at a place is a member of a group without order."""
        return self.reading.components[self.taken[place]].is_set

    def continues(self, place: int) -> bool:
        """Whether the component that took before takes at a place, too."""
        return place > 0 and self.taken[place - 1] == self.taken[place]

    def with_sets_by(self, rank: Indexes, rows: Indexes) -> Indexes:
        """Runs, shape (n, l), with the members of each set by the ranks of events."""
        found = rows.copy()
        for component in {self.taken[place] for place in range(len(self.taken)) if self.is_of_set(place)}:
            places = [place for place, each in enumerate(self.taken) if each == component]
            order = np.argsort(rank[rows[:, places]], axis=1)
            found[:, places] = np.take_along_axis(rows[:, places], order, axis=1)
        return found

    def reads_taking(self, component: int, place: int) -> bool:
        """Whether a condition on who fits a component reads a set that takes the event before a place."""
        group = self.taken[place - 1]
        return (
            self.is_of_set(place - 1)
            and component != group
            and any(group in link.components for link in self.deciding(component))
        )

    def deciding(self, component: int, *, finished: bool = False) -> list[Link]:
        """What decides who fits a component, or what filters its finished group."""
        group = self.reading.components[component].kleene
        names = [self._names[i] for i in self.reading.turn(component)]
        return [
            link
            for link in self.reading.links
            if link.decides == component
            and (group and any(reads_finished(link.expression, name) for name in names)) == finished
        ]

    def depends_on_members(self, component: int) -> bool:
        """Whether who fits a component depends on which members groups have by then."""
        read = ((link, i) for link in self.deciding(component) for i in link.components)
        return any(
            (self.reading.components[i].kleene or self.reading.passes_over)
            and (i != component or _looks_back(link.expression))
            for link, i in read
        )

    def fit(self, component: int, rows: Indexes, count: int, row: Indexes, event: Indexes) -> Flags:
        """Whether events fit a component, which runs could take after their first `count` events.

        `rows`: the events that each run takes, shape (n, l); `row`, `event`: pairs of a run and an event.
        """
        found = np.ones(len(row), dtype=bool)
        for link in self.deciding(component):
            if self._reads_absent(link, component, count):
                continue
            left = np.flatnonzero(found)
            if not len(left):
                break
            pairs = NextMember(self, component, rows, count, row[left], event[left])
            found[left] = pairs.hold(link) if pairs.can_tell(link) else self._fit(component, link, pairs)
            self._tell(link, found[left])
        return found

    def _tell(self, link: Link, held: Flags) -> None:
        if self.heard is not None:
            self.heard(link, int((~held).sum()))

    def _fit(self, component: int, link: Link, pairs: NextMember) -> Flags:
        """Whether events fit by a condition that reads the members of another group one by one."""
        taken = pairs.rows[pairs.row, : pairs.count]
        bound = self._bound(link, taken)
        in_turn = len(self.reading.turn(component)) > 1
        if component not in bound or not (in_turn or _looks_back(link.expression)):
            bound[component] = pairs.event
        else:
            members = self.members(component, taken)
            bound[component] = _group(np.concatenate([members, pairs.event[:, None]], axis=1))
        return group_link_holds(self.events, self.reading, link, bound)

    def may_go_on(self, rows: Indexes, place: int) -> Flags:
        """Whether what runs leave when they take their event at a place passes its filters."""
        turn = self.reading.turn(self.taken[place - 1])
        found = np.ones(len(rows), dtype=bool)
        for component in turn if self.taken[place] not in turn else ():
            found &= self.may_be_left(component, rows[:, :place])
        return found

    def may_end(self, rows: Indexes) -> Flags:
        """Whether what runs have taken last passes its filters."""
        found = np.ones(len(rows), dtype=bool)
        for component in self.reading.turn(self.taken[-1]):
            found &= self.may_be_left(component, rows)
        return found

    def may_be_left(self, component: int, rows: Indexes) -> Flags:
        """Whether the finished group of a component passes its filters."""
        found = np.ones(len(rows), dtype=bool)
        for link in self.deciding(component, finished=True):
            if self._reads_absent(link, component, len(self.taken)):
                continue
            left = np.flatnonzero(found)
            bound = self._bound(link, rows[left])
            found[left] = group_link_holds(self.events, self.reading, link, bound)
            self._tell(link, found[left])
        return found

    def _reads_absent(self, link: Link, component: int, count: int) -> bool:
        """Whether a condition is on what has taken nothing among so many events: then it does not apply."""
        passed = set(self.reading.positive) - {component, *self.taken[:count]}
        return self.reading.passes_over and bool(passed & set(link.components))

    def _bound(self, link: Link, taken: Indexes) -> dict[int, Bindings]:
        """What a condition reads of the events that are taken."""
        bound: dict[int, Bindings] = {}
        for i in link.components:
            members = self.members(i, taken)
            if self.reading.components[i].kleene:
                bound[i] = _group(members)
            elif members.shape[1]:
                bound[i] = members[:, 0]
        return bound

    def members(self, component: int, taken: Indexes) -> Indexes:
        """The events of runs that a component took, of the first ones that are `taken`."""
        return taken[:, [at for at in range(taken.shape[1]) if self.taken[at] == component]]


@dataclass(frozen=True)
class NextMember:
    """Pairs of a run, by its row, and an event that a component could take after its first `count` events."""

    conditions: RunConditions
    component: int
    rows: Indexes
    count: int
    row: Indexes
    event: Indexes

    def can_tell(self, link: Link) -> bool:
        """Whether a condition has one value for each pair."""
        components = self.conditions.reading.components
        if any(len(self.conditions.reading.turn(i)) > 1 for i in link.components):
            return False
        leaves = list(walk(link.expression))
        if any(isinstance(each, Probability | Variable) or self._is_of_many(each) for each in leaves):
            return False
        return all(components[i].ordered for i in link.components if components[i].kleene)

    def _is_of_many(self, leaf: Expression) -> bool:
        """Whether a leaf has a value for each member of another group."""
        if isinstance(leaf, Aggregate):
            return leaf.before and self._is_other_group(leaf)
        if isinstance(leaf, Attribute | EventTime):
            return leaf.member in ("each", "previous") and self._is_other_group(leaf)
        return False

    def hold(self, link: Link) -> Flags:
        """Whether it holds; what reads members that are not there is not asked."""
        leaves = [
            each for each in walk(link.expression) if isinstance(each, Attribute | EventTime | Aggregate)
        ]
        if any(self._is_not_there(each) for each in leaves):
            return np.ones(len(self.row), dtype=bool)
        columns = {repr(each): self._series(each) for each in leaves}
        condition = compile_expression(link.expression, lambda leaf: pl.col(repr(leaf))).fill_null(False)
        if not columns:
            return np.full(len(self.row), bool(pl.select(condition).item()))
        frame = pl.DataFrame([series.alias(name) for name, series in columns.items()])
        return np.asarray(frame.select(condition).to_series().to_numpy())

    def _component(self, leaf: Attribute | EventTime | Aggregate) -> int:
        found = component_of(self.conditions.reading, leaf.variable)
        assert found is not None
        return found

    def _is_other_group(self, leaf: Attribute | EventTime | Aggregate) -> bool:
        component = self._component(leaf)
        return component != self.component and self.conditions.reading.components[component].kleene

    def _members(self, component: int) -> list[int]:
        """Where the members stand that a component has taken."""
        return [at for at in range(self.count) if self.conditions.taken[at] == component]

    def _is_not_there(self, leaf: Attribute | EventTime | Aggregate) -> bool:
        members = len(self._members(self._component(leaf)))
        if isinstance(leaf, Aggregate):
            return leaf.before and not leaf.own and not members
        return leaf.member == "previous" and leaf.back > members

    def _series(self, leaf: Attribute | EventTime | Aggregate) -> pl.Series:
        """What a leaf reads, one value for each pair."""
        events, component = self.conditions.events, self._component(leaf)
        members = self._members(component)
        if isinstance(leaf, Aggregate):
            return self._aggregate(leaf, component, members)
        if component == self.component and (leaf.member in (None, "each") or not members):
            read = self.event
        else:
            back = leaf.back if leaf.member == "previous" else 1
            read = self.rows[self.row, members[0 if leaf.member in (None, "first") else -back]]
        return events.frame.get_column(column_name(leaf)).gather(read)

    def _aggregate(self, leaf: Aggregate, component: int, members: list[int]) -> pl.Series:
        whole = replace(leaf, before=False, own=False)
        if leaf.own:
            group = np.concatenate([self.rows[self.row][:, members], self.event[:, None]], axis=1)
            return aggregate_of(self.conditions.events, whole, _group(group))
        rows, back = np.unique(self.row, return_inverse=True)
        found = aggregate_of(self.conditions.events, whole, _group(self.rows[rows][:, members]))
        return found.gather(back)


def _looks_back(expression: Expression) -> bool:
    """Whether a condition on `b[i]` reads other members, too."""
    return any(
        (isinstance(each, Attribute | EventTime) and each.member in ("previous", "first"))
        or (isinstance(each, Aggregate) and each.before)
        for each in walk(expression)
    )


def _group(members: Indexes) -> Group:
    count, size = members.shape
    return Group(
        np.arange(0, count * size + 1, size) if size else np.zeros(count + 1, np.int64), members.reshape(-1)
    )


def folded(reading: Alternative, taken: Sequence[int], bound: Sequence[Bindings]) -> tuple[Bindings, ...]:
    """What runs bind, as the reading has it: the members of a group together."""
    columns = np.stack([each for each in bound if not isinstance(each, Group)], axis=1)
    parts: list[Bindings] = []
    for i in reading.positive:
        turn = reading.turn(i)
        members = columns[:, [at for at, each in enumerate(taken) if each in turn]]
        if not members.shape[1] or i != turn[0]:
            continue
        parts.append(_group(members) if reading.components[i].kleene else members[:, 0])
    return tuple(parts)
