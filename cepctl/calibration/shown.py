"""The events of rows, for the few that are shown: no more of them is held than that takes."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from cepctl.arrays import Indexes, Ticks
from cepctl.calibration.blurring import BlurredEvents
from cepctl.calibration.rows import ShownEvent


@dataclass(frozen=True)
class ShownRows:
    """Rows and their events: row i has those of `bound` from offsets[i] to offsets[i + 1].

    `events`: id, step, `lower` and `upper` of each event; `tick`: its true tick.
    """

    events: pa.Table
    tick: Ticks
    offsets: Indexes
    bound: Indexes

    @classmethod
    def of(
        cls, blurred: BlurredEvents, steps: pa.ChunkedArray, offsets: Indexes, bound: Indexes
    ) -> ShownRows:
        """The rows of blurred events with these steps."""
        events = blurred.table.select(["event_id", "lower", "upper"]).append_column("step", steps)
        return cls(events, blurred.truth.tick, offsets, bound)

    def __call__(self, rows: Indexes) -> list[tuple[ShownEvent, ...]]:
        """The events of some rows."""
        return [self._events(self.bound[self.offsets[row] : self.offsets[row + 1]]) for row in rows.tolist()]

    def _events(self, places: Indexes) -> tuple[ShownEvent, ...]:
        some = self.events.take(pa.array(places)).to_pylist()
        ticks = self.tick[places].tolist()
        return tuple(ShownEvent(**each, tick=tick) for each, tick in zip(some, ticks, strict=True))
