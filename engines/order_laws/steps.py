"""The key and the step of every event under laws of order, from its attributes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from cepctl.arrays import Indexes
from cepctl.engines.columns.numbering import numbers_of
from cepctl.errors import EventSchemaError
from cepctl.order_laws.law import OrderLaw


def key_of_event(laws: Sequence[OrderLaw], frame: pl.DataFrame) -> tuple[Indexes, Indexes, pl.Series]:
    """Number of each event's law and of its key, -1 for none, shape (n,), and the keys as text.

    Raises
    ------
    EventSchemaError
        If two laws speak of one event.
    """
    law, key = np.full((2, frame.height), -1, dtype=np.int64)
    names, known = pl.repeat("", frame.height, dtype=pl.String, eager=True), 0
    for number, each in enumerate(laws):
        values = frame.get_column(each.by)
        numbers = numbers_of(values)
        under = numbers >= 0
        twice = np.flatnonzero(under & (law >= 0))
        if len(twice):
            event = frame.get_column("event_id")[int(twice[0])]
            raise EventSchemaError(
                f"event '{event}' is under two laws of order, by {laws[law[twice[0]]].by} and by {each.by}; "
                "an event is under one: leave one of the laws out"
            )
        law[under], key[under] = number, numbers[under] + known
        known += int(numbers.max(initial=-1)) + 1
        texts = each.by + " " + values.cast(pl.String, strict=False)
        names = pl.select(pl.when(pl.lit(pl.Series(under))).then(texts).otherwise(names)).to_series()
    return law, key, names


def steps_of(law: OrderLaw, frame: pl.DataFrame) -> pl.Series:
    """The step of each event: the texts of its attributes joined by +, a null empty."""
    return frame.select(pl.concat_str([pl.col(each).cast(pl.String).fill_null("") for each in law.step], separator="+")).to_series()
