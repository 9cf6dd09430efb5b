"""Sections: what is kept of some successive parts of datasets, joined, so that a list is read at once.

Spans are numbered through the parts of a section, and so are its parts.  The rows of a list stand together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.numeric.arrays import Indexes, Numbers
from cepctl.sketches.places import PartPlaces, in_order

SECTION_ROWS = 4_000_000
"""A section is full when it has so many rows; they are in memory together."""


@dataclass(frozen=True)
class Section:
    """As `PartPlaces`; `part` stands in `spans` and `lists`."""

    spans: pa.Table
    types: pa.Table
    values: tuple[pa.Table, ...]
    lists: pa.Table
    listed: pa.Table


def gathered(parts: Iterable[PartPlaces]) -> Iterator[list[PartPlaces]]:
    """Parts in their order, as many together as make a section."""
    waiting: list[PartPlaces] = []
    rows = 0
    for part in parts:
        waiting.append(part)
        rows += len(part.types) + len(part.listed) + sum(map(len, part.values))
        if rows >= SECTION_ROWS:
            yield waiting
            waiting, rows = [], 0
    if waiting:
        yield waiting


def section_of(parts: Sequence[PartPlaces]) -> Section:
    """Parts joined."""
    before = np.concatenate([[0], np.cumsum([len(part.spans) for part in parts])])
    lists = pa.concat_tables([_numbered(part.lists, number) for number, part in enumerate(parts)])
    listed = pa.concat_tables([part.listed for part in parts]).combine_chunks()
    rows = _column(lists, "rows")
    name = (_column(lists, "type") << 32) | _column(lists, "which")
    order = np.argsort(name, kind="stable")
    begins = np.cumsum(rows) - rows
    return Section(
        pa.concat_tables([_numbered(part.spans, number) for number, part in enumerate(parts)]),
        in_order(_moved([part.types for part in parts], before)),
        tuple(
            in_order(_moved([part.values[at] for part in parts], before))
            for at in range(len(parts[0].values))
        ),
        lists.take(pa.array(order)).combine_chunks(),
        listed.take(pa.array(runs(begins[order], rows[order]))),
    )


def parted(section: Section, parts: Sequence[tuple[int, int, bool]]) -> Iterator[PartPlaces]:
    """The parts of a section again, told how many spans and row groups each has, and whether events last."""
    before = np.concatenate([[0], np.cumsum([spans for spans, _, _ in parts])])
    of_row = np.repeat(_column(section.lists, "part"), _column(section.lists, "rows"))
    for number, (_, row_groups, lasting) in enumerate(parts):
        own = pc.equal(section.lists.column("part"), number)
        yield PartPlaces(
            section.spans.filter(pc.equal(section.spans.column("part"), number)).drop_columns("part"),
            _within(section.types, before[number], before[number + 1]),
            tuple(_within(each, before[number], before[number + 1]) for each in section.values),
            section.lists.filter(own).drop_columns("part"),
            section.listed.filter(pa.array(of_row == number)),
            row_groups,
            lasting,
        )


def runs(begins: Indexes, lengths: Numbers) -> Indexes:
    """The numbers of runs, one after the other: run i has `lengths[i]` from `begins[i]` on.

    Examples
    --------
    >>> runs(np.array([7, 2]), np.array([2, 3])).tolist()
    [7, 8, 2, 3, 4]
    """
    before = np.cumsum(lengths) - lengths
    return np.asarray(np.arange(lengths.sum()) + np.repeat(begins - before, lengths))


def _column(table: pa.Table, name: str) -> Numbers:
    return np.asarray(table.column(name).to_numpy().astype(np.int64))


def _numbered(table: pa.Table, part: int) -> pa.Table:
    return table.append_column("part", pa.array(np.full(len(table), part, dtype=np.int32)))


def _moved(tables: Sequence[pa.Table], before: Numbers) -> pa.Table:
    """Places of several parts, with the numbers of their spans in the section."""
    moved = []
    for table, first in zip(tables, before.tolist(), strict=False):
        span = pc.add(table.column("span"), pa.scalar(first, pa.int32()))
        moved.append(table.set_column(table.column_names.index("span"), "span", span))
    return pa.concat_tables(moved).combine_chunks()


def _within(table: pa.Table, first: int, stop: int) -> pa.Table:
    """The places of some spans, numbered from the first of them."""
    span = table.column("span")
    own = table.filter(pc.and_(pc.greater_equal(span, int(first)), pc.less(span, int(stop))))
    moved = pc.subtract(own.column("span"), pa.scalar(int(first), pa.int32()))
    return own.set_column(own.column_names.index("span"), "span", moved)
