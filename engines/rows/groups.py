"""Rows of which few are held in memory until all are found: those of GROUP BY, and the first of `--exists`.

Of GROUP BY here are the columns and the one order; groups are held as the matches that they are made of were.
To tell whether there is a match, only one row is held for each key of GROUP BY, of the whole input without
it: the one of smallest start, then match.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.rows.kept import WHY_UNJUDGED, RowCounts
from cepctl.engines.rows.number_order import Piece, pieces_of
from cepctl.engines.rows.numbers import FoundBatch, NumberedRows, with_columns
from cepctl.engines.rows.order import comparable, rounded_column, with_text
from cepctl.engines.rows.runs import MergedPart
from cepctl.engines.rows.sorted import SortedRows, WantedRows
from cepctl.laws.choices import LAW, LAWLESS
from cepctl.plan.plan import EXPECTED_ERROR, FOUND_AT_RAW_TIMES, OCCURRENCE_ERROR, Plan

EXISTS = "exists"
_OF_LAW = {LAWLESS: pa.float64(), LAW: pa.bool_()}
"""Columns of rows under a law of order: what they are without it, and whether it was applied."""
WHY_TOO_COSTLY = b"why too costly"
"""What costs, of one key whose occurrence is null: metadata of a batch, which Spark does not hand on."""


def first_schema(plan: Plan) -> pa.Schema:
    """Schema of the rows: the key, whether it has a match, and the first one."""
    keys = [pa.field(each.name, each.type) for each in plan.returns]
    return pa.schema(
        [
            *keys,
            pa.field(EXISTS, pa.bool_()),
            pa.field("confidence", pa.float64()),
            pa.field("start", pa.int64()),
            pa.field("end", pa.int64()),
            pa.field("match", pa.string()),
            pa.field("signature", pa.list_(pa.list_(pa.string()))),
        ]
    )


class FirstRows:
    """The first row of each key; used as `SortedRows` is.

    `plan` returns the columns of the key and nothing else.
    """

    size = merging_bytes = 0
    spilled = False

    def __init__(self, plan: Plan, wanted: WantedRows) -> None:
        self.schema = first_schema(plan)
        self.found = 0
        self._keys = [each.name for each in plan.returns]
        self._wanted = wanted
        self._first = self.schema.remove(len(self._keys)).empty_table()

    @property
    def start(self) -> int | None:
        """Where the first row starts, if no other key may have one; None while nothing is found."""
        if self._keys or not self._first.num_rows:
            return None
        start: int = self._first.column("start")[0].as_py()
        return start

    def add(self, rows: FoundBatch) -> None:
        """Take rows in."""
        self.found += rows.num_rows
        rows = self._wanted.of(rows)
        if isinstance(rows, NumberedRows) and not self._keys and rows.num_rows:
            earliest = rows.matches.start == rows.matches.start.min()
            rows = rows.take(np.flatnonzero(earliest))
        if not rows.num_rows:
            return
        columns = [*self._keys, *(name for name in self._first.schema.names if name not in self._keys)]
        found = with_text(with_columns(rows)).select(columns)
        self._first = self._firsts(pa.concat_tables([self._first, found.cast(self._first.schema)]))

    def _firsts(self, rows: pa.Table) -> pa.Table:
        """The row of smallest start, then match, of each key; keys in their order, nulls last."""
        texts = {f"key {i}": comparable(rows.column(name)) for i, name in enumerate(self._keys)}
        sort_keys = pa.table({**texts, "start": rows.column("start"), "match": rows.column("match")})
        order = pc.sort_indices(sort_keys, [(name, "ascending") for name in sort_keys.column_names])
        rows, sort_keys = rows.take(order), sort_keys.take(order)
        changes = np.zeros(rows.num_rows, dtype=bool)
        changes[:1] = True
        for name in texts:
            codes = sort_keys.column(name).combine_chunks().dictionary_encode(null_encoding="encode")
            numbers = codes.indices.to_numpy()
            changes[1:] |= numbers[1:] != numbers[:-1]
        return rows.take(pa.array(np.flatnonzero(changes)))

    @property
    def counts(self) -> RowCounts:
        """Counts of the rows that tell of a match."""
        return RowCounts.of(self._first)

    def table(self) -> pa.Table:
        """A row for each key that has a match; without keys one row in any case."""
        rows = self._first
        found = rows.add_column(len(self._keys), EXISTS, pa.array(np.ones(rows.num_rows, dtype=bool)))
        if rows.num_rows or self._keys:
            return found.cast(self.schema)
        nothing = [pa.array([False if field.name == EXISTS else None], field.type) for field in self.schema]
        return pa.Table.from_arrays(nothing, schema=self.schema)

    def blocks(self) -> Iterator[pa.Table]:
        """The rows as one block."""
        yield self.table()

    def pieces(self, limit: int | None = None, *, nested: bool = True) -> Iterator[Piece]:
        """The rows, at most `limit`; without `nested` they are the same."""
        yield from pieces_of(self.blocks(), limit)

    def parts(self, rows_of_part: int) -> list[MergedPart]:
        """None: no row lies on disk."""
        return []


def law_fields(names: Sequence[str]) -> list[pa.Field]:
    """The fields of these columns."""
    return [pa.field(name, _OF_LAW[name]) for name in names]


def group_schema(
    plan: Plan, *, approximate: bool = False, raw_times: bool = False, of_law: Sequence[str] = ()
) -> pa.Schema:
    """Schema of rows of GROUP BY: the key, what is known of its matches, and the best of them.

    `approximate` adds the columns occurrence_error and expected_error, `raw_times` one that says whether raw
    times alone find some match; `of_law` are columns that tell of a law.
    """
    keys = [pa.field(each.name, each.type) for each in plan.group_by or ()]
    return pa.schema(
        [
            *keys,
            pa.field("occurrence", pa.float64()),
            *([pa.field(OCCURRENCE_ERROR, pa.float64())] if approximate else []),
            pa.field("expected", pa.float64()),
            *([pa.field(EXPECTED_ERROR, pa.float64())] if approximate else []),
            pa.field("matches", pa.int64()),
            pa.field("best", pa.string()),
            pa.field("signature", pa.list_(pa.list_(pa.string()))),
            pa.field("confidence", pa.float64()),
            pa.field("start", pa.int64()),
            pa.field("end", pa.int64()),
            *law_fields(of_law),
            *([pa.field(FOUND_AT_RAW_TIMES, pa.int8())] if raw_times else []),
        ]
    )


def groups_in_order(rows: pa.Table, keys: int, top: int | None = None) -> pa.Table:
    """Sort rows by occurrence (rounded, descending), start and key, nulls last; keep at most `top`."""
    sort_keys = pa.table(
        [
            rounded_column(rows.column("occurrence")),
            rows.column("start"),
            *(comparable(rows.column(i)) for i in range(keys)),
        ],
        names=["occurrence", "start", *(f"key {i}" for i in range(keys))],
    )
    by = [("occurrence", "descending"), *((name, "ascending") for name in sort_keys.column_names[1:])]
    order = pc.sort_indices(sort_keys, by)
    return rows.take(order if top is None else order[:top])


class GroupRows:
    """Rows of GROUP BY as they are found, and then in their order; used as `SortedRows` is."""

    def __init__(self, schema: pa.Schema, keys: int, top: int | None) -> None:
        self.schema = schema
        self.found = 0
        self.spilled = False
        self._keys, self._top = keys, top
        self._held: list[pa.RecordBatch] = []
        self._why = self._why_unjudged = ""

    def add(self, rows: pa.RecordBatch) -> None:
        """Take rows in."""
        self.found += rows.num_rows
        self._held.append(rows)
        metadata = rows.schema.metadata or {}
        self._why = self._why or metadata.get(WHY_TOO_COSTLY, b"").decode()
        self._why_unjudged = self._why_unjudged or metadata.get(WHY_UNJUDGED, b"").decode()

    @property
    def counts(self) -> RowCounts:
        """Counts of the rows that are kept."""
        counts = RowCounts.of(self.table())
        return replace(counts, why_refused=self._why, why_unjudged=self._why_unjudged)

    def blocks(self) -> Iterator[pa.Table]:
        """The rows that are kept, in their order, as one block."""
        yield self.table()

    def pieces(self, limit: int | None = None, *, nested: bool = True) -> Iterator[Piece]:
        """The rows that are kept, at most `limit`; without `nested` they are the same."""
        yield from pieces_of(self.blocks(), limit)

    size = merging_bytes = 0

    def parts(self, rows_of_part: int) -> list[MergedPart]:
        """None: no row lies on disk."""
        return []

    def table(self) -> pa.Table:
        """The rows that are kept, in their order."""
        return groups_in_order(pa.Table.from_batches(self._held, self.schema), self._keys, self._top)


FoundRows: TypeAlias = SortedRows | GroupRows | FirstRows
"""The rows of a run: matches, groups of them, or only the first of each key."""
