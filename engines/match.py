"""The core of every runner: a partition of events (Arrow) in, collapsed matches (Arrow) out.

The way of a partition: candidates per component, bindings that could have happened, the absences
that decide them, time range and confidence, rows.  A pure function without Spark.

Runs inside Spark workers: imports NumPy, Numba, Polars and PyArrow only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pyarrow as pa

from cepctl.engines.alternative import MatchOptions, PreparedAlternative
from cepctl.engines.bindings import MatchBatch, signatures
from cepctl.engines.concurrency import concurrently
from cepctl.engines.events import events_of
from cepctl.engines.returns import return_columns
from cepctl.engines.union import united
from cepctl.plan.plan import CONFIDENCE_ERROR, Plan

CONFIDENCE_SLACK = 1e-9
"""CONFIDENCE >= c keeps what reaches c up to this (semantics, "Collapsed matches")."""


def match_schema(plan: Plan, *, approximate: bool = False) -> pa.Schema:
    """Schema of collapsed matches: signature, range in ticks, confidence, RETURN columns.

    `approximate` adds the column confidence_error.
    """
    fixed = [
        pa.field("signature", pa.list_(pa.list_(pa.string()))),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("confidence", pa.float64()),
        *([pa.field(CONFIDENCE_ERROR, pa.float64())] if approximate else []),
    ]
    return pa.schema([*fixed, *(pa.field(each.name, each.type) for each in plan.returns)])


def match_events(plan: Plan, table: pa.Table, options: MatchOptions | None = None) -> pa.Table:
    """All collapsed matches of a plan in an event table, in no particular order.

    Parameters
    ----------
    plan
        The analyzed query.
    table
        Events with at least event_id, event_type, lower, upper, pmf and the plan's attributes.
    options
        Choices that change no row.

    Returns
    -------
    Table of `match_schema`; only rows that reach the plan's minimum confidence.

    Raises
    ------
    EventSchemaError
        If an interval or pmf is wrong.
    QueryTooLargeError
        If there are more matches than the options allow.
    """
    options = options or MatchOptions()
    batches = list(match_batches(plan, table, options))
    return pa.Table.from_batches(batches, match_schema(plan, approximate=options.approximate is not None))


def match_batches(
    plan: Plan, table: pa.Table, options: MatchOptions, owned: tuple[int, int] | None = None
) -> Iterator[pa.RecordBatch]:
    """The matches of each alternative, batch by batch, so that memory stays bounded.

    `owned` keeps only matches whose first component's event has its `lower` between two ticks, both
    included.
    """
    if plan.never is not None or not table.num_rows:
        return
    events = events_of(table)
    prepared = [PreparedAlternative.of(plan, each, events, options) for each in plan.alternatives]
    if len(prepared) == 1:
        parts = [partial(_found, prepared[0], each) for each in prepared[0].parts(owned)]
        batches = concurrently(parts, options.threads)
    else:
        every = united(prepared, [list(each.matches(owned)) for each in prepared])
        batches = (_rows(source, matches) for source, matches in every)
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        options.check_count(rows)
        if batch.num_rows:
            yield batch


def _found(source: PreparedAlternative, part: Callable[[], Iterator[MatchBatch]]) -> Iterator[pa.RecordBatch]:
    for matches in part():
        yield _rows(source, matches)


def _reaching(plan: Plan, matches: MatchBatch) -> MatchBatch:
    if plan.minimum_confidence is None:
        return matches
    return matches.filter(matches.confidence >= plan.minimum_confidence - CONFIDENCE_SLACK)


def _rows(source: PreparedAlternative, matches: MatchBatch) -> pa.RecordBatch:
    plan, events = source.plan, source.events
    kept = _reaching(plan, matches)
    approximate = source.options.approximate is not None
    columns = {
        "signature": signatures(kept.bound, events.ids),
        "start": kept.start,
        "end": kept.end,
        "confidence": kept.confidence,
        **({CONFIDENCE_ERROR: kept.errors} if approximate else {}),
        **return_columns(events, source.alternative, plan.returns, kept),
    }
    return pa.RecordBatch.from_arrays(
        [pa.array(column) for column in columns.values()], schema=match_schema(plan, approximate=approximate)
    )
