"""Clocks in JSON of Prometheus, in plain CSV, and logs that are refused by name."""

from __future__ import annotations

import io
import json
from fractions import Fraction

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import LogFormatError
from cepctl.io.clocks.contract import SYNCHRONISED, UNSYNCHRONISED, Account
from cepctl.io.clocks.decimals import nanoseconds
from cepctl.io.clocks.kinds import clock_log
from cepctl.io.contract.reader import ReadOptions

MS = 1_000_000


def read(text: str) -> tuple[pl.DataFrame, Account]:
    log = clock_log(text.encode())
    assert log is not None
    account = Account()
    batches = list(log.read(io.BytesIO(text.encode()), "log", ReadOptions(), account))
    return pl.concat([batch.rows for batch in batches]), account


def answer(**metrics: list[list[object]]) -> str:
    """An answer of Prometheus for one instance: samples by what follows `node_timex_` in their metric."""
    result = [
        {"metric": {"__name__": f"node_timex_{name}", "instance": "node07:9100"}, "values": values}
        for name, values in metrics.items()
    ]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


def test_prometheus_bounds_a_clock_by_the_largest_error_and_the_offset() -> None:
    rows, account = read(
        answer(
            offset_seconds=[[1772442012, "-0.002"], [1772442027.5, "0.001"], [1772442042, "0.001"]],
            maxerror_seconds=[[1772442012, "0.0200"], [1772442027.5, "0.0275"], [1772442042, "16"]],
            estimated_error_seconds=[[1772442012, "0.0005"]],
            sync_status=[[1772442012, "1"], [1772442027.5, "0"], [1772442042, "1"]],
        )
    )
    assert rows.select("host", "time", "ahead", "sd", "around", "state").rows() == [
        ("node07", 1772442012 * 10**9, 0, 500_000, 22 * MS, SYNCHRONISED),
        ("node07", 1772442027_500_000_000, 0, None, 28_500_000, UNSYNCHRONISED),
        ("node07", 1772442042 * 10**9, 0, None, 16_001 * MS, UNSYNCHRONISED),
    ]
    assert not account.not_understood


def test_an_offset_beyond_the_largest_error_by_a_thousand_times_is_never_a_bound() -> None:
    """Guests of KVM have shown 2^32 ns."""
    rows, account = read(
        answer(
            offset_seconds=[[1, "4.294967296"], [2, "NaN"], [3, "0.001"], [4, "0.001"]],
            maxerror_seconds=[[1, "0.0042"], [2, "0.02"], [3, "0"]],
        )
    )
    assert len(rows) == 0
    assert sorted(line for lines in account.lines.values() for line in lines) == [1, 2, 3, 4]


def test_half_an_answer_of_prometheus_is_refused() -> None:
    text = answer(offset_seconds=[[1, "0.1"]], maxerror_seconds=[[1, "0.2"]])
    with pytest.raises(LogFormatError, match="fetch it again"):
        read(text[:-10])


def test_plain_rows_have_seconds_or_written_times() -> None:
    rows, account = read(
        "host,time,ahead,bound,sd\n"
        "n1,1772442012.000000001,0.0126,0.034,0.0009\n"
        "n2:22,2026-03-02T09:00:12Z,-1e-3,,\n"
        "n3,1772442012,0,0,\n"
        ",1772442012,0,0.1,\n"
        "n4,yesterday,0,0.1,\n"
        "n5,1772442012,0\n"
        "n6,1772442012,0.5,0.1,0.2"
    )
    assert rows.select("host", "time", "ahead", "around", "sd", "line").rows() == [
        ("n1", 1772442012_000_000_001, 12_600_000, 34 * MS, 900_000, 2),
        ("n2", 1772442012_000_000_000, -MS, None, None, 3),
        ("n6", 1772442012_000_000_000, 500 * MS, 100 * MS, 200 * MS, 8),
    ]
    assert sorted(line for lines in account.lines.values() for line in lines) == [4, 5, 6, 7]


@pytest.mark.parametrize("told", ['"timestamp":"2026-08-24T09:00:00Z"', '"seq":3'])
def test_clockbound_is_refused_by_its_version(told: str) -> None:
    with pytest.raises(LogFormatError, match=r"ClockBound's sync.log of version 7 .* host,time,ahead,bound"):
        read('{"event":"sync",' + told + ',"sync":{"offset":0},"version":7}\n')


def test_offsets_with_the_time_since_the_start_alone_are_refused() -> None:
    with pytest.raises(LogFormatError, match=r"line 1: an offset without the prefix .* short-iso"):
        read("ptp4l[1306.933]: master offset -1240 s2 freq -6060 path delay 233\n")


@pytest.mark.parametrize("text", ["", "hello\n", '{"a": 1}\n', "a,b\n1,2\n"])
def test_other_files_are_no_logs_of_clocks(text: str) -> None:
    assert clock_log(text.encode()) is None


numbers = st.one_of(
    st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**8), max_value=10**8).map(str),
    st.floats(-1e6, 1e6).map(lambda value: f"{value:.3e}"),
    st.integers(-(10**8), 10**8).map(str),
    st.sampled_from(["nan", "", "1.2.3", "0x10", "inf", "1e-30", "+5", "-0.0000000005"]),
)


@given(st.lists(numbers, max_size=8))
def test_decimal_texts_become_nanoseconds_without_a_binary_fraction(texts: list[str]) -> None:
    found = nanoseconds(texts)
    for at, text in enumerate(texts):
        try:
            exact = Fraction(text) * 10**9
        except ValueError:
            assert not found.known[at]
            continue
        assert found.known[at]
        assert found.up[at] == -(-exact // 1)
        assert abs(found.nearest[at] - exact) <= Fraction(1, 2)
