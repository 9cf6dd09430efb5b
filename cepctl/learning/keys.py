"""The keys that teach: events of each in the order of their stamps, with the true ticks that are hidden.

A law can tell something of a key only where a run of events that touch each other has events of two steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.calibration.blurring import BlurredEvents
from cepctl.calibration.draws import drawn
from cepctl.calibration.truth import numbered_texts
from cepctl.engines.columns.events import events_of
from cepctl.engines.columns.masses import Masses
from cepctl.engines.order_laws.keys import OpenRuns


@dataclass(frozen=True)
class TaughtKeys:
    """n events of some keys: key i has those from offsets[i] to offsets[i + 1].

    `names`: of the keys.  `rows`: of each event in the blurred events; within a key they are in the order of
    `lower`, then id.  `step`: the place of each event's step in `steps`.  `masses`: by the stamps; `tick`:
    true.  All of n events.
    """

    names: tuple[str, ...]
    offsets: Indexes
    rows: Indexes
    step: Indexes
    steps: tuple[str, ...]
    masses: Masses
    tick: Ticks

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, blurred: BlurredEvents, steps: pa.ChunkedArray) -> TaughtKeys:
        """All keys of blurred events; `steps`: of each event."""
        key, (step, names) = blurred.truth.key, numbered_texts(steps)
        rows = np.argsort(key, kind="stable")
        there, sizes = np.unique(key, return_counts=True)
        return cls(
            names=tuple(blurred.truth.keys[each] for each in there.tolist()),
            offsets=np.concatenate([[0], np.cumsum(sizes)]),
            rows=rows,
            step=step[rows],
            steps=names,
            masses=events_of(blurred.table).masses.take(rows),
            tick=blurred.truth.tick[rows],
        )

    @property
    def lower(self) -> Ticks:
        """The first tick of each event by its stamp."""
        return self.masses.lower

    @property
    def upper(self) -> Ticks:
        """The last one."""
        return self.masses.upper

    @cached_property
    def key(self) -> Indexes:
        """The place of each event's key, shape (n,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def runs(self) -> OpenRuns:
        """The runs of events that touch each other, and which of them hide the order of two steps."""
        return OpenRuns.of(self.key, self.lower, self.upper, self.step)

    @cached_property
    def can_teach(self) -> Flags:
        """Keys of which the order of some steps is hidden, shape (keys,)."""
        some = np.zeros(len(self), dtype=bool)
        some[self.key[self.runs.is_open]] = True
        return some

    def in_hashed_order(self, seed: int) -> Indexes:
        """The keys as a seed draws them, none before another by name or size, shape (keys,)."""
        shares = drawn(seed, "learn", pa.array(self.names, pa.string()))
        return np.lexsort((np.arange(len(self)), shares))

    def folds(self, seed: int, count: int) -> Indexes:
        """The fold of each key, which depends on its name and the seed alone; shape (keys,)."""
        shares = drawn(seed, "fold", pa.array(self.names, pa.string()))
        return np.asarray((shares * count).astype(np.int64))

    def only(self, keys: Indexes) -> TaughtKeys:
        """The events of some keys, in the order of keys as they are here."""
        wanted = np.zeros(len(self), dtype=bool)
        wanted[keys] = True
        kept = np.flatnonzero(wanted[self.key])
        sizes = np.diff(self.offsets)[wanted]
        return TaughtKeys(
            names=tuple(name for name, taken in zip(self.names, wanted.tolist(), strict=True) if taken),
            offsets=np.concatenate([[0], np.cumsum(sizes)]),
            rows=self.rows[kept],
            step=self.step[kept],
            steps=self.steps,
            masses=self.masses.take(kept),
            tick=self.tick[kept],
        )
