"""What values attributes have: how many, the commonest, the range, and for each event type which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import polars as pl
import pyarrow as pa

from cepctl.matching.inputs import EventInputs

MOST_ATTRIBUTES = 60
"""Of more attributes those with most values are looked at."""
AT_ONCE = 6
"""Attributes that are read together."""
_TOP = 5
_COMPARED = 10_000
_LONGEST = 60


@dataclass(frozen=True)
class AttributeValues:
    """The values of one attribute; `top` are the commonest with their counts, as text.

    `least`, `middle` (the median) and `most` are those of numbers, None of anything else.
    """

    name: str
    distinct: int
    top: tuple[tuple[str, int], ...]
    least: float | None
    middle: float | None
    most: float | None


@dataclass(frozen=True)
class ComparedValues:
    """Values by event type, to be compared with those of other attributes: columns event_type and value.

    Of many values some are left out: those with the largest hashes, the same ones everywhere.  `kind` is
    the type of the attribute, `distinct` how many values there are of it.
    """

    kind: pa.DataType
    distinct: int
    values: pl.DataFrame


def attribute_values(
    inputs: EventInputs, names: Sequence[str]
) -> tuple[tuple[AttributeValues, ...], Mapping[str, ComparedValues]]:
    """The values of some attributes, and what of them can be compared."""
    facts, compared = [], {}
    for name, frame in _columns(inputs, names):
        kind = inputs.schema.attributes[name]
        counts = frame.drop_nulls("value").group_by("event_type", "value").len()
        values = counts.group_by("value").agg(pl.col("len").sum())
        top = values.sort(["len", "value"], descending=[True, False]).head(_TOP)
        numbers = frame.get_column("value") if _is_number(kind) and values.height else None
        facts.append(
            AttributeValues(
                name,
                values.height,
                tuple((_text(value), count) for value, count in top.iter_rows()),
                *(_float(getattr(numbers, each)()) if numbers is not None else None
                  for each in ("min", "median", "max")),
            )
        )  # fmt: skip
        texts = counts.select("event_type", pl.col("value").cast(pl.String))
        compared[name] = ComparedValues(kind, values.height, _few(texts))
    return tuple(facts), compared


def _columns(inputs: EventInputs, names: Sequence[str]) -> Iterator[tuple[str, pl.DataFrame]]:
    for start in range(0, len(names), AT_ONCE):
        some = list(names[start : start + AT_ONCE])
        table = inputs.read(some)
        types = pl.from_arrow(table.column("event_type").cast(pa.string()))
        for name in some:
            values = pl.from_arrow(table.column(name))
            yield name, pl.DataFrame({"event_type": types, "value": values})


def _few(texts: pl.DataFrame) -> pl.DataFrame:
    if texts.height <= _COMPARED:
        return texts
    kept = texts.get_column("value").unique().to_frame().sort(pl.col("value").hash(seed=1)).head(_COMPARED)
    return texts.join(kept, on="value", how="semi")


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _float(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _text(value: object) -> str:
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
