"""Values numbered in their order, whichever way is quickest."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.columns.numbering import Numbering, numbers_of, order_of, starts_of

CLOSE, FAR = st.integers(-3, 9), st.integers(-(2**63), 2**63 - 1)


def in_order(values: list[object]) -> list[int]:
    """The numbers, by sorting what differs."""
    place = {value: number for number, value in enumerate(sorted(set(values) - {None}))}  # type: ignore[type-var]
    return [-1 if value is None else place[value] for value in values]


@given(
    st.sampled_from([CLOSE, FAR, st.text(max_size=2), st.booleans(), st.floats(allow_nan=False).filter(bool)])
    .map(lambda each: st.lists(st.none() | each, max_size=12))
    .flatmap(lambda lists: lists)
)
def test_values_are_numbered_in_their_order_and_nulls_are_not(values: list[object]) -> None:
    assert numbers_of(pl.Series(values)).tolist() == in_order(values)


@pytest.mark.parametrize(
    "values",
    [
        pl.Series([-128, 127, None, -128], dtype=pl.Int8),
        pl.Series([2**64 - 1, 0, None, 2**64 - 2], dtype=pl.UInt64),
        pl.Series([None, None], dtype=pl.Int32),
        pl.Series([None, None], dtype=pl.String),
        pl.Series([], dtype=pl.Int64),
    ],
)
def test_types_reach_their_ends(values: pl.Series) -> None:
    assert numbers_of(values).tolist() == in_order(values.to_list())


def test_zeros_of_both_signs_are_one_number() -> None:
    assert numbers_of(pl.Series([0.0, -0.0, 1.5])).tolist() == [0, 0, 1]


keys = st.lists(st.integers(0, 9) | st.integers(0, 10**12), max_size=12)


@given(keys, keys, st.data())
def test_what_is_numbered_is_found_and_nothing_else(
    known: list[int], asked: list[int], data: st.DataObject
) -> None:
    usable = data.draw(st.lists(st.booleans(), min_size=len(known), max_size=len(known)))
    numbering, numbers = Numbering.of(np.array(known, dtype=np.int64), np.array(usable, dtype=bool))
    distinct = sorted({value for value, used in zip(known, usable, strict=True) if used})
    place = {value: number for number, value in enumerate(distinct)}
    assert numbers.tolist() == [
        place[value] if used else -1 for value, used in zip(known, usable, strict=True)
    ]
    assert numbering.find(np.array([*asked, -1], dtype=np.int64)).tolist() == [
        *(place.get(value, -1) for value in asked),
        -1,
    ]


@given(st.lists(st.tuples(st.integers(0, 3) | st.just(2**62), st.integers(0, 5)), max_size=12), st.booleans())
def test_rows_are_ordered_by_number_then_tick_then_place(rows: list[tuple[int, int]], late: bool) -> None:
    if not late:
        rows.sort(key=lambda row: row[1])
    number, tick = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
    assert order_of(number, tick).tolist() == np.lexsort((tick, number)).tolist()


def test_rows_of_a_number_begin_where_those_of_the_one_before_end() -> None:
    assert starts_of(np.array([0, 0, 2, 3])).tolist() == [0, 2, 2, 3, 4]
    assert starts_of(np.zeros(0, dtype=np.int64)).tolist() == [0, 0]
