"""How many matches a tool that trusts the raw times would have missed.

The event engine judges its matches while it still knows their events by number and writes the column
FOUND_AT_RAW_TIMES; for rows that lack it, the events are looked up by their ids.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Indexes
from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch
from cepctl.engines.columns.events import events_of
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.raw_times import CertainTimes
from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class RawTimeCounts:
    """How many matches were `judged`, how many of them raw times `missed`, how many have `untimed` events."""

    judged: int
    missed: int
    untimed: int


def found_at_raw_times(times: CertainTimes, bound: tuple[Bindings, ...]) -> pa.Array:
    """Whether raw times find each match; null where one of its events has none."""
    return pa.array(times.found(bound), pa.bool_(), mask=~times.judgeable(bound))


def matches_at_raw_times(source: PreparedAlternative, times: CertainTimes, matches: MatchBatch) -> pa.Array:
    """The same of matches of an alternative, which may bind events that last."""
    if source.intervals is None:
        return found_at_raw_times(times, matches.bound)
    from cepctl.engines.intervals.groups import by_size

    found = np.empty(len(matches), dtype=object)
    for search, events, rows in by_size(source.intervals, matches.bound):
        found[rows] = search.found_at_raw_times(events, source.plan.time_unit).to_pylist()
    return pa.array(found, pa.bool_())


def counts_of(found: pa.ChunkedArray | pa.Array) -> RawTimeCounts:
    """Count what `found_at_raw_times` says."""
    missed = pc.sum(pc.invert(found)).as_py() or 0
    return RawTimeCounts(len(found) - found.null_count, missed, found.null_count)


def missed_by_raw_times(plan: Plan, matches: pa.Table, table: pa.Table) -> RawTimeCounts:
    """Count the matches that would not have been found at raw times, by the ids of their events.

    Parameters
    ----------
    plan
        The analyzed query.
    matches
        Rows of `cepctl.engines.event.match.match_schema`; only their signatures are read.
    table
        The events that the plan was run on, with event_id, event_type, time, the interval and the
        attributes of the plan.
    """
    if not matches.num_rows:
        return RawTimeCounts(0, 0, 0)
    events = events_of(table)
    if events.ends is not None or any(each.reads_ends for each in plan.alternatives):
        return RawTimeCounts(0, 0, 0)
    times = CertainTimes.of(plan, events)
    columns = [
        found_at_raw_times(times, bound) for bound in _bindings(matches.column("signature"), events.ids)
    ]
    return counts_of(pa.chunked_array(columns, pa.bool_()))


def _bindings(signatures: pa.ChunkedArray, ids: pl.Series) -> list[tuple[Group, ...]]:
    """The events of matches by their rows: per number of components, a group for each component."""
    matches = pa.concat_arrays(signatures.chunks)
    components = matches.flatten()
    members = pl.DataFrame({"id": pl.from_arrow(components.flatten())})
    numbered = pl.DataFrame({"id": ids}).with_row_index("row")
    joined = members.join(numbered, on="id", how="left", maintain_order="left")
    every = Group(_offsets(components), joined.get_column("row").cast(pl.Int64).to_numpy())
    outer = _offsets(matches)
    widths = np.diff(outer)
    return [
        tuple(every.take(outer[:-1][widths == width] + at) for at in range(width))
        for width in np.unique(widths)
    ]


def _offsets(lists: pa.ListArray) -> Indexes:
    """Offsets into the flattened values, also where the array is a slice."""
    offsets = lists.offsets.to_numpy().astype(np.int64)
    return np.asarray(offsets - offsets[0])
