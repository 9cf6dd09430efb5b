"""Answers of a query: what it states on blurred events, held to what it returns on the true ones.

Rows are the same where they bind the same events, keys of GROUP BY where their values are.  A row whose
events must be in order and are truly at one tick is tied: true times are no finer than that.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.calibration.blurring import BlurredEvents
from cepctl.calibration.rows import RowsOfSeed, ShownRows
from cepctl.calibration.truth import NO_KEY
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.diagnosis.valid_intervals import BoundEvents, bound_events
from cepctl.errors import QueryTooLargeError
from cepctl.laws.choices import LAW, LAWLESS
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.passed_over import readings_apart
from cepctl.plan.plan import Alternative, Plan
from cepctl.sketches.hashing import whole_text_hashes


@dataclass(frozen=True)
class Answers:
    """The rows of a query on some events, as the engines give them.

    `matches`: of GROUP BY also the matches that its rows are about, with their keys.
    """

    plan: Plan
    rows: pa.Table
    matches: pa.Table | None = None

    @property
    def keys(self) -> list[str]:
        """The columns of the keys of GROUP BY."""
        return [each.name for each in self.plan.group_by or ()]


def answer_rows(
    stated: Answers, truth: Answers, blurred: BlurredEvents, steps: pa.ChunkedArray
) -> RowsOfSeed:
    """The rows of a query on blurred events; `truth`: its answers at true times, `steps`: of each event.

    Raises
    ------
    QueryTooLargeError
        If the probability of some key is not known.
    """
    group = stated.plan.group_by is not None
    found = (_group_rows if group else _match_rows)(stated, truth, blurred, steps)
    if not stated.plan.laws:
        return found
    lawful = stated.rows.column("occurrence" if group else "confidence").to_numpy()
    beyond = ~stated.rows.column(LAW).to_numpy(zero_copy_only=False)
    return replace(found, stated=stated.rows.column(LAWLESS).to_numpy()).under_law(lawful, beyond)


def _match_rows(
    stated: Answers, truth: Answers, blurred: BlurredEvents, steps: pa.ChunkedArray
) -> RowsOfSeed:
    match, came = (each.rows.column("match") for each in (stated, truth))
    happened = pc.is_in(match, came.combine_chunks()).to_numpy(zero_copy_only=False)
    bound = bound_events(stated.rows.column("signature"), _ids(blurred))
    tied = _tied(stated.plan, blurred, bound) & ~happened
    types, type_ = _types(bound, steps)
    return RowsOfSeed(
        stated=stated.rows.column("confidence").to_numpy(),
        happened=happened,
        tied=tied,
        cluster=_clusters(blurred, bound, match),
        type_=type_,
        types=types,
        events=ShownRows.of(blurred, steps, bound.offsets, bound.rows),
        unreturned=_missing(came, match),
    )


def _group_rows(
    stated: Answers, truth: Answers, blurred: BlurredEvents, steps: pa.ChunkedArray
) -> RowsOfSeed:
    """The keys of GROUP BY; of one that has a tied match, and did not happen, nothing is known."""
    assert stated.matches is not None
    occurrence = stated.rows.column("occurrence")
    if occurrence.null_count:
        raise QueryTooLargeError(
            f"the occurrences of {occurrence.null_count:,} keys are too costly to compute; narrow the query "
            "(WITHIN, [attr]), or take a shorter blur"
        )
    number, came, owner = _numbered_keys(stated.rows, truth.rows, stated.matches, stated.keys)
    happened = np.isin(number, came)
    bound = bound_events(stated.matches.column("signature"), _ids(blurred))
    tied = np.isin(number, owner[_tied(stated.plan, blurred, bound)]) & ~happened
    known = stated.rows.column("signature").is_valid().to_numpy(zero_copy_only=False)
    best = stated.rows.column("signature").combine_chunks().fill_null([])
    bound = bound_events(pa.chunked_array([best]), _ids(blurred))
    names = pa.array([str(each) for each in stated.rows.select(stated.keys).to_pylist()], pa.string())
    return RowsOfSeed(
        stated=occurrence.to_numpy(),
        happened=happened,
        tied=tied,
        cluster=_clusters(blurred, bound, pa.chunked_array([names]), known),
        type_=np.zeros(len(number), dtype=np.int64),
        types=((),),
        events=ShownRows.of(blurred, steps, bound.offsets, bound.rows),
        unreturned=int((~np.isin(came, number)).sum()),
    )


def _numbered_keys(
    stated: pa.Table, truth: pa.Table, matches: pa.Table, names: list[str]
) -> tuple[Indexes, Indexes, Indexes]:
    """Numbers for the keys of three tables, which are equal where all values are; null is a value too."""
    tables = [table.select(names) if names else None for table in (stated, truth, matches)]
    sizes = [len(table) for table in (stated, truth, matches)]
    if not names:
        return tuple(np.zeros(size, dtype=np.int64) for size in sizes)  # type: ignore[return-value]
    frame = pl.from_arrow(pa.concat_tables([each for each in tables if each is not None]))
    assert isinstance(frame, pl.DataFrame)
    number = frame.select(pl.struct(pl.all()).rank("dense")).to_series().cast(pl.Int64).to_numpy()
    one, other, last = np.split(number, np.cumsum(sizes)[:-1])
    return one, other, last


def _ids(blurred: BlurredEvents) -> pa.Array:
    return blurred.table.column("event_id").combine_chunks()


def _missing(came: pa.ChunkedArray, stated: pa.ChunkedArray) -> int:
    """How many rows happened that were not stated."""
    found = pc.is_in(came, stated.combine_chunks())
    return len(came) - int(pc.sum(found).as_py() or 0)


def _clusters(
    blurred: BlurredEvents, bound: BoundEvents, names: pa.ChunkedArray, known: Flags | None = None
) -> Indexes:
    """The key of the first event of each row; a number of its own name where that has none.

    A row that several seeds state has one name, and comes out in one way.
    """
    own = (whole_text_hashes(names.combine_chunks()) >> np.uint64(1)).astype(np.int64)
    some = np.diff(bound.offsets) > 0
    if known is not None:
        some &= known
    key = np.full(len(own), NO_KEY)
    key[some] = blurred.truth.key[bound.rows[bound.offsets[:-1][some]]]
    return np.where(key == NO_KEY, -2 - own, key)


def _types(bound: BoundEvents, steps: pa.ChunkedArray) -> tuple[tuple[tuple[str, ...], ...], Indexes]:
    """The steps of each row in the order of its components; those of a group each once, joined by `+`."""
    entry = places_in_runs(np.diff(bound.offsets))[0]
    frame = pl.DataFrame({"row": entry, "place": bound.places, "step": pl.Series(steps).gather(bound.rows)})
    by_place = frame.group_by("row", "place").agg(pl.col("step").unique().sort().str.join("+"))
    by_row = by_place.sort("row", "place").group_by("row", maintain_order=True).agg("step")
    seen = by_row.get_column("step")
    kinds = seen.unique().sort()
    types = [tuple(each) for each in kinds.to_list()]
    number = {each: place for place, each in enumerate(types)}
    distinct = pl.DataFrame({"step": kinds, "number": [number[each] for each in types]})
    joined = by_row.join(distinct, on="step", how="left", maintain_order="left")
    return tuple(types), joined.get_column("number").to_numpy().astype(np.int64)


def _tied(plan: Plan, blurred: BlurredEvents, bound: BoundEvents) -> Flags:
    """Rows of which two events must be in order and are truly at one tick, shape (rows,)."""
    count = len(bound.offsets) - 1
    row = places_in_runs(np.diff(bound.offsets))[0]
    tick = blurred.truth.tick[bound.rows]
    kind = blurred.table.column("event_type").combine_chunks().take(pa.array(bound.rows))
    found = np.zeros(count, dtype=bool)
    for alternative in readings_apart(plan, of_runs=True):
        fits = _may_fit(alternative, row, bound.places, kind, count)
        found |= fits & _ordered_ties(alternative, row, bound.places, tick, count)
    return found


def _may_fit(alternative: Alternative, row: Indexes, places: Indexes, kind: pa.Array, count: int) -> Flags:
    """Rows whose events are of the types that an alternative binds."""
    positive = alternative.positive
    most = np.full(count, -1)
    np.maximum.at(most, row, places)
    fits = most == len(positive) - 1
    for place, component in enumerate(positive):
        types = alternative.components[component].event_types
        if types:
            wrong = ~pc.is_in(kind, pa.array(types)).to_numpy(zero_copy_only=False) & (places == place)
            fits[row[wrong]] = False
    return np.asarray(fits)


def _ordered_ties(alternative: Alternative, row: Indexes, places: Indexes, tick: Ticks, count: int) -> Flags:
    """Rows of which events that an alternative puts in order are at one tick."""
    found = np.zeros(count, dtype=bool)
    frame = pl.DataFrame({"row": row, "tick": tick, "place": places})
    for rank in _ranks(alternative):
        ranked = frame.with_columns(rank=pl.col("place").replace_strict(rank, default=None))
        together = ranked.drop_nulls("rank").group_by("row", "tick").agg(pl.col("rank").n_unique())
        found[together.filter(pl.col("rank") > 1).get_column("row").to_numpy()] = True
    positive = alternative.positive
    sequences = [at for at, each in enumerate(positive) if alternative.components[each].ordered]
    members = frame.filter(pl.col("place").is_in(sequences)).group_by("row", "tick", "place").len()
    found[members.filter(pl.col("len") > 1).get_column("row").to_numpy()] = True
    return found


def _ranks(alternative: Alternative) -> Iterator[dict[int, int]]:
    """Places of components that must be at different ticks: by blocks, and by conditions on times."""
    place_of = {component: place for place, component in enumerate(alternative.positive)}
    blocks = alternative.positive_blocks
    yield {place_of[i]: number for number, block in enumerate(blocks) for i in block}
    for timing in alternative.timings:
        strict = timing.bound == -1 and not timing.not_equal
        if strict and timing.left in place_of and timing.right in place_of:
            yield {place_of[timing.left]: 0, place_of[timing.right]: 1}
