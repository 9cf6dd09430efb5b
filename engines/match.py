"""The core of every runner: a partition of events (Arrow) in, collapsed matches (Arrow) out.

The way of a partition: candidates per component, bindings that could have happened, the absences
that decide them, time range and confidence, rows.  A pure function without Spark.

Runs inside Spark workers: imports NumPy, Numba, Polars and PyArrow only.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from cepctl.engines.bindings import MatchBatch, signatures
from cepctl.engines.chain_confidence import chain_confidence
from cepctl.engines.chain_range import chain_range
from cepctl.engines.constraints import closed_system, valid_bounds
from cepctl.engines.enumeration import Search, enumerate_bindings
from cepctl.engines.events import Events, events_of
from cepctl.engines.predicates import fitting_events
from cepctl.engines.returns import return_columns
from cepctl.engines.types import Indexes
from cepctl.plan.plan import Alternative, Plan

CONFIDENCE_SLACK = 1e-9
"""CONFIDENCE >= c keeps what reaches c up to this (semantics, "Collapsed matches")."""


def match_schema(plan: Plan) -> pa.Schema:
    """Schema of collapsed matches: signature, range in ticks, confidence, RETURN columns."""
    fixed = [
        pa.field("signature", pa.list_(pa.list_(pa.string()))),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("confidence", pa.float64()),
    ]
    return pa.schema([*fixed, *(pa.field(each.name, each.type) for each in plan.returns)])


def match_events(plan: Plan, table: pa.Table) -> pa.Table:
    """All collapsed matches of a plan in an event table, in no particular order.

    Parameters
    ----------
    plan
        The analyzed query.
    table
        Events with at least event_id, event_type, lower, upper, pmf and the plan's attributes.

    Returns
    -------
    Table of `match_schema(plan)`; only rows that reach the plan's minimum confidence.

    Raises
    ------
    EventSchemaError
        If an interval or pmf is wrong.
    """
    return pa.Table.from_batches(list(match_batches(plan, table)), match_schema(plan))


def match_batches(plan: Plan, table: pa.Table) -> Iterator[pa.RecordBatch]:
    """`match_events`, batch by batch, so that memory stays bounded."""
    if plan.never is not None or not table.num_rows:
        return
    events = events_of(table)
    for alternative in plan.alternatives:
        for matches in _alternative_matches(plan, alternative, events):
            kept = _reaching(plan, matches)
            if len(kept):
                yield _rows(plan, alternative, events, kept)


def _alternative_matches(plan: Plan, alternative: Alternative, events: Events) -> Iterator[MatchBatch]:
    candidates = tuple(fitting_events(events, each) for each in alternative.components)
    singles = alternative.positive
    block_of = {i: number for number, block in enumerate(alternative.blocks) for i in block}
    system = closed_system([block_of[i] for i in singles], plan.window)
    search = Search(alternative, singles, system, candidates, plan.partition_by)
    for bindings in enumerate_bindings(search, events, tuple(range(len(singles)))):
        yield _measured_chain(plan, events, system, bindings)


def _measured_chain(plan: Plan, events: Events, system: Indexes, bindings: Indexes) -> MatchBatch:
    masses = events.masses
    lower, upper = valid_bounds(masses.lower[bindings], masses.upper[bindings], system)
    confidence = chain_confidence(masses, bindings, lower, upper, plan.window)
    start, end, possible = chain_range(masses, bindings, lower, upper, plan.window)
    bound = tuple(bindings[:, i] for i in range(bindings.shape[1]))
    # The smallest positive float stands for a confidence below it: the match is possible.
    confidence = np.maximum(confidence, np.nextafter(0.0, 1.0))
    return MatchBatch(bound, start, end, confidence).filter(possible)


def _reaching(plan: Plan, matches: MatchBatch) -> MatchBatch:
    if plan.minimum_confidence is None:
        return matches
    return matches.filter(matches.confidence >= plan.minimum_confidence - CONFIDENCE_SLACK)


def _rows(plan: Plan, alternative: Alternative, events: Events, matches: MatchBatch) -> pa.RecordBatch:
    columns = {
        "signature": signatures(matches.bound, events.ids),
        "start": matches.start,
        "end": matches.end,
        "confidence": matches.confidence,
        **return_columns(events, alternative, plan.returns, matches),
    }
    return pa.RecordBatch.from_arrays(
        [pa.array(column) for column in columns.values()], schema=match_schema(plan)
    )
