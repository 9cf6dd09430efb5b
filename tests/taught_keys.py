"""Keys that teach, as `A1-4@2 B3-6`: step, first and last tick, and the true one, the first if not told."""

from __future__ import annotations

import re

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.laws.learning.keys import TaughtKeys

_EVENT = re.compile(r"(\w+?)(\d+)-(\d+)(?:@(\d+))?")


def taught_keys(*keys: str) -> TaughtKeys:
    """Keys named k0, k1, ...; events of each in the order of their first ticks."""
    events = [sorted(map(_event, key.split()), key=lambda event: event[1]) for key in keys]
    flat = [event for key in events for event in key]
    steps = tuple(sorted({event[0] for event in flat}))
    lower, upper, tick = (np.array([event[i] for event in flat], dtype=np.int64) for i in (1, 2, 3))
    return TaughtKeys(
        names=tuple(f"k{number}" for number in range(len(keys))),
        offsets=np.cumsum([0, *map(len, events)]),
        rows=np.arange(len(flat)),
        step=np.array([steps.index(event[0]) for event in flat], dtype=np.int64),
        steps=steps,
        masses=Masses(lower, upper, np.arange(len(flat) + 1), lower, upper, 1.0 / (upper - lower + 1)),
        tick=tick,
    )


def _event(text: str) -> tuple[str, int, int, int]:
    found = _EVENT.fullmatch(text)
    assert found is not None, text
    return found[1], int(found[2]), int(found[3]), int(found[4] or found[2])
