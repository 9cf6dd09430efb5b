"""Rows of tables are told apart in their order, whether they are sorted as numbers or as rows."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cepctl.engines.columns import numbering
from cepctl.engines.columns.numbering import distinct_rows, rows_alike

VALUES = [
    st.integers(-2, 2),
    st.booleans(),
    st.sampled_from([-(2**63), 2**63 - 1, 0, 5]),
    st.sampled_from([0.25, 0.5]),
]


@st.composite
def tables(draw: st.DrawFn) -> list[list[object]]:
    width, values = draw(st.integers(1, 4)), draw(st.sampled_from(VALUES))
    return draw(st.lists(st.lists(values, min_size=width, max_size=width), min_size=1, max_size=6))


@given(tables(), st.sampled_from([0, 1_000]))
def test_rows_are_told_apart_in_their_order(table: list[list[object]], many: int) -> None:
    expected = sorted(map(list, set(map(tuple, table))))
    with patch.object(numbering, "_MANY_ROWS", many):
        first, which = distinct_rows(np.array(table))
        alike = [(each.tolist(), rows.tolist()) for each, rows in rows_alike(np.array(table))]
    assert first.tolist() == [table.index(each) for each in expected]
    assert which.tolist() == [expected.index(each) for each in table]
    assert alike == [(each, [at for at, row in enumerate(table) if row == each]) for each in expected]


def test_no_rows_differ_where_there_are_none_and_no_columns_where_there_are_some() -> None:
    assert list(rows_alike(np.zeros((0, 2), dtype=np.int64))) == []
    ((_, rows),) = rows_alike(np.zeros((3, 0), dtype=bool))
    assert rows.tolist() == [0, 1, 2]
