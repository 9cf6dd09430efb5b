"""Attributes that join event types: those whose values of one type are also values of another.

Inferred from the values alone, so that what is found may be chance where there are few of them.

Queries that these very events answer: made of their types, of a key that joins two, of usual delays.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations, islice

import polars as pl
import pyarrow as pa

from cepctl.inspection.values import ComparedValues
from cepctl.language.ast import Duration
from cepctl.language.parser import parse
from cepctl.language.printer import attribute_text, duration_text, type_text
from cepctl.matching.inputs import EventInputs

_SHARED = 0.5
_ALIKE = 0.9
_FEWEST_ALIKE = 3
_FEWEST_NUMBERS = 20
_TIME = "time"
_CASES = ("case_id", "case", "caseid", "case id", "case_concept_name", "case:concept:name")
"""What logs of cases call the case of an event, in which its activities belong together."""
_OF_STAMPS = "zone_seconds"


@dataclass(frozen=True)
class SharedKey:
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


def join_keys(compared: Mapping[str, ComparedValues]) -> tuple[SharedKey, ...]:
    """Those of the attributes that join types: the case first, if most have it, then by their values."""
    usable = {name: each for name, each in compared.items() if _can_be_key(name, each)}
    same = [key for name, each in usable.items() if (key := _of_one(name, each.values)) is not None]
    other = [
        key for one, two in combinations(sorted(usable), 2) if (key := _of_two(one, two, usable)) is not None
    ]
    several = [_types(each.values) for each in compared.values()]
    types = pl.concat(several).n_unique() if several else 0
    return tuple(sorted([*same, *other], key=partial(_rank, types=types)))


def _rank(key: SharedKey, types: int) -> tuple[int, int, bool, str]:
    """Smaller for what is proposed first, of events of so many types."""
    of_most = key.other is None and 2 * len(key.types) >= types
    case = _CASES.index(key.name.lower()) if of_most and key.name.lower() in _CASES else len(_CASES)
    return case, -key.shared, key.other is not None, key.name


def _can_be_key(name: str, values: ComparedValues) -> bool:
    if values.distinct < 2 or _TIME in name.lower() or name == _OF_STAMPS:
        return False
    return bool(pa.types.is_string(values.kind) or pa.types.is_integer(values.kind))


def _of_one(name: str, values: pl.DataFrame) -> SharedKey | None:
    """The types most of whose values another type has too."""
    of_types = values.with_columns(pl.len().over("value").alias("types"))
    shares = of_types.group_by("event_type").agg((pl.col("types") > 1).mean().alias("share"))
    joined = shares.filter(pl.col("share") >= _SHARED).get_column("event_type")
    if len(joined) < 2:
        return None
    among = of_types.filter(pl.col("event_type").is_in(joined.implode()) & (pl.col("types") > 1))
    return SharedKey(name, None, tuple(joined.sort()), among.get_column("value").n_unique())


def _of_two(one: str, two: str, known: Mapping[str, ComparedValues]) -> SharedKey | None:
    """Two attributes of different types that have the same values."""
    first, second = known[one], known[two]
    if first.kind != second.kind or min(first.distinct, second.distinct) < _fewest(first.kind):
        return None
    types = pl.concat([_types(first.values), _types(second.values)])
    if types.is_duplicated().any():
        return None
    values, others = (each.values.get_column("value").unique() for each in (first, second))
    shared = int(values.is_in(others.implode()).sum())
    if shared < _ALIKE * min(len(values), len(others)):
        return None
    return SharedKey(one, two, tuple(sorted(types.to_list())), shared)


def _fewest(kind: pa.DataType) -> int:
    """Small numbers are alike by chance."""
    return _FEWEST_ALIKE if pa.types.is_string(kind) else _FEWEST_NUMBERS


def _types(values: pl.DataFrame) -> pl.Series:
    return values.get_column("event_type").unique()


def best_key(keys: Sequence[SharedKey]) -> SharedKey | None:
    """The key that tells most: of those that all types call the same, the one with most values."""
    return next((key for key in keys if key.other is None), None)


_FEWEST_TAUGHT, _UNCERTAIN = 50, 10
_TYPES_TRIED = 12
_IN_ORDER = 0.8
_USUAL = 0.9
_ROOM = 1.2
_SECOND = 1_000_000
_LENGTHS = (
    *(n * unit for unit in (1, 1_000) for n in (1, 2, 5, 10, 20, 50, 100, 200, 500)),
    *(n * _SECOND for n in (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600, 7_200)),
    *(n * 3_600 * _SECOND for n in (6, 12, 24, 48, 168, 720, 8_760)),
)
"""Windows in microseconds; the smallest that leaves room is taken."""


@dataclass(frozen=True)
class ExampleQuery:
    """A query, and what it asks in words."""

    asks: str
    query: str


@dataclass(frozen=True)
class _Pair:
    """Two types, the second mostly after the first, and a usual delay in microseconds."""

    first: str
    second: str
    microseconds: float


def example_queries(
    inputs: EventInputs, types: Sequence[str], key: SharedKey | None
) -> tuple[ExampleQuery, ...]:
    """Queries over the commonest types; `types` are all of them, the commonest first."""
    if not types:
        return ()
    pair = None if key is None else _joined_pair(inputs, types, key)
    if pair is None or key is None:
        first, second = type_text(types[0]), type_text(types[min(1, len(types) - 1)])
        within = duration_text(Duration(Fraction(10 * _SECOND)))
        text = f"PATTERN SEQ({first} a, {second} b) WITHIN {within}"
        return (ExampleQuery(f"{types[0]}, then {types[min(1, len(types) - 1)]}", text),)
    first, second, name = type_text(pair.first), type_text(pair.second), attribute_text(key.name)
    within = duration_text(Duration(Fraction(_window(pair.microseconds))))
    joined = f"PATTERN SEQ({first} a, {second} b) WHERE {key.condition} WITHIN {within}"
    absent = f"PATTERN SEQ({first} a, !{second} b) WHERE {key.condition} WITHIN {within} RETURN a.{name}"
    return (
        ExampleQuery(f"{pair.first}, then {pair.second} of the same {key.name}", f"{joined} RETURN a.{name}"),
        ExampleQuery(f"how sure that is for each {key.name}", f"{joined} GROUP BY a.{name}"),
        ExampleQuery(f"{pair.first} without a {pair.second} within {within}", absent),
    )


def law_to_learn(
    keys: Sequence[SharedKey], examples: Sequence[ExampleQuery], events: int, uncertain: int
) -> tuple[str, str] | None:
    """The attribute by whose values a law of order can be learned, and a jitter that hides usual orders.

    None where few values join two types, or more than a tenth of the events are not known to the tick.
    """
    key = best_key(keys)
    if key is None or key.shared < _FEWEST_TAUGHT or not examples or _UNCERTAIN * uncertain > events:
        return None
    within = parse(examples[0].query).within
    return None if within is None else (key.name, duration_text(within))


def _is_among(name: str, ordered: Sequence[str]) -> bool:
    """Whether a name is one of these, of which there may be millions."""
    place = bisect_left(ordered, name)
    return place < len(ordered) and ordered[place] == name


def _joined_pair(inputs: EventInputs, types: Sequence[str], key: SharedKey) -> _Pair | None:
    """The two types that have most values of the key in common, mostly in one order."""
    tried = list(islice((name for name in types if _is_among(name, key.types)), _TYPES_TRIED))
    table = inputs.read([key.name], tried)
    frame = pl.DataFrame(
        {
            "event_type": pl.from_arrow(table.column("event_type").cast(pa.string())),
            "key": pl.from_arrow(table.column(key.name)),
            "at": pl.from_arrow(table.column("lower")),
        }
    ).drop_nulls("key")
    first = frame.group_by("key", "event_type").agg(pl.col("at").min())
    pairs = (
        first.join(first, on="key", suffix="_2")
        .filter(pl.col("event_type") != pl.col("event_type_2"))
        .with_columns((pl.col("at_2") - pl.col("at")).alias("delay"))
        .group_by("event_type", "event_type_2")
        .agg(
            pl.len().alias("keys"),
            (pl.col("delay") > 0).mean().alias("share"),
            pl.col("delay").filter(pl.col("delay") > 0).quantile(_USUAL).alias("usual"),
        )
        .filter((pl.col("share") >= _IN_ORDER) & pl.col("usual").is_not_null())
        .sort(["keys", "share", "event_type", "event_type_2"], descending=[True, True, False, False])
    )
    if not pairs.height:
        return None
    one, two, _, _, usual = pairs.row(0)
    return _Pair(one, two, usual * inputs.schema.time_unit.microseconds)


def _window(microseconds: float) -> int:
    return next((length for length in _LENGTHS if length >= _ROOM * microseconds), _LENGTHS[-1])
