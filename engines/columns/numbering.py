"""Numbers for values, from 0 on in the order of the values, and rows in the order of such numbers.

Sorting is what takes long where there are many values, so as few as possible are sorted: whole numbers that
lie close together are places in a table, and of texts those that differ are found by their hashes first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import NamedTuple, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cepctl.numeric.arrays import Flags, Indexes, Ticks

PLACES_PER_VALUE = 4
"""A table may have so many places for each value; beyond that sorting is quicker."""
_WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)
_HASHED = (*_WHOLE, pl.UInt64, pl.String)
_MANY_ROWS = 1_000
"""From so many rows on a sort of each column is quicker than one of whole rows."""
_LARGEST = int(np.iinfo(np.int64).max)


def numbers_of(values: pl.Series) -> Indexes:
    """The number of each value among those that differ, in ascending order; -1 for null.

    Examples
    --------
    >>> numbers_of(pl.Series([30, None, 10, 30])).tolist()
    [1, -1, 0, 1]
    """
    if values.dtype in _WHOLE and (numbers := _of_close_values(values)) is not None:
        return numbers
    if values.dtype in _HASHED:
        encoded = values.to_arrow().dictionary_encode()
        # A null is the last of these.
        numbers = np.append(_ranks(pl.Series(encoded.dictionary)), -1)
        which: Indexes = encoded.indices.fill_null(-1).to_numpy()
        return numbers[which]
    return _ranks(values)


def _of_close_values(values: pl.Series) -> Indexes | None:
    """Numbers for whole numbers by a table; None where that would be too large."""
    least, most = values.min(), values.max()
    if not isinstance(least, int) or not isinstance(most, int):  # all are null
        return np.full(len(values), -1)
    if most - least > PLACES_PER_VALUE * len(values):
        return None
    places = values.cast(pl.Int64).fill_null(least).to_numpy() - least
    return Numbering.of(places, values.is_not_null().to_numpy())[1]


def _ranks(values: pl.Series) -> Indexes:
    ranks = values.rank("dense").cast(pl.Int64) - 1
    return ranks.fill_null(-1).to_numpy().astype(np.int64)


@dataclass(frozen=True)
class Numbering:
    """Numbers for some whole numbers: those that occur are `distinct`, or have a place in a `table`."""

    distinct: Indexes | None
    table: Indexes | None

    @classmethod
    def of(cls, values: Indexes, usable: Flags) -> tuple[Numbering, Indexes]:
        """A numbering of those values, not negative, that are usable; and the numbers of all, else -1."""
        every = bool(usable.all())
        chosen = values if every else values[usable]
        size = int(chosen.max(initial=-1)) + 1
        if size > PLACES_PER_VALUE * len(values):
            numbering = cls(np.unique(chosen), None)
        else:
            occurs = np.zeros(size, dtype=bool)
            occurs[chosen] = True
            if every and occurs.all():
                return cls(None, np.arange(size)), values
            table = np.where(occurs, np.cumsum(occurs) - 1, -1)
            numbering = cls(None, table)
            if every:
                return numbering, table[values]
        return numbering, np.where(usable, numbering.find(values), -1)

    def find(self, values: Indexes) -> Indexes:
        """The numbers of some values, -1 for those that do not occur."""
        known = self.distinct if self.table is None else self.table
        if known is None or not len(known):
            return np.full(len(values), -1)
        if self.table is not None:
            inside = (values >= 0) & (values < len(self.table))
            if inside.all():
                return self.table[values]
            return np.where(inside, self.table[np.where(inside, values, 0)], -1)
        at = np.minimum(np.searchsorted(known, values), len(known) - 1)
        return np.where(known[at] == values, at, -1)


def occur_in(values: Indexes, others: Indexes) -> Flags:
    """Which values occur among others: by one sort of these, where `np.isin` sorts both together.

    Examples
    --------
    >>> occur_in(np.array([3, 1, 3]), np.array([5, 3])).tolist()
    [True, False, True]
    """
    if not len(others):
        return np.zeros(len(values), dtype=bool)
    known = np.sort(others)
    at = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[at] == values)


def order_of(number: Indexes, tick: Ticks) -> Indexes:
    """Rows by number, not negative, then tick, then as they are: the same as `np.lexsort((tick, number))`."""
    count = len(number)
    in_order = not (tick[1:] < tick[:-1]).any()
    if not in_order or int(number.max(initial=0)) >= _LARGEST // max(count, 1) - 1:
        return np.lexsort((tick, number))
    # Whole numbers alone are sorted several times as quickly.
    return np.sort(number * count + np.arange(count)) % max(count, 1)


def starts_of(number: Indexes) -> Indexes:
    """Where the rows of each number begin among rows in that order, and where the last ones end."""
    return np.concatenate([[0], np.cumsum(np.bincount(number, minlength=int(number.max(initial=0)) + 1))])


_Value = TypeVar("_Value", bound=np.generic)


def rows_alike(table: NDArray[_Value]) -> Iterator[tuple[NDArray[_Value], Indexes]]:
    """The rows of a table that differ, ascending, and the numbers of those that are so.

    Examples
    --------
    >>> table = np.array([[1, 0], [0, 2], [1, 0]])
    >>> [(each.tolist(), rows.tolist()) for each, rows in rows_alike(table)]
    [([0, 2], [1]), ([1, 0], [0, 2])]
    """
    first, which = distinct_rows(table)
    if len(first) < 2:
        return iter([(table[0], np.arange(len(table)))] if len(first) else [])
    order = np.argsort(which, kind="stable")
    begins = np.searchsorted(which[order], np.arange(1, len(first)))
    return zip(table[first], np.split(order, begins), strict=True)


class DistinctRows(NamedTuple):
    """Where each of the rows that differ, ascending, stands first; and which of these each row is."""

    first: Indexes
    which: Indexes


def distinct_rows(table: NDArray[_Value]) -> DistinctRows:
    """Tell the rows of a table apart.

    Examples
    --------
    >>> distinct_rows(np.array([[1, 0], [0, 2], [1, 0]]))
    DistinctRows(first=array([1, 0]), which=array([1, 0, 1]))
    """
    _, first, which = np.unique(_as_numbers(table), axis=0, return_index=True, return_inverse=True)
    return DistinctRows(first, which.reshape(-1))


def _as_numbers(table: NDArray[_Value]) -> NDArray[_Value] | Indexes:
    """Each row of whole numbers as one, in the same order, which are sorted ten times as quickly as rows.

    Rows stay as they are where they are few and their numbers far apart.
    """
    if not len(table) or table.dtype.kind not in "bi":
        return table
    columns = table.reshape(len(table), -1).T.astype(np.int64)
    least, most = (each.tolist() for each in (columns.min(axis=1), columns.max(axis=1)))
    widths = [high - low + 1 for low, high in zip(least, most, strict=True)]
    close = prod(widths) <= _LARGEST
    if not close and len(table) < _MANY_ROWS:
        return table
    number, size = np.zeros(len(table), dtype=np.int64), 1
    for values, low, width in zip(columns, least, widths, strict=True):
        if not close and size * width > _LARGEST:
            number, column = (np.unique(each, return_inverse=True)[1] for each in (number, values))
            size, wide = int(number.max()) + 1, int(column.max()) + 1
        else:
            column, wide = values - low, width
        number, size = number * wide + column, size * wide
    return number


def places_in_runs(sizes: Indexes) -> tuple[Indexes, Indexes]:
    """Of entries that stand in runs of these sizes, one run after the other: its run, and its place there.

    Examples
    --------
    >>> run, place = places_in_runs(np.array([2, 0, 3]))
    >>> run.tolist(), place.tolist()
    ([0, 0, 2, 2, 2], [0, 1, 0, 1, 2])
    """
    run = np.repeat(np.arange(len(sizes)), sizes)
    return run, np.arange(len(run)) - (np.cumsum(sizes) - sizes)[run]


def renumbered(row: Indexes, rows: Indexes) -> tuple[Indexes, Indexes]:
    """Which entries are of some ascending rows, and the number among these of the row of each.

    Examples
    --------
    >>> kept, number = renumbered(np.array([7, 2, 5, 2]), np.array([2, 7]))
    >>> kept.tolist(), number.tolist()
    ([0, 1, 3], [1, 0, 0])
    """
    number = np.full(int(max(rows.max(initial=-1), row.max(initial=-1))) + 1, -1)
    number[rows] = np.arange(len(rows))
    kept = np.flatnonzero(number[row] >= 0)
    return kept, number[row[kept]]
