"""A number whose exponent would take minutes to write down is refused at once."""

from __future__ import annotations

import pytest

from cepctl.errors import CepctlError, UncertaintyModelError
from cepctl.io.clocks.decimals import nanoseconds
from cepctl.language.parser import parse
from cepctl.library.clocks import parts_per_million
from cepctl.numeric.exact_numbers import exact_number
from cepctl.schema import parse_duration

HUGE = "1E+2147483648"


@pytest.mark.parametrize(
    "query",
    [
        f"PATTERN SEQ(A a, B b) WITHIN {HUGE} ticks",
        f"PATTERN SEQ(A a, B b) WITHIN INTERVAL '{HUGE}' SECOND",
        f"PATTERN SEQ(A a, B b) WITHIN 5 ticks CONFIDENCE >= {HUGE}%",
        f"PATTERN SEQ(A a, B b) WITHIN 5 ticks TOLERANCE {HUGE} ticks",
        f"PATTERN SEQ(A a, B b) WHERE a.x > {HUGE} WITHIN 5 ticks",
    ],
)
def test_a_query_with_a_number_without_end_is_refused_at_once(query: str) -> None:
    with pytest.raises(CepctlError):
        parse(query)


def test_a_clock_log_with_a_number_without_end_has_no_number_there() -> None:
    assert nanoseconds([HUGE, "1e-99999999", "1.5"]).known.tolist() == [False, False, True]


@pytest.mark.parametrize("text", [HUGE, "1e-2147483648", "1_0E99999", "9" * 5_000, "1/0", "nothing"])
def test_what_is_no_number_to_write_down_is_none(text: str) -> None:
    with pytest.raises(ValueError, match=r"digits|divides|Invalid"):
        exact_number(text)


@pytest.mark.parametrize(
    "length", [f"{'9' * 5_000} s", f"-{'9' * 5_000} ms", f"0.{'9' * 5_000} s", "9" * 5_000]
)
def test_a_length_of_time_without_end_is_refused_in_a_line(length: str) -> None:
    with pytest.raises(UncertaintyModelError) as refused:
        parse_duration(length)
    assert len(str(refused.value)) < 300


def test_a_drift_without_end_is_refused() -> None:
    with pytest.raises(CepctlError, match="is not a drift"):
        parts_per_million(f"{'9' * 5_000} ppm", least=1)
