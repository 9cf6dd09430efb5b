"""What matches of interval events ask of starts and ends, as clauses, and what these are measured beside.

Every endpoint is an event of its own.

    of a match                                       its clauses
    an edge of one of its cases                      present; each case of a match is a problem
    the span in which its events have to lie         present
    a rival that would satisfy a case of its own     absent
    events that would make a whole happen            absent
    of an event that some clause names
    its start before its end, bounds of its length   present
    what is given of it                              present, with all that this ties to it

Problems that share no uncertain event, and no chain of clocks against which something moves, are
independent.  The probability that some of those that do holds, together with the laws of all their events and
what is given of these, is divided by that of the laws and of what is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.bindings import Group, TickSpans
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.tick_sums import FIRST, LAST, shifted
from cepctl.engines.columns.ties import EndpointTies, connected
from cepctl.engines.confidence.coupled.problem import NO_EVENT, Clauses, Part, gathered, owned, present
from cepctl.engines.confidence.intervals.conditions import CONSTANT, Case
from cepctl.engines.confidence.intervals.measure import FoundWholes, IntervalMeasure, laws_of, require_known
from cepctl.engines.confidence.occurrence.occurrence import Occurrences
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Reals

MOST_LAWS = 1 << 20
"""Laws of events that the problems of connected matches may ask for, taken together."""


class GroupedMatches(NamedTuple):
    """Matches of one alternative, shape (n, l), and the group of each, shape (n,).

    `broken`: what must not happen beside them.  `spans`: in which all that they bind has to lie.  `shown`:
    whether their starts and ends are asked for, and not only how probable they are.
    """

    measure: IntervalMeasure
    matches: Indexes
    group: Indexes
    broken: Sequence[FoundWholes] = ()
    spans: TickSpans | None = None
    shown: bool = False


MeasuringEndpoints = Callable[[Clauses], Occurrences]
"""From clauses between endpoints to the occurrences of groups."""


@dataclass(frozen=True)
class AskedEndpoints:
    """Groups of matches as problems between endpoints, and what connects these.

    `problem`, shape (problems,): where each stands among the clauses.
    """

    clauses: Clauses
    problem: Indexes
    connected: ConnectedEvents
    groups: int
    costly: Flags
    whole: Reals

    @classmethod
    def of(cls, measure: IntervalMeasure, found: Sequence[GroupedMatches], groups: int) -> AskedEndpoints:
        """`measure` knows the endpoints, clocks and ties of all of them.

        Raises
        ------
        QueryTooLargeError
            If what is given needs too much work.
        """
        asked = _asked(measure, found)
        together = _connected(measure, asked, groups)
        laws, costly = _laws(measure.endpoints, together)
        parts = [*asked.parts, *laws, together.ties.part(together.component)]
        clauses = gathered(parts, together.component, len(together.group))
        place = np.empty(len(together.component), dtype=np.int64)
        place[np.argsort(together.component, kind="stable")] = np.arange(len(place))
        whole = together.whole(measure.endpoints)
        return cls(clauses, place, together, groups, costly, whole)

    def occurrences(self, measuring: MeasuringEndpoints) -> Occurrences:
        """Of each group the probability that some problem of it holds, NaN where that is too costly."""
        measured = measuring(self.clauses)
        probability = np.clip(measured.probability / self.whole, 0.0, 1.0)
        probability[self.costly] = np.nan
        of = self.connected.group
        missing = np.ones(self.groups)
        np.multiply.at(missing, of, 1.0 - probability)
        found = 1.0 - missing
        # Not 1 - (1 - P), which is 0 where P is small.
        alone = np.bincount(of, minlength=self.groups)[of] == 1
        found[of[alone]] = probability[alone]
        return Occurrences(found, *self._figures(probability, measured))

    def _figures(self, probability: Reals, measured: Occurrences) -> tuple[Indexes, Indexes, Indexes]:
        """What makes a group too costly is told of the first of its components that is."""
        of, component = self.connected.group, self.connected.component
        costly = np.flatnonzero(np.isnan(probability))[::-1]
        sizes = np.bincount(component, minlength=len(of))
        rows = np.maximum(measured.rows, np.where(np.isnan(measured.probability), 0, sizes))
        figures = np.zeros((3, self.groups), dtype=np.int64)
        for into, values in zip(figures, (measured.separators, rows, measured.products), strict=True):
            into[of[costly]] = values[costly]
        return figures[0], figures[1], figures[2]


@dataclass(frozen=True)
class _AskedOfEndpoints:
    """What all problems ask for, the group of each, and pairs of a problem and an endpoint that is shown."""

    parts: Sequence[Part]
    group: Indexes
    shown: tuple[Indexes, Indexes]

    @cached_property
    def sides(self) -> tuple[Indexes, Indexes, Indexes]:
        """Problems with each side of the differences that they ask about, and the other side."""
        none = np.zeros(0, np.int64)
        problem = np.concatenate([none, *(np.repeat(part.problem, part.sizes) for part in self.parts)])
        left = np.concatenate([none, *(part.left for part in self.parts)])
        right = np.concatenate([none, *(part.right for part in self.parts)])
        nothing = np.full(len(self.shown[0]), NO_EVENT)
        return (
            np.concatenate([problem, problem, self.shown[0]]),
            np.concatenate([left, right, self.shown[1]]),
            np.concatenate([right, left, nothing]),
        )


def _asked(measure: IntervalMeasure, found: Sequence[GroupedMatches]) -> _AskedOfEndpoints:
    parts: list[Part] = []
    none = np.zeros(0, np.int64)
    group, shown, ends = [none], [none], [none]
    count = 0
    for each in found:
        endpoint = measure.endpoints.places(each.matches)
        for case in each.measure.cases:
            asked = [*_of_case(measure, endpoint, case)]
            for breaking, row, event in each.broken:
                for own in breaking.cases:
                    asked += _of_absence(measure, each.matches, own, row, event)
            if each.spans is not None:
                asked += _of_spans(each.spans, endpoint)
            parts += [part.shifted(count) for part in asked]
            group.append(each.group)
            if each.shown:
                shown.append(count + np.repeat(np.arange(len(endpoint)), endpoint.shape[1]))
                ends.append(endpoint.reshape(-1))
            count += len(each.matches)
    return _AskedOfEndpoints(parts, np.concatenate(group), (np.concatenate(shown), np.concatenate(ends)))


def _of_case(measure: IntervalMeasure, endpoint: Indexes, case: Case) -> Iterator[Part]:
    """What must hold; what the intervals decide for certain is left out."""
    for i, j, bound in case:
        left, right = _endpoint(endpoint, i), _endpoint(endpoint, j)
        rows = np.flatnonzero(~_always(measure, left, right, bound))
        if bound < UNBOUNDED and len(rows):
            yield present(rows, left[rows], right[rows], np.full(len(rows), bound))


def _of_absence(
    measure: IntervalMeasure, matches: Indexes, case: Case, row: Indexes, event: Indexes
) -> Iterator[Part]:
    """What must not hold all together, for each row with events, shape (w,) or (w, parts), that can do so."""
    endpoint = measure.endpoints.places(np.column_stack([matches[row], event]))
    edges = [
        (_endpoint(endpoint, i), _endpoint(endpoint, j), most) for i, j, most in case if most < UNBOUNDED
    ]
    possible = np.ones(len(row), dtype=bool)
    for one, other, most in edges:
        possible &= ~_always(measure, other, one, -most - 1)
    rows = np.flatnonzero(possible)
    if not len(rows):
        return
    size = len(rows), len(edges)
    left, right, bound = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    for number, each in enumerate(edges):
        left[:, number], right[:, number], bound[:, number] = each[0][rows], each[1][rows], each[2]
    differences = left.reshape(-1), right.reshape(-1), bound.reshape(-1)
    yield Part(row[rows], np.ones(len(rows), dtype=bool), np.full(len(rows), len(edges)), *differences)


def _of_spans(spans: TickSpans, endpoint: Indexes) -> Iterator[Part]:
    """That every endpoint of a match lies within its span."""
    begins, ends = np.flatnonzero(spans.first > FIRST), np.flatnonzero(spans.last < LAST)
    for each in endpoint.T:
        yield present(ends, each[ends], np.full(len(ends), NO_EVENT), spans.last[ends])
        yield present(begins, np.full(len(begins), NO_EVENT), each[begins], -spans.first[begins])


def _endpoint(endpoint: Indexes, place: int) -> Indexes:
    return np.full(len(endpoint), NO_EVENT) if place == CONSTANT else endpoint[:, place]


def _always(measure: IntervalMeasure, left: Indexes, right: Indexes, bound: int) -> Flags:
    """Whether t_left - t_right <= bound in every world, by the intervals alone."""
    clocks, own = measure.stamps, measure.endpoints.masses
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
class ConnectedEvents:
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


def _connected(measure: IntervalMeasure, asked: _AskedOfEndpoints, groups: int) -> ConnectedEvents:
    endpoints, clocks, ties = measure.endpoints, measure.stamps, measure.tied
    problem, node = _uncertain(endpoints, asked, ties)
    of_endpoint = len(endpoints.masses.lower)
    stamped, clock = _moved_apart(clocks, asked)
    problem = np.concatenate([problem, stamped])
    node = np.concatenate([node, root_of_clock(ties, of_endpoint, clocks.chain[clock])])
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
    tied = GroupTies.of_nodes(measure, node_component, event)
    free = ties.component[law_event] < 0
    law_component, law_event = (
        np.concatenate([own[free], more])
        for own, more in zip((law_component, law_event), tied.laws(), strict=True)
    )
    return ConnectedEvents(component, asked.group[first], law_component, law_event, tied)


def _uncertain(endpoints: Endpoints, asked: _AskedOfEndpoints, ties: EndpointTies) -> tuple[Indexes, Indexes]:
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


def _moved_apart(clocks: EventClocks, asked: _AskedOfEndpoints) -> tuple[Indexes, Indexes]:
    """Problems with the clocks whose offsets they ask about: what one clock stamped is moved alike."""
    problem, side, other = asked.sides
    clock = clocks.clock[np.maximum(side, 0)]
    kept = ~_on_one_clock(clocks, side, other) & (side != NO_EVENT) & (clock != NO_CLOCK)
    return problem[kept], clock[kept]


def _laws(endpoints: Endpoints, connected: ConnectedEvents) -> tuple[list[Part], Flags]:
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
    of: Indexes
    tied: Indexes

    @classmethod
    def of_nodes(cls, measure: IntervalMeasure, of: Indexes, node: Indexes) -> GroupTies:
        """From pairs of connected problems and endpoints; those of `roots` stand for others."""
        ties = measure.tied
        known = np.flatnonzero(node < len(measure.endpoints))
        own = known[ties.component[node[known]] >= 0]
        return cls(measure, of[own], ties.component[node[own]])

    def laws(self) -> tuple[Indexes, Indexes]:
        """Pairs of connected problems and tied events whose law is open."""
        at, offsets = owned(self.measure.tied.member_offsets, self.tied)
        event = self.measure.tied.members[at]
        is_open = self.measure.endpoints.whole[event] != 1.0
        return np.repeat(self.of, np.diff(offsets))[is_open], event[is_open]

    def part(self, component: Indexes) -> Part:
        """What all problems ask for; `component` says which connected ones each is of."""
        ties, count = self.measure.tied, int(component.max(initial=-1)) + 1
        of_problems = Group.of_owners(count, self.of, self.tied).take(component)
        at, offsets = owned(ties.tie_offsets, of_problems.members)
        problem = np.repeat(of_problems.owner, np.diff(offsets))
        return present(problem, ties.left[at], ties.right[at], ties.bound[at])

    def probability(self, count: int) -> Reals:
        """The probability of what is given, of each of so many connected problems."""
        found = np.ones(count)
        np.multiply.at(found, self.of, component_probability(self.measure, self.tied))
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


def component_probability(measure: IntervalMeasure, components: Indexes) -> Reals:
    """The probability that all ties of components hold, shape of `components`.

    Raises
    ------
    QueryTooLargeError
        If one needs too much work.
    """
    ties, endpoints = measure.tied, measure.endpoints
    unknown = np.unique(components[np.isnan(ties.probability[components])])
    if len(unknown):
        rows = np.arange(len(unknown))
        at, offsets = owned(ties.tie_offsets, unknown)
        asked = present(np.repeat(rows, np.diff(offsets)), ties.left[at], ties.right[at], ties.bound[at])
        members, offsets = owned(ties.member_offsets, unknown)
        row, event = np.repeat(rows, np.diff(offsets)), ties.members[members]
        whole = np.ones(len(unknown))
        np.multiply.at(whole, row, endpoints.whole[event])
        lasts = endpoints.end[event] != event
        laws = laws_of(endpoints, row[lasts], event[lasts][:, None])
        found = measure.occurrences(gathered([asked, *laws], rows, len(rows))).probability / whole
        require_known(found, "what is given", int(ties.sizes[unknown].max()))
        ties.probability[unknown] = found
    return np.asarray(ties.probability[components])
