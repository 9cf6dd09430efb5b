"""Rows of events that share clocks: their clauses, summed over few offsets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.clocks.unions import OF_ROWS, occurrences_on_clocks
from cepctl.engines.confidence.coupled.clauses import Tied
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.occurrence.ends import ends_of
from cepctl.engines.confidence.occurrence.occurrence import occurrences
from cepctl.engines.confidence.occurrence.rows import Rows
from cepctl.numeric.arrays import Indexes, Reals, Ticks


@dataclass(frozen=True)
class RowsOnClocks(Rows):
    """Rows of events whose `masses` say where they can be, wherever their `clocks` are."""

    clocks: EventClocks

    @classmethod
    def on(cls, clocks: EventClocks, masses: Masses, problems: Problems, *besides: Tied) -> RowsOnClocks:
        """Each problem as a row of its own."""
        return cls(masses, Rows.of(masses, problems, *besides).clauses, clocks)

    def probability(self, chosen: Indexes | None = None) -> Reals:
        """As of points; raises QueryTooLargeError where a row needs its measure at too many offsets."""
        found = np.full(self.clauses.groups, np.nan)
        rows = np.arange(len(found)) if chosen is None else chosen
        clauses = self.clauses.of_groups(rows)
        found[rows] = occurrences_on_clocks(
            self.clocks, occurrences, events_of_rows(self.masses), clauses, OF_ROWS
        ).probability
        return found

    def ends(self, first: Indexes, last: Indexes) -> tuple[Ticks, Ticks]:
        """The earliest ticks of events `first` and the latest of `last`, as `ends_of` finds them."""
        return ends_of(self.clocks, self.clauses, first, last)


def events_of_rows(masses: Masses) -> Events:
    """Events that are in the order of their numbers."""
    return Events(masses, pl.DataFrame({"event_id": np.arange(len(masses.lower))}))
