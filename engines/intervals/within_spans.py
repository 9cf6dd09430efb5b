"""How probable it is that matches of interval events happen, and within a span of ticks each.

The endpoints that a match binds are cut where its span ends; those of its rivals stay as they are.

Runs inside Spark workers: imports NumPy, Numba and Polars only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.tick_spans import TickSpans
from cepctl.engines.intervals.cut_endpoints import cut_endpoints
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.engines.intervals.on_clocks import measured_on_clocks
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
        if self.measure.clocks is not None:
            near = [renumbered(each, rows) for each in self._rivals]
            measure = replace(self.measure, rivals=(lambda _: near) if near else None)
            return measured_on_clocks(measure, self.measure.clocks, matches, spans).confidence
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
