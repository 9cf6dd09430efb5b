"""Whether there is a match, and the first one: what `--exists` keeps of rows as they are found.

Only one row is held for each key of GROUP BY, of the whole input without it: the one of smallest start, then
match.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.rows.counts import RowCounts
from cepctl.engines.rows.number_order import Piece, pieces_of
from cepctl.engines.rows.numbers import FoundBatch, NumberedRows, with_columns
from cepctl.engines.rows.order import comparable, with_text
from cepctl.engines.rows.runs import MergedPart
from cepctl.engines.rows.sorted import WantedRows
from cepctl.plan.plan import Plan

EXISTS = "exists"


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
