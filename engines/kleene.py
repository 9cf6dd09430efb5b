"""Kleene groups that could have happened, for bindings of the components that bind one event.

Under skip_till_any_match a group is any non-empty set of fitting events between its neighbours, or
any sequence of them; every part of a possible group is possible too, so that groups grow member by
member and no work is spent on what is not returned.  Under skip_till_next_match and contiguity a
group holds every event between its ends; those that certainly are between them are taken at once,
and only the others are chosen from.

Runs inside Spark workers: imports NumPy and Polars only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cepctl.engines.bindings import Bound, Group, take
from cepctl.engines.constraints import UNBOUNDED
from cepctl.engines.early_filters import EarlyFilter, widest_shares
from cepctl.engines.enumeration import Search
from cepctl.engines.events import Events
from cepctl.engines.group_candidates import group_candidates
from cepctl.engines.group_counts import count_sets, latest_beginnings
from cepctl.engines.group_predicates import group_link_holds
from cepctl.engines.join_keys import partition_codes
from cepctl.engines.shape import Shape
from cepctl.engines.types import Flags, Indexes, Reals, Ticks
from cepctl.errors import QueryTooLargeError
from cepctl.language.ast import Strategy
from cepctl.plan.plan import Component, Plan, Scope

_STATES_AT_ONCE = 1 << 14
_ASTRONOMICAL = 10**18
_LOG10_2 = 0.30103


@dataclass
class _Budget:
    """How many groups may still be enumerated; shared by all batches of a query."""

    allowed: int
    made: int = 0

    def spend(self, groups: int, most_candidates: int, component: Component) -> None:
        """Account for groups that are about to be made; raises QueryTooLargeError beyond the cap."""
        self.made += groups
        self._require(self.made, "would be tried by now", most_candidates, component)

    def foresee(self, groups: int, most_candidates: int, component: Component) -> None:
        """Raises QueryTooLargeError where so many groups, of which none is made yet, exceed the cap."""
        self._require(self.made + groups, "are possible", most_candidates, component)

    def _require(self, groups: int, what: str, most_candidates: int, component: Component) -> None:
        if groups <= self.allowed:
            return
        # Sequences are listed even for a summary.
        summary = "" if component.ordered else "ask for one row for all with --kleene summary, "
        raise QueryTooLargeError(
            f"the Kleene groups {component.variable}[] of this query are too many to list: {_shown(groups)} "
            f"{what}, where {self.allowed:,} are allowed, since up to {most_candidates:,} events can be in "
            "one group and each may be in it or not; narrow it (WITHIN, [attr], predicates on the group's "
            f"events, CONFIDENCE), {summary}or raise the cap with --max-matches"
        )


def _shown(number: int) -> str:
    """A number in full while its digits can be taken in at a glance."""
    return f"{number:,}" if number < _ASTRONOMICAL else f"about 10^{int(number.bit_length() * _LOG10_2)}"


@dataclass(frozen=True)
class _Choices:
    """Per row the events a group is chosen from: optional ones in id order, and those it must hold.

    Nested offsets: row i owns optional[offsets[i]:offsets[i + 1]], and so on.  `shares`, where a threshold
    of confidence asks for it, bounds the probability that each optional event is in the group.
    """

    row: Indexes
    optional: Group
    certain: Group
    component: Component
    shares: Reals | None = None


def with_groups(
    search: Search, shape: Shape, events: Events, rows: Indexes, plan: Plan, max_matches: int
) -> Iterator[dict[int, Bound]]:
    """Complete bindings with every possible group of every Kleene component, in batches.

    Raises
    ------
    QueryTooLargeError
        If there are more groups than `max_matches`.
    """
    if not len(rows):
        return
    components = shape.alternative.components
    bound: dict[int, Bound] = {
        i: rows[:, column] for column, i in enumerate(search.singles) if not components[i].kleene
    }
    kleene = [i for i in search.singles if components[i].kleene]
    expansion = _Expansion(search, shape, events, plan, _Budget(max_matches))
    for completed in expansion.extend(rows, bound, kleene):
        yield {i: completed[i] for i in search.singles}


@dataclass(frozen=True)
class _Expansion:
    """Everything that stays the same while groups are added, one component after the other."""

    search: Search
    shape: Shape
    events: Events
    plan: Plan
    budget: _Budget
    early: EarlyFilter | None = None

    def extend(self, rows: Indexes, bound: dict[int, Bound], left: list[int]) -> Iterator[dict[int, Bound]]:
        if not left:
            yield bound
            return
        component, *others = left
        for row, group in self._groups(rows, bound, component):
            longer = {i: take(each, row) for i, each in bound.items()} | {component: group}
            keep = self._group_links(component, longer)
            chosen = np.flatnonzero(keep)
            if len(chosen):
                longer = {i: take(each, chosen) for i, each in longer.items()}
                yield from self.extend(rows[row[chosen]], longer, others)

    def _group_links(self, component: int, bound: dict[int, Bound]) -> Flags:
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
        self, rows: Indexes, bound: dict[int, Bound], component: int
    ) -> Iterator[tuple[Indexes, Group]]:
        search, events = self.search, self.events
        row, event = group_candidates(search, self.shape, events, rows, bound, component)
        optional = Group(np.searchsorted(row, np.arange(len(rows) + 1)), event)
        if self.plan.strategy is not Strategy.SKIP_TILL_ANY_MATCH:
            yield from self._whole_spans(optional, bound, component)
            return
        wanted = search.alternative.components[component]
        early = EarlyFilter.of(events, search.alternative, component, bound, event)
        shares = widest_shares(search, events, rows, bound, component, optional)
        if not early.links and search.push_down is None:
            self._foresee(rows, optional, component)
        growing = replace(self, early=early)
        nothing = Group(np.zeros(len(rows) + 1, dtype=np.int64), np.zeros(0, dtype=np.int64))
        choices = _Choices(np.arange(len(rows)), optional, nothing, wanted, shares)
        if wanted.ordered:
            yield from growing._sequences(choices)
        else:
            yield from growing._sets(choices)

    def _foresee(self, rows: Indexes, optional: Group, component: int) -> None:
        """Where nothing else limits them, count the sets between their neighbours before any is made."""
        components = self.search.alternative.components
        alone = sum(components[i].kleene for i in self.search.singles) == 1
        if not alone or components[component].ordered:
            return
        column, masses = self.search.singles.index(component), self.events.masses
        bound = rows[optional.owner]
        bound[:, column] = optional.members
        lower, upper = masses.lower[bound], masses.upper[bound]
        reach = latest_beginnings(lower, upper, self.search.system, column)
        sets = count_sets(optional.owner, len(rows), lower[:, column], upper[:, column], reach)
        self.budget.foresee(sum(sets), int(optional.sizes.max(initial=0)), components[component])

    def _whole_spans(
        self, optional: Group, bound: dict[int, Bound], component: int
    ) -> Iterator[tuple[Indexes, Group]]:
        """Groups that hold every event between their ends (skip_till_next_match, contiguity)."""
        masses, wanted = self.events.masses, self.search.alternative.components[component]
        after, until = self._certain_span(len(optional.sizes), bound, component)
        row, event = optional.owner, optional.members
        number = self.shape.block_of(component)
        lower, upper = masses.lower[event], masses.upper[event]
        next_match = self.plan.strategy is Strategy.SKIP_TILL_NEXT_MATCH
        leading = number == 0
        trailing = number == len(self.shape.blocks) - 1 and not next_match
        if not leading and not trailing:
            certain = (lower > after[row]) & (upper < until[row])
            yield from self._sets(_split(wanted, np.arange(len(optional.sizes)), row, event, certain))
            return
        # One member is the first (last) one: what certainly lies between it and the other end is in.
        anchor = np.repeat(np.arange(len(event)), optional.sizes[row])
        within = np.arange(len(anchor)) - np.repeat(
            np.cumsum(optional.sizes[row]) - optional.sizes[row], optional.sizes[row]
        )
        other = optional.offsets[row[anchor]] + within
        certain, outside = other == anchor, np.zeros(len(other), dtype=bool)
        beyond = until[row[anchor]]
        since = after[row[anchor]]
        if leading:
            certain |= (lower[other] > upper[anchor]) & (upper[other] < beyond) & (not trailing)
            outside |= upper[other] < lower[anchor]
        if trailing and not leading:
            certain |= (lower[other] > since) & (upper[other] < lower[anchor])
            outside |= lower[other] > upper[anchor]
        inside = ~outside
        choices = _split(
            wanted, row, anchor[inside], event[other[inside]], certain[inside], anchors=len(event)
        )
        found = list(self._sets(choices))
        if found:
            yield _distinct(found)

    def _certain_span(self, count: int, bound: dict[int, Bound], component: int) -> tuple[Ticks, Ticks]:
        """Ticks between which an event is certainly between the group's neighbours (ends excluded)."""
        masses, blocks = self.events.masses, self.shape.blocks
        after, until = np.full(count, -UNBOUNDED), np.full(count, UNBOUNDED)
        number, last = self.shape.block_of(component), len(blocks) - 1
        if number > 0:
            after = _extreme(bound, blocks[number - 1].components, masses.upper, count, latest=True)
        if number < last:
            until = _extreme(bound, blocks[number + 1].components, masses.lower, count, latest=False)
        elif self.plan.strategy is Strategy.SKIP_TILL_NEXT_MATCH and self.plan.window is not None:
            if number > 0:
                first = _extreme(bound, blocks[0].components, masses.lower, count, latest=False)
                until = np.minimum(first, UNBOUNDED - self.plan.window) + self.plan.window
            else:
                until = np.full(count, -UNBOUNDED)
        return after, until

    def _sets(self, choices: _Choices) -> Iterator[tuple[Indexes, Group]]:
        """Every set of the certain events and some of the optional ones, if not empty."""
        states = np.arange(len(choices.row))
        begin = choices.optional.offsets[:-1]
        started = np.flatnonzero(choices.certain.sizes > 0)
        if len(started):
            yield self._finished(choices, states[started], np.zeros((len(started), 0), dtype=np.int64))
        members = np.zeros((len(states), 0), dtype=np.int64)
        yield from self._grown(choices, states, begin, members, np.ones(len(states)))

    def _grown(
        self, choices: _Choices, owner: Indexes, following: Indexes, members: Indexes, share: Reals
    ) -> Iterator[tuple[Indexes, Group]]:
        """Sets with one more optional event, from position `following` on, and all that grow from them."""
        end = choices.optional.offsets[1:]
        for start in range(0, len(owner), _STATES_AT_ONCE):
            part = slice(start, start + _STATES_AT_ONCE)
            counts = end[owner[part]] - following[part]
            self.budget.spend(
                int(counts.sum()), int(choices.optional.sizes.max(initial=0)), choices.component
            )
            if not counts.sum():
                continue
            state = np.repeat(np.arange(len(counts)), counts)
            position = (
                following[part][state] + np.arange(len(state)) - np.repeat(np.cumsum(counts) - counts, counts)
            )
            event = choices.optional.members[position]
            longer = np.concatenate([members[part][state], event[:, None]], axis=1)
            own = owner[part][state]
            bound = self._share(choices, position, share[part][state])
            keep = self._can_be_together(longer) & self._reaching(bound)
            own, position, longer, bound = own[keep], position[keep], longer[keep], bound[keep]
            keep = self._may_be_finished(choices.row[own], longer)
            own, position, longer, bound = own[keep], position[keep], longer[keep], bound[keep]
            if len(own):
                yield self._finished(choices, own, longer)
                yield from self._grown(choices, own, position + 1, longer, bound)

    def _share(self, choices: _Choices, position: Indexes, share: Reals) -> Reals:
        return share if choices.shares is None else share * choices.shares[position]

    def _reaching(self, share: Reals) -> Flags:
        """Whether groups that are so probable at most can be in a match that reaches the threshold."""
        push_down = self.search.push_down
        return np.ones(len(share), dtype=bool) if push_down is None else push_down.reaching(share)

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

    def _finished(self, choices: _Choices, owner: Indexes, members: Indexes) -> tuple[Indexes, Group]:
        """Rows and groups, members in code-point order of their ids."""
        certain = choices.certain.take(owner)
        size = members.shape[1]
        row = np.concatenate([certain.owner, np.repeat(np.arange(len(owner)), size)])
        event = np.concatenate([certain.members, members.reshape(-1)])
        order = np.lexsort((self.events.id_rank[event], row))
        offsets = np.concatenate([[0], np.cumsum(certain.sizes + size)]).astype(np.int64)
        return choices.row[owner], Group(offsets, event[order])

    def _sequences(self, choices: _Choices) -> Iterator[tuple[Indexes, Group]]:
        """Every sequence of the events with room for strictly increasing ticks."""
        owner = np.arange(len(choices.row))
        members = np.zeros((len(owner), 0), dtype=np.int64)
        earliest = np.full(len(owner), -UNBOUNDED)
        yield from self._lengthened(choices, owner, members, earliest, np.ones(len(owner)))

    def _lengthened(
        self, choices: _Choices, owner: Indexes, members: Indexes, earliest: Ticks, share: Reals
    ) -> Iterator[tuple[Indexes, Group]]:
        masses, optional = self.events.masses, choices.optional
        for start in range(0, len(owner), _STATES_AT_ONCE):
            part = slice(start, start + _STATES_AT_ONCE)
            room = Group(optional.offsets, np.arange(len(optional.members))).take(owner[part])
            self.budget.spend(len(room.members), int(optional.sizes.max(initial=0)), choices.component)
            state, position = room.owner, room.members
            event = optional.members[position]
            tick = np.maximum(masses.lower[event], earliest[part][state] + 1)
            bound = self._share(choices, position, share[part][state])
            keep = (tick <= masses.upper[event]) & (members[part][state] != event[:, None]).all(axis=1)
            keep &= self._reaching(bound)
            state, event, tick, bound = state[keep], event[keep], tick[keep], bound[keep]
            longer = np.concatenate([members[part][state], event[:, None]], axis=1)
            own = owner[part][state]
            keep = self._can_be_together(longer) & self._may_be_finished(own, longer)
            longer, tick, own, bound = longer[keep], tick[keep], own[keep], bound[keep]
            if len(own):
                offsets = np.arange(0, longer.size + 1, longer.shape[1], dtype=np.int64)
                yield own, Group(offsets, longer.reshape(-1))
                yield from self._lengthened(choices, own, longer, tick, bound)


def _split(
    component: Component,
    row: Indexes,
    owner: Indexes,
    event: Indexes,
    certain: Flags,
    anchors: int | None = None,
) -> _Choices:
    """Optional and certain events per owner; `row` gives the row of every owner."""
    count = len(row) if anchors is None else anchors
    parts = []
    for wanted in (~certain, certain):
        parts.append(Group(np.searchsorted(owner[wanted], np.arange(count + 1)), event[wanted]))
    return _Choices(row, parts[0], parts[1], component)


def _distinct(found: list[tuple[Indexes, Group]]) -> tuple[Indexes, Group]:
    """Each row's groups once: several anchors can lead to the same group."""
    row = np.concatenate([each[0] for each in found])
    sizes = np.concatenate([each[1].sizes for each in found])
    group = Group(
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([each[1].members for each in found]),
    )
    lists = pl.DataFrame({"owner": group.owner, "member": group.members})
    members = lists.group_by("owner", maintain_order=True).agg("member").get_column("member")
    frame = pl.DataFrame({"row": row, "members": members.cast(pl.List(pl.String)).list.join(" ")})
    first = frame.select(pl.struct("row", "members").is_first_distinct()).to_series()
    kept = np.flatnonzero(first.to_numpy())
    return row[kept], group.take(kept)


def _extreme(
    bound: dict[int, Bound], components: tuple[int, ...], ticks: Ticks, count: int, *, latest: bool
) -> Ticks:
    """Latest (earliest) tick over the events of a block; no limit known where it is not bound yet."""
    unknown = UNBOUNDED if latest else -UNBOUNDED
    found = [np.full(count, -unknown)]
    for component in components:
        if component not in bound:
            return np.full(count, unknown)
        each = bound[component]
        if isinstance(each, Group):
            reduce = np.maximum if latest else np.minimum
            found.append(reduce.reduceat(ticks[each.members], each.offsets[:-1]))
        else:
            found.append(ticks[each])
    return np.asarray(np.max(found, axis=0) if latest else np.min(found, axis=0))
