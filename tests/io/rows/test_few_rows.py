"""A few rows are written without Polars, byte for byte as Polars writes them."""

from __future__ import annotations

import math

import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.io.rows.few_rows import few_rows

TEXTS = st.none() | st.text("aé 0-.#'=|\\;", max_size=4)
NUMBERS = st.none() | st.floats() | st.sampled_from([1e-4, 0.1, 1 / 3, 1.0, 999999999999999.9, -0.5])


def by_polars(rows: pa.Table, separator: str, *, header: bool) -> bytes:
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    return frame.write_csv(include_header=header, separator=separator).encode()


@settings(max_examples=60)
@given(st.lists(st.tuples(TEXTS, NUMBERS, st.none() | st.integers(-(2**63), 2**63 - 1)), max_size=3))
def test_few_rows_are_those_of_polars(cells: list[tuple[str | None, float | None, int | None]]) -> None:
    columns = list(zip(*cells, strict=True)) or [(), (), ()]
    types = (pa.string(), pa.float64(), pa.int64())
    rows = pa.table(
        {name: pa.array(each, kind) for name, each, kind in zip("tfi", columns, types, strict=True)}
    )
    for separator in (",", "\t"):
        for header in (False, True):
            found = few_rows(rows, separator, header=header)
            assert found is None or found == by_polars(rows, separator, header=header)


def test_a_probe_s_rows_are_plain() -> None:
    rows = pa.table({"start": ["2024-05-25T19:42:22.679Z"], "at_most": [None], "about": [1.25]})
    rows = rows.set_column(1, "at_most", pa.array([None], pa.int64()))
    assert few_rows(rows, ",", header=True) == b"start,at_most,about\n2024-05-25T19:42:22.679Z,,1.25\n"


@pytest.mark.parametrize("cell", ["a,b", 'a"b', "a\nb", "a\rb", "a\tb", "", 1e-9, 1e300, math.nan, True, [1]])
def test_what_is_not_plain_is_left_to_polars(cell: object) -> None:
    assert few_rows(pa.table({"x": pa.array([cell])}), ",", header=True) is None
