"""Frames as the inspection sees them, made from a few columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

COLUMNS: dict[str, tuple[pl.DataType, Any]] = {
    "event_id": (pl.String(), "given"),
    "event_type": (pl.String(), "A"),
    "source": (pl.String(), "log"),
    "lower": (pl.Int64(), None),
    "upper": (pl.Int64(), None),
    "time": (pl.Int64(), None),
    "zone": (pl.Int64(), 0),
    "node": (pl.String(), None),
    "task_id": (pl.String(), None),
    "case_id": (pl.String(), None),
    "attempt_id": (pl.String(), None),
    "status": (pl.String(), None),
    "value": (pl.Float64(), None),
}


def observed(rows: Sequence[Mapping[str, Any]], tick: int = 1_000) -> pl.DataFrame:
    """Events of which a test names only what matters; an interval is the tick of the time."""
    frame = pl.DataFrame(
        {
            name: pl.Series(name, [row.get(name, default) for row in rows], dtype=kind)
            for name, (kind, default) in COLUMNS.items()
        }
    )
    return frame.with_columns(pl.col("lower", "upper").fill_null(pl.col("time") // tick))
