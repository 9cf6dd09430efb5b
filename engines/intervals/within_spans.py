"""How probable it is that matches of interval events happen, and within a span of ticks each.

The endpoints that a match binds are cut where its span ends; those of its rivals stay as they are.

Runs inside Spark workers: imports NumPy, Numba and Polars only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.cut_masses import cut_masses, joined_masses
from cepctl.engines.columns.endpoints import Endpoints, agreeing
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_spans import TickSpans
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.engines.intervals.rivals import FoundRivals, renumbered


@dataclass(frozen=True)
class LastingMatches:
    """Matches, shape (n, l), and how they are measured."""

    measure: IntervalMeasure
    matches: Indexes

    def within(self, rows: Indexes, spans: TickSpans) -> Reals:
        """P(a match happens, and all that it binds lies within its span) of some rows, ascending.

        Raises
        ------
        QueryTooLargeError
            If one needs more work than is allowed.
        """
        matches = self.matches[rows]
        count, size = matches.shape
        strangers = np.unique(np.concatenate([np.zeros(0, np.int64), *(each[2] for each in self._rivals)]))
        whose = spans.take(np.repeat(np.arange(count), size)).followed_by_everywhere(len(strangers))
        events = np.concatenate([matches.reshape(-1), strangers])
        endpoints, share = cut_endpoints(self.measure.endpoints, events, whose)
        inside = share[: matches.size].reshape(count, size).prod(axis=1)
        possible = np.flatnonzero(inside > 0.0)
        found = np.zeros(count)
        if len(possible):
            near = [renumbered(each, rows[possible]) for each in self._rivals]
            moved = [
                (each, row, matches.size + np.searchsorted(strangers, event)) for each, row, event in near
            ]
            measure = replace(self.measure, endpoints=endpoints, rivals=(lambda _: moved) if moved else None)
            numbers = np.arange(matches.size).reshape(count, size)[possible]
            found[possible] = inside[possible] * measure.measured(numbers).confidence
        return found

    @cached_property
    def _rivals(self) -> list[FoundRivals]:
        return [] if self.measure.rivals is None else self.measure.rivals(self.matches)


def cut_endpoints(endpoints: Endpoints, event: Indexes, spans: TickSpans) -> tuple[Endpoints, Reals]:
    """Copies of events, each with both endpoints within a span, and how probable that is, shape (n,)."""
    first, last = spans.first, spans.last
    lasts = np.flatnonzero(endpoints.end[event] != event)
    starts, inside = cut_masses(endpoints.masses, event, first, last)
    ends, ended = cut_masses(endpoints.masses, endpoints.end[event[lasts]], first[lasts], last[lasts])
    masses: Masses = joined_masses(starts, ends) if len(lasts) else starts
    end = np.arange(len(event))
    end[lasts] = len(event) + np.arange(len(lasts))
    shortest, longest, whole = endpoints.shortest[event], endpoints.longest[event], endpoints.whole[event]
    # The law of an event that is not cut keeps its digits.
    cut = lasts[(inside[lasts] < 1.0) | (ended < 1.0)]
    whole[cut] = agreeing(masses, cut, end[cut], shortest[cut], longest[cut])
    inside[lasts] *= ended
    inside[cut] *= whole[cut] / endpoints.whole[event[cut]]
    return Endpoints(masses, end, shortest, longest, whole), inside
