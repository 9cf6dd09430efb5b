"""Types of attributes: what text looks like, and what becomes of types that have no column of their own."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.datasets import kinds
from cepctl.datasets.kinds import (
    Kind,
    beyond_floats,
    converted,
    kinds_of,
    kinds_of_field,
    simple,
    simple_field,
    unified,
)
from cepctl.io.contract.batches import INFERRED
from cepctl.schema import TICK_MAX, TICK_MIN


def looks_like(*texts: str | None) -> set[Kind]:
    column = pa.chunked_array([pa.array(texts, pa.string())])
    return set(kinds_of(pa.field("x", pa.string(), metadata=INFERRED), column))


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (("1", "-2", "0"), Kind.INT),
        (("1", "2.5"), Kind.FLOAT),
        (("1e3", ".5", "2."), Kind.FLOAT),
        (("nan", "1"), Kind.FLOAT),
        (("True", "false"), Kind.BOOL),
        (("9223372036854775807",), Kind.INT),
        (("9223372036854775808",), Kind.BIG),
        (("007", "1"), Kind.STRING),
        (("00.5",), Kind.STRING),
        (("+1",), Kind.STRING),
        (("1 ",), Kind.STRING),
        (("",), Kind.STRING),
        (("1", "true"), Kind.STRING),
    ],
)
def test_text_is_told_by_all_of_its_values(texts: tuple[str, ...], kind: Kind) -> None:
    assert looks_like(*texts, None) == {kind}


def test_nulls_alone_say_nothing() -> None:
    assert looks_like(None, None) == set()
    assert unified([]) is Kind.STRING


def test_text_of_a_reader_that_knows_is_text() -> None:
    column = pa.chunked_array([pa.array(["1"])])
    assert kinds_of(pa.field("x", pa.string()), column) == {Kind.STRING}


@pytest.mark.parametrize(
    ("texts", "kind", "values"),
    [
        (["1", None], Kind.INT, [1, None]),
        (["1", "2.5"], Kind.FLOAT, [1.0, 2.5]),
        (["TRUE", "false", None], Kind.BOOL, [True, False, None]),
    ],
)
def test_text_is_converted_to_what_it_looks_like(texts: list[str], kind: Kind, values: list[object]) -> None:
    assert converted(pa.chunked_array([pa.array(texts)]), kind).to_pylist() == values


@pytest.mark.parametrize(
    ("array", "values"),
    [
        (pa.array([1], pa.int8()), [1]),
        (pa.array([2**64 - 1], pa.uint64()), ["18446744073709551615"]),
        (pa.array([1.5], pa.float32()), [1.5]),
        (pa.array([Decimal("1.2")]), [1.2]),
        (pa.array([Decimal("12"), None]), [12, None]),
        (pa.array([Decimal(2**63), Decimal(2**63 + 1)]), [f"{2**63}", f"{2**63 + 1}"]),
        (pa.array(["a", "a"]).dictionary_encode(), ["a", "a"]),
        (pa.array(["a"], pa.large_string()), ["a"]),
        (pa.array([b"\xff", b"\xfe", b"a"]), ["\\xff", "\\xfe", "a"]),
        (pa.array([date(2024, 5, 1)]), ["2024-05-01"]),
        (pa.array([datetime(2024, 5, 1, tzinfo=UTC)]), ["2024-05-01T00:00:00+00:00"]),
        (pa.array([{"a": [1, None]}]), ['{"a": [1, null]}']),
        (
            pa.array([1, -1], pa.timestamp("ns")),
            ["1970-01-01T00:00:00.000000001", "1969-12-31T23:59:59.999999999"],
        ),
        (
            pa.array([1, 10**9], pa.timestamp("ns", "+01:00")),
            ["1970-01-01T01:00:00.000000001+01:00", "1970-01-01T01:00:01+01:00"],
        ),
        (pa.array([1, 1000], pa.time64("ns")), ["00:00:00.000000001", "00:00:00.000001"]),
        (
            pa.array([1, 1001, 1000], pa.duration("ns")),
            ["0:00:00.000000001", "0:00:00.000001001", "0:00:00.000001"],
        ),
        (pa.array([2**60, 5], pa.timestamp("us")), [f"{2**60} us", "1970-01-01T00:00:00.000005"]),
        (pa.array([2**30, 0], pa.date32()), [f"{2**30} days", "1970-01-01"]),
        (pa.array([[1], None], pa.list_(pa.timestamp("ns"))), ['["1970-01-01 00:00:00.000000001"]', None]),
        (pa.array([{"a": 2**60}], pa.struct([("a", pa.duration("s"))])), [f'{{"a": "{2**60}"}}']),
        (pa.array([None, None]), [None, None]),
    ],
)
def test_any_arrow_column_becomes_a_simple_one(array: Any, values: list[object]) -> None:
    column = simple(pa.chunked_array([array]))
    assert column.to_pylist() == values
    assert column.type in (pa.null(), pa.bool_(), pa.int64(), pa.float64(), pa.string())


@pytest.mark.parametrize("array", [pa.array([2**63], pa.uint64()), pa.array([Decimal(2**63)])])
def test_integers_beyond_64_bits_are_told(array: Any) -> None:
    values = simple(pa.chunked_array([array])).combine_chunks()
    assert kinds_of_field(simple_field("x", pa.field("x", array.type), values)) == {Kind.BIG}


@given(st.lists(st.integers(TICK_MIN, TICK_MAX) | st.integers(2**53 - 2, 2**53 + 2)))
def test_integers_that_no_float_holds_are_counted(numbers: list[int]) -> None:
    rounded = sum(int(float(number)) != number for number in numbers)
    assert beyond_floats(pa.chunked_array([numbers], pa.int64())) == rounded
    texts = [*map(str, numbers), "0.5", "some text", None]
    assert beyond_floats(pa.chunked_array([texts], pa.string())) == rounded
    larger = [str(16 * number) for number in numbers]
    beyond = sum(int(float(text)) != int(text) for text in larger)
    assert beyond_floats(pa.chunked_array([larger], pa.string())) == beyond


_NUMBERS = [
    "0",
    "-0",
    "7",
    "007",
    "-1",
    "1.",
    ".5",
    "1e3",
    "nan",
    "-INF",
    "Infinity",
    "TRUE",
    "false",
    "tru",
    "",
]
_ODD = [
    "7\n",
    " 7",
    "7 ",
    "+7",
    "0x1",
    "fal\u017fe",
    "\u0663",
    "9" * 5_000,
    f"-{'9' * 5_000}",
    "1_000",
    "1\v",
]
_LIMITS = [str(TICK_MAX), str(TICK_MAX + 1), str(TICK_MIN), str(TICK_MIN - 1)]


@given(
    st.lists(st.sampled_from([*_NUMBERS, *_ODD, *_LIMITS]) | st.from_regex(r"-?[0-9.eE]{1,6}"), max_size=4)
)
def test_a_few_texts_look_as_many_do(texts: list[str]) -> None:
    """A few are looked at by Python, many by RE2."""
    few = looks_like(*texts)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kinds, "_FEW", -1)
        assert looks_like(*texts) == few
