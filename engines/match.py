"""The core of every runner: a partition of events (Arrow) in, collapsed matches (Arrow) out.

The way of a partition: candidates per component, bindings that could have happened, the absences
that decide them, time range and confidence, rows.  A pure function without Spark.

Runs inside Spark workers: imports NumPy, Numba, Polars and PyArrow only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from cepctl.engines.bindings import Bound, Group, MatchBatch, signatures
from cepctl.engines.chain_confidence import chain_confidence
from cepctl.engines.chain_range import chain_range
from cepctl.engines.constraints import closed_system, valid_bounds
from cepctl.engines.coupling import block_group, coupled_matches, spans_of
from cepctl.engines.enumeration import Search, enumerate_bindings
from cepctl.engines.events import Events, events_of
from cepctl.engines.kleene import with_groups
from cepctl.engines.predicates import fitting_events
from cepctl.engines.results import match_text
from cepctl.engines.returns import return_columns
from cepctl.engines.rivals import rivals_of
from cepctl.engines.shape import Shape, shape_of
from cepctl.engines.types import Flags, Indexes, Ticks
from cepctl.errors import QueryTooLargeError
from cepctl.language.ast import Strategy
from cepctl.plan.evaluation_order import OrderName, evaluation_order
from cepctl.plan.plan import Alternative, Plan

CONFIDENCE_SLACK = 1e-9
"""CONFIDENCE >= c keeps what reaches c up to this (semantics, "Collapsed matches")."""


@dataclass(frozen=True)
class MatchOptions:
    """Choices that change no row: order of evaluation, counts it is chosen from, cap on the rows."""

    order: OrderName = "auto"
    type_counts: Mapping[str, int] | None = None
    max_matches: int = 10_000_000


def match_schema(plan: Plan) -> pa.Schema:
    """Schema of collapsed matches: signature, range in ticks, confidence, RETURN columns."""
    fixed = [
        pa.field("signature", pa.list_(pa.list_(pa.string()))),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("confidence", pa.float64()),
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
    Table of `match_schema(plan)`; only rows that reach the plan's minimum confidence.

    Raises
    ------
    EventSchemaError
        If an interval or pmf is wrong.
    QueryTooLargeError
        If there are more matches than the options allow.
    """
    options = options or MatchOptions()
    batches = list(match_batches(plan, table, options))
    return collapsed(plan, pa.Table.from_batches(batches, match_schema(plan)), options)


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
    rows = 0
    for alternative in plan.alternatives:
        for matches in _alternative_matches(plan, alternative, events, options, owned):
            kept = _reaching(plan, matches)
            rows += len(kept)
            _check_count(rows, options)
            if len(kept):
                yield _rows(plan, alternative, events, kept)


def collapsed(plan: Plan, matches: pa.Table, options: MatchOptions) -> pa.Table:
    """One row per signature: alternatives of an OR that bind the same events count once."""
    if len(plan.alternatives) > 1 and matches.num_rows:
        texts = match_text(matches.column("signature")).to_numpy(zero_copy_only=False)
        matches = matches.take(np.sort(np.unique(texts, return_index=True)[1]))
    _check_count(matches.num_rows, options)
    return matches


def _check_count(rows: int, options: MatchOptions) -> None:
    if rows > options.max_matches:
        raise QueryTooLargeError(
            f"the query has more than {options.max_matches:,} matches; narrow it (WITHIN, [attr], tighter "
            "predicates, CONFIDENCE), or raise the cap with --max-matches"
        )


def _alternative_matches(
    plan: Plan,
    alternative: Alternative,
    events: Events,
    options: MatchOptions,
    owned: tuple[int, int] | None,
) -> Iterator[MatchBatch]:
    candidates = [fitting_events(events, each) for each in alternative.components]
    shape = shape_of(plan, alternative)
    search = Search(
        alternative, alternative.positive, _system(plan, alternative), tuple(candidates), plan.partition_by
    )
    order = evaluation_order(alternative, options.type_counts, options.order).components
    columns = tuple(alternative.positive.index(i) for i in order)
    for rows in enumerate_bindings(search, events, columns, owned):
        for bound in with_groups(search, shape, events, rows, plan, options.max_matches):
            yield _measured(plan, shape, search, events, bound, owned)


def _system(plan: Plan, alternative: Alternative) -> Ticks:
    """Closed constraints over the positive components; a Kleene group stands as any of its members."""
    block_of = {i: number for number, block in enumerate(alternative.blocks) for i in block}
    positive = alternative.positive
    edges = [
        (positive.index(each.left), positive.index(each.right), each.bound)
        for each in alternative.timings
        if not each.not_equal and each.left in positive and each.right in positive
    ]
    return closed_system([block_of[i] for i in positive], plan.window, edges)


def _measured(
    plan: Plan,
    shape: Shape,
    search: Search,
    events: Events,
    bound: dict[int, Bound],
    owned: tuple[int, int] | None,
) -> MatchBatch:
    """Time range and confidence of a batch of bindings; what no world returns is dropped."""
    values = tuple(bound[i] for i in search.singles)
    if shape.plain_chain:
        return _measured_chain(plan, events, search.system, np.stack(values, axis=1))
    groups = [block_group([bound[i] for i in block.components]) for block in shape.blocks]
    rivals = rivals_of(
        shape, events, search.candidates, plan.partition_by, bound, spans_of(events.masses, groups),
        by_partition=plan.strategy is Strategy.PARTITION_CONTIGUITY,
    )  # fmt: skip
    confidence, start, end = coupled_matches(shape, events.masses, groups, rivals)
    happens = start <= end
    if owned is not None:
        happens &= _is_owned(events, values[0], owned)
    confidence = np.maximum(confidence, np.nextafter(0.0, 1.0))
    return MatchBatch(values, start, end, confidence).filter(happens)


def _is_owned(events: Events, first: Bound, owned: tuple[int, int]) -> Flags:
    """Whether the first component's event, of a group the smallest, has its `lower` in the slice."""
    if isinstance(first, Group):
        lower = np.minimum.reduceat(events.masses.lower[first.members], first.offsets[:-1])
    else:
        lower = events.masses.lower[first]
    return np.asarray((lower >= owned[0]) & (lower <= owned[1]))


def _measured_chain(plan: Plan, events: Events, system: Ticks, bindings: Indexes) -> MatchBatch:
    masses = events.masses
    lower, upper = valid_bounds(masses.lower[bindings], masses.upper[bindings], system)
    confidence = chain_confidence(masses, bindings, lower, upper, plan.window)
    start, end, happens = chain_range(masses, bindings, lower, upper, plan.window)
    bound = tuple(bindings[:, i] for i in range(bindings.shape[1]))
    # The smallest positive float stands for a confidence below it: the match is possible.
    confidence = np.maximum(confidence, np.nextafter(0.0, 1.0))
    return MatchBatch(bound, start, end, confidence).filter(happens)


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
