"""How many matches a tool that trusts the raw times would have missed.

The event engine judges its matches while it still knows their events by number and writes the column
FOUND_AT_RAW_TIMES; for rows that lack it, the events are looked up by their ids.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch
from cepctl.engines.columns.events import events_of
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.raw_times import CertainTimes
from cepctl.engines.rows.kept import FOUND, MISSED, UNJUDGED, WHY_UNJUDGED
from cepctl.errors import UnsupportedQueryError
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Plan
from cepctl.side_figures import SideFigure, beside


@dataclass(frozen=True)
class RawTimeCounts:
    """How many matches were `judged`, how many of them raw times `missed`, how many have `untimed` events."""

    judged: int
    missed: int
    untimed: int


@dataclass
class RawTimeJudge:
    """Judges the matches of a run, for its summary; once that has failed it judges no more.

    `times`: None where events last, whose search knows their logged starts and ends.  `why_not`: what failed.
    """

    times: CertainTimes | None = None
    why_not: str = ""

    @classmethod
    def of(cls, source: PreparedAlternative, options: MatchOptions) -> RawTimeJudge | None:
        """The judge of the matches of a source; None where nobody asks."""
        if not options.raw_times:
            return None
        judge = cls()
        if not source.lasting:
            certain = partial(CertainTimes.of, source.plan, source.events, options.block_memory)
            judge.times = beside(SideFigure.RAW_TIMES, certain, None, judge._fail)
        return judge

    def judged(self, source: PreparedAlternative, matches: MatchBatch) -> pa.Array:
        """What `FOUND_AT_RAW_TIMES` says of matches."""
        unjudged = pa.array(np.full(len(matches), UNJUDGED, np.int8))
        if self.why_not:
            return unjudged
        return beside(SideFigure.RAW_TIMES, partial(self._judged, source, matches), unjudged, self._fail)

    def _judged(self, source: PreparedAlternative, matches: MatchBatch) -> pa.Array:
        if self.times is None:
            return _lasting_at_raw_times(source, matches)
        if source.members is not None:
            return source.members.found_at_raw_times(self.times, matches)
        # Alternatives that give the same rows bind them alike, if one is of runs.
        judged = [
            each.found_at_certain_times(self.times.events, self.times.known, matches)
            for each in (source, *source.others)
        ]
        found = [each for each in judged if each is not None]
        if found:
            return judgements(np.any(found, axis=0), self.times.judgeable(matches.bound))
        return found_at_raw_times(self.times, matches.bound)

    def with_reason(self, schema: pa.Schema) -> pa.Schema:
        """The schema of rows that were judged, which also says why some were not."""
        return schema.with_metadata({WHY_UNJUDGED: self.why_not}) if self.why_not else schema

    def _fail(self, why: str) -> None:
        self.why_not = why


def judgements(found: Flags, judgeable: Flags) -> pa.Array:
    """What raw times say of matches, as the column FOUND_AT_RAW_TIMES has it."""
    return pa.array(np.where(found, FOUND, MISSED).astype(np.int8), mask=~judgeable)


def found_at_raw_times(times: CertainTimes, bound: tuple[Bindings, ...]) -> pa.Array:
    """Whether raw times find each match; null where one of its events has none."""
    return judgements(times.found(bound), times.judgeable(bound))


def _lasting_at_raw_times(source: PreparedAlternative, matches: MatchBatch) -> pa.Array:
    """Whether raw times find each match whose events may last."""
    from cepctl.engines.confidence.intervals.search import by_size

    if source.plan.asks_probabilities:
        raise UnsupportedQueryError("not supported yet: prob(...) at raw times with interval events")
    (intervals,) = source.lasting
    found, known = np.zeros(len(matches), dtype=bool), np.zeros(len(matches), dtype=bool)
    for search, events, rows in by_size(intervals, matches.bound):
        found[rows], known[rows] = search.found_at_raw_times(events, source.plan.time_unit)
    return judgements(found, known)


def counts_of(found: pa.ChunkedArray | pa.Array) -> RawTimeCounts:
    """Count what `found_at_raw_times` says."""
    missed = pc.sum(pc.equal(found, MISSED)).as_py() or 0
    return RawTimeCounts(len(found) - found.null_count, missed, found.null_count)


def found_or_missed(found: pa.ChunkedArray) -> list[bool | None]:
    """Of each row whether raw times find it; None where that is not known."""
    return [{FOUND: True, MISSED: False}.get(each) for each in found.to_pylist()]


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
    return counts_of(pa.chunked_array(columns, pa.int8()))


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
