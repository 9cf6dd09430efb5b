"""What is given of the events of a key: its matches are connected by it, and all of them ask for it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.lasting_ties import LastingTies, event_of_endpoint
from cepctl.engines.intervals.lasting_components import component_probability
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.engines.occurrence.clauses import Part, present


@dataclass(frozen=True)
class GroupTies:
    """Pairs of connected problems and the components of ties that they touch: `of` and `tied`, shape (t,)."""

    measure: IntervalMeasure
    ties: LastingTies
    of: Indexes
    tied: Indexes

    @classmethod
    def of_nodes(cls, events: Events, ties: LastingTies, of: Indexes, node: Indexes) -> GroupTies:
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


def roots(endpoints: Endpoints, ties: LastingTies) -> Indexes:
    """The endpoint that stands for each: all that may vary of one component are one."""
    owner = event_of_endpoint(endpoints)
    found = np.arange(len(owner))
    varies = (endpoints.masses.lower < endpoints.masses.upper) | (endpoints.whole[owner] != 1.0)
    tied = np.flatnonzero(varies & (ties.component[owner] >= 0))
    found[tied] = ties.members[ties.member_offsets[ties.component[owner[tied]]]]
    return found


def root_of_clock(ties: LastingTies, endpoints: int, clock: Indexes) -> Indexes:
    """The node that stands for a clock: after all endpoints, or that of the component which it connects."""
    component = ties.of_clock[clock]
    root = ties.members[ties.member_offsets[np.maximum(component, 0)]]
    return np.where(component >= 0, root, endpoints + clock)


def _expanded(sizes: Indexes, begin: Indexes) -> tuple[Indexes, Indexes]:
    """Each number so many times, and beside it what counts up from its begin."""
    ends = np.cumsum(sizes)
    which = np.repeat(np.arange(len(sizes)), sizes)
    return which, np.arange(len(which)) + np.repeat(begin - ends + sizes, sizes)
