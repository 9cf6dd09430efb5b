"""Whether an event fits next, given what a run has taken before: conditions asked of the groups so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import group_link_holds
from cepctl.language.ast import Aggregate, Attribute, EventTime, Expression
from cepctl.language.traversal import walk
from cepctl.plan.plan import Alternative, Link


def reads_finished(expression: Expression, variable: str) -> bool:
    """Whether a condition reads `b[last]` or `b[]`, which are known of a finished group alone."""
    return any(
        (isinstance(each, Attribute | EventTime) and each.member == "last" and each.variable == variable)
        or (isinstance(each, Aggregate) and not each.before and each.variable == variable)
        for each in walk(expression)
    )


@dataclass(frozen=True)
class RunConditions:
    """The conditions of a reading, and `taken`: the component that takes each event of its runs, in order."""

    events: Events
    reading: Alternative
    taken: tuple[int, ...]

    @cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(component.variable for component in self.reading.components)

    def _deciding(self, component: int, *, finished: bool) -> list[Link]:
        """What decides who fits a component, or what filters its finished group."""
        group = self.reading.components[component].kleene
        return [
            link
            for link in self.reading.links
            if link.decides == component
            and (group and reads_finished(link.expression, self._names[component])) == finished
        ]

    def depends_on_members(self, component: int) -> bool:
        """Whether who fits a component depends on which members groups have by then."""
        read = ((link, i) for link in self._deciding(component, finished=False) for i in link.components)
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
        for link in self._deciding(component, finished=False):
            if self._reads_absent(link, component, count):
                continue
            left = np.flatnonzero(found)
            taken = rows[row[left], :count]
            bound = self._bound(link, taken)
            if component not in bound or not _looks_back(link.expression):
                bound[component] = event[left]
            else:
                members = self._members(component, taken)
                bound[component] = _group(np.concatenate([members, event[left][:, None]], axis=1))
            found[left] = group_link_holds(self.events, self.reading, link, bound)
        return found

    def may_be_left(self, component: int, rows: Indexes) -> Flags:
        """Whether the finished group of a component passes its filters."""
        found = np.ones(len(rows), dtype=bool)
        for link in self._deciding(component, finished=True):
            if self._reads_absent(link, component, len(self.taken)):
                continue
            left = np.flatnonzero(found)
            bound = self._bound(link, rows[left])
            found[left] = group_link_holds(self.events, self.reading, link, bound)
        return found

    def _reads_absent(self, link: Link, component: int, count: int) -> bool:
        """Whether a condition is on what has taken nothing among so many events: then it does not apply."""
        passed = set(self.reading.positive) - {component, *self.taken[:count]}
        return self.reading.passes_over and bool(passed & set(link.components))

    def _bound(self, link: Link, taken: Indexes) -> dict[int, Bindings]:
        """What a condition reads of the events that are taken."""
        bound: dict[int, Bindings] = {}
        for i in link.components:
            members = self._members(i, taken)
            if self.reading.components[i].kleene:
                bound[i] = _group(members)
            elif members.shape[1]:
                bound[i] = members[:, 0]
        return bound

    def _members(self, component: int, taken: Indexes) -> Indexes:
        return taken[:, [at for at in range(taken.shape[1]) if self.taken[at] == component]]


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
        members = columns[:, [at for at, each in enumerate(taken) if each == i]]
        if not members.shape[1]:
            continue
        parts.append(_group(members) if reading.components[i].kleene else members[:, 0])
    return tuple(parts)
