"""A block of a table without the rows that nobody needs, before events are made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.tabular.columns import BlockRows
from cepctl.io.tabular.composed import composed_of
from cepctl.numeric.arrays import Numbers


def sifted(rows: BlockRows, options: ReadOptions, report: ReadReport, *, inferred: bool = False) -> BlockRows:
    """The rows that are to become events; the others count as records.

    `inferred`: the attributes are text whose type is not known yet.
    """
    is_composed = any(composed_of(*pair) is not None for pair in options.columns)
    if options.sieve is None or not len(rows.numbers):
        return rows
    if rows.mixed or rows.clocks or is_composed:
        options.sieve.passes({} if is_composed else rows.columns)
        return rows
    needed = options.sieve.needed(rows.columns, inferred=inferred)
    if needed is None:
        return rows
    places = np.flatnonzero(needed)
    report.records += len(rows.numbers) - len(places)
    return replace(
        rows,
        columns={name: column.take(places) for name, column in rows.columns.items()},
        numbers=rows.numbers[places],
        lines=None if rows.lines is None else rows.lines[places],
        raw=None if rows.raw is None else _among(rows.raw, places),
    )


def _among(raw: Callable[[int], bytes], places: Numbers) -> Callable[[int], bytes]:
    """The texts of some rows of a block, by their place among these."""
    return lambda place: raw(int(places[place]))
