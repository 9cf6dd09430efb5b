"""The core of every runner: a partition of events (Arrow) in, collapsed matches (Arrow) out.

The way of a partition: candidates per component, bindings that could have happened, the absences
that decide them, time range and confidence, rows.  A pure function without Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import polars as pl
import pyarrow as pa

from cepctl.engines.columns.bindings import MatchBatch
from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.columns.predicates import return_columns
from cepctl.engines.concurrency import OnProgress, concurrently, telling
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.open_rows import closed, open_columns, tells_open
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.own_laws import with_own_laws
from cepctl.engines.event.preparing import HeldMatches, matches_of_each, prepared_alternatives
from cepctl.engines.event.raw_time_counts import RawTimeJudge
from cepctl.engines.rows.groups import group_schema, law_fields
from cepctl.engines.rows.numbers import FoundBatch, NumberedRows, RowMaker, with_columns
from cepctl.engines.rows.order import ordered
from cepctl.engines.search.threshold import Threshold
from cepctl.language.ast import Probability, ReachedTick
from cepctl.language.traversal import walk
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.open_rows import OPEN, OPEN_UNTIL
from cepctl.plan.passed_over import may_meet
from cepctl.plan.plan import CONFIDENCE_ERROR, FOUND_AT_RAW_TIMES, Plan
from cepctl.plan.summary import listing_reasons, owning_component, require_summary
from cepctl.plan.support import refuse_intervals, require_engine, require_known_clocks

if TYPE_CHECKING:
    from cepctl.engines.event.kleene_summary import SummaryBatch

_HELD_AT_LEAST = 100_000
_MOST_CHOSEN = 100_000
"""Of more rows the best are not chosen while they are found, but when they are sorted."""


def match_schema(
    plan: Plan,
    *,
    approximate: bool = False,
    summary: bool = False,
    raw_times: bool = False,
    of_law: Sequence[str] = (),
    tells_open: bool = False,
) -> pa.Schema:
    """Schema of collapsed matches: signature, range in ticks, confidence, RETURN columns.

    `approximate` adds the column confidence_error, `summary` those of a row that stands for many groups,
    `raw_times` one that says whether raw times alone find the match; `of_law` are columns that tell of a law;
    `tells_open` those that say which rows the end of the log leaves open.
    """
    fixed = [
        pa.field("signature", pa.list_(pa.list_(pa.string()))),
        pa.field("start", pa.int64()),
        pa.field("end", pa.int64()),
        pa.field("confidence", pa.float64()),
        *([pa.field(CONFIDENCE_ERROR, pa.float64())] if approximate else []),
        *([pa.field(OPEN, pa.bool_()), pa.field(OPEN_UNTIL, pa.int64())] if tells_open else []),
        *([pa.field("members", pa.string()), pa.field("count", pa.string())] if summary else []),
    ]
    judged = [pa.field(FOUND_AT_RAW_TIMES, pa.int8())] if raw_times else []
    returned = [pa.field(each.name, each.type) for each in plan.returns]
    return pa.schema([*fixed, *returned, *law_fields(of_law), *judged])


def schema_for(plan: Plan, options: MatchOptions) -> pa.Schema:
    """Schema of the rows that these options give."""
    if plan.group_by is not None:
        return group_schema(
            plan,
            approximate=options.approximate is not None,
            raw_times=options.raw_times,
            of_law=options.columns_of_law(plan),
        )
    summary = options.kleene == "summary"
    return match_schema(
        plan,
        approximate=options.approximate is not None,
        summary=summary,
        raw_times=options.raw_times and not summary,
        of_law=options.columns_of_law(plan),
        tells_open=tells_open(plan, options),
    )


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
    return pa.Table.from_batches(batches, schema_for(plan, options))


def match_batches(
    plan: Plan,
    table: pa.Table,
    options: MatchOptions,
    owned: tuple[int, int] | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[pa.RecordBatch]:
    """What `found_batches` gives, with the columns of the output but for the text of the signature."""
    for rows in found_batches(plan, table, options, owned, on_progress):
        yield with_columns(rows)


def found_batches(
    plan: Plan,
    table: pa.Table,
    options: MatchOptions,
    owned: tuple[int, int] | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[FoundBatch]:
    """The matches of each alternative, batch by batch, so that memory stays bounded.

    They are numbers where a row is one match and all are wanted, so that what is written can be made later.
    `owned` keeps only matches whose first component's event has its `lower` between two ticks, both
    included.  `on_progress` hears how many parts of the work are done, and of how many.
    """
    if plan.never is not None or not table.num_rows:
        return
    require_engine(plan, "event")
    require_known_clocks(plan, table)
    events = _in_worlds_left(plan, with_own_laws(events_of(table, plan.clocks)))
    if plan.laws:
        from cepctl.engines.event.ordered_keys import with_orders

        events = with_orders(plan, events, options)
    prepared, listed = _prepared(plan, events, options, owned)
    judge = RawTimeJudge.of(prepared[0], options)
    if plan.group_by is not None:
        from cepctl.engines.event.groups import group_batches, with_counted_sets

        counted = with_counted_sets(prepared)
        yield from group_batches(plan, counted, matches_of_each(counted, owned, options, on_progress), judge)
        return
    threshold = Threshold((plan.minimum_confidence or 0.0) - CONFIDENCE_SLACK, options.top)
    batches: Iterator[FoundBatch]
    if options.kleene == "summary":
        if any(each.lasting for each in prepared):
            refuse_intervals("--kleene summary")
        batches = _summaries(prepared, owned, threshold, on_progress, listed)
    elif not may_meet(plan):
        parts = []
        for source in (each.above(threshold) for each in prepared):
            rows_of = partial(_rows, source, _maker(source), threshold, judge)
            parts += [partial(_found, each, rows_of) for each in source.parts(owned)]
        batches = concurrently(telling(parts, on_progress), options.threads)
    else:
        from cepctl.engines.event.union import united

        every = united(prepared, matches_of_each(prepared, owned, options, on_progress))
        batches = (_rows(source, _maker(source), threshold, judge, matches) for source, matches in every)
    if options.top is not None:
        whole = (with_columns(rows) for rows in batches)
        batches = _best(whole, threshold, options) if options.top <= _MOST_CHOSEN else whole
    rows = 0
    for batch in batches:
        rows += batch.num_rows
        options.check_count(rows)
        if batch.num_rows:
            yield batch


def _in_worlds_left(plan: Plan, events: Events) -> Events:
    """The events in the worlds that satisfy what is given."""
    if not plan.given:
        return events
    from cepctl.engines.confidence.given.known import known_events

    known = known_events(plan, events)
    if known.endpoint_ties is not None:
        from cepctl.engines.confidence.intervals.rows import require_worlds

        require_worlds(plan.given, known)
    return known


def _best(
    batches: Iterator[pa.RecordBatch], threshold: Threshold, options: MatchOptions
) -> Iterator[pa.RecordBatch]:
    """The best rows alone; holds few others, and tells the threshold what a row must be better than."""
    held: list[pa.RecordBatch] = []
    size, bound = 0, max(_HELD_AT_LEAST, 2 * (options.top or 0))
    for batch in batches:
        held.append(batch)
        size += batch.num_rows
        if size > bound:
            best = _ordered(held, options)
            threshold.rise(best.column("confidence")[-1].as_py(), best.column("start")[-1].as_py())
            held, size = best.to_batches(), best.num_rows
    if held:
        yield from _ordered(held, options).to_batches()


def _ordered(batches: list[pa.RecordBatch], options: MatchOptions) -> pa.Table:
    return ordered(pa.Table.from_batches(batches), options.top).drop_columns(["match"])


def _found(
    part: Callable[[], Iterator[MatchBatch]], rows_of: Callable[[MatchBatch], NumberedRows]
) -> Iterator[NumberedRows]:
    for matches in part():
        yield rows_of(matches)


def _summaries(
    prepared: Sequence[PreparedAlternative],
    owned: tuple[int, int] | None,
    threshold: Threshold,
    on_progress: OnProgress | None,
    listed: HeldMatches | None,
) -> Iterator[pa.RecordBatch]:
    """The rows that stand for all groups between the same neighbours, which may be `listed` already."""
    source, options = prepared[0], prepared[0].options
    if not listing_reasons(source.plan):
        from cepctl.engines.event.kleene_summary import Summary

        summary = Summary.of(source.above(threshold))
        parts = [partial(_summarised, source, each) for each in summary.parts(owned, threshold)]
        yield from concurrently(telling(parts, on_progress), options.threads)
        return
    from cepctl.engines.event.kleene_summary import reaching
    from cepctl.engines.event.listed_summary import ListedSummary, refused_as_listing

    with refused_as_listing(source.plan):
        if listed is None or len(listed.sources) < len(prepared):
            found = matches_of_each(prepared, _owned_ahead(source.plan, owned), options, on_progress)
        else:
            found = listed.found
        rows = list(ListedSummary.of(prepared, found, owned).rows())
    yield from _summarised(
        source, lambda: (each.take(reaching(each.matches, options, threshold)) for each in rows)
    )


def _prepared(
    plan: Plan, events: Events, options: MatchOptions, owned: tuple[int, int] | None
) -> tuple[list[PreparedAlternative], HeldMatches | None]:
    """The alternatives, and what a summary lists of them as soon as the sizes of groups are known.

    Longer groups are not even begun where those that are found can be in no row that is computed.
    """
    if options.kleene != "summary" or plan.group_by is not None:
        return prepared_alternatives(plan, events, options), None
    require_summary(plan)
    if not listing_reasons(plan):
        return prepared_alternatives(plan, events, options), None
    from cepctl.engines.event.listed_summary import ListedSummary, refused_as_listing

    def look(held: HeldMatches) -> None:
        ListedSummary.of(held.sources, held.found, owned).require_few()

    held = HeldMatches(plan, options, _owned_ahead(plan, owned), look)
    with refused_as_listing(plan):
        return prepared_alternatives(plan, events, options, held.add), held


def _owned_ahead(plan: Plan, owned: tuple[int, int] | None) -> tuple[int, int] | None:
    """Which matches a slice lists for its rows.

    A group in front may begin in an earlier slice than the neighbour that says whose the row is.
    """
    (alternative,) = plan.alternatives
    return owned if alternative.positive[0] == owning_component(alternative, "summary") else None


def _summarised(
    source: PreparedAlternative, part: Callable[[], Iterator[SummaryBatch]]
) -> Iterator[pa.RecordBatch]:
    plan, schema = source.plan, match_schema(source.plan, summary=True)
    for found in part():
        columns = found.columns(source.events, plan.alternatives[0], plan.returns)
        yield pa.RecordBatch.from_arrays([pa.array(each) for each in columns.values()], schema=schema)


def _reached(source: PreparedAlternative, matches: MatchBatch, share: float) -> pl.Series:
    from cepctl.engines.event.reached_ticks import reached_ticks

    return reached_ticks(source, matches, share)


def _maker(source: PreparedAlternative) -> RowMaker:
    """Makes rows of the matches of a source; those that are asked for what takes long are made when found."""
    plan, events = source.plan, source.events
    returns = () if _is_costly(plan) else plan.returns
    returned = partial(return_columns, events, source.shown, returns)
    return RowMaker(events.names, schema_for(plan, source.options), returned)


def _is_costly(plan: Plan) -> bool:
    """Whether RETURN asks for probabilities or ticks beside those of the row."""
    return any(
        isinstance(part, Probability | ReachedTick) for each in plan.returns for part in walk(each.expression)
    )


def _rows(
    source: PreparedAlternative,
    maker: RowMaker,
    threshold: Threshold,
    judge: RawTimeJudge | None,
    matches: MatchBatch,
) -> NumberedRows:
    plan = source.plan
    if source.options.top is not None:
        matches = source.options.kept.matches(matches)
    matches = closed(source, matches)
    reached = threshold.reached(matches.confidence, matches.start)
    kept = matches if reached.all() else matches.filter(reached)
    computed = {} if judge is None else {FOUND_AT_RAW_TIMES: judge.judged(source, kept)}
    computed |= open_columns(source, kept)
    if _is_costly(plan):
        find = partial(_reached, source, kept)
        shown = source.folded(kept)
        computed |= return_columns(source.events, source.shown, plan.returns, shown, find)
    names = source.options.columns_of_law(plan)
    if names:
        from cepctl.engines.event.ordered_keys import law_columns

        computed |= law_columns(source, kept, names)
    return NumberedRows(maker, source.folded(kept), computed, "" if judge is None else judge.why_not)
