"""The point engine: intervals expanded to point events, matched plainly, collapsed by signature.

This is the evaluation that ZDI10 compares its event-based one with, and a second opinion on the event
engine: it shares with it how events are read and which fit, but neither the search in time nor any
confidence.  Its cost grows with the width of the intervals; stated bounds refuse what is too wide.

    name here                  in ZDI10, section 4
    point_stream               the stream of point events
    point_matches, _chains     any-match evaluation over it; a chain merges what has equal futures
    latest_next                NELT, next-event latest time
    point_absences             ours: the events that a match must not meet, also point by point
    point_collapse, grouped    matches collapsed by signature
    pairs, lasting             ours: events that last, as pairs of a start and an end

Kleene groups are refused: a group of n members is any of 2^n sets, and each of them would have as
many combinations of points as the product of its members' widths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.engines.columns.bindings import MatchBatch, signatures
from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.columns.predicates import return_columns
from cepctl.engines.event.match import match_schema
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.point.absences import gaps_of
from cepctl.engines.point.collapse import PointSource, collapsed, grouped, over_offsets
from cepctl.engines.point.combinations import (
    Combinations,
    PointSearch,
    candidates_of,
    chain_matches,
    is_plain_chain,
    point_search,
)
from cepctl.engines.point.stream import Budget, point_stream
from cepctl.numeric.arrays import Indexes
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.plan import Plan
from cepctl.plan.support import require_engine, require_known_clocks

_STARTS_AT_ONCE = 1 << 12


def match_table(plan: Plan, table: pa.Table, options: MatchOptions | None = None) -> pa.Table:
    """All collapsed matches of a plan in an event table, in no particular order.

    Parameters
    ----------
    plan
        The analyzed query.
    table
        Events with at least event_id, event_type, lower, upper, pmf and the plan's attributes.
    options
        Of these only `max_matches` means something here.

    Returns
    -------
    Table of `match_schema(plan)`; only rows that reach the plan's minimum confidence.

    Raises
    ------
    UnsupportedQueryError
        If the plan has Kleene groups.
    QueryTooLargeError
        If the events expand into more than MAX_POINTS points, or their combinations are more than
        MAX_STEPS, or those of the offsets of clocks more than MAX_OFFSETS; the message names the number.
    EventSchemaError
        If an interval or pmf is wrong.
    """
    require_engine(plan, "point")
    options = options or MatchOptions()
    if plan.never is not None or not table.num_rows:
        return match_schema(plan).empty_table()
    require_known_clocks(plan, table)
    events = events_of(table, plan.clocks)
    if plan.strategy.asks_all:
        # Whatever lasts is bound by nothing then, and passes by with its start.
        events = events.by_start
    parts, rows = [], 0
    least = 0.0 if plan.minimum_confidence is None else plan.minimum_confidence - CONFIDENCE_SLACK
    for found in _collapsed(plan, events):
        frame = found.filter(pl.col("confidence") >= least)
        rows += len(frame)
        options.check_count(rows)
        for (number,), part in frame.group_by("alternative"):
            parts.append(_rows(plan, int(number), events, part))
    return pa.Table.from_batches(parts, match_schema(plan))


def _collapsed(plan: Plan, events: Events) -> Iterator[pl.DataFrame]:
    """Collapsed matches, summed over the offsets of clocks where there are some."""
    if events.clocks is None:
        return _signatures(plan, events)
    return over_offsets(events, events.clocks, partial(_signatures, plan))


def _signatures(plan: Plan, events: Events) -> Iterator[pl.DataFrame]:
    """Collapsed matches, one frame for each number of bound events."""
    candidates = [candidates_of(events, each) for each in plan.alternatives]
    if plan.alternatives[0].reads_ends or events.last(each for own in candidates for each in own):
        require_engine(plan, "point", lasting=True)
        yield from _of_intervals(plan, events, candidates[0])
        return
    searches = _searches(plan, events, candidates)
    lengths = sorted({len(search.steps) for search in searches})
    for length in lengths:
        own = [(number, each) for number, each in enumerate(searches) if len(each.steps) == length]
        if not plan.strategy.asks_others and all(is_plain_chain(each) for _, each in own):
            frames = _chain_frames(own)
        else:
            frames = list(_combination_frames([PointSource(n, each, gaps_of(each)) for n, each in own]))
        if frames:
            yield grouped(pl.concat(frames)).with_columns(pl.col("confidence").clip(upper_bound=1.0))


def _of_intervals(plan: Plan, events: Events, candidates: tuple[Indexes, ...]) -> Iterator[pl.DataFrame]:
    """The matches of events that last; of an OR they are refused."""
    from cepctl.engines.point.lasting import LastingPoints, LastingSearch

    pairs = LastingPoints.of(events.endpoints, np.unique(np.concatenate(candidates)))
    (alternative,) = plan.alternatives
    frames = list(LastingSearch(plan, alternative, events, pairs, candidates, Budget()).rows())
    if frames:
        together = pl.concat(frames).with_columns(alternative=pl.lit(0, pl.Int64))
        yield grouped(together).with_columns(pl.col("confidence").clip(upper_bound=1.0))


def _searches(plan: Plan, events: Events, candidates: Sequence[tuple[Indexes, ...]]) -> list[PointSearch]:
    wanted = np.unique(np.concatenate([each for own in candidates for each in own]))
    if plan.strategy.asks_all:
        wanted = events.happening
    stream, budget = point_stream(events.masses, wanted), Budget()
    return [
        point_search(plan, alternative, events, stream, own, budget)
        for alternative, own in zip(plan.alternatives, candidates, strict=True)
    ]


def _chain_frames(searches: Sequence[tuple[int, PointSearch]]) -> list[pl.DataFrame]:
    """Chains of several alternatives: one that two of them produce holds in the same worlds in both."""
    frames: list[pl.DataFrame] = []
    for number, search in searches:
        own = [each.with_columns(alternative=pl.lit(number, pl.Int64)) for each in chain_matches(search)]
        if own:
            frames.append(grouped(pl.concat(own)).with_columns(first=pl.col("start")))
    if len(frames) < 2:
        return frames
    signature = [name for name in frames[0].columns if name.startswith("event_")]
    return [pl.concat(frames).unique(signature, keep="first", maintain_order=True)]


def _combination_frames(sources: Sequence[PointSource]) -> Iterator[pl.DataFrame]:
    """Collapsed rows by starting points; those of one signature may lie in several frames."""
    starts = np.unique(np.concatenate([each.search.starts for each in sources]))
    left = [starts[i : i + _STARTS_AT_ONCE] for i in range(0, len(starts), _STARTS_AT_ONCE)]
    while left:
        chosen = left.pop()
        found = _found(sources, chosen)
        if found is None:
            left += [chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]]
        elif any(len(rows) for rows in found):
            yield collapsed(sources, found)


def _found(sources: Sequence[PointSource], starts: Indexes) -> list[Combinations] | None:
    """All rows of some starting points, per source; None when they are too many at once."""
    found = []
    for source in sources:
        rows = source.search.combinations(np.intersect1d(starts, source.search.starts, assume_unique=True))
        if rows is None:
            return None
        found.append(rows)
    return found


def _rows(plan: Plan, number: int, events: Events, frame: pl.DataFrame) -> pa.RecordBatch:
    alternative = plan.alternatives[number]
    bound = tuple(
        frame.get_column(f"event_{column}").to_numpy() for column in range(len(alternative.positive))
    )
    start, end, confidence = (frame.get_column(name).to_numpy() for name in ("start", "end", "confidence"))
    matches = MatchBatch(bound, start, end, confidence)
    columns = {
        "signature": signatures(bound, events.names),
        "start": start,
        "end": end,
        "confidence": confidence,
        **return_columns(events, alternative, plan.returns, matches),
    }
    arrays = [pa.array(each) for each in columns.values()]
    return pa.RecordBatch.from_arrays(arrays, schema=match_schema(plan))
