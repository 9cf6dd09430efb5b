"""The rows of GROUP BY: their columns and their one order, and all of them as they are found.

Groups are held in memory, as the matches that they are made of were.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.rows.counts import WHY_UNJUDGED, RowCounts
from cepctl.engines.rows.first import FirstRows
from cepctl.engines.rows.number_order import Piece, pieces_of
from cepctl.engines.rows.order import comparable, rounded_column
from cepctl.engines.rows.runs import MergedPart
from cepctl.engines.rows.sorted import SortedRows
from cepctl.laws.choices import LAW, LAWLESS
from cepctl.plan.plan import EXPECTED_ERROR, FOUND_AT_RAW_TIMES, OCCURRENCE_ERROR, Plan

_OF_LAW = {LAWLESS: pa.float64(), LAW: pa.bool_()}
"""Columns of rows under a law of order: what they are without it, and whether it was applied."""
WHY_TOO_COSTLY = b"why too costly"
"""What costs, of one key whose occurrence is null: metadata of a batch, which Spark does not hand on."""


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
