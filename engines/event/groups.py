"""GROUP BY: from the matches of a partition to one row per key.

All matches are found first, whatever their confidence: each counts.  Their sum is `expected`; `occurrence` is
the probability of their union, which the room `occurrence` measures where a key has several.

Runs inside Spark workers: imports NumPy, Polars and PyArrow only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.bindings import CountedRows, MatchBatch, signatures
from cepctl.engines.columns.returns import return_columns
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.group_estimates import estimated
from cepctl.engines.event.group_occurrences import GroupedRows, WantedGroups, rows_may_lack_occurrence
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.raw_time_counts import matches_at_raw_times
from cepctl.engines.event.raw_times import CertainTimes
from cepctl.engines.event.union import joined_batches, united
from cepctl.engines.kleene.budget import GroupBudget
from cepctl.engines.rows.groups import WHY_TOO_COSTLY, group_schema
from cepctl.engines.rows.order import match_text, rounded
from cepctl.errors import QueryTooLargeError
from cepctl.plan.counted_sets import counted_sets
from cepctl.plan.plan import Plan
from cepctl.precision import CONFIDENCE_SLACK

_MOST_COUNTED = 2**53
_MEMBERS_TOO_COSTLY = "too many events may be in its group or not, beside several uncertain neighbours"


def group_batches(
    plan: Plan,
    prepared: Sequence[PreparedAlternative],
    found: Sequence[Sequence[MatchBatch]],
    times: CertainTimes | None,
) -> Iterator[pa.RecordBatch]:
    """The rows of all keys, as one batch of `group_schema`; `found` are the matches of each alternative.

    Raises
    ------
    QueryTooLargeError
        If the matches of a key share too much for the probability of their union to be computed; where there
        are several keys, and not only the best are wanted, its occurrence is null instead.
    """
    options, events = prepared[0].options, prepared[0].events
    sources = [
        (source, _starting(batch, options))
        for source, batch in (_single(prepared, found) if len(prepared) == 1 else united(prepared, found))
    ]
    sources = [(source, batch) for source, batch in sources if len(batch)]
    if not sources:
        return
    frame = pl.concat([_frame(plan, source, batch, times) for source, batch in sources])
    keys = [f"key {i}" for i in range(len(plan.group_by or ()))]
    rows = _grouped(frame, keys)
    ordered = frame[rows.place]
    best = ordered[rows.first]
    answers = _answers(plan, WantedGroups(prepared, found, sources, rows, ordered), best.select(keys))
    signature = pa.concat_arrays([signatures(batch.bound, events.ids) for _, batch in sources])
    estimates = options.approximate is not None
    # Where the best of some rows is not known, that of all is not.
    unknown = np.isnan(np.add.reduceat(ordered.get_column("confidence").to_numpy(), rows.first))
    columns = [
        *(best.get_column(key).to_arrow() for key in keys),
        pa.array(answers.occurrence, mask=np.isnan(answers.occurrence)),
        *([pa.array(answers.error, mask=np.isnan(answers.error))] if estimates else []),
        pa.array(answers.expected, mask=~np.isfinite(answers.expected)),
        *([answers.expected_error] if estimates else []),
        _matches(ordered, rows),
        _known(best.get_column("text").to_arrow(), unknown),
        _known(signature.take(pa.array(rows.place[rows.first])), unknown),
        pa.array(best.get_column("confidence").to_numpy(), mask=unknown),
        np.minimum.reduceat(ordered.get_column("start").to_numpy(), rows.first),
        np.maximum.reduceat(ordered.get_column("end").to_numpy(), rows.first),
        *([_found_at_raw_times(ordered, rows)] if times is not None else []),
    ]
    schema = group_schema(plan, approximate=estimates, raw_times=times is not None)
    if answers.why:
        schema = schema.with_metadata({WHY_TOO_COSTLY: answers.why})
    arrays = [
        (each if isinstance(each, pa.Array) else pa.array(each)).cast(field.type)
        for each, field in zip(columns, schema, strict=True)
    ]
    # Of what is not known only what is expected, which is enough, has been asked.
    kept = np.flatnonzero((answers.occurrence >= _least(plan)) | np.isnan(answers.occurrence))
    yield pa.RecordBatch.from_arrays(arrays, schema=schema).take(pa.array(kept))


def with_counted_sets(prepared: Sequence[PreparedAlternative]) -> Sequence[PreparedAlternative]:
    """The alternatives, where sets of a Kleene group are counted instead of listed, if they can be."""
    source = prepared[0]
    sets = counted_sets(source.plan)
    if sets is None or source.intervals is not None or source.options.starting != (None, None):
        return prepared
    from cepctl.engines.event.counted_members import CountedMembers

    members = CountedMembers.of(source, sets)
    if members is not None:
        return [replace(source, counted=members.matches, members=members)]
    from cepctl.engines.event.counted_sets import counted_matches

    budget = GroupBudget(source.options.max_matches)
    counted = partial(counted_matches, source, sets, budget=budget)
    return [replace(source, counted=counted)]


@dataclass(frozen=True)
class _Answers:
    """What is told of each group: arrays of shape (groups,), the errors 0 where nothing is estimated.

    An occurrence is NaN where it is too costly; `why` says of one of these what costs.
    """

    occurrence: Reals
    error: Reals
    expected: Reals
    expected_error: Reals
    why: str = ""


def _least(plan: Plan) -> float:
    return float((plan.minimum_confidence or 0.0) - CONFIDENCE_SLACK)


def _answers(plan: Plan, wanted: WantedGroups, keys: pl.DataFrame) -> _Answers:
    """What is told of every group; measured where it has several matches that may reach what is asked."""
    rows, ordered = wanted.rows, wanted.ordered
    confidence = rows.confidence[rows.first]
    matches = ordered.get_column("matches").to_numpy()
    expected: Reals = np.bincount(rows.group, ordered.get_column("expected"), rows.count).astype(np.float64)
    # An estimate of a match is one of its sum, too, and of its key where that has no other.
    errors = ordered.get_column("error").to_numpy()
    expected_error: Reals = np.bincount(rows.group, errors * matches, rows.count).astype(np.float64)
    error = np.where(rows.sizes == 1, errors[rows.first], 0.0)
    most = np.fmin(expected, 1.0)
    occurrence = np.where(rows.sizes == 1, ordered.get_column("some").to_numpy()[rows.first], most)
    asked = np.flatnonzero((rows.sizes > 1) & ~(expected < _least(plan)) & ~(confidence >= 1.0))
    measured, problems = wanted.occurrences(asked) if len(asked) else (None, [])
    if measured is not None:
        occurrence[asked] = measured.probability
    answers = _Answers(occurrence, error, expected, expected_error)
    costly = np.flatnonzero(np.isnan(occurrence))
    if len(costly):
        source, options = wanted.prepared[0], wanted.prepared[0].options
        # Worlds of events that last are not sampled.
        sampled = source.intervals is None
        if source.members is not None:
            _bound_by_rows(answers, wanted, costly)
        elif options.approximate is not None and sampled:
            _estimate(answers, wanted, costly, problems, np.searchsorted(asked, costly))
        costly = np.flatnonzero(np.isnan(occurrence))
        error[costly] = np.nan
        if len(costly):
            group = int(costly[0])
            at = np.flatnonzero(asked == group)
            why = _MEMBERS_TOO_COSTLY if measured is None or not len(at) else measured.why(int(at[0]))
            key = keys.row(group) if keys.width else ()
            if not rows_may_lack_occurrence(plan, options):
                raise QueryTooLargeError(_refusal(plan, key, why, float(expected[group]), sampled=sampled))
            answers = replace(answers, why=f"{_named(plan, key)}: {why}")
    return replace(answers, occurrence=np.clip(occurrence, np.nan_to_num(confidence), most))


def _bound_by_rows(answers: _Answers, wanted: WantedGroups, groups: Indexes) -> None:
    """Where an error is allowed: at least the most probable of all rows, at most the sum of them."""
    rows, allowed = wanted.rows, wanted.prepared[0].options.approximate
    if allowed is None:
        return
    some = wanted.ordered.get_column("some").to_numpy()
    least = np.maximum.reduceat(some, rows.first)[groups]
    largest = np.minimum(np.add.reduceat(some, rows.first)[groups], 1.0)
    close = largest - least <= 2.0 * allowed
    answers.occurrence[groups] = np.where(close, (least + largest) / 2.0, np.nan)
    answers.error[groups] = (largest - least) / 2.0


def _estimate(
    answers: _Answers, wanted: WantedGroups, groups: Indexes, problems: list[Problems], places: Indexes
) -> None:
    """The occurrences of groups that are too costly; `places`: their numbers in the problems."""
    from cepctl.engines.event.samplings import sampling_of

    options, events = wanted.prepared[0].options, wanted.prepared[0].events
    assert options.approximate is not None
    sure = answers.expected_error[groups] == 0.0
    least, largest = wanted.bounds(groups)
    estimates = estimated(
        sampling_of(options.approximate, events),
        problems,
        places,
        np.where(sure, least, 0.0),
        np.where(sure, largest, 1.0),
        lambda chosen: wanted.by_row(groups[chosen]),
    )
    answers.occurrence[groups], answers.error[groups] = estimates.probability, estimates.error


def _single(
    prepared: Sequence[PreparedAlternative], found: Sequence[Sequence[MatchBatch]]
) -> list[tuple[PreparedAlternative, MatchBatch]]:
    batch = joined_batches(found[0])
    return [] if batch is None else [(prepared[0], batch)]


def _starting(matches: MatchBatch, options: MatchOptions) -> MatchBatch:
    """Those that start between two ticks: the others count for no key."""
    first, last = options.starting
    if first is not None:
        matches = matches.filter(matches.start >= first)
    return matches if last is None else matches.filter(matches.start <= last)


def _frame(
    plan: Plan, source: PreparedAlternative, batch: MatchBatch, times: CertainTimes | None
) -> pl.DataFrame:
    """Keys and numbers of matches, and their text."""
    events = source.events
    keys = return_columns(events, source.alternative, plan.group_by or (), batch)
    series = [pl.Series(f"key {i}", values) for i, values in enumerate(keys.values())]
    raw = [] if times is None else [pl.Series("raw", _judged_at_raw_times(source, batch, times))]
    alone = np.ones(len(batch))
    counted = batch.counted or CountedRows(
        alone, batch.confidence, batch.confidence, batch.start, alone.astype(bool)
    )
    return pl.DataFrame(
        [
            *series,
            pl.Series("text", match_text(signatures(batch.bound, events.ids))),
            pl.Series("start", batch.start),
            pl.Series("end", batch.end),
            pl.Series("confidence", batch.confidence),
            pl.Series("error", batch.errors),
            pl.Series("rank", -rounded(batch.confidence)),
            *(pl.Series(name, values) for name, values in vars(counted).items()),
            *raw,
        ]
    )


def _grouped(frame: pl.DataFrame, keys: list[str]) -> GroupedRows:
    """Number the keys, and put the matches of each in the order of match rows."""
    numbered = frame.with_row_index("place").with_columns(pl.lit(0, pl.Int64).alias("group"))
    if keys:
        places = numbered.group_by(keys, maintain_order=True).agg(pl.col("place")).get_column("place")
        group = np.empty(frame.height, dtype=np.int64)
        group[places.explode().to_numpy()] = np.repeat(np.arange(len(places)), places.list.len().to_numpy())
        numbered = numbered.with_columns(pl.Series("group", group))
    numbered = numbered.sort("group", "rank", "first", "text")
    group = numbered.get_column("group").to_numpy()
    sizes = np.bincount(group)
    return GroupedRows(
        group,
        numbered.get_column("place").to_numpy().astype(np.int64),
        numbered.get_column("confidence").to_numpy(),
        np.cumsum(sizes) - sizes,
        sizes,
    )


def _matches(ordered: pl.DataFrame, rows: GroupedRows) -> pa.Array:
    """How many matches each group has; null where a float does not count them exactly."""
    total = np.bincount(rows.group, ordered.get_column("matches").to_numpy(), rows.count)
    few = total <= _MOST_COUNTED
    return pa.array(np.where(few, total, 0.0).astype(np.int64), mask=~few)


def _judged_at_raw_times(source: PreparedAlternative, batch: MatchBatch, times: CertainTimes) -> pa.Array:
    if source.members is not None:
        return source.members.found_at_raw_times(times, batch)
    return matches_at_raw_times(source, times, batch)


def _found_at_raw_times(ordered: pl.DataFrame, rows: GroupedRows) -> pa.Array:
    """Whether raw times alone find some match of a group; null where no match of it can be judged."""
    frame = pl.DataFrame({"group": rows.group, "raw": ordered.get_column("raw")})
    told = frame.group_by("group").agg(
        pl.when(pl.col("raw").is_not_null().any()).then(pl.col("raw").fill_null(value=False).any())
    )
    return told.sort("group").get_column("raw").to_arrow()


def _named(plan: Plan, key: tuple[object, ...]) -> str:
    keys = zip(plan.group_by or (), key, strict=True)
    return ", ".join(f"{column.name} = {value}" for column, value in keys) or "the whole input"


def _refusal(plan: Plan, key: tuple[object, ...], why: str, expected: float, *, sampled: bool) -> str:
    or_allow = (
        "group by more, or allow an error with --approximate: what is expected stays exact, and 0.5 does "
        "with bounds that are certain"
    )
    known = "" if np.isnan(expected) else f"; the number of its matches is expected to be {expected:.6g}"
    return (
        f"the occurrence of {_named(plan, key)} is too costly to compute exactly: {why}{known}; narrow the query (WITHIN, [attr], tighter predicates), "
        f"{or_allow if sampled else 'or group by more'}"
    )


def _known(values: pa.Array, unknown: Flags) -> pa.Array:
    """Null where the best match is not known."""
    return pc.if_else(pa.array(unknown), pa.scalar(None, values.type), values) if unknown.any() else values
