"""Which values keep a column from being one of numbers, said where a query compares it with a number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from cepctl.schema import FIXED_COLUMNS

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs

_SHOWN = 3


def no_numbers(inputs: EventInputs, attributes: Sequence[str]) -> list[str]:
    """A line for each of these attributes of text: how many of its values are no numbers, and where."""
    return [_told(inputs, name) for name in dict.fromkeys(attributes) if name not in FIXED_COLUMNS]


def _told(inputs: EventInputs, name: str) -> str:
    frame = pl.DataFrame(inputs.read([name]).select(["event_id", name])).drop_nulls(name)
    value = pl.col(name).str.strip_chars()
    others = frame.filter(value.cast(pl.Float64, strict=False).is_null())
    if not len(others):
        return f"all {len(frame):,} values of '{name}' are numbers written as text; read them as numbers"
    shown = ", ".join(f"'{text}' ({event})" for event, text in others.head(_SHOWN).iter_rows())
    more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
    return (
        f"'{name}' is text because {len(others):,} of its {len(frame):,} values are no numbers: {shown}{more}"
        "; leave these empty in the log, and it is a column of numbers"
    )
