"""Columns of times of one shape: what is read is what one time alone is."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.io.contract.local_instants import instants_of_shaped
from cepctl.io.contract.shaped_times import shaped_times
from cepctl.io.contract.times import read_time

_TEXTS = st.builds(
    "{}-{:02}-{:02}{}{:02}:{:02}:{:02}{}{}".format,
    st.sampled_from(["1899", "1969", "2026", "2024", "9001", "202", "20x6"]),
    st.integers(0, 13),
    st.integers(0, 32),
    st.sampled_from(["T", " ", "t"]),
    st.integers(0, 25),
    st.integers(0, 61),
    st.integers(0, 61),
    st.sampled_from(["", ".2", ",25", ".123456", ".1234567", ".123456789", ".1234567891", "."]),
    st.sampled_from(["", "Z", "+02:00", "-0130", "+24:00", "+02:60", "+02", " Z", " EST", "x"]),
)


@given(
    texts=st.lists(_TEXTS, min_size=1, max_size=8), zone=st.sampled_from([None, ZoneInfo("Europe/Berlin")])
)
def test_what_is_read_of_many_is_what_each_is_alone(texts: list[str], zone: ZoneInfo | None) -> None:
    found = shaped_times(pa.array(texts))
    shown = instants_of_shaped(found, zone)
    for row, text in enumerate(texts):
        time = read_time(text, zone)
        if not found.read[row]:
            continue
        assert time is not None
        assert (time.problem or "") == shown.problems[row]
        if not time.problem:
            told = (shown.micros[row], shown.zone_seconds[row], shown.fold[row], found.nanos[row])
            assert told == (time.micros, time.zone_seconds, time.fold, time.nanos)
            assert (time.zone_given, time.cut) == (found.zoned[row], False)
            assert time.grain == (0 if found.digits[row] else 1_000_000)


def test_times_as_most_logs_write_them_are_read() -> None:
    texts = ["2026-06-14T08:15:02Z", None, "2026-06-14T08:15:02.250+02:00", "2026-06-14 08:15:02,250"] * 2
    assert shaped_times(pa.array(texts)).read.tolist() == [True, False, True, True] * 2


def test_times_of_one_length_may_be_of_several_shapes() -> None:
    found = shaped_times(
        pa.array(["2026-06-14T08:15:02+0200", "2026-06-14T06:15:02.000Z", "not a time, but as long"])
    )
    assert found.read.tolist() == [True, True, False]
    assert found.micros.tolist()[:2] == [1_781_417_702_000_000] * 2


@pytest.mark.parametrize("text", ["Jun 14 08:15:03", "Jun  4 08:15:03", "Feb 29 08:15:03.25"])
def test_a_shape_without_a_year_tells_day_and_clock(text: str) -> None:
    found = shaped_times(pa.array([text]), "bbb ee HH:MM:SS")
    assert found.read.tolist() == [True]
    month = ["Feb", "Jun"].index(text[:3]) * 4 + 2
    assert (found.month[0], found.day[0]) == (month, int(text[4:6]))
    assert found.local[0] // 1_000_000 == 8 * 3600 + 15 * 60 + 3


@pytest.mark.parametrize("text", ["jun 14 08:15:03", "Jun 00 08:15:03", "Jun 31 08:15:03", "Jun 14 24:00:00"])
def test_what_no_calendar_has_is_not_read(text: str) -> None:
    assert shaped_times(pa.array([text]), "bbb ee HH:MM:SS").read.tolist() == [False]
