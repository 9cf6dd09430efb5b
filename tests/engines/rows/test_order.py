"""The one order of the rows, and signatures as unambiguous text."""

from __future__ import annotations

import math
import random

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cepctl.engines.rows.order import match_text, ordered

SIGNATURE = pa.list_(pa.list_(pa.string()))


def matches(*rows: tuple[list[list[str]], int, float]) -> pa.Table:
    """Matches from (signature, start, confidence)."""
    signatures, starts, confidences = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "signature": pa.array(signatures, SIGNATURE),
            "start": pa.array(starts, pa.int64()),
            "end": pa.array(starts, pa.int64()),
            "confidence": pa.array(confidences, pa.float64()),
        }
    )


def names(table: pa.Table) -> list[str]:
    found: list[str] = table.column("match").to_pylist()
    return found


def test_more_probable_rows_come_first_then_earlier_ones_then_by_name() -> None:
    rows = [([["d"]], 1, 0.5), ([["c"]], 9, 0.9), ([["b"]], 2, 0.5), ([["a"]], 2, 0.5)]
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        assert names(ordered(matches(*rows))) == ["c", "d", "a", "b"]


@given(st.integers(1, 999_999_999).map(lambda parts: parts / 1_000_000_000))
@example(0.94)
def test_confidences_that_differ_by_rounding_alone_count_as_equal(decimal: float) -> None:
    """An engine or an order may be off by some 1e-16: that must not decide the order of rows."""
    above, below = (math.nextafter(decimal, end) for end in (1.0, 0.0))
    rows = matches(([["later"]], 5, above), ([["first"]], 1, decimal), ([["second"]], 2, below))
    assert names(ordered(rows)) == ["first", "second", "later"]
    assert ordered(rows).column("confidence").to_pylist() == [decimal, below, above]


def test_names_are_ordered_by_code_point() -> None:
    rows = [([[name]], 0, 0.5) for name in ("é", "b", "Z", "a", "\U0001f600", "\uffff")]
    assert names(ordered(matches(*rows))) == ["Z", "a", "b", "é", "\uffff", "\U0001f600"]


@pytest.mark.parametrize(("top", "kept"), [(1, ["b"]), (2, ["b", "a"]), (9, ["b", "a"]), (None, ["b", "a"])])
def test_the_first_rows_can_be_kept(top: int | None, kept: list[str]) -> None:
    assert names(ordered(matches(([["a"]], 0, 0.1), ([["b"]], 0, 0.2)), top)) == kept


def test_no_rows_have_the_same_columns() -> None:
    empty = ordered(matches())
    assert empty.schema == ordered(matches(([["a"]], 0, 0.1))).schema


def test_separators_inside_ids_are_encoded() -> None:
    nested = [[["a 1"], ["b+1", "b%2"]], [["a", "1"], ["b%2B1"]], [["plain"]]]
    assert match_text(pa.array(nested, SIGNATURE)).to_pylist() == [
        "a%201 b%2B1+b%252", "a+1 b%252B1", "plain",
    ]  # fmt: skip


def test_different_signatures_have_different_texts() -> None:
    nested = [
        [["a", "b"], ["c"]],
        [["a"], ["b", "c"]],
        [["a+b"], ["c"]],
        [["a b"], ["c"]],
        [["a"], ["b"], ["c"]],
    ]
    texts = match_text(pa.array(nested, SIGNATURE)).to_pylist()
    assert len(set(texts)) == len(nested)


def test_slices_and_chunks_are_read_at_their_place() -> None:
    array = pa.array([[["a"], ["b", "c"]], [["d"], ["e"]], [["f", "g"], ["h"]]], SIGNATURE)
    assert match_text(array.slice(1)).to_pylist() == ["d e", "f+g h"]
    chunked = pa.chunked_array([array.slice(0, 1), array.slice(2), array.slice(1, 1)])
    assert match_text(chunked).to_pylist() == ["a b+c", "f+g h", "d e"]
