"""GROUP BY: from the matches of a partition to one row per key.

All matches are found first, whatever their confidence: each counts.  Their sum is `expected`; `occurrence` is
the probability of their union, which the room `occurrence` measures where a key has several.
Both are told of each key, and their errors where they are estimated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.bindings import CountedRows, MatchBatch, joined_batches, members_of, signatures
from cepctl.engines.columns.predicates import return_columns
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.occurrence.group_estimates import estimated
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.group_occurrences import GroupedRows, WantedGroups, rows_may_lack_occurrence
from cepctl.engines.event.open_rows import closed
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.raw_time_counts import RawTimeJudge
from cepctl.engines.event.union import united
from cepctl.engines.rows.groups import WHY_TOO_COSTLY, group_schema
from cepctl.engines.rows.order import match_text, rounded
from cepctl.engines.search.kleene.counts import GroupBudget
from cepctl.errors import QueryTooLargeError
from cepctl.laws.choices import LAW, LAWLESS
from cepctl.numeric.arrays import Flags, Indexes, Reals
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.counted_sets import counted_sets
from cepctl.plan.plan import Plan

_MOST_COUNTED = 2**53


def group_batches(
    plan: Plan,
    prepared: Sequence[PreparedAlternative],
    found: Sequence[Sequence[MatchBatch]],
    judge: RawTimeJudge | None,
) -> Iterator[pa.RecordBatch]:
    """The rows of all keys, as one batch of `group_schema`; `found` are the matches of each alternative.

    Raises
    ------
    QueryTooLargeError
        If the matches of a key share too much for the probability of their union to be computed; where there
        are several keys, and not only the best are wanted, its occurrence is null instead.
    """
    sources = _sources(prepared, found)
    if not sources:
        return
    count = sum(members_of(each) for _, batch in sources for each in batch.bound)
    names = prepared[0].events.names_for(count)
    bound = [signatures(source.folded(batch).bound, names) for source, batch in sources]
    frame = pl.concat(
        [
            _frame(plan, source, batch, texts, judge)
            for (source, batch), texts in zip(sources, bound, strict=True)
        ]
    )
    keys = [f"key {i}" for i in range(len(plan.group_by or ()))]
    rows = _grouped(frame, keys)
    ordered = frame[rows.place]
    wanted = WantedGroups(prepared, found, sources, rows, ordered, whole=True)
    of_keys = ordered[rows.first].select(keys)
    answers = group_answers(plan, wanted, of_keys)
    schema = _schema(plan, prepared[0].options, judge, answers.why)
    best = pa.concat_arrays(bound).take(pa.array(rows.place[rows.first]))
    columns = _columns(plan, wanted, of_keys, answers, best)
    if judge is not None:
        columns.append(_found_at_raw_times(ordered, rows))
    arrays = [each.cast(field.type) for each, field in zip(columns, schema, strict=True)]
    # Of what is not known only what is expected, which is enough, has been asked.
    kept = np.flatnonzero((answers.occurrence >= least_occurrence(plan)) | np.isnan(answers.occurrence))
    yield pa.RecordBatch.from_arrays(arrays, schema=schema).take(pa.array(kept))


def _sources(
    prepared: Sequence[PreparedAlternative], found: Sequence[Sequence[MatchBatch]]
) -> list[tuple[PreparedAlternative, MatchBatch]]:
    """The matches that count, each once, with the alternative that they are told of."""
    every = _single(prepared, found) if len(prepared) == 1 else united(prepared, found)
    kept = ((source, closed(source, source.options.kept.matches(batch))) for source, batch in every)
    return [(source, batch) for source, batch in kept if len(batch)]


def _columns(
    plan: Plan, wanted: WantedGroups, keys: pl.DataFrame, answers: GroupAnswers, best: pa.Array
) -> list[pa.Array]:
    """What is known of each key; `best`: what its best match has bound."""
    rows, ordered, options = wanted.rows, wanted.ordered, wanted.prepared[0].options
    estimates, of_law = options.approximate is not None, options.columns_of_law(plan)
    # Where the best of some rows is not known, that of all is not.
    unknown = np.isnan(np.add.reduceat(ordered.get_column("confidence").to_numpy(), rows.first))
    first = ordered[rows.first]
    return [
        *(keys.get_column(key).to_arrow() for key in keys.columns),
        pa.array(answers.occurrence, mask=np.isnan(answers.occurrence)),
        *([pa.array(answers.error, mask=np.isnan(answers.error))] if estimates else []),
        pa.array(answers.expected, mask=~np.isfinite(answers.expected)),
        *([pa.array(answers.expected_error)] if estimates else []),
        _matches(ordered, rows),
        _known(first.get_column("text").to_arrow(), unknown),
        _known(best, unknown),
        pa.array(first.get_column("confidence").to_numpy(), mask=unknown),
        pa.array(np.minimum.reduceat(ordered.get_column("start").to_numpy(), rows.first)),
        pa.array(np.maximum.reduceat(ordered.get_column("end").to_numpy(), rows.first)),
        *(_of_law(plan, wanted, keys, of_law) if of_law else []),
    ]


def _schema(plan: Plan, options: MatchOptions, judge: RawTimeJudge | None, why: str) -> pa.Schema:
    """The schema of these rows, which also says `why` something is not told of some."""
    schema = group_schema(
        plan,
        approximate=options.approximate is not None,
        raw_times=judge is not None,
        of_law=options.columns_of_law(plan),
    )
    if judge is not None:
        schema = judge.with_reason(schema)
    return schema.with_metadata({**(schema.metadata or {}), WHY_TOO_COSTLY: why}) if why else schema


def with_counted_sets(prepared: Sequence[PreparedAlternative]) -> Sequence[PreparedAlternative]:
    """The alternatives, where sets of a Kleene group are counted instead of listed, if they can be."""
    source = prepared[0]
    sets = counted_sets(source.plan)
    if sets is None or source.lasting or not source.options.kept.all_are:
        return prepared
    from cepctl.engines.event.counted_members import CountedMembers

    members = CountedMembers.of(source, sets)
    if members is not None:
        return [replace(source, counted=members.matches, members=members)]
    from cepctl.engines.event.counted_sets import counted_matches

    budget = GroupBudget(source.options.max_matches)
    counted = partial(counted_matches, source, sets, budget=budget)
    return [replace(source, counted=counted)]


def _single(
    prepared: Sequence[PreparedAlternative], found: Sequence[Sequence[MatchBatch]]
) -> list[tuple[PreparedAlternative, MatchBatch]]:
    batch = joined_batches(found[0])
    return [] if batch is None else [(prepared[0], batch)]


def _frame(
    plan: Plan, source: PreparedAlternative, batch: MatchBatch, bound: pa.Array, judge: RawTimeJudge | None
) -> pl.DataFrame:
    """Keys and numbers of matches, and the text of what they have `bound`."""
    events = source.events
    keys = return_columns(events, source.shown, plan.group_by or (), source.folded(batch))
    series = [pl.Series(f"key {i}", values) for i, values in enumerate(keys.values())]
    raw = [] if judge is None else [pl.Series("raw", judge.judged(source, batch))]
    alone = np.ones(len(batch))
    counted = batch.counted or CountedRows(
        alone, batch.confidence, batch.confidence, batch.start, alone.astype(bool)
    )
    return pl.DataFrame(
        [
            *series,
            pl.Series("text", match_text(bound)),
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


def _of_law(plan: Plan, wanted: WantedGroups, keys: pl.DataFrame, names: Sequence[str]) -> list[pa.Array]:
    """What groups tell of the law: the occurrence without it, and whether it was applied to all rows."""
    from cepctl.engines.event.ordered_keys import beyond, lawless_confidence, without_orders

    rows, columns = wanted.rows, []
    ((source, batch),) = wanted.sources
    if LAWLESS in names:
        confidence = lawless_confidence(source, batch)[rows.place]
        plain = replace(
            wanted,
            prepared=[without_orders(each) for each in wanted.prepared],
            sources=[(without_orders(source), batch)],
            rows=replace(rows, confidence=confidence),
            ordered=wanted.ordered.with_columns(
                pl.Series(name, confidence) for name in ("confidence", "expected", "some")
            ),
        )
        occurrence = group_answers(replace(plan, minimum_confidence=None), plain, keys).occurrence
        columns.append(pa.array(occurrence, mask=np.isnan(occurrence)))
    if LAW in names:
        without = beyond(source, batch)[rows.place]
        columns.append(pa.array(~np.logical_or.reduceat(without, rows.first)))
    return columns


def _matches(ordered: pl.DataFrame, rows: GroupedRows) -> pa.Array:
    """How many matches each group has; null where a float does not count them exactly."""
    total = np.bincount(rows.group, ordered.get_column("matches").to_numpy(), rows.count)
    few = total <= _MOST_COUNTED
    return pa.array(np.where(few, total, 0.0).astype(np.int64), mask=~few)


def _found_at_raw_times(ordered: pl.DataFrame, rows: GroupedRows) -> pa.Array:
    """Whether raw times alone find some match of a group; null where no match of it can be judged."""
    frame = pl.DataFrame({"group": rows.group, "raw": ordered.get_column("raw")})
    by_group = frame.group_by("group").agg(pl.col("raw").max())
    return by_group.sort("group").get_column("raw").to_arrow()


def _known(values: pa.Array, unknown: Flags) -> pa.Array:
    """Null where the best match is not known."""
    return pc.if_else(pa.array(unknown), pa.scalar(None, values.type), values) if unknown.any() else values


_MEMBERS_TOO_COSTLY = (
    "too many events are uncertain members of its group, and several neighbours are uncertain"
)


@dataclass(frozen=True)
class GroupAnswers:
    """What is known of each group: arrays of shape (groups,), the errors 0 where nothing is estimated.

    An occurrence is NaN where it is too costly; `why` says of one of these what costs.
    """

    occurrence: Reals
    error: Reals
    expected: Reals
    expected_error: Reals
    why: str = ""


def least_occurrence(plan: Plan) -> float:
    """What an occurrence has to reach, with room for rounding."""
    return float((plan.minimum_confidence or 0.0) - CONFIDENCE_SLACK)


def group_answers(plan: Plan, wanted: WantedGroups, keys: pl.DataFrame) -> GroupAnswers:
    """What is known of every group; measured where it has several matches that may reach what is asked.

    Raises
    ------
    QueryTooLargeError
        If the occurrence of one is too costly where no row may lack it.
    """
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
    asked = np.flatnonzero((rows.sizes > 1) & ~(expected < least_occurrence(plan)) & ~(confidence >= 1.0))
    keys_asked = wanted.occurrences(asked) if len(asked) else None
    measured = None if keys_asked is None else keys_asked.found
    if measured is not None:
        occurrence[asked] = measured.probability
    answers = GroupAnswers(occurrence, error, expected, expected_error)
    costly = np.flatnonzero(np.isnan(occurrence))
    if len(costly):
        source, options = wanted.prepared[0], wanted.prepared[0].options
        # Worlds of interval events are not sampled.
        sampled = not source.lasting
        if source.members is not None:
            _bound_by_rows(answers, wanted, costly)
        elif options.approximate is not None and sampled:
            problems = [] if keys_asked is None else keys_asked.problems
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


def _bound_by_rows(answers: GroupAnswers, wanted: WantedGroups, groups: Indexes) -> None:
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
    answers: GroupAnswers, wanted: WantedGroups, groups: Indexes, problems: list[Problems], places: Indexes
) -> None:
    """The occurrences of groups that are too costly; `places`: their numbers in the problems."""
    from cepctl.engines.confidence.coupled.sampling import Sampling

    options, events = wanted.prepared[0].options, wanted.prepared[0].events
    assert options.approximate is not None
    sure = answers.expected_error[groups] == 0.0
    least, largest = wanted.bounds(groups)
    estimates = estimated(
        Sampling(options.approximate, events),
        problems,
        places,
        np.where(sure, least, 0.0),
        np.where(sure, largest, 1.0),
        lambda chosen: wanted.by_row(groups[chosen]),
    )
    answers.occurrence[groups], answers.error[groups] = estimates.probability, estimates.error


def _named(plan: Plan, key: tuple[object, ...]) -> str:
    keys = zip(plan.group_by or (), key, strict=True)
    return ", ".join(f"{column.name} = {value}" for column, value in keys) or "the whole input"


def _refusal(plan: Plan, key: tuple[object, ...], why: str, expected: float, *, sampled: bool) -> str:
    or_allow = (
        "group by more, or allow an error with --approximate: the expected number stays exact, "
        "and 0.5 gives bounds that are certain"
    )
    known = "" if np.isnan(expected) else f"; the number of its matches is expected to be {expected:.6g}"
    return (
        f"the occurrence of {_named(plan, key)} is too costly to compute exactly: {why}{known}; narrow "
        f"the query (WITHIN, [attr], tighter predicates), {or_allow if sampled else 'or group by more'}"
    )
