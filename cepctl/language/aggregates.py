"""Aggregates over the members of a Kleene group: one value for each, in one list.

Parser, checks and engines read what they need of an aggregate here.  The worlds engine, which judges the
others, has its own table, and refuses a word that is not in it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    import polars as pl

    OverColumn: TypeAlias = Callable[[pl.Expr], pl.Expr]


class GrowthBound(Enum):
    """How an aggregate moves while a group gains members: a bound for every larger group."""

    RISES = "rises"
    FALLS = "falls"
    RISES_UNLESS_NEGATIVE = "rises where no value is negative"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class AggregateFunction:
    """What an aggregate computes of a column of values, and what is known of that beforehand.

    `whole` gives one value of all values, `running` one for each of those up to it; nulls are skipped, and
    of no value at all the answer is null, or 0 where it `counts`.  What counts takes members without an
    attribute, too, as in `count(b[])`.  `gives` is the type of the answer, None for that of the values.
    """

    word: str
    whole: OverColumn
    running: OverColumn
    gives: Literal["integer", "number"] | None = None
    of_numbers: bool = False
    counts: bool = False
    growth: GrowthBound = GrowthBound.UNKNOWN


def _anew_for_each(whole: OverColumn) -> OverColumn:
    """An aggregate of the values up to each one, for what no running form is known of."""

    def running(values: pl.Expr) -> pl.Expr:
        import polars

        return values.cumulative_eval(whole(polars.element()))

    return running


AGGREGATES: dict[str, AggregateFunction] = {
    each.word: each
    for each in (
        AggregateFunction(
            "avg",
            lambda values: values.mean(),
            lambda values: values.fill_null(0).cum_sum() / values.cum_count(),
            gives="number",
            of_numbers=True,
        ),
        AggregateFunction(
            "sum",
            lambda values: values.sum(),
            lambda values: values.fill_null(0).cum_sum(),
            of_numbers=True,
            growth=GrowthBound.RISES_UNLESS_NEGATIVE,
        ),
        AggregateFunction(
            "min",
            lambda values: values.min(),
            lambda values: values.cum_min().forward_fill(),
            growth=GrowthBound.FALLS,
        ),
        AggregateFunction(
            "max",
            lambda values: values.max(),
            lambda values: values.cum_max().forward_fill(),
            growth=GrowthBound.RISES,
        ),
        AggregateFunction(
            "median",
            lambda values: values.median(),
            _anew_for_each(lambda values: values.median()),
            gives="number",
            of_numbers=True,
        ),
        AggregateFunction(
            "stddev",
            lambda values: values.std(),
            _anew_for_each(lambda values: values.std()),
            gives="number",
            of_numbers=True,
        ),
        AggregateFunction(
            "count",
            lambda values: values.count(),
            lambda values: values.cum_count(),
            gives="integer",
            counts=True,
            growth=GrowthBound.RISES,
        ),
        AggregateFunction(
            "count distinct",
            lambda values: values.drop_nulls().n_unique(),
            lambda values: (values.is_first_distinct() & values.is_not_null()).cum_sum(),
            gives="integer",
            counts=True,
            growth=GrowthBound.RISES,
        ),
    )
}
"""Every aggregate, by its word; `count(distinct b[].x)` has two."""
