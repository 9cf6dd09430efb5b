"""How rows are shown: with which columns, which times and which cells."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from cepctl.io.rows.columns import chosen_columns
from cepctl.io.rows.encoding import TimeFormat, presented
from cepctl.io.rows.forms import FORMS
from cepctl.io.rows.safe_cells import safe_cells
from cepctl.schema import TimeUnit


@dataclass(frozen=True)
class PresentedRows:
    """Shows blocks of rows; picklable.

    `chosen` are the names of columns, all of them where there are none; `guarded` cells are none that a
    spreadsheet would compute; `ticks` are columns of them beside `start` and `end`.
    """

    unit: TimeUnit
    times: TimeFormat
    form: str
    chosen: tuple[str, ...] = ()
    guarded: bool = False
    ticks: tuple[str, ...] = ()

    def __call__(self, block: pa.Table) -> pa.Table:
        """The rows of a block as they are written; raises UsageError as `presented` does."""
        rows = presented(block, self.unit, self.times, ticks=self.ticks, typed=FORMS[self.form].typed)
        rows = chosen_columns(rows, self.chosen)
        return safe_cells(rows) if self.guarded else rows
