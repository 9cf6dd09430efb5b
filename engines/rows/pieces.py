"""Rows in order that are numbers still: pieces of them, each of which is made when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from cepctl.arrays import Indexes
from cepctl.engines.rows.number_order import order_of
from cepctl.engines.rows.numbers import FoundBatch, HeldRows, NumberedRows
from cepctl.engines.rows.order import with_text

ROWS_OF_PIECE = 1 << 16
_MOST_TEXT = 1 << 30
"""Bytes of ids that a piece may have: a column of strings holds twice as many."""
Piece: TypeAlias = Callable[[], pa.Table]
"""Makes some rows; may be called in any thread, and more than once."""


class HeldNumbers:
    """Rows as they are found, and then in order."""

    def __init__(self) -> None:
        self._held: dict[int, HeldRows] = {}
        self._names: dict[int, pa.Array] = {}
        self._order: OrderedNumbers | None = None

    def __bool__(self) -> bool:
        return bool(self._held)

    def add(self, rows: NumberedRows) -> int:
        """Take rows in; returns the bytes that are held for them, with ids that were not held before."""
        self._order = None
        names = rows.maker.names
        if id(rows.maker) not in self._held:
            self._held[id(rows.maker)] = HeldRows(rows.maker)
        self._held[id(rows.maker)].add(rows)
        # Those of a run alone are held anyway.
        more = names.nbytes if self._names and id(names) not in self._names else 0
        self._names[id(names)] = names
        return rows.nbytes + more

    @property
    def in_order(self) -> OrderedNumbers:
        """All rows in their order."""
        if self._order is None:
            self._order = OrderedNumbers.of([each.whole() for each in self._held.values()])
        return self._order


@dataclass(frozen=True)
class OrderedNumbers:
    """The rows of several makers, and in which order they come."""

    held: tuple[NumberedRows, ...]
    order: Indexes

    @classmethod
    def of(cls, held: Sequence[NumberedRows]) -> OrderedNumbers:
        """Put rows in order."""
        return cls(tuple(held), order_of(held))

    def pieces(self, limit: int | None = None, *, nested: bool = True) -> Iterator[Piece]:
        """The rows, some at a time, at most `limit`; `nested`: with their signatures as nested lists."""
        size = self._rows_of_piece()
        rows = len(self.order) if limit is None else min(limit, len(self.order))
        for first in range(0, max(rows, 1), size):
            yield partial(self.made, first, min(first + size, rows), nested=nested)

    def made(self, first: int, last: int, *, nested: bool = True) -> pa.Table:
        """The rows from one place to another, the latter not included."""
        rows, begin, tables, places = self.order[first:last], 0, [], []
        for each in self.held:
            end = begin + each.num_rows
            if len(self.held) == 1:
                return each.take(rows).table(nested=nested)
            own = np.flatnonzero((rows >= begin) & (rows < end))
            tables.append(each.take(rows[own] - begin).table(nested=nested))
            places.append(own)
            begin = end
        at = np.empty(len(rows), dtype=np.int64)
        at[np.concatenate(places)] = np.arange(len(rows))
        return pa.concat_tables(tables).combine_chunks().take(pa.array(at))

    def _rows_of_piece(self) -> int:
        """Fewer where ids are so long that a piece could exceed what a column holds."""
        size = ROWS_OF_PIECE
        longest = max(each.longest_text for each in self.held) if self.held else 0
        while size > 1 and size * longest > _MOST_TEXT:
            size //= 2
        return size


def found_pieces(rows: FoundBatch, *, nested: bool = True) -> Iterator[Piece]:
    """Rows as they are found, as pieces in no particular order; `nested` as above."""
    if not isinstance(rows, NumberedRows):
        yield partial(with_text, rows)
        return
    held = OrderedNumbers((rows,), np.arange(rows.num_rows))
    yield from held.pieces(nested=nested)


def pieces_of(blocks: Iterable[pa.Table], limit: int | None) -> Iterator[Piece]:
    """Pieces of rows that are there already, one at least; at most `limit` rows."""
    left = limit
    for block in blocks:
        size = ROWS_OF_PIECE if left is None else max(min(ROWS_OF_PIECE, left), 1)
        rows = block.num_rows if left is None else min(left, block.num_rows)
        for first in range(0, max(rows, 1), size):
            yield partial(block.slice, first, min(size, rows - first))
        if left is not None:
            left -= rows
            if left <= 0:
                return
