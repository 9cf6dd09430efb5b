"""The key and the step of every event under laws of order, from its attributes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.arrays import Indexes
from cepctl.engines.columns.numbering import numbers_of
from cepctl.errors import EventSchemaError
from cepctl.order_laws.law import BEGIN, END, OrderLaw


def key_of_event(laws: Sequence[OrderLaw], frame: pl.DataFrame) -> tuple[Indexes, Indexes]:
    """Number of each event's law and of its key, -1 for none, shape (n,).

    Raises
    ------
    EventSchemaError
        If two laws speak of one event.
    """
    law, key = np.full((2, frame.height), -1, dtype=np.int64)
    known = 0
    for number, each in enumerate(laws):
        numbers = numbers_of(frame.get_column(each.by))
        under = numbers >= 0
        twice = np.flatnonzero(under & (law >= 0))
        if len(twice):
            first = laws[law[twice[0]]]
            raise EventSchemaError(
                f"event '{_id(frame, twice)}' has a {first.by} and a {each.by}, and is under the laws of "
                "order of both; leave one of the laws out"
            )
        law[under], key[under] = number, numbers[under] + known
        known += int(numbers.max(initial=-1)) + 1
    return law, key


def steps_of(law: OrderLaw, frame: pl.DataFrame) -> pl.Series:
    """The step of each event: the texts of its attributes joined by +, a null empty.

    Raises
    ------
    EventSchemaError
        If a step means the begin or the end of a key.
    """
    texts = frame.select(_texts(frame.get_column(each)).alias(each) for each in law.step)
    steps = texts.select(pl.concat_str(pl.all(), separator="+").alias("step")).to_series()
    meant = np.flatnonzero(steps.is_in([BEGIN, END]).to_numpy())
    if len(meant):
        raise EventSchemaError(
            f"event '{_id(frame, meant)}' has the step '{steps[int(meant[0])]}', by which a law of order "
            "means the begin or the end of a key; rename it, or name other attributes as step"
        )
    return steps


_OTHERS = "$"
"""No step that is named can be this one."""


def step_codes(law: OrderLaw) -> list[str]:
    """The steps that a law tells apart, by their codes: those that it names, and one for all others."""
    named = {each for pair in (*law.following, *law.before) for each in pair} - {BEGIN, END}
    return [*sorted(named), _OTHERS]


def codes_of(law: OrderLaw, frame: pl.DataFrame) -> Indexes:
    """The code of each event's step.

    Raises
    ------
    EventSchemaError
        If a step means the begin or the end of a key.
    """
    named = step_codes(law)[:-1]
    steps = steps_of(law, frame)
    return steps.replace_strict(
        named, range(len(named)), default=len(named), return_dtype=pl.Int64
    ).to_numpy()


def _texts(values: pl.Series) -> pl.Series:
    """The values as text, as calibrate and learn write them: by Arrow."""
    if values.dtype == pl.String:
        return values.fill_null("")
    return pl.Series(values.to_arrow().cast(pa.string())).fill_null("")


def _id(frame: pl.DataFrame, rows: Indexes) -> str:
    return str(frame.get_column("event_id")[int(rows[0])])
