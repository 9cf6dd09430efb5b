"""Events that last and cannot have happened: they end before their start, wherever their ticks are.

`ingest` rejects them.  A dataset that something else wrote may hold some; they fit nothing, and are counted.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Ticks
from cepctl.clocks import Clocks
from cepctl.engines.columns.endpoints import UNBOUNDED_LENGTH, has_ends
from cepctl.engines.columns.events import events_of
from cepctl.schema import LENGTH_LOWER, LENGTH_UPPER


def impossible_events(events: pa.Table, clocks: Clocks) -> int:
    """How many events of a table leave no world to their start, end and length.

    Raises
    ------
    EventSchemaError
        If an interval or pmf is wrong.

    Examples
    --------
    >>> ticks = {"lower": [0, 5], "upper": [4, 9], "end_lower": [3, 1], "end_upper": [8, 3]}
    >>> events = pa.table({"event_id": ["a", "b"], "event_type": ["A", "A"], "pmf": pa.nulls(2), **ticks})
    >>> impossible_events(events, {})
    1
    """
    if not has_ends(events):
        return 0
    lasting = events.filter(pc.is_valid(events.column("end_lower")))
    start, end = ((_ticks(lasting, f"{side}lower"), _ticks(lasting, f"{side}upper")) for side in ("", "end_"))
    shortest = np.maximum(_ticks(lasting, LENGTH_LOWER, 0), 0)
    longest = _ticks(lasting, LENGTH_UPPER, UNBOUNDED_LENGTH)
    doubtful = (end[0] - start[1] < shortest) | (end[1] - start[0] > longest)
    if not doubtful.any():
        return 0
    found = events_of(lasting.filter(pa.array(doubtful)), clocks)
    return int((found.endpoints.whole == 0.0).sum())


def _ticks(events: pa.Table, name: str, missing: int = 0) -> Ticks:
    if name not in events.column_names:
        return np.full(len(events), missing, dtype=np.int64)
    return np.asarray(pc.fill_null(events.column(name), missing).to_numpy())
