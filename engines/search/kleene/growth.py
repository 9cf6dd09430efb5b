"""Kleene groups that could have happened, for bindings of the components that bind one event.

Under skip_till_any_match a group is any non-empty set of fitting events between its neighbours, or
any sequence of them; every part of a possible group is possible too, so that groups grow member by
member and no work is spent on what is not returned.  Under skip_till_next_match and contiguity a
group holds every event between its ends; those that certainly are between them are taken at once,
and only the others are chosen from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import batches, partition_codes
from cepctl.engines.columns.predicates import group_link_holds
from cepctl.engines.confidence.points.measure import BlockMemory
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.engines.search.kleene.candidates import (
    EarlyFilter,
    GroupChoices,
    WholeSpans,
    distinct,
    group_candidates,
    positions,
)
from cepctl.engines.search.kleene.cell_bounds import CellBounds
from cepctl.engines.search.kleene.counts import GroupBudget, can_be_tried, foresee_sets, subsets_of, try_sets
from cepctl.engines.search.one_writer import InOrder
from cepctl.engines.search.search import Search
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.plan.plan import Component, Plan, Scope
from cepctl.plan.summary import lists_no_group

_GROWN_AT_ONCE = 1 << 20
"""Longer groups that one step makes, where memory allows."""
_STATE_BYTES, _MEMBER_BYTES, _CARRIED_BYTES = 100, 48, 24
"""What a group takes while it grows, each of its members, and each number that it carries along."""
_DEPTHS = 8
"""Steps whose groups are held at once share the memory; the groups of a deeper one are few."""
_FEW_SETS = 1 << 14
"""So many are listed without a trial."""


def with_groups(
    search: Search,
    shape: Shape,
    events: Events,
    rows: Indexes,
    plan: Plan,
    max_matches: int,
    memory: BlockMemory,
    *,
    foresee: bool = True,
) -> Iterator[dict[int, Bindings]]:
    """Complete bindings with every possible group of every Kleene component, in batches.

    `foresee`: whether intervals and the search's system say exactly which sets there are, so that they are
    counted before any is made.

    Raises
    ------
    QueryTooLargeError
        If there are more groups than `max_matches`.
    """
    if not len(rows):
        return
    components = shape.alternative.components
    bound: dict[int, Bindings] = {
        i: rows[:, column] for column, i in enumerate(search.singles) if not components[i].kleene
    }
    kleene = [i for i in search.singles if components[i].kleene]
    budget = GroupBudget(max_matches, summary=lists_no_group(plan))
    expansion = _Expansion(search, shape, events, plan, budget, memory, foresee=foresee)
    for completed in expansion.extend(rows, bound, kleene):
        yield {i: completed[i] for i in search.singles}


@dataclass(frozen=True)
class _Expansion:
    """Everything that stays the same while groups are added, one component after the other."""

    search: Search
    shape: Shape
    events: Events
    plan: Plan
    budget: GroupBudget
    memory: BlockMemory
    early: EarlyFilter | None = None
    foresee: bool = True
    trial: bool = False
    """Whether groups are only counted against the budget."""

    def extend(
        self, rows: Indexes, bound: dict[int, Bindings], left: list[int]
    ) -> Iterator[dict[int, Bindings]]:
        if not left:
            yield bound
            return
        component, *others = left
        for row, group in self._groups(rows, bound, component):
            longer = take_matches(bound, row) | {component: group}
            keep = self._group_links(component, longer)
            chosen = np.flatnonzero(keep)
            if len(chosen):
                longer = take_matches(longer, chosen)
                yield from self.extend(rows[row[chosen]], longer, others)

    def _group_links(self, component: int, bound: dict[int, Bindings]) -> Flags:
        """Whether a group shares its key, and the predicates over it that can be judged now."""
        group = bound[component]
        assert isinstance(group, Group)
        keep = np.ones(len(group.sizes), dtype=bool)
        if self.search.partition_by:
            keys = partition_codes(self.search.partition_by, self.events)[group.members]
            strange = keys != keys[group.offsets[:-1]][group.owner]
            keep = np.bincount(group.owner[strange], minlength=len(keep)) == 0
        for link in self.shape.alternative.links:
            if (
                link.scope is not Scope.EVENT
                and component in link.components
                and set(link.components) <= set(bound)
            ):
                keep &= group_link_holds(self.events, self.shape.alternative, link, bound)
        return keep

    def _groups(
        self, rows: Indexes, bound: dict[int, Bindings], component: int
    ) -> Iterator[tuple[Indexes, Group]]:
        search, events = self.search, self.events
        row, event = group_candidates(search, self.shape, events, rows, bound, component)
        optional = Group(np.searchsorted(row, np.arange(len(rows) + 1)), event)
        spans = WholeSpans(self.plan, self.shape, events.masses, component)
        whole = self.plan.strategy.whole_groups
        bounds = None
        if search.push_down is not None:
            sure = spans.sure_gap(len(rows), bound) if whole else None
            bounds = CellBounds.of(search, self.shape, events, rows, bound, component, sure)
        if whole:
            choices = spans.choices(optional, bound)
            choices = replace(choices, bounds=bounds, whole=not spans.anchored)
            self._try_out(choices)
            sets = self._sets(choices)
            yield from distinct(list(sets)) if spans.anchored else sets
            return
        wanted = search.alternative.components[component]
        early = EarlyFilter.of(events, search.alternative, component, bound, event)
        if self.foresee and not early.links and search.push_down is None:
            foresee_sets(search, events.masses, rows, optional, component, self.plan.window, self.budget)
        growing = replace(self, early=early)
        nothing = Group(np.zeros(len(rows) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))
        choices = GroupChoices(np.arange(len(rows)), optional, nothing, wanted, bounds)
        growing._try_out(choices)
        yield from growing._listed(choices)

    def _listed(self, choices: GroupChoices) -> Iterator[tuple[Indexes, Group]]:
        return self._sequences(choices) if choices.component.ordered else self._sets(choices)

    def _try_out(self, choices: GroupChoices) -> None:
        """Count the groups that thresholds and predicates leave before the first is measured.

        To measure a group takes a thousand times as long as to make it.  A threshold that rises while groups
        are measured, as that of the best, leaves fewer than it does now, and nobody knows how many.
        """
        rises = self.search.push_down is not None and self.search.push_down.threshold.rises
        if rises or subsets_of(choices.optional) <= _FEW_SETS:
            return
        trial = replace(self, budget=replace(self.budget), trial=True)
        if can_be_tried(self.search, choices) and (self.early is None or not self.early.links):
            for states, weights in self._started(choices):
                try_sets(self.search, choices, states, weights, self.plan.window, trial.budget)
            return
        for _ in trial._listed(choices):
            pass

    def _sets(self, choices: GroupChoices) -> Iterator[tuple[Indexes, Group]]:
        """Every set of the certain events and some of the optional ones, if not empty."""
        begin = choices.optional.offsets[:-1]
        for states, weights in self._started(choices):
            members = np.zeros((len(states), 0), dtype=np.int64)
            started = np.flatnonzero(choices.certain.sizes[states] > 0)
            yield from self._closed(
                choices, states[started], begin[states][started], members[started], weights[started]
            )
            yield from self._grown(choices, states, begin[states], members, weights)

    def _started(self, choices: GroupChoices) -> Iterator[tuple[Indexes, Reals]]:
        """Owners of groups that may reach the threshold, in batches, and what their groups carry along."""
        bounds, size = choices.bounds, self._at_once(choices, 1)
        for start in range(0, len(choices.row), size):
            states = np.arange(start, min(start + size, len(choices.row)))
            if bounds is None:
                yield states, np.zeros((len(states), 0))
                continue
            weights = bounds.started(choices.row[states])
            keep = self._reaching(weights.sum(axis=1))
            yield states[keep], weights[keep]

    def _grown(
        self, choices: GroupChoices, owner: Indexes, following: Indexes, members: Indexes, weights: Reals
    ) -> Iterator[tuple[Indexes, Group]]:
        """Sets with one more optional event, from position `following` on, and all that grow from them.

        `weights` are what `CellBounds` has them carry along, shape (n, 0) without a threshold.
        """
        if _is_full(choices.component, members):
            return
        end = choices.optional.offsets[1:]
        for start, stop in batches(end[owner] - following, self._at_once(choices, members.shape[1] + 1)):
            part = slice(start, stop)
            room = positions(following[part], end[owner[part]])
            self.budget.spend(
                len(room.members), int(choices.optional.sizes.max(initial=0)), choices.component
            )
            state, position = room.owner, room.members
            event = choices.optional.members[position]
            longer = np.concatenate([members[part][state], event[:, None]], axis=1)
            own, carried = owner[part][state], weights[part]
            keep = self._can_be_together(longer)
            if choices.bounds is None:
                carried = carried[state]
            else:
                rows, next_ones = choices.row[owner[part]], Group(room.offsets, event)
                carried = choices.bounds.longer(rows, carried, next_ones, whole=choices.whole)
                keep &= self._reaching(carried.sum(axis=1))
            kept = np.flatnonzero(keep)
            kept = kept[self._may_be_finished(choices.row[own[kept]], longer[kept])]
            # What is carried is most of all that is held: it moves once.
            own, position, longer, carried = own[kept], position[kept], longer[kept], carried[kept]
            if len(own):
                yield from self._closed(choices, own, position + 1, longer, carried)
                yield from self._grown(choices, own, position + 1, longer, carried)

    def _at_once(self, choices: GroupChoices, size: int) -> int:
        """How many groups of `size` members one step makes."""
        carried = 0 if choices.bounds is None else choices.bounds.size
        each = _STATE_BYTES + size * _MEMBER_BYTES + carried * _CARRIED_BYTES
        return min(_GROWN_AT_ONCE, max(self.memory.block // (_DEPTHS * each), 1))

    def _closed(
        self, choices: GroupChoices, owner: Indexes, following: Indexes, members: Indexes, weights: Reals
    ) -> Iterator[tuple[Indexes, Group]]:
        """The sets themselves, without any optional event from position `following` on."""
        if choices.bounds is not None and choices.whole:
            room = positions(following, choices.optional.offsets[owner + 1])
            left_out = Group(room.offsets, choices.optional.members[room.members])
            keep = self._reaching(choices.bounds.finished(choices.row[owner], weights, left_out))
            owner, members = owner[keep], members[keep]
        if len(owner) and not self.trial:
            yield choices.groups(owner, members, self.events.id_rank)

    def _reaching(self, share: Reals) -> Flags:
        """Whether groups that are so probable at most can be in a match that reaches the threshold."""
        push_down = self.search.push_down
        return np.ones(len(share), dtype=bool) if push_down is None else push_down.threshold.in_reach(share)

    def _may_be_finished(self, rows: Indexes, members: Indexes) -> Flags:
        return np.ones(len(rows), dtype=bool) if self.early is None else self.early.hold(rows, members)

    def _can_be_together(self, members: Indexes) -> Flags:
        """Whether the members share a window, and the key where nothing else ties them to it."""
        masses, window = self.events.masses, self.plan.window
        keep = np.ones(len(members), dtype=bool)
        if window is not None:
            gap = masses.lower[members].max(axis=1) - masses.upper[members].min(axis=1)
            keep &= gap < window
        if self.search.partition_by and members.shape[1] > 1:
            keys = partition_codes(self.search.partition_by, self.events)
            keep &= keys[members[:, -1]] == keys[members[:, 0]]
        return keep

    def _sequences(self, choices: GroupChoices) -> Iterator[tuple[Indexes, Group]]:
        """Every sequence of the events with room for strictly increasing ticks."""
        owner = np.arange(len(choices.row))
        members = np.zeros((len(owner), 0), dtype=np.int64)
        yield from self._lengthened(choices, owner, members, np.full(len(owner), -UNBOUNDED))

    def _lengthened(
        self, choices: GroupChoices, owner: Indexes, members: Indexes, earliest: Ticks
    ) -> Iterator[tuple[Indexes, Group]]:
        masses, optional = self.events.masses, choices.optional
        if _is_full(choices.component, members):
            return
        for start, stop in batches(optional.sizes[owner], self._at_once(choices, members.shape[1] + 1)):
            part = slice(start, stop)
            room = Group(optional.offsets, np.arange(len(optional.members))).take(owner[part])
            self.budget.spend(len(room.members), int(optional.sizes.max(initial=0)), choices.component)
            state, position = room.owner, room.members
            event = optional.members[position]
            tick = np.maximum(masses.lower[event], earliest[part][state] + 1)
            keep = (tick <= masses.upper[event]) & (members[part][state] != event[:, None]).all(axis=1)
            state, event, tick = state[keep], event[keep], tick[keep]
            longer = np.concatenate([members[part][state], event[:, None]], axis=1)
            own = owner[part][state]
            keep = self._can_be_together(longer) & self._may_be_finished(own, longer)
            longer, tick, own = longer[keep], tick[keep], own[keep]
            if choices.bounds is not None:
                keep = self._reaching(choices.bounds.of_sequences(choices.row[own], longer))
                longer, tick, own = longer[keep], tick[keep], own[keep]
            if len(own):
                offsets = np.arange(0, longer.size + 1, longer.shape[1], dtype=np.int64)
                yield own, Group(offsets, longer.reshape(-1))
                yield from self._lengthened(choices, own, longer, tick)


def _is_full(wanted: Component, members: Indexes) -> bool:
    """Whether groups of so many members are the largest that are wanted."""
    return wanted.most is not None and members.shape[1] >= wanted.most


def with_groups_in_order(
    known: InOrder, rows: Indexes, max_matches: int, memory: BlockMemory
) -> Iterator[dict[int, Bindings]]:
    """Bindings of single events completed by every group, where no other event of the order breaks them.

    Raises
    ------
    QueryTooLargeError
        If there are more groups than `max_matches`.
    """
    # Thresholds are known of times, not of the order.
    search = replace(known.search, push_down=None)
    for bound in with_groups(search, known.shape, known.events, rows, known.plan, max_matches, memory):
        yield from known.unbroken(bound)
