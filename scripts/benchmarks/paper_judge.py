"""How many groups there are between certain events, counted in plain Python.

Of each A and each C that is fewer than `window` ticks behind it, the sets of the Bs strictly between them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

import pyarrow as pa
import pyarrow.compute as pc


def groups_of(events: pa.Table, window: int) -> int:
    """All sets that are not empty."""
    return _summed(events, window, lambda values, last: 2 ** len(values) - 1)


def topped_groups_of(events: pa.Table, window: int) -> int:
    """Sets with a value above that of C."""
    return _summed(
        events, window, lambda values, last: 2 ** len(values) - 2 ** sum(value <= last for value in values)
    )


def rising_groups_of(events: pa.Table, window: int) -> int:
    """Sets whose values rise."""
    return _summed(events, window, lambda values, last: _rising(values))


def _rising(values: Sequence[int]) -> int:
    ending: list[int] = []
    for i, value in enumerate(values):
        ending.append(1 + sum(ending[j] for j in range(i) if values[j] < value))
    return sum(ending)


def _summed(events: pa.Table, window: int, counted: Callable[[Sequence[int], int], int]) -> int:
    ticks, values = {}, {}
    for kind in "ABC":
        own = events.filter(pc.equal(events.column("event_type"), kind))
        ticks[kind], values[kind] = own.column("lower").to_pylist(), own.column("val").to_pylist()
    total = 0
    for begin in ticks["A"]:
        first = bisect_right(ticks["B"], begin)
        for c in range(bisect_right(ticks["C"], begin), bisect_left(ticks["C"], begin + window)):
            between = values["B"][first : bisect_left(ticks["B"], ticks["C"][c])]
            total += counted(between, values["C"][c])
    return total
