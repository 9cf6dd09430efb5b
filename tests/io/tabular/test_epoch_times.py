"""Numbers in columns of times: ticks, or seconds to nanoseconds since 1970, told by their size."""

from __future__ import annotations

import datetime as dt
import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cepctl
from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import BELOW_NANOSECONDS, NANOS, SPAN, ReadOptions, ReadReport
from cepctl.io.tabular.epoch_times import counts, integers_of_texts
from cepctl.io.tabular.files import FORMATS
from cepctl.schema import TimeUnit

BY_NAME = {known.name: known.reader for known in FORMATS}
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
NAMES = {"s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
NOON = dt.datetime(2024, 5, 1, 12, tzinfo=dt.UTC)
MISFIT = "time is a number of another size than the first of its column; --epoch-unit names the unit of all"


def read(
    name: str, data: bytes | str, options: ReadOptions | None = None
) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    stream = io.BytesIO(data.encode() if isinstance(data, str) else data)
    batches = list(BY_NAME[name].read(stream, "f", options or ReadOptions(), report))
    return [row for batch in batches for row in batch.to_pylist()], report


def column(*times: object, **options: Any) -> tuple[list[dt.datetime], ReadReport]:
    """The times of a CSV file whose column `time` holds these."""
    text = "event_type,time\n" + "".join(f"A,{time}\n" for time in times)
    rows, report = read("csv", text, ReadOptions(**options))
    return [row["time"] for row in rows], report


def in_form(name: str, numbers: list[int]) -> bytes:
    if name == "parquet":
        sink = io.BytesIO()
        pq.write_table(pa.table({"event_type": ["A"] * len(numbers), "time": numbers}), sink)
        return sink.getvalue()
    if name == "jsonl":
        return "".join(json.dumps({"event_type": "A", "time": each}) + "\n" for each in numbers).encode()
    return ("event_type,time\n" + "".join(f"A,{each}\n" for each in numbers)).encode()


@pytest.mark.parametrize("name", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("unit", PER_SECOND)
def test_the_unit_is_told_from_the_size_and_said_once(name: str, unit: str) -> None:
    seconds = [int(NOON.timestamp()) + number for number in range(3)]
    rows, report = read(name, in_form(name, [each * PER_SECOND[unit] for each in seconds]))
    assert [row["time"] for row in rows] == [NOON + dt.timedelta(seconds=number) for number in range(3)]
    note = (
        f"numbers in the column 'time' read as {NAMES[unit]} since 1970: {{:,}}; --epoch-unit names another"
    )
    assert +report.notes == {note: 3}
    assert report.time_forms == {"time numbers": unit}


@given(
    st.datetimes(dt.datetime(1971, 1, 1), dt.datetime(2199, 12, 31)),
    st.sampled_from([*PER_SECOND]),
)
def test_from_1971_to_2199_no_unit_is_taken_for_another(moment: dt.datetime, unit: str) -> None:
    moment = moment.replace(tzinfo=dt.UTC)
    micros = (moment - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)) // dt.timedelta(microseconds=1)
    number = micros * PER_SECOND[unit] // 10**6
    (time,), _ = column(1_714_564_800 * PER_SECOND[unit], number)[0][1:], None
    assert moment - time < dt.timedelta(seconds=1)


@pytest.mark.parametrize(
    ("written", "micros"),
    [
        ("1714564800.5", 500_000),
        ("1714564800.123456", 123_456),
        ("1714564800123.25", 123_250),
        (" +1714564800. ", 0),
        ("1714564800000001.25", 1),
        ("1714564800000001999", 1),
    ],
)
def test_fractions_are_kept_to_the_microsecond_in_text_and_in_numbers(written: str, micros: int) -> None:
    expected = [NOON + dt.timedelta(microseconds=micros)]
    assert column(written)[0] == expected
    for value in (written.strip().lstrip("+").rstrip("."), json.dumps(written)):
        rows, _ = read("jsonl", f'{{"event_type": "A", "time": {value}}}\n')
        assert [row["time"] for row in rows] == expected


@pytest.mark.parametrize(
    ("written", "micros", "nanos"),
    [
        ("1714564800.1234567", 123_456, 700),
        ("1714564800.123456789", 123_456, 789),
        ("1714564800123.456789", 123_456, 789),
        ("1714564800123456.789", 123_456, 789),
        ("1714564800123456789", 123_456, 789),
        ("1714564800.1234567899", 123_456, 789),
    ],
)
def test_numbers_in_text_are_kept_to_the_nanosecond(written: str, micros: int, nanos: int) -> None:
    rows, report = read("csv", f"event_type,time\nA,{written}\n")
    assert (rows[0]["time"], rows[0][NANOS]) == (NOON + dt.timedelta(microseconds=micros), nanos)
    assert report.notes[BELOW_NANOSECONDS] == written.endswith("7899")


def test_floats_are_rounded_to_microseconds_since_their_last_digits_mean_nothing() -> None:
    rows, _ = read("jsonl", '{"event_type": "A", "time": 1714564800.123456789}\n')
    assert rows[0]["time"] == NOON + dt.timedelta(microseconds=123_457)
    assert NANOS not in rows[0]


def test_numbers_of_json_keep_their_digits_beside_values_of_other_types() -> None:
    times = ["1714564800000001", "1714564800000002.0", '"1714564800000003"', '"?"']
    text = "".join(f'{{"event_type": "A", "time": {time}}}\n' for time in times)
    rows, report = read("jsonl", text)
    assert [(row["time"] - NOON).microseconds for row in rows] == [1, 2, 3]
    assert [reject.cause for reject in report.rejects] == ["no time"]


def test_small_numbers_are_ticks_of_the_time_unit_and_that_is_said() -> None:
    times, report = column(0, 1, -5, 31_535_999, time_unit=TimeUnit(1_000_000))
    assert [time.timestamp() for time in times] == [0, 1, -5, 31_535_999]
    note = "small numbers in the column 'time' read as ticks of 1 s: {:,}; --epoch-unit names a unit"
    assert +report.notes == {note: 4}


def test_a_number_of_another_size_than_the_first_is_rejected_as_that() -> None:
    first = int(NOON.timestamp())
    times, report = column(first, 0, first * 1000, "2024-05-01T12:00:01Z", first + 2, 0.5)
    assert times == [NOON + dt.timedelta(seconds=number) for number in range(3)]
    assert [(reject.line, reject.cause) for reject in report.rejects] == [
        (3, MISFIT),
        (4, MISFIT),
        (7, MISFIT),
    ]


@pytest.mark.parametrize("number", ["31536000000000000000000", "-9223372036854775809"])
def test_a_number_beyond_all_units_decides_nothing(number: str) -> None:
    times, report = column(number, 5)
    assert (len(times), [reject.line for reject in report.rejects]) == (1, [2])
    assert report.time_forms == {"time numbers": "ticks"}


@pytest.mark.parametrize("number", [31_535_999_999, 7_258_118_400, -31_536_000, "0.5", 10**13])
def test_a_first_number_of_no_telling_size_is_refused_with_the_option(number: object) -> None:
    with pytest.raises(
        LogFormatError,
        match=r"f:2: the time .* has a size that does not tell its unit; .* --epoch-unit s, ms, us or ns",
    ):
        column(number)


@pytest.mark.parametrize(
    ("digits", "form"),
    [
        (20240501, "%Y%m%d"),
        (2024050112, "%Y%m%d%H"),
        (202405011230, "%Y%m%d%H%M"),
        (20240501123000, "%Y%m%d%H%M%S"),
    ],
)
def test_a_date_without_separators_is_taken_for_no_number(digits: int, form: str) -> None:
    with pytest.raises(LogFormatError, match=f"--time-format '{form}'"):
        column(digits)
    (time,), _ = column(digits, time_format=form)
    assert time.date() == NOON.date()
    rows, _ = read("jsonl", f'{{"event_type":"A","time":{digits}}}\n', ReadOptions(time_format=form))
    assert rows[0]["time"] == time


def test_the_option_decides_whatever_the_size() -> None:
    times, report = column(5, 1_714_564_800, "1.25", epoch_unit="s")
    assert [time.timestamp() for time in times] == [5, 1_714_564_800, 1.25]
    assert +report.notes == {}
    times, report = column(5, 2**63, epoch_unit="s")
    assert len(times) == 1
    assert [reject.cause.split(",")[0] for reject in report.rejects] == ["beyond the range of ticks"]


@pytest.mark.parametrize("given", ["1,5,", ",,1:5:1"])
def test_where_a_record_gives_ticks_its_times_are_ticks(given: str) -> None:
    text = f"event_type,lower,upper,pmf,time,end_time\nA,{given},1714564800,1714564801\n"
    (row,), report = read("csv", text)
    assert (row["lower"], row["upper"]) == (1, 5)
    assert row["time"] == dt.datetime(1970, 1, 20, 20, 16, 4, 800_000, dt.UTC)
    assert +report.notes == {}
    (row,), _ = read("csv", text, ReadOptions(epoch_unit="s"))
    assert (row["lower"], row["upper"], row["time"]) == (1, 5, NOON)


def test_each_column_has_a_unit_of_its_own_and_its_own_name() -> None:
    text = "event_type,from,to\nA,1714564800,1714564801000\nA,1714564802,1714564803\n"
    options = ReadOptions(columns=(("time", "from"), ("end_time", "to")))
    (row,), report = read("csv", text, options)
    assert (row["time"], row["end_time"]) == (NOON, NOON + dt.timedelta(seconds=1))
    assert report.time_forms == {"time numbers": "s", "end_time numbers": "ms"}
    assert [note.partition(" read")[0] for note in +report.notes] == [
        "numbers in the column 'from'",
        "numbers in the column 'to'",
    ]
    assert [reject.cause for reject in report.rejects] == ["end_" + MISFIT]


def test_what_an_earlier_part_of_a_file_has_told_holds() -> None:
    report = ReadReport(time_forms={"time numbers": "s"})
    stream = io.BytesIO(b"event_type,time\nA,5\nA,1714564800\n")
    rows = [
        row for batch in BY_NAME["csv"].read(stream, "f", ReadOptions(), report) for row in batch.to_pylist()
    ]
    assert [row["time"] for row in rows] == [NOON]
    assert [reject.line for reject in report.rejects] == [2]


@pytest.mark.parametrize(
    ("texts", "ticks"),
    [
        (["5", "-7", "007", "-0"], [5, -7, 7, 0]),
        (["9223372036854775808", "5"], [2**63 - 1, 5]),
        (["+5", " 6 ", "7.0"], [5, 6, 7]),
        (["5", "0x1F"], [5, None]),
        (["0X1F"], [None]),
    ],
)
def test_ticks_in_text_are_decimal_numbers(texts: list[str], ticks: list[int | None]) -> None:
    numbers = counts(pa.array(texts))
    whole = (numbers.sign * numbers.whole).tolist()
    assert [number if known else None for number, known in zip(whole, numbers.known, strict=True)] == ticks


# --- numbers that are coarser than they look ------------------------------------------------


def widths(rows: list[dict[str, Any]]) -> list[int | None]:
    """Nanoseconds that the time of each may be, None where it is exact."""
    spans = [row.get(SPAN) for row in rows]
    return [
        span and (span[0]["hi"] - span[0]["lo"]) * 1_000 + span[0]["hi_nanos"] - span[0]["lo_nanos"] + 1
        for span in spans
    ]


def test_nanoseconds_as_floats_are_as_wide_as_floats_are_apart() -> None:
    times = [1.714564800e18, 1.714564800e18 + 35]
    text = "".join(f'{{"event_type": "A", "time": {time!r}}}\n' for time in times)
    rows, report = read("jsonl", text)
    assert widths(rows) == [256, 256]
    assert rows[0][SPAN] == rows[1][SPAN], "the same float"
    (note,) = (text for text, count in report.notes.items() if count == 2 and "as wide as" in text)
    assert "'time'" in note


def test_floats_of_32_bits_are_as_wide_as_these_are_apart() -> None:
    table = pa.table({"event_type": ["A"], "time": pa.array([1_714_564_800.0], pa.float32())})
    stream = io.BytesIO()
    pq.write_table(table, stream)
    rows, _ = read("parquet", stream.getvalue())
    assert widths(rows) == [128 * 10**9]


@pytest.mark.parametrize(
    ("written", "width"),
    [("1.70e9", 10**16), ("1.714564800e+09", 10**9), ("1.714564800123456E9", 1_000), ("1714564800.5", None)],
)
def test_a_number_with_a_power_of_ten_is_as_wide_as_its_last_digit(written: str, width: int | None) -> None:
    rows, report = read("csv", f"event_type,time\nA,{written}\n")
    assert widths(rows) == [width]
    assert not report.rejects


def test_events_of_one_float_have_no_order(tmp_path: Path) -> None:
    lines = [
        f'{{"event_type": "{name}", "time": {time!r}}}\n'
        for name, time in (("A", 1.7e18), ("B", 1.7e18 + 35))
    ]
    (tmp_path / "log.jsonl").write_text("".join(lines))
    cepctl.ingest(tmp_path / "log.jsonl", tmp_path / "events")
    (row,) = cepctl.match("PATTERN SEQ(A a, B b)", tmp_path / "events").head(9).to_pylist()
    assert row["confidence"] == pytest.approx(0.5, abs=0.07)


@given(st.lists(st.sampled_from(["12", "7", "0x1F", "1.5", "later", None]), min_size=60, max_size=200))
def test_texts_are_integers_only_where_all_of_them_are(texts: list[str | None]) -> None:
    found = integers_of_texts(pa.array(texts, pa.string()))
    if all(text is None or text.isdigit() for text in texts):
        assert found is not None
        assert found.to_pylist() == [None if text is None else int(text) for text in texts]
    else:
        assert found is None


def test_a_text_that_comes_late_is_seen_as_well() -> None:
    assert integers_of_texts(pa.array([*map(str, range(1_000)), "x"])) is None
