"""The events of one partition, as the engines see them: masses, ids, types and attributes.

Runs inside Spark workers: imports NumPy, Polars and PyArrow only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.engines.masses import Masses, masses_of
from cepctl.engines.types import Indexes


@dataclass(frozen=True)
class Events:
    """n events in the order of the table; an event is known by its row number.

    `frame` holds `event_id`, `event_type`, `lower`, `upper`, `time` where present, and the
    attributes, one row per event.
    """

    masses: Masses
    frame: pl.DataFrame

    def __len__(self) -> int:
        return len(self.masses.lower)

    @property
    def ids(self) -> pl.Series:
        """Event ids, shape (n,)."""
        return self.frame.get_column("event_id")

    @cached_property
    def id_rank(self) -> Indexes:
        """Rank of each event's id in code-point order, shape (n,)."""
        return self.ids.rank("ordinal").to_numpy().astype(np.int64)


def events_of(table: pa.Table) -> Events:
    """Take over an event table; raises EventSchemaError where an interval or pmf is wrong."""
    attributes = [name for name in table.column_names if name not in ("pmf", "source")]
    frame = pl.from_arrow(table.select(attributes))
    assert isinstance(frame, pl.DataFrame)
    return Events(masses_of(table), frame)


def value_codes(*columns: pl.Series) -> tuple[Indexes, ...]:
    """Number the values of some columns: equal values get equal codes, null gets -1.

    Columns of integers and floats compare as numbers; all columns must otherwise share a type.

    Examples
    --------
    >>> value_codes(pl.Series(["x", None, "y"]), pl.Series(["y", "z", "x"]))[0].tolist()
    [0, -1, 1]
    """
    renamed = [column.alias("value") for column in columns]
    if len({column.dtype for column in columns}) > 1 and all(c.dtype.is_numeric() for c in columns):
        renamed = [column.cast(pl.Float64) for column in renamed]
    together = pl.concat(renamed)
    ranks = together.rank("dense").cast(pl.Int64) - 1
    numbered = ranks.fill_null(-1).to_numpy().astype(np.int64)
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return tuple(np.split(numbered, ends))
