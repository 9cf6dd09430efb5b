"""Attributes that join event types: those whose values of one type are also values of another.

Inferred from the values alone, so that what is found may be chance where there are few of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl
import pyarrow as pa

from cepctl.inspection.values import ComparedValues
from cepctl.language.printer import attribute_text

_SHARED = 0.5
_ALIKE = 0.9
_FEWEST_ALIKE = 3
_FEWEST_NUMBERS = 20
_TIME = "time"
_OF_STAMPS = "zone_seconds"


@dataclass(frozen=True)
class JoinKey:
    """One attribute whose values several types share, or another one of other types that has the same.

    `types` are those that share `shared` distinct values, by their names; `other` is the attribute that the
    others of these types call it, None where all call it the same.
    """

    name: str
    other: str | None
    types: tuple[str, ...]
    shared: int

    @property
    def condition(self) -> str:
        """How a query joins events `a` and `b` by it."""
        return f"a.{attribute_text(self.name)} = b.{attribute_text(self.other or self.name)}"


def join_keys(compared: Mapping[str, ComparedValues]) -> tuple[JoinKey, ...]:
    """Those of the attributes that join types, the one with most values first."""
    usable = {name: each for name, each in compared.items() if _can_be_key(name, each)}
    same = [key for name, each in usable.items() if (key := _of_one(name, each.values)) is not None]
    other = [
        key for one, two in combinations(sorted(usable), 2) if (key := _of_two(one, two, usable)) is not None
    ]
    return tuple(sorted([*same, *other], key=lambda key: (-key.shared, key.other is not None, key.name)))


def _can_be_key(name: str, values: ComparedValues) -> bool:
    if values.distinct < 2 or _TIME in name.lower() or name == _OF_STAMPS:
        return False
    return bool(pa.types.is_string(values.kind) or pa.types.is_integer(values.kind))


def _of_one(name: str, values: pl.DataFrame) -> JoinKey | None:
    """The types most of whose values another type has too."""
    of_types = values.with_columns(pl.len().over("value").alias("types"))
    shares = of_types.group_by("event_type").agg((pl.col("types") > 1).mean().alias("share"))
    joined = shares.filter(pl.col("share") >= _SHARED).get_column("event_type").to_list()
    if len(joined) < 2:
        return None
    among = of_types.filter(pl.col("event_type").is_in(joined) & (pl.col("types") > 1))
    return JoinKey(name, None, tuple(sorted(joined)), among.get_column("value").n_unique())


def _of_two(one: str, two: str, known: Mapping[str, ComparedValues]) -> JoinKey | None:
    """Two attributes of different types that have the same values."""
    first, second = known[one], known[two]
    if first.kind != second.kind or min(first.distinct, second.distinct) < _fewest(first.kind):
        return None
    if _types(first.values) & _types(second.values):
        return None
    values, others = (each.values.get_column("value").unique() for each in (first, second))
    shared = int(values.is_in(others.implode()).sum())
    if shared < _ALIKE * min(len(values), len(others)):
        return None
    return JoinKey(one, two, tuple(sorted(_types(first.values) | _types(second.values))), shared)


def _fewest(kind: pa.DataType) -> int:
    """Small numbers are alike by chance."""
    return _FEWEST_ALIKE if pa.types.is_string(kind) else _FEWEST_NUMBERS


def _types(values: pl.DataFrame) -> set[str]:
    return set(values.get_column("event_type").unique().to_list())


def best_key(keys: Sequence[JoinKey]) -> JoinKey | None:
    """The key that tells most: of those that all types call the same, the one with most values."""
    return next((key for key in keys if key.other is None), None)
