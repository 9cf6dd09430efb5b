"""The order of records of each source and host: where it steps back, what it is known to decide or would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl

from cepctl.ingestion.writers import MOST_STEPS_BACK
from cepctl.ingestion.written_records import Eras, RecordBlock

Verdict = Literal["known", "suggested", "steps back", "decides nothing"]


@dataclass(frozen=True)
class WrittenOrder:
    """How the records of a source, or of one of its hosts, stand in it.

    `steps_back` cannot lie after all before them, `tied` share their interval with another one, and `open`
    follow one that may have happened later by its stamp.  The order may be `known` to the dataset; else it is
    suggested that it be told, where it decides something and few records step back.
    """

    source: str
    host: str | None
    events: int
    steps_back: int
    tied: int
    open: int
    verdict: Verdict


def written_orders(events: pl.DataFrame) -> tuple[WrittenOrder, ...]:
    """The order of each source and host whose records are known, where most is open first."""
    records = events.select("source", "node", "record", "lower", "upper", "writer").drop_nulls("record")
    if not len(records):
        return ()
    records = records.sort("source", "node", "record").with_columns(
        pl.struct("source", "node").rle_id().alias("code")
    )
    eras = Eras()
    eras.add(
        RecordBlock(
            *(
                records.get_column(name).to_numpy().astype(np.int64)
                for name in ("code", "record", "lower", "upper")
            )
        )
    )
    steps = {code: len(places) for code, places in eras.steps.items()}
    counts = (
        records.group_by("source", "node", maintain_order=True)
        .agg(
            pl.col("code").first(),
            pl.len().alias("events"),
            pl.struct("lower", "upper").is_duplicated().sum().alias("tied"),
            (pl.col("lower") <= pl.col("upper").shift()).sum().alias("open"),
            pl.col("writer").is_not_null().any().alias("is_known"),
        )
        .sort("open", "source", "node", descending=[True, False, False])
    )
    return tuple(
        WrittenOrder(
            *(source, host, count, steps.get(code, 0), tied, is_open),
            _verdict(count, steps.get(code, 0), is_open, is_known=is_known),
        )
        for source, host, code, count, tied, is_open, is_known in counts.iter_rows()
    )


def _verdict(events: int, steps: int, is_open: int, *, is_known: bool) -> Verdict:
    if is_known:
        return "known"
    if steps > MOST_STEPS_BACK * events:
        return "steps back"
    return "suggested" if is_open else "decides nothing"
