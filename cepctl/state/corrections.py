"""Corrections that bring the emitted rows up to date: rows to retract, rows to add.

A row is known by its match, and corrected to the last digit: the rows that stand at last are those of one run
over everything, and an event that might have decided a row may round its confidence otherwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Flags

CHANGE = "change"
"""The column that marks a row as added (`+`) or retracted (`-`)."""


class Correction(NamedTuple):
    """Rows that no longer hold, and rows that hold now."""

    retracted: pa.Table
    added: pa.Table


def without(rows: pa.Table, others: pa.Table) -> pa.Table:
    """The rows that are not among the others."""
    if not rows.num_rows or not others.num_rows:
        return rows
    return rows.filter(pa.array(~_is_among(rows, others)))


def _is_among(rows: pa.Table, others: pa.Table) -> Flags:
    place = pc.index_in(rows.column("match"), value_set=_joined(others.column("match")))
    known = pc.is_valid(place).to_numpy()
    other = pc.fill_null(place, 0).to_numpy()
    same = known.copy()
    for name in ("start", "end", "confidence"):
        same &= rows.column(name).to_numpy() == others.column(name).to_numpy()[other]
    return np.asarray(same)


def marked(change: Correction) -> pa.Table:
    """The rows of a correction with the column `change`, in the order of `by_end`, `-` before `+`."""
    parts = [
        rows.add_column(0, CHANGE, pa.array([mark] * rows.num_rows, pa.string()))
        for mark, rows in zip("-+", change, strict=True)
    ]
    return by_end(pa.concat_tables(parts))


def by_end(rows: pa.Table) -> pa.Table:
    """Rows by `end`, then start, then match: the order in which incremental runs emit them."""
    keys = [(name, "ascending") for name in ("end", "start", "match")]
    if CHANGE in rows.column_names:
        keys.append((CHANGE, "descending"))
    return rows.take(pc.sort_indices(rows, keys))


def _joined(column: pa.ChunkedArray) -> pa.Array:
    return pa.concat_arrays(column.chunks)
