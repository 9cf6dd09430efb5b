"""Rows of a calibration: what was stated of each, and what happened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from cepctl.calibration.blurring import BlurredEvents
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

NEARLY = 1e-9
"""A row is open whose stated probability is farther than this from 0 and from 1."""


@dataclass(frozen=True)
class ShownEvent:
    """An event of a row: true tick, and all ticks at which it could be by what was read."""

    event_id: str
    step: str
    tick: int
    lower: int
    upper: int


@dataclass(frozen=True)
class ShownRows:
    """The events of rows, looked up for the few that are shown.

    Row i has those of `bound` from offsets[i] to offsets[i + 1].

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


@dataclass(frozen=True)
class RowsOfSeed:
    """n rows of one seed.

    `stated`: probabilities; `happened`, `tied`: whether a row happened, and whether true times do not tell;
    `cluster`: equal for rows that may err together; `type_`: the place of each row's type in `types`; all of
    shape (n,).  `plain` counts rows beside these that were certain and came out as stated; `unreturned` rows
    that happened and were not stated.  `events` tells the events of some rows.  `lawless`: what would be
    stated without the law of order, None where there is none; `beyond` counts rows that the law is too much
    work for.
    """

    stated: Reals
    happened: Flags
    tied: Flags
    cluster: Indexes
    type_: Indexes
    types: tuple[tuple[str, ...], ...]
    events: Callable[[Indexes], list[tuple[ShownEvent, ...]]]
    plain: int = 0
    unreturned: int = 0
    lawless: Reals | None = None
    beyond: int = 0

    def under_law(self, lawful: Reals, beyond: Flags) -> RowsOfSeed:
        """These rows with what a law states of them, but for those that it is too much work for."""
        kept = np.flatnonzero(~beyond)
        return replace(
            self,
            stated=lawful[kept],
            happened=self.happened[kept],
            tied=self.tied[kept],
            cluster=self.cluster[kept],
            type_=self.type_[kept],
            events=lambda rows: self.events(kept[rows]),
            lawless=self.stated[kept],
            beyond=int(beyond.sum()),
        )

    @property
    def is_open(self) -> Flags:
        """Rows that are not tied, and may come out either way, shape (n,)."""
        within = (self.stated > NEARLY) & (self.stated < 1.0 - NEARLY)
        return np.asarray(within & ~self.tied)

    @property
    def impossible(self) -> int:
        """How many rows came out as they cannot: certain ones that did not happen, and others that did."""
        wrong = ((self.stated >= 1.0 - NEARLY) & ~self.happened) | ((self.stated == 0.0) & self.happened)
        return int((wrong & ~self.tied).sum()) + self.unreturned


@dataclass(frozen=True)
class OpenRows:
    """The open rows of all seeds, as in `RowsOfSeed`; `seed`, `row`: of which seed, and which of its rows."""

    stated: Reals
    happened: Flags
    cluster: Indexes
    type_: Indexes
    types: tuple[tuple[str, ...], ...]
    seed: Indexes
    row: Indexes
    lawless: Reals | None = None


def open_rows(parts: Sequence[RowsOfSeed]) -> OpenRows:
    """The open rows of some seeds, with their types numbered together in code-point order."""
    types = sorted({each for part in parts for each in part.types})
    number = {each: place for place, each in enumerate(types)}
    found: dict[str, list[np.ndarray[tuple[int], np.dtype[np.generic]]]] = {}
    for seed, part in enumerate(parts):
        row = np.flatnonzero(part.is_open)
        places = np.array([number[each] for each in part.types], dtype=np.int64)
        columns = {
            "stated": part.stated[row],
            "happened": part.happened[row],
            "cluster": part.cluster[row],
            "type_": places[part.type_[row]],
            "seed": np.full(len(row), seed),
            "row": row,
            **({} if part.lawless is None else {"lawless": part.lawless[row]}),
        }
        for name, values in columns.items():
            found.setdefault(name, []).append(values)
    joined = {name: np.concatenate(values) for name, values in found.items()}
    return OpenRows(types=tuple(types), **joined)
