"""Which values keep a column from being one of numbers, said where a query compares it as one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from cepctl.event_table import FIXED_COLUMNS

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs

_SHOWN = 3


def no_numbers(inputs: EventInputs, attributes: Sequence[str]) -> list[str]:
    """A line for each of these attributes of text: how many of its values are no numbers, and where."""
    return [_finding_text(inputs, name) for name in dict.fromkeys(attributes) if name not in FIXED_COLUMNS]


def holds_numbers(inputs: EventInputs, name: str) -> bool:
    """Whether most values of an attribute of text are numbers."""
    values = _values(inputs, name)
    return 2 * len(_others(values, name)) <= len(values) > 0


def _values(inputs: EventInputs, name: str) -> pl.DataFrame:
    return pl.DataFrame(inputs.whole().read([name]).select(["event_id", name])).drop_nulls(name)


def _others(values: pl.DataFrame, name: str) -> pl.DataFrame:
    """Those of them that are no numbers."""
    return values.filter(pl.col(name).str.strip_chars().cast(pl.Float64, strict=False).is_null())


def _finding_text(inputs: EventInputs, name: str) -> str:
    frame = _values(inputs, name)
    others = _others(frame, name)
    if not len(frame):
        return f"no event has a value of '{name}', so nothing says whether it is text or numbers"
    if not len(others):
        return f"all {len(frame):,} values of '{name}' are numbers written as text; read them as numbers"
    shown = ", ".join(f"'{text}' ({event})" for event, text in others.head(_SHOWN).iter_rows())
    more = f" and {len(others) - _SHOWN:,} more" if len(others) > _SHOWN else ""
    return (
        f"'{name}' is text because {len(others):,} of its {len(frame):,} values are no numbers: {shown}{more}"
        "; leave these empty in the log, and it is a column of numbers"
    )
