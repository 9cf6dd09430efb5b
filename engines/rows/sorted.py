"""The rows of a run, taken in any order and given back in their one order; beyond memory they lie on disk.

as numbers           held as such until they are written (`numbers.py`); else as they are
all of them          held until they exceed the budget; then sorted, written as a run, and at last merged
the best of them     held as long as they fit, which needs no disk
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

import pyarrow as pa

from cepctl.engines.rows.kept import ALL_ROWS, WHY_UNJUDGED, KeptRows, RowCounts
from cepctl.engines.rows.number_order import HeldNumbers, Piece, pieces_of
from cepctl.engines.rows.numbers import FoundBatch, NumberedRows, facts_of
from cepctl.engines.rows.order import ordered
from cepctl.engines.rows.runs import MergedPart, SortedRun, merged, parts_of, write_run
from cepctl.errors import QueryTooLargeError
from cepctl.process.memory import MemoryBudget, size_text

FAN_IN = 256
"""Runs that are merged at once, each an open file."""


@dataclass(frozen=True)
class WantedRows:
    """Which rows are wanted: the `top` best (None: all) of those that are `kept`."""

    top: int | None = None
    kept: KeptRows = ALL_ROWS

    def of(self, rows: FoundBatch) -> FoundBatch:
        """The rows that are kept; which of them are the best is known when all are found."""
        return rows.kept(self.kept) if isinstance(rows, NumberedRows) else self.kept.rows(rows)


@dataclass(frozen=True)
class RunsOfProcess:
    """Rows of one process, all of them in runs, and what is to be told of them; picklable."""

    found: int
    counts: RowCounts
    runs: tuple[SortedRun, ...]


class SortedRows:
    """Rows as they are found, and then in their order; `found` counts also those that are not kept.

    `schema`: that of the rows as they are added, which lack the column `match`.  `wanted`: which of them are
    kept.  `memory`: what rows may take of it.  `folder`, `shared`: where runs go, and whether the workers of
    a cluster see that.
    """

    def __init__(
        self,
        schema: pa.Schema,
        wanted: WantedRows,
        memory: MemoryBudget,
        folder: Path,
        *,
        shared: bool = False,
    ) -> None:
        self.schema = schema.insert(0, pa.field("match", pa.string()))
        self.found = 0
        self._counts = RowCounts()
        self._why_unjudged = ""
        self.folder, self.shared = folder, shared
        self._wanted, self._memory = wanted, memory
        self._held: list[pa.RecordBatch] = []
        self._numbers = HeldNumbers()
        self._size = 0
        self._levels: list[list[SortedRun]] = [[]]
        self._table: pa.Table | None = None

    def add(self, rows: FoundBatch) -> None:
        """Take rows in: all of them as numbers, or none; those of which the best are kept are none.

        Raises
        ------
        JobError
            If there is no room for them on the disk.
        """
        self.found += rows.num_rows
        rows = self._wanted.of(rows)
        if not rows.num_rows:
            return
        facts = facts_of(rows)
        if self._wanted.top is None:
            self._counts += RowCounts.of(facts)
        self._why_unjudged = (
            self._why_unjudged or (facts.schema.metadata or {}).get(WHY_UNJUDGED, b"").decode()
        )
        self._table = None
        if isinstance(rows, NumberedRows):
            self._size += self._numbers.add(rows)
        else:
            self._held.append(rows)
            self._size += rows.nbytes
        if self._size <= self._memory.rows:
            return
        if self._wanted.top is not None and self._keep_best():
            return
        self._spill()

    def adopt(self, gathered: RunsOfProcess) -> None:
        """Take in what another process has gathered in the folder."""
        self.found += gathered.found
        self._counts += gathered.counts
        self._table = None
        for run in gathered.runs:
            self._add_run(run)

    def gathered(self) -> RunsOfProcess:
        """Write all that is held, for another process to adopt."""
        if self._size:
            self._spill()
        return RunsOfProcess(self.found, self._counts, tuple(run for level in self._levels for run in level))

    @property
    def counts(self) -> RowCounts:
        """Counts of the rows that are kept."""
        if self._wanted.top is None:
            return self._counts
        counts = sum((RowCounts.of(block) for block in self.blocks()), RowCounts())
        return replace(counts, why_unjudged=self._why_unjudged)

    @property
    def size(self) -> int:
        """Bytes that the rows which are kept take in memory, or would take."""
        return self._size + sum(run.size for level in self._levels for run in level)

    @property
    def spilled(self) -> bool:
        """Whether some rows lie on disk."""
        return any(self._levels)

    def pieces(self, limit: int | None = None, *, nested: bool = True) -> Iterator[Piece]:
        """What makes the rows that are kept, in their order, one piece or more; each in any thread.

        At most `limit` rows.  Without `nested` those that are numbers come without nested lists.
        """
        if self._numbers and not self.spilled and self._table is None:
            yield from self._numbers.in_order.pieces(limit, nested=nested)
            return
        yield from pieces_of(self.blocks(), limit)

    def blocks(self) -> Iterator[pa.Table]:
        """The rows that are kept, in their order, one block or more; may be asked for again."""
        if not self.spilled:
            yield from self._blocks_in_memory()
            return
        if self._size:
            self._spill()
        left = self._wanted.top
        for block in merged([run for level in self._levels for run in level], self.merging_bytes):
            yield block if left is None else block.slice(0, left)
            if left is not None:
                left -= block.num_rows
                if left <= 0:
                    return

    def parts(self, rows_of_part: int) -> list[MergedPart]:
        """The rows, all of them in runs, cut into parts of so many; none where no row lies on disk."""
        if not self.spilled:
            return []
        if self._size:
            self._spill()
        return parts_of([run for level in self._levels for run in level], rows_of_part)

    def table(self) -> pa.Table:
        """All rows as one table, for what must see them all.

        Raises
        ------
        QueryTooLargeError
            If they do not fit in memory.
        """
        if not self.spilled:
            return self._in_memory()
        raise QueryTooLargeError(
            f"{self.found:,} matches take {size_text(self.size)} of memory, where "
            f"{size_text(self._memory.rows)} are for rows; write them as csv, jsonl or parquet with cepctl "
            "match, which needs no more memory for more rows, narrow the query (CONFIDENCE, WITHIN, "
            "--top-k), or raise --max-memory"
        )

    def _in_memory(self) -> pa.Table:
        if self._table is None:
            self._table = pa.concat_tables(self._blocks_in_memory()).combine_chunks()
        return self._table

    def _blocks_in_memory(self) -> Iterator[pa.Table]:
        if self._table is not None:
            yield self._table
        elif self._numbers:
            yield from (piece() for piece in self._numbers.in_order.pieces())
        else:
            raw = self.schema.remove(0)
            self._table = ordered(pa.Table.from_batches(self._held, raw), self._wanted.top)
            yield self._table

    @property
    def merging_bytes(self) -> int:
        """Bytes of runs that are held while they are merged: each row is there as it is, and once sorted."""
        return 2 * self._memory.rows

    def _keep_best(self) -> bool:
        """Forget all but the best rows; False where these take much of the memory."""
        best = self._in_memory().drop_columns(["match"])
        self._table = None
        self._held, self._size = best.to_batches(), best.nbytes
        return 2 * self._size <= self._memory.rows

    def _new_file(self) -> Path:
        """A name that no other process uses."""
        return self.folder / f"{uuid4().hex}.arrow"

    def _spill(self) -> None:
        run = write_run(self._new_file(), self._blocks_in_memory())
        self._table, self._held, self._numbers, self._size = None, [], HeldNumbers(), 0
        self._add_run(run)

    def _add_run(self, run: SortedRun) -> None:
        """Keep few runs: as many as are merged at once become one of the next level."""
        number = 0
        while True:
            level = self._levels[number]
            level.append(run)
            if len(level) < FAN_IN:
                return
            run = write_run(self._new_file(), merged(level, self.merging_bytes))
            for each in level:
                each.path.unlink()
            level.clear()
            number += 1
            if number == len(self._levels):
                self._levels.append([])
