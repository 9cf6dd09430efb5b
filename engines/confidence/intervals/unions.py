"""The probability that some match of a key holds, where matches bind interval events.

Every endpoint is an event of its own, and a row asks for the edges of one of its cases; a possible rival must
not satisfy all edges of one of its own.  The law of an event, its start before its end and bounds of its
length, ties its two endpoints: matches that share no uncertain event, and no clock against which something
moves, are measured apart, and the probability that some of those that do holds together with the laws of all
their events is divided by that of the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.columns.ties import EndpointTies, connected
from cepctl.engines.confidence.coupled.clauses import NO_EVENT, Clauses, Part, gathered, present
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.confidence.intervals.conditions import CONSTANT, Case
from cepctl.engines.confidence.intervals.measure import IntervalMeasure, laws_of
from cepctl.engines.confidence.intervals.tied_matches import component_probability
from cepctl.engines.confidence.occurrence.occurrence import Occurrences
from cepctl.engines.pattern.difference_constraints import UNBOUNDED

_AFTER_ITS_START = "\0"
"""Follows the id of an event in that of its end."""
MOST_LAWS = 1 << 20
"""Laws of events that the problems of connected matches may ask for, taken together."""


class GroupedMatches(NamedTuple):
    """Matches of one alternative, shape (n, l), and the group of each, shape (n,)."""

    measure: IntervalMeasure
    matches: Indexes
    group: Indexes


def occurrences_of_intervals(
    events: Events,
    found: Sequence[GroupedMatches],
    groups: int,
    measuring: Callable[[Events, Clauses], Occurrences],
) -> Occurrences:
    """Measure the groups of these matches; `measuring` is how clauses between endpoints are.

    Raises
    ------
    QueryTooLargeError
        If a match has too many cases.
    """
    endpoints = events.endpoints
    asked = _asked(events, found)
    connected = _connected(events, asked, groups)
    laws, costly = _laws(endpoints, connected)
    parts = [*asked.parts, *laws, connected.ties.part(connected.component)]
    clauses = gathered(parts, connected.component, len(connected.group))
    measured = measuring(_endpoint_events(events), clauses)
    probability = measured.probability / connected.whole(endpoints)
    probability[costly] = np.nan
    missing = np.ones(groups)
    np.multiply.at(missing, connected.group, 1.0 - np.clip(probability, 0.0, 1.0))
    return Occurrences(1.0 - missing, *_figures(connected, probability, measured, groups))


def _figures(
    connected: _Connected, probability: Reals, measured: Occurrences, groups: int
) -> tuple[Indexes, Indexes, Indexes]:
    """What makes a group too costly is told of the first of its components that is."""
    costly = np.flatnonzero(np.isnan(probability))[::-1]
    sizes = np.bincount(connected.component, minlength=len(connected.group))
    rows = np.maximum(measured.rows, np.where(np.isnan(measured.probability), 0, sizes))
    figures = []
    for values in (measured.separators, rows, measured.products):
        told = np.zeros(groups, dtype=np.int64)
        told[connected.group[costly]] = values[costly]
        figures.append(told)
    return figures[0], figures[1], figures[2]


def _endpoint_events(events: Events) -> Events:
    """Every endpoint as an event; an end stands after its start."""
    ends = events.ids.gather(events.endpoints.lasting) + _AFTER_ITS_START
    return Events(events.endpoints.masses, pl.DataFrame({"event_id": pl.concat([events.ids, ends])}))


@dataclass(frozen=True)
class _Asked:
    """What all problems ask for, and the group of each."""

    parts: Sequence[Part]
    group: Indexes

    @cached_property
    def sides(self) -> tuple[Indexes, Indexes, Indexes]:
        """Problems with each side of the differences that they ask about, and the other side."""
        none = np.zeros(0, np.int64)
        problem = np.concatenate([none, *(np.repeat(part.problem, part.sizes) for part in self.parts)])
        left = np.concatenate([none, *(part.left for part in self.parts)])
        right = np.concatenate([none, *(part.right for part in self.parts)])
        return np.tile(problem, 2), np.concatenate([left, right]), np.concatenate([right, left])


def _asked(events: Events, found: Sequence[GroupedMatches]) -> _Asked:
    parts: list[Part] = []
    group: list[Indexes] = [np.zeros(0, np.int64)]
    count = 0
    for each in found:
        rivals = [] if each.measure.rivals is None else each.measure.rivals(each.matches)
        for case in each.measure.cases:
            parts += [part.shifted(count) for part in _of_case(events, each.matches, case)]
            for negation, row, event in rivals:
                for own in negation.cases:
                    parts += [
                        part.shifted(count) for part in _of_rivals(events, each.matches, own, row, event)
                    ]
            group.append(each.group)
            count += len(each.matches)
    return _Asked(parts, np.concatenate(group))


def _of_case(events: Events, matches: Indexes, case: Case) -> Iterator[Part]:
    """What must hold; what the intervals decide for certain is left out."""
    endpoint = events.endpoints.places(matches)
    for i, j, bound in case:
        left, right = _endpoint(endpoint, i), _endpoint(endpoint, j)
        rows = np.flatnonzero(~_always(events, left, right, bound))
        if bound < UNBOUNDED and len(rows):
            yield present(rows, left[rows], right[rows], np.full(len(rows), bound))


def _of_rivals(events: Events, matches: Indexes, case: Case, row: Indexes, event: Indexes) -> Iterator[Part]:
    """What must not hold all together, for each row with a possible rival that can satisfy all of it."""
    endpoints = events.endpoints
    endpoint = endpoints.places(np.column_stack([matches[row], event]))
    edges = [
        (_endpoint(endpoint, i), _endpoint(endpoint, j), most) for i, j, most in case if most < UNBOUNDED
    ]
    possible = np.ones(len(row), dtype=bool)
    for one, other, most in edges:
        possible &= ~_always(events, other, one, -most - 1)
    rows = np.flatnonzero(possible)
    if not len(rows):
        return
    size = len(rows), len(edges)
    left, right, bound = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    for number, each in enumerate(edges):
        left[:, number], right[:, number], bound[:, number] = each[0][rows], each[1][rows], each[2]
    differences = left.reshape(-1), right.reshape(-1), bound.reshape(-1)
    yield Part(row[rows], np.ones(len(rows), dtype=bool), np.full(len(rows), len(edges)), *differences)


def _endpoint(endpoint: Indexes, place: int) -> Indexes:
    return np.full(len(endpoint), NO_EVENT) if place == CONSTANT else endpoint[:, place]


def _always(events: Events, left: Indexes, right: Indexes, bound: int) -> Flags:
    """Whether t_left - t_right <= bound in every world, by the intervals alone."""
    clocks, own = events.endpoint_stamps, events.endpoints.masses
    # What one clock stamped is moved alike.
    envelopes, together = clocks.envelopes, _on_one_clock(clocks, left, right)
    most = np.where(together, own.upper[left], envelopes.upper[left])
    least = np.where(together, own.lower[right], envelopes.lower[right])
    most, least = np.where(left == NO_EVENT, 0, most), np.where(right == NO_EVENT, 0, least)
    return np.asarray(np.where(left == right, bound >= 0, most <= shifted(least, bound)))


def _on_one_clock(clocks: EventClocks, left: Indexes, right: Indexes) -> Flags:
    known = (left != NO_EVENT) & (right != NO_EVENT)
    return np.asarray(known & (clocks.clock[left] == clocks.clock[right]))


@dataclass(frozen=True)
class _Connected:
    """Components of problems that share uncertain events, with the `group` of each component.

    `component`, shape of the problems.  `law_component`, `law_event`: the events whose law is open.  `ties`:
    what is given of them.
    """

    component: Indexes
    group: Indexes
    law_component: Indexes
    law_event: Indexes
    ties: GroupTies

    def whole(self, endpoints: Endpoints) -> Reals:
        """The probability that all laws of a component hold, and what is given."""
        product = self.ties.probability(len(self.group))
        np.multiply.at(product, self.law_component, endpoints.whole[self.law_event])
        return product


def _connected(events: Events, asked: _Asked, groups: int) -> _Connected:
    endpoints, clocks, ties = events.endpoints, events.endpoint_stamps, events.tied_endpoints
    problem, node = _uncertain(endpoints, asked, ties)
    of_endpoint = len(endpoints.masses.lower)
    stamped, clock = _moved_apart(clocks, asked)
    problem = np.concatenate([problem, stamped])
    node = np.concatenate([node, root_of_clock(ties, of_endpoint, clock)])
    of_endpoint += len(clocks.offsets.lower)
    keys, number = np.unique(asked.group[problem] * of_endpoint + node, return_inverse=True)
    problems = len(asked.group)
    label = connected(problems + len(keys), problem, problems + number.reshape(-1))[:problems]
    _, first, component = np.unique(
        np.stack([asked.group, label], axis=1), axis=0, return_index=True, return_inverse=True
    )
    component = component.reshape(-1)
    node_component = np.zeros(len(keys), dtype=np.int64)
    node_component[number.reshape(-1)] = component[problem]
    event = keys % of_endpoint
    is_law = (event < len(endpoints)) & (endpoints.whole[np.minimum(event, len(endpoints) - 1)] != 1.0)
    law_component, law_event = node_component[is_law], event[is_law]
    tied = GroupTies.of_nodes(events, ties, node_component, event)
    free = ties.component[law_event] < 0
    law_component, law_event = (
        np.concatenate([own[free], more])
        for own, more in zip((law_component, law_event), tied.laws(), strict=True)
    )
    return _Connected(component, asked.group[first], law_component, law_event, tied)


def _uncertain(endpoints: Endpoints, asked: _Asked, ties: EndpointTies) -> tuple[Indexes, Indexes]:
    """Problems with the uncertain endpoints that they name; of an event with an open law, its start."""
    start = np.arange(len(endpoints.masses.lower))
    lasting = endpoints.lasting
    is_open = endpoints.whole[lasting] != 1.0
    start[endpoints.end[lasting[is_open]]] = lasting[is_open]
    matters = endpoints.masses.lower < endpoints.masses.upper
    matters[lasting[is_open]] = True
    root = roots(endpoints, ties)
    matters[root[matters]] = True
    start = root[start]
    problem, side, _ = asked.sides
    node = start[np.maximum(side, 0)]
    kept = (side != NO_EVENT) & matters[node]
    return problem[kept], node[kept]


def _moved_apart(clocks: EventClocks, asked: _Asked) -> tuple[Indexes, Indexes]:
    """Problems with the clocks whose offsets they ask about: what one clock stamped is moved alike."""
    problem, side, other = asked.sides
    clock = clocks.clock[np.maximum(side, 0)]
    kept = ~_on_one_clock(clocks, side, other) & (side != NO_EVENT) & (clock != NO_CLOCK)
    return problem[kept], clock[kept]


def _laws(endpoints: Endpoints, connected: _Connected) -> tuple[list[Part], Flags]:
    """What every problem asks of the events of its component, and the components that have too many of it."""
    sizes = np.bincount(connected.component, minlength=len(connected.group))
    laws = np.bincount(connected.law_component, minlength=len(connected.group))
    costly = sizes * laws > MOST_LAWS
    own = Group.of_owners(len(laws), connected.law_component, connected.law_event)
    counts = np.where(costly, 0, laws)[connected.component]
    of_problems = Group.of_sizes(counts, own.offsets[connected.component], own.members)
    return [*laws_of(endpoints, of_problems.owner, of_problems.members[:, None])], costly


@dataclass(frozen=True)
class GroupTies:
    """Pairs of connected problems and the components of ties that they touch: `of` and `tied`, shape (t,)."""

    measure: IntervalMeasure
    ties: EndpointTies
    of: Indexes
    tied: Indexes

    @classmethod
    def of_nodes(cls, events: Events, ties: EndpointTies, of: Indexes, node: Indexes) -> GroupTies:
        """From pairs of connected problems and endpoints; those of `roots` stand for others."""
        known = np.flatnonzero(node < len(events))
        own = known[ties.component[node[known]] >= 0]
        measure = IntervalMeasure.of(events)
        return cls(measure, ties, of[own], ties.component[node[own]])

    def laws(self) -> tuple[Indexes, Indexes]:
        """Pairs of connected problems and tied events whose law is open."""
        at, offsets = owned(self.ties.member_offsets, self.tied)
        event = self.ties.members[at]
        is_open = self.measure.endpoints.whole[event] != 1.0
        return np.repeat(self.of, np.diff(offsets))[is_open], event[is_open]

    def part(self, component: Indexes) -> Part:
        """What all problems ask for; `component` says which connected ones each is of."""
        count = int(component.max(initial=-1)) + 1
        of_problems = Group.of_owners(count, self.of, self.tied).take(component)
        at, offsets = owned(self.ties.tie_offsets, of_problems.members)
        problem = np.repeat(of_problems.owner, np.diff(offsets))
        return present(problem, self.ties.left[at], self.ties.right[at], self.ties.bound[at])

    def probability(self, count: int) -> Reals:
        """The probability of what is given, of each of so many connected problems."""
        found = np.ones(count)
        np.multiply.at(found, self.of, component_probability(self.measure, self.ties, self.tied))
        return found


def roots(endpoints: Endpoints, ties: EndpointTies) -> Indexes:
    """The endpoint that stands for each: all that may vary of one component are one."""
    owner = endpoints.owner
    found = np.arange(len(owner))
    varies = (endpoints.masses.lower < endpoints.masses.upper) | (endpoints.whole[owner] != 1.0)
    tied = np.flatnonzero(varies & (ties.component[owner] >= 0))
    found[tied] = ties.members[ties.member_offsets[ties.component[owner[tied]]]]
    return found


def root_of_clock(ties: EndpointTies, endpoints: int, clock: Indexes) -> Indexes:
    """The node that stands for a clock: after all endpoints, or that of the component which it connects."""
    found, component = endpoints + clock, ties.of_clock[clock]
    tied = np.flatnonzero(component >= 0)
    found[tied] = ties.members[ties.member_offsets[component[tied]]]
    return found
