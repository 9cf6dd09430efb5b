"""Plain event files: what becomes an event, what is rejected, and with which line."""

from __future__ import annotations

import datetime as dt
import io
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import EventSchemaError, LogFormatError
from cepctl.io.contract.batches import INFERRED
from cepctl.io.contract.reader import BEYOND_TIME, FOLD, NO_ZONE, TWICE, Reader, ReadOptions, ReadReport
from cepctl.io.tabular.files import FORMATS
from cepctl.schema import META_TIME_UNIT, TimeUnit

BY_NAME: dict[str, Reader] = {known.name: known.reader for known in FORMATS}


def read(
    name: str, data: bytes | str, options: ReadOptions | None = None
) -> tuple[list[dict[str, Any]], ReadReport]:
    report = ReadReport()
    stream = io.BytesIO(data.encode() if isinstance(data, str) else data)
    batches = list(BY_NAME[name].read(stream, "f", options or ReadOptions(), report))
    return [row for batch in batches for row in batch.to_pylist()], report


def rejects(report: ReadReport) -> list[tuple[int | None, str]]:
    return sorted((reject.line, reject.cause) for reject in report.rejects)


def parquet(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink)
    return sink.getvalue()


def test_integers_are_ticks_and_the_rest_are_attributes() -> None:
    rows, report = read("csv", "event_type,event_id,lower,upper,task\nA,e1,1,5,t7\n")
    assert report.rejects == []
    assert [(r["event_type"], r["event_id"], r["lower"], r["upper"], r["task"]) for r in rows] == [
        ("A", "e1", 1, 5, "t7")
    ]
    assert rows[0]["time"] is None


def test_anything_else_is_iso_8601_and_counted_in_the_time_unit() -> None:
    seconds = ReadOptions(time_unit=TimeUnit(1_000_000))
    rows, _ = read(
        "csv", "event_type,lower,upper\nA,1970-01-01T00:01:00Z,1970-01-01 01:02:00.9+01:00\n", seconds
    )
    assert (rows[0]["lower"], rows[0]["upper"]) == (60, 120)


def test_time_keeps_the_offset_of_the_zone_it_was_written_in() -> None:
    rows, _ = read("csv", "event_type,time\nA,2024-05-01T10:00:00+05:30\n")
    assert rows[0]["time"].isoformat() == "2024-05-01T04:30:00+00:00"
    assert rows[0]["zone_seconds"] == 19_800
    assert rows[0]["lower"] is None


def test_a_time_without_zone_is_in_the_zone_of_the_options_or_utc_with_a_warning() -> None:
    data = "event_type,time\nA,2024-07-01T12:00:00\n"
    rows, report = read("csv", data, ReadOptions(time_zone="Europe/Berlin"))
    assert rows[0]["time"].hour == 10
    assert +report.notes == {}
    rows, report = read("csv", data)
    assert rows[0]["time"].hour == 12
    assert +report.notes == {NO_ZONE: 1}


BERLIN = ReadOptions(time_zone="Europe/Berlin")
NEW_YORK = ReadOptions(time_zone="America/New_York")


def in_form(name: str, times: list[str]) -> bytes:
    """The same times, written without a zone, in every plain form."""
    if name == "jsonl":
        return "".join(f'{{"event_type":"A","time":"{time}"}}\n' for time in times).encode()
    if name == "parquet":
        naive = pa.array([dt.datetime.fromisoformat(time) for time in times], pa.timestamp("us"))
        return parquet(pa.table({"event_type": ["A"] * len(times), "time": naive}))
    separator = "\t" if name == "tsv" else ","
    return (
        f"event_type{separator}time\n".encode() + "".join(f"A{separator}{time}\n" for time in times).encode()
    )


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl", "parquet"])
def test_an_hour_that_happens_twice_is_two_instants_and_one_that_does_not_exist_a_reject(name: str) -> None:
    times = ["2015-10-25 02:30:00", "2015-10-25 12:00:00", "2015-03-29 02:30:00", "2015-03-29 02:30:00"]
    rows, report = read(name, in_form(name, times), BERLIN)
    seen = [(row["time"].strftime("%H:%M"), row["zone_seconds"] // 3600, row[FOLD]) for row in rows]
    assert seen == [("00:30", 2, 3_600_000_000), ("11:00", 1, 0)]
    assert [each.cause for each in report.rejects] == ["the clocks of Europe/Berlin skipped this hour"] * 2
    assert +report.notes == {TWICE: 1}
    rows, report = read(name, in_form(name, times))
    assert [FOLD in row for row in rows] == [False] * 4
    assert +report.notes == {NO_ZONE: 4}


@pytest.mark.parametrize("name", ["csv", "tsv", "jsonl"])
def test_words_behind_times_are_zones_and_those_of_several_meanings_are_rejects(name: str) -> None:
    times = ["2026-06-14 14:56:15 EST", "2026-06-14 14:56:16 CEST", "2026-06-14 14:56:17 CST"]
    rows, report = read(name, in_form(name, times))
    assert [(row["time"].hour, row["zone_seconds"] // 3600) for row in rows] == [(19, -5), (12, 2)]
    (reject,) = report.rejects
    assert "'CST' has several meanings; --zone CST=America/Chicago" in reject.cause
    rows, _ = read(name, in_form(name, times), ReadOptions(zone_words=(("CST", "Asia/Shanghai"),)))
    assert [row["zone_seconds"] // 3600 for row in rows] == [-5, 2, 8]


@given(st.datetimes(dt.datetime(1970, 1, 1), dt.datetime(2037, 12, 31)))
def test_parquet_and_text_agree_on_every_local_time(time: dt.datetime) -> None:
    time = time.replace(microsecond=0)
    (in_text,), _ = read("csv", in_form("csv", [time.isoformat(" ")]), NEW_YORK)
    (in_parquet,), _ = read("parquet", in_form("parquet", [time.isoformat()]), NEW_YORK)
    assert [in_text[key] for key in ("time", "after")] == [in_parquet[key] for key in ("time", "after")]


def test_a_histogram_gives_the_interval_and_is_renormalised_and_sorted() -> None:
    rows, _ = read("csv", "event_type,pmf\nA,6:9:0.75|1:5:0.2500001|10:12:0\n")
    assert (rows[0]["lower"], rows[0]["upper"]) == (1, 9)
    assert [(b["lo"], b["hi"]) for b in rows[0]["pmf"]] == [(1, 5), (6, 9)]
    assert sum(b["p"] for b in rows[0]["pmf"]) == pytest.approx(1, abs=1e-15)


def test_the_ends_of_time_are_part_of_it() -> None:
    rows, report = read("csv", f"event_type,lower,upper\nA,{-(2**62)},{2**62}\n")
    assert report.rejects == []
    assert (rows[0]["lower"], rows[0]["upper"]) == (-(2**62), 2**62)


@pytest.mark.parametrize("time", [-(2**62) - 1, 2**63, 10**30])
def test_a_raw_time_beyond_the_ends_of_time_is_rejected_as_that(time: int) -> None:
    for unit in (TimeUnit(1), TimeUnit(1_000)):
        rows, report = read("csv", f"event_type,time\nA,{time}\n", ReadOptions(time_unit=unit))
        assert rows == []
        assert rejects(report) == [(2, BEYOND_TIME)]


@pytest.mark.parametrize("kind", [pa.uint64(), pa.float64()])
def test_numbers_of_parquet_beyond_the_ends_of_time_are_rejected(kind: pa.DataType) -> None:
    upper = pa.array([2, 2**63], pa.uint64()).cast(kind, safe=False)
    ends = {"lower": pa.array([1, 1], kind), "upper": upper}
    rows, report = read("parquet", parquet(pa.table({"event_type": ["A", "A"], **ends})))
    assert [row["upper"] for row in rows] == [2]
    assert [reject.cause for reject in report.rejects] == [BEYOND_TIME]


@pytest.mark.parametrize("ends", ["6,9", "1,9", "6,20", "1,20", ","])
def test_the_interval_may_count_buckets_without_mass_and_loses_them(ends: str) -> None:
    rows, report = read("csv", f"event_type,lower,upper,pmf\nA,{ends},1:5:0|6:7:0.5|9:9:0.5|18:20:0\n")
    assert report.rejects == []
    assert (rows[0]["lower"], rows[0]["upper"]) == (6, 9)
    assert [(b["lo"], b["hi"], b["p"]) for b in rows[0]["pmf"]] == [(6, 7, 0.5), (9, 9, 0.5)]


@pytest.mark.parametrize(
    ("row", "cause"),
    [
        (",1,5,", "no event type"),
        ("A,,,", "no time"),
        ("A,?,?,", "no time"),
        ("A,1,,", "lower without upper, or one of them unreadable"),
        ("A,5,1,", "lower is after upper"),
        ("A,-99999999999999999999,5,", BEYOND_TIME),
        ("A,1,4611686018427387905,", BEYOND_TIME),
        ("A,-4611686018427387905,5,", BEYOND_TIME),
        ("A,,,1:4611686018427387905:1", BEYOND_TIME),
        ("A,,,-99999999999999999999:1:1", BEYOND_TIME),
        ("A,1,5,1:5:0.9", "pmf is not a list of lo:hi:p whose p sum to 1"),
        ("A,1,5,1:3:0.5|3:5:0.5", "pmf is not a list of lo:hi:p whose p sum to 1"),
        ("A,1,5,1:4:1", "lower and upper are not the extremes of pmf"),
        ("A,2,4,1:1:0|3:4:1", "lower and upper are not the extremes of pmf"),
        ("A,1,5", "the row does not have 4 fields like the header"),
    ],
)
def test_a_bad_row_is_rejected_with_its_line(row: str, cause: str) -> None:
    rows, report = read("csv", f"event_type,lower,upper,pmf\nA,1,2,\n{row}\nA,3,4,\n")
    assert [r["lower"] for r in rows] == [1, 3]
    assert rejects(report) == [(3, cause)]
    assert report.records == 3


def test_rejects_and_blank_lines_do_not_shift_the_numbers_of_the_others() -> None:
    rows, report = read("csv", "event_type,time\nA,1\nA,1,1\n\nA,x\nB,2\n")
    assert [(r["event_type"], r["number"]) for r in rows] == [("A", 1), ("B", 5)]
    assert [line for line, _ in rejects(report)] == [3, 5]


def test_quoted_line_breaks_count_as_lines() -> None:
    _, report = read("csv", 'event_type,time,note\nA,1,"two\nlines"\nA,x,short\nA,1\nA,"x\ny",\nA\n')
    assert [line for line, _ in rejects(report)] == [4, 5, 6, 8]


@st.composite
def csv_files(draw: st.DrawFn) -> tuple[str, list[int], list[int]]:
    """A CSV file, the numbers of its good records and the lines of its bad ones."""
    text, line = "event_type,time,note\n", 2
    good: list[int] = []
    bad: list[int] = []
    for number in range(1, draw(st.integers(1, 12)) + 1):
        note = draw(st.sampled_from(["x", "", '"two\nlines"', '"a\n\nb"', '"say ""hi"""', '"1,2"']))
        fine = f"A,1,{note}"
        row = draw(st.sampled_from([fine, f"A,?,{note}", f"{fine},more", f"A,{note}", ""]))
        if row == fine:
            good.append(number)
        elif row:
            bad.append(line)
        text += row + "\n"
        line += 1 + row.count("\n")
    return text, good, bad


@given(csv_files())
def test_numbers_and_lines_are_those_of_the_file_whatever_is_bad_in_it(
    file: tuple[str, list[int], list[int]],
) -> None:
    text, good, bad = file
    rows, report = read("csv", text)
    assert [row["number"] for row in rows] == good
    assert [line for line, _ in rejects(report)] == bad
    assert report.records == len(good) + len(bad)


def test_text_stays_text_until_all_of_it_is_known() -> None:
    report = ReadReport()
    stream = io.BytesIO(b"event_type,time,version\nA,1,1.10\n")
    (batch,) = BY_NAME["csv"].read(stream, "f", ReadOptions(), report)
    field = batch.schema.field("version")
    assert (field.type, field.metadata) == (pa.string(), INFERRED)
    assert batch.column("version").to_pylist() == ["1.10"]


def test_an_empty_field_is_null_and_a_quoted_empty_one_is_empty() -> None:
    rows, _ = read("csv", 'event_type,time,x,y\nA,1,,""\n')
    assert (rows[0]["x"], rows[0]["y"]) == (None, "")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_no_part_of_the_header(encoding: str) -> None:
    rows, _ = read("csv", "event_type,time,ä\nA,1,ö\n".encode(encoding))
    assert rows[0]["ä"] == "ö"


def test_bad_utf8_is_replaced_with_a_warning() -> None:
    rows, report = read("csv", b"event_type,time,x\nA,1,\xff\n")
    assert rows[0]["x"] == "�"
    assert report.warnings == ["some text is not valid UTF-8; the bad bytes were replaced"]


def test_a_bad_row_that_is_no_utf8_costs_that_row_alone() -> None:
    rows, report = read("csv", b"event_type,time,x\nA,1,m\xfcller\nA,2,\xfc,more\nB,3,\xef\xbf\xbd\n")
    assert [row["x"] for row in rows] == ["m\ufffdller", "\ufffd"]
    assert [(reject.line, reject.raw) for reject in report.rejects] == [(3, b"A,2,\xfc,more")]


def test_the_sign_of_replacement_itself_is_no_bad_utf8() -> None:
    _, report = read("csv", b"event_type,time,x\nA,1,\xef\xbf\xbd\n")
    assert report.warnings == []


def test_tabs_separate_in_tsv() -> None:
    rows, _ = read("tsv", "event_type\ttime\tx\nA\t1\ta,b\n")
    assert rows[0]["x"] == "a,b"


def test_a_header_alone_has_no_events() -> None:
    assert read("csv", "event_type,time\n") == ([], ReadReport())


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("type,time", "f: no column event_type"),
        ("event_type,lower", "f: no column time, and not both lower and upper"),
        ("event_type,time,x,x", "f: two columns are named 'x'"),
    ],
)
def test_a_header_that_cannot_be_one_says_what_is_missing(header: str, message: str) -> None:
    with pytest.raises(EventSchemaError, match=message):
        read("csv", f"{header}\nA,1\n")


def test_an_attribute_named_like_a_fixed_column_gets_a_prefix() -> None:
    rows, _ = read("csv", "event_type,time,source\nA,1,here\n")
    assert rows[0]["attr:source"] == "here"


def test_json_lines_keep_types_and_nested_values_as_json() -> None:
    rows, report = read(
        "jsonl",
        '{"event_type":"A","time":"1970-01-01T00:00:00Z","n":3,"ok":true,"deep":{"a":[1]}}\n'
        "\n"
        '{"event_type":"B","lower":1,"upper":2,"n":0.5}\n'
        "[1]\n"
        '{"event_type":"C"',
    )
    assert [(r["n"], r["ok"], r["deep"]) for r in rows] == [(3.0, True, '{"a": [1]}'), (0.5, None, None)]
    assert rejects(report) == [(4, "the line is not a JSON object"), (5, "the line is not a JSON object")]


def test_parquet_takes_timestamps_and_zones_from_the_column_type() -> None:
    table = pa.table(
        {
            "event_type": ["A"],
            "time": pa.array([1_719_828_000_123_456_789], pa.timestamp("ns", "Asia/Kolkata")),
        }
    )
    rows, _ = read("parquet", parquet(table))
    assert rows[0]["time"].isoformat() == "2024-07-01T10:00:00.123456+00:00"
    assert rows[0]["zone_seconds"] == 19_800


def test_parquet_keeps_what_is_no_plain_type_for_the_ingest_to_simplify() -> None:
    table = pa.table(
        {
            "event_type": pa.array(["A", "A"]).dictionary_encode(),
            "time": pa.array([0, 1], pa.date32()),
            "deep": [{"a": [1]}, None],
        }
    )
    rows, _ = read("parquet", parquet(table))
    assert [row["time"].day for row in rows] == [1, 2]
    assert rows[0]["deep"] == {"a": [1]}


def test_a_part_of_a_dataset_keeps_its_source_and_is_counted_in_its_own_unit() -> None:
    table = pa.table(
        {
            "event_type": ["A"],
            "lower": [2],
            "upper": [3],
            "source": ["x.log"],
            "pmf": [[{"lo": 2, "hi": 3, "p": 1.0}]],
        }
    )
    seconds = table.replace_schema_metadata({META_TIME_UNIT: b"1 s"})
    rows, _ = read("parquet", parquet(seconds))
    assert (rows[0]["lower"], rows[0]["upper"], rows[0]["source"]) == (2_000, 3_999, "x.log")
    assert rows[0]["pmf"] == [{"lo": 2_000, "hi": 3_999, "p": 1.0}]


def test_damaged_parquet_is_named() -> None:
    with pytest.raises(LogFormatError, match="f: damaged Parquet"):
        read("parquet", b"PAR1 no more")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"event_type,time\n", "csv"),
        (b"\xef\xbb\xbfx,event_type,lower,upper", "csv"),
        (b"event_type\ttime\n", "tsv"),
        (b'\n{"time":1,"event_type":"A"}\n', "jsonl"),
        (b"PAR1\x00", "parquet"),
        (b"time,value\n", None),
        (b'{"type":"JOB_SUBMITTED"}', None),
        (b"", None),
    ],
)
def test_a_format_is_recognised_by_its_head(head: bytes, name: str | None) -> None:
    assert [known.name for known in FORMATS if known.reader.recognises(head)] == ([name] if name else [])
