"""Components of interval events that ties connect: how probable each is, and which a key touches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.ties import EndpointTies, event_of_endpoint
from cepctl.engines.given.edges import contradicted
from cepctl.engines.intervals.conditions import Case
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.engines.intervals.on_clocks import measured_without_ties
from cepctl.engines.occurrence.clauses import Part, present
from cepctl.plan.plan import Given


def component_probability(measure: IntervalMeasure, ties: EndpointTies, components: Indexes) -> Reals:
    """The probability that all ties of components hold, shape of `components`.

    Raises
    ------
    QueryTooLargeError
        If one needs too much work.
    """
    unknown = np.unique(components[np.isnan(ties.probability[components])])
    structure = structures(ties, measure.endpoints, unknown)
    for number in np.unique(structure):
        alike = unknown[structure == number]
        events = ties.members[ties.member_offsets[alike][:, None] + np.arange(int(ties.sizes[alike[0]]))]
        case = case_of(ties, measure.endpoints, int(alike[0]))
        own = replace(measure, cases=(case,), rivals=None, counted=None)
        ties.probability[alike] = measured_without_ties(own, events).confidence
    return np.asarray(ties.probability[components])


def require_worlds(given: Sequence[Given], events: Events) -> None:
    """Raise ContradictionError where masses with holes leave a component on clocks no world."""
    ties, clocks = events.endpoint_ties, events.endpoint_clocks
    if ties is None or clocks is None:
        return
    owner = event_of_endpoint(events.endpoints)
    holed = np.unique(owner[np.flatnonzero(clocks.own.has_hole)])
    found = ties.component[holed]
    components = np.unique(found[found >= 0])
    measure = IntervalMeasure((), events.endpoints, clocks=clocks)
    for each in components[component_probability(measure, ties, components) == 0.0].tolist():
        members = ties.members[slice(*ties.member_offsets[each : each + 2])]
        raise contradicted(given, members.tolist(), events)


def structures(ties: EndpointTies, endpoints: Endpoints, components: Indexes) -> Indexes:
    """A number for each of some components, equal where their ties are between alike places."""
    begin, end = ties.tie_offsets[components], ties.tie_offsets[components + 1]
    owner = np.repeat(np.arange(len(components)), end - begin)
    at = np.arange(len(owner)) + np.repeat(begin - np.cumsum(end - begin) + end - begin, end - begin)
    left, right = _places_of_ties(ties, endpoints, at)
    told = pl.DataFrame({"owner": owner, "left": left, "right": right, "bound": ties.bound[at]})
    text = pl.format("{},{},{}", "left", "right", "bound").str.join(";").alias("text")
    texts = told.group_by("owner", maintain_order=True).agg(text).get_column("text")
    return texts.rank("dense").to_numpy().astype(np.int64)


def case_of(ties: EndpointTies, endpoints: Endpoints, component: int) -> Case:
    """The ties of a component between the places of its events, in the order of their ranks."""
    at = np.arange(*ties.tie_offsets[component : component + 2])
    columns = (*_places_of_ties(ties, endpoints, at), ties.bound[at])
    return tuple(zip(*(each.tolist() for each in columns), strict=True))


def _places_of_ties(ties: EndpointTies, endpoints: Endpoints, at: Indexes) -> tuple[Indexes, Indexes]:
    owner, count = event_of_endpoint(endpoints), len(endpoints)
    left, right = (2 * ties.rank[owner[each[at]]] + (each[at] >= count) for each in (ties.left, ties.right))
    return left, right


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
        measure = IntervalMeasure((), events.endpoints, clocks=events.endpoint_clocks)
        return cls(measure, ties, of[own], ties.component[node[own]])

    def laws(self) -> tuple[Indexes, Indexes]:
        """Pairs of connected problems and tied events whose law is open."""
        sizes = self.ties.sizes[self.tied]
        begin = self.ties.member_offsets[self.tied] - np.cumsum(sizes) + sizes
        event = self.ties.members[np.arange(int(sizes.sum())) + np.repeat(begin, sizes)]
        is_open = self.measure.endpoints.whole[event] != 1.0
        return np.repeat(self.of, sizes)[is_open], event[is_open]

    def part(self, component: Indexes) -> Part:
        """What all problems ask for; `component` says which connected ones each is of."""
        order = np.argsort(self.of, kind="stable")
        of, tied = self.of[order], self.tied[order]
        begin, end = np.searchsorted(of, component), np.searchsorted(of, component, side="right")
        problem, pair = _expanded(end - begin, begin)
        sizes = np.diff(self.ties.tie_offsets)[tied[pair]]
        which, at = _expanded(sizes, self.ties.tie_offsets[tied[pair]])
        return present(problem[which], self.ties.left[at], self.ties.right[at], self.ties.bound[at])

    def probability(self, count: int) -> Reals:
        """The probability of what is given, of each of so many connected problems."""
        found = np.ones(count)
        np.multiply.at(found, self.of, component_probability(self.measure, self.ties, self.tied))
        return found


def roots(endpoints: Endpoints, ties: EndpointTies) -> Indexes:
    """The endpoint that stands for each: all that may vary of one component are one."""
    owner = event_of_endpoint(endpoints)
    found = np.arange(len(owner))
    varies = (endpoints.masses.lower < endpoints.masses.upper) | (endpoints.whole[owner] != 1.0)
    tied = np.flatnonzero(varies & (ties.component[owner] >= 0))
    found[tied] = ties.members[ties.member_offsets[ties.component[owner[tied]]]]
    return found


def root_of_clock(ties: EndpointTies, endpoints: int, clock: Indexes) -> Indexes:
    """The node that stands for a clock: after all endpoints, or that of the component which it connects."""
    component = ties.of_clock[clock]
    root = ties.members[ties.member_offsets[np.maximum(component, 0)]]
    return np.where(component >= 0, root, endpoints + clock)


def _expanded(sizes: Indexes, begin: Indexes) -> tuple[Indexes, Indexes]:
    """Each number so many times, and beside it what counts up from its begin."""
    ends = np.cumsum(sizes)
    which = np.repeat(np.arange(len(sizes)), sizes)
    return which, np.arange(len(which)) + np.repeat(begin - ends + sizes, sizes)
