"""Matches that bind interval events: found by the hulls of the events, measured by their endpoints.

The hull of an event is all of time from its first possible start to its last possible end.  Whatever a
condition says of an endpoint, it says of some tick of the hull: the range join on hulls finds all pairs that
might satisfy it.

Runs inside Spark workers: imports NumPy, Numba and Polars only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.intervals.conditions import cases_of, hull_system
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.plan.plan import Alternative, Plan
from cepctl.schema import EARLIEST_TICK, END_TIME, LATEST_TICK, TimeUnit


@dataclass(frozen=True)
class IntervalSearch:
    """What an alternative needs to bind interval events.

    `hulls`: the events with their hulls for intervals; `system`: what the conditions say of these, shape
    (l, l), with a negative diagonal where they contradict each other.
    """

    hulls: Events
    system: Ticks
    measure: IntervalMeasure

    @classmethod
    def of(cls, plan: Plan, alternative: Alternative, events: Events) -> IntervalSearch:
        """Prepare an alternative; raises QueryTooLargeError where its conditions have too many cases."""
        components = len(alternative.positive)
        cases = cases_of(alternative, plan.window)
        system = hull_system(cases, components)
        if system is None:
            system = np.full((components, components), -1, dtype=np.int64)
        hulls = replace(events, masses=events.endpoints.hulls)
        return cls(hulls, system, IntervalMeasure(cases, events.endpoints))

    def possible(self, candidates: Indexes) -> Indexes:
        """Those events that can happen at all: one may have to end before its start."""
        return candidates[self.measure.endpoints.whole[candidates] > 0]

    def found_at_raw_times(self, matches: Indexes, unit: TimeUnit) -> pa.Array:
        """Whether the logged starts and ends alone satisfy the conditions; null where one is not known."""
        frame = self.hulls.frame
        columns = [frame.get_column(name) for name in ("time", END_TIME)]
        known = np.stack([each.is_not_null().to_numpy()[matches] for each in columns], axis=2).all(
            axis=(1, 2)
        )
        micros = [each.cast(pl.Datetime("us")).to_physical().fill_null(0).to_numpy() for each in columns]
        ticks = [np.clip(each // unit.microseconds, EARLIEST_TICK, LATEST_TICK)[matches] for each in micros]
        places = np.stack(ticks, axis=2).reshape(len(matches), 2 * matches.shape[1])
        # The last column is the constant 0, which -1 names.
        places = np.concatenate([places, np.zeros((len(matches), 1), dtype=np.int64)], axis=1)
        found = np.zeros(len(matches), dtype=bool)
        for case in self.measure.cases:
            holds = known.copy()
            for i, j, bound in case:
                holds &= places[:, i] <= shifted(places[:, j], bound)
            found |= holds
        return pa.array(found, mask=~known)

    def measured(self, matches: Indexes) -> Measured:
        """Measure matches, shape (n, l); raises QueryTooLargeError where one needs too many products."""
        return self.measure.measured(matches)
