"""Times are as fine and as coarse as they are written: ticks, whole units, and what is said of both."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.ingestion import reading
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.contract.times import parse_time
from cepctl.io.contract.written_times import form_grain
from cepctl.runners import apart
from cepctl.runners.local import LocalRunner
from cepctl.runners.runner import Runner
from cepctl.runners.spark.runner import SparkRunner
from cepctl.schema import NANOSECOND, TimeUnit
from cepctl.uncertainty.model import parse_model

if TYPE_CHECKING:
    from cepctl.runners.spark.session import Session

SECOND, DAY = 1_000, 86_400_000
EXACT = IngestOptions(read=ReadOptions(exact_times=True))
Intervals = list[tuple[int, int]]


def csv(*times: str) -> str:
    return "\n".join(["event_type,time", *(f"A,{time}" for time in times), ""])


def ingested(
    folder: Path, text: str, options: IngestOptions | None = None, name: str = "log.csv"
) -> IngestSummary:
    (folder / name).write_text(text)
    return ingest([str(folder / name)], str(folder / "events"), options or IngestOptions())


def rows(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / "events").to_pylist()
    return found


def intervals(folder: Path) -> Intervals:
    """Intervals in the order of the file, in ticks since midnight of 2024-05-01."""
    unit = pq.read_schema(folder / "events" / "part-00000.parquet").metadata[b"cepctl.time_unit"].decode()
    origin = 1_714_521_600_000_000_000 // TimeUnit.parse(unit).nanoseconds
    ordered = sorted(rows(folder), key=lambda row: int(row["event_id"].rpartition("#")[2]))
    return [(row["lower"] - origin, row["upper"] - origin) for row in ordered]


XES = (
    '<log><trace><event><string key="concept:name" value="A"/><date key="time:timestamp" value="{}"/>'
    "</event></trace></log>"
)
OCEL = {"objectTypes": [], "eventTypes": [{"name": "A", "attributes": []}], "objects": []}


def ocel(time: str) -> str:
    return json.dumps(OCEL | {"events": [{"id": "e", "type": "A", "time": time}]})


# --- how fine ------------------------------------------------------------------------------


def test_a_tick_is_the_finest_digit_that_occurs(tmp_path: Path) -> None:
    summary = ingested(tmp_path, csv("2024-05-01T00:00:00.000100Z", "2024-05-01T00:00:00.5Z"))
    assert summary.time_unit == TimeUnit(1)
    assert intervals(tmp_path) == [(100, 100), (500_000, 500_000)]
    assert summary.notices == ("ticks of 1 us, that of the finest digit of the times",)


def test_digits_that_are_zero_make_no_finer_tick(tmp_path: Path) -> None:
    assert ingested(tmp_path, csv("2024-05-01T00:00:00.250000Z")).time_unit == TimeUnit(1_000)


@pytest.mark.parametrize("column", ["time", "end_time"])
def test_digits_count_in_starts_and_in_ends(tmp_path: Path, column: str) -> None:
    times = {"time": "2024-05-01T00:00:00.5Z", "end_time": "2024-05-01T00:00:01.5Z"}
    times[column] = times[column].replace(".5Z", ".500001Z")
    text = f"event_type,time,end_time\nA,{times['time']},{times['end_time']}\n"
    assert ingested(tmp_path, text).time_unit == TimeUnit(1)


def test_of_events_that_bring_ticks_no_digit_counts(tmp_path: Path) -> None:
    summary = ingested(tmp_path, "event_type,lower,upper,time\nA,1,5,2024-05-01T00:00:00.000001Z\n")
    assert summary.time_unit == TimeUnit(1_000)
    assert [(row["lower"], row["upper"]) for row in rows(tmp_path)] == [(1, 5)]


def test_files_with_coarser_digits_have_the_ticks_of_the_finest(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for name, time in (("a", "00:00:01.5"), ("b", "00:00:01.000001"), ("c", "00:00:02")):
        (tmp_path / "logs" / f"{name}.csv").write_text(csv(f"2024-05-01T{time}Z"))
    summary = ingest([str(tmp_path / "logs")], str(tmp_path / "events"), IngestOptions())
    assert summary.time_unit == TimeUnit(1)
    found = {row["source"]: (row["lower"] % 10_000_000, row["upper"] % 10_000_000) for row in rows(tmp_path)}
    assert found == {"a.csv": (1_500_000,) * 2, "b.csv": (1_000_001,) * 2, "c.csv": (2_000_000, 2_999_999)}


def test_durations_of_a_model_count_as_digits(tmp_path: Path) -> None:
    model = parse_model("rule = [{ interval = { before = '0.5 ms' } }]")
    ingested(tmp_path, csv("2024-05-01T00:00:00.001Z"), IngestOptions(model=model))
    assert intervals(tmp_path) == [(500, 1_000)]


@pytest.mark.parametrize("model", ["time_unit = '1 ms'", "time_unit = '1 s'"])
def test_digits_that_a_given_unit_cuts_are_counted(tmp_path: Path, model: str) -> None:
    options = IngestOptions(model=parse_model(model))
    summary = ingested(tmp_path, csv("2024-05-01T00:00:00.000100Z", "2024-05-01T00:00:07.000000Z"), options)
    unit = model.split("'")[1]
    assert intervals(tmp_path) == [(0, 0), (7_000 if unit == "1 ms" else 7,) * 2]
    cut = f"times with digits finer than a tick of {unit}, which are cut: 1; --time-unit names a finer one"
    assert f"log.csv: {cut}" in summary.notices


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.csv", csv("2024-05-01T00:00:00.1234567891Z", "2024-05-01T00:00:00.123456000Z")),
        ("log.csv", csv("1714521600.1234567891", "1714521600.123456")),
        ("log.json", '{"log":"a\\n","stream":"stdout","time":"2024-05-01T00:00:00.1234567891Z"}\n'),
        ("log.xes", XES.format("2024-05-01T00:00:00.1234567891+02:00")),
        ("log.json", ocel("2024-05-01T00:00:00.1234567891Z")),
    ],
)
def test_digits_below_the_nanosecond_are_cut_and_counted(tmp_path: Path, name: str, text: str) -> None:
    summary = ingested(tmp_path, text, name=name)
    assert summary.time_unit == NANOSECOND
    assert f"{name}: times with digits below the nanosecond, which are cut: 1" in summary.notices


def test_written_bounds_with_finer_digits_than_ticks_are_counted(tmp_path: Path) -> None:
    text = "event_type,lower,upper\nA,1970-01-01T00:00:00.0001Z,1970-01-01T00:00:00.001Z\n"
    note = "times with digits finer than a tick of 1 ms, which are cut: 1; --time-unit names a finer one"
    assert ingested(tmp_path, text).notices == (f"log.csv: {note}",)
    fine = IngestOptions(model=parse_model("time_unit = '1 us'"), overwrite=True)
    assert ingested(tmp_path, text, fine).notices == ()
    assert [(row["lower"], row["upper"]) for row in rows(tmp_path)] == [(100, 1_000)]


# --- how coarse ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("time", "interval"),
    [
        ("2024-05-01T00:00:01Z", (SECOND, 2 * SECOND - 1)),
        ("2024-05-01 00:01", (60_000, 119_999)),
        ("2024-05-01", (0, DAY - 1)),
        ("2024-05-01T02:00:01+02:00", (SECOND, 2 * SECOND - 1)),
        ("1714521601", (SECOND, 2 * SECOND - 1)),
        ("1714521601000", (SECOND, SECOND)),
        ("1714521601.0", (SECOND, SECOND)),
        ("2024-05-01T00:00:01.000Z", (SECOND, SECOND)),
    ],
)
@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_a_time_without_a_fraction_is_its_whole_unit(
    tmp_path: Path, time: str, interval: tuple[int, int], form: str
) -> None:
    if form == "parquet":
        pq.write_table(pa.table({"event_type": ["A"], "time": [time]}), tmp_path / "log.parquet")
        ingest([str(tmp_path / "log.parquet")], str(tmp_path / "events"), IngestOptions())
    else:
        lines = {"csv": csv(time), "tsv": csv(time).replace(",", "\t")}
        value = float(time) if "." in time and "-" not in time else int(time) if time.isdigit() else time
        lines["jsonl"] = json.dumps({"event_type": "A", "time": value})
        ingested(tmp_path, lines[form], name=f"log.{form}")
    assert intervals(tmp_path) == [interval]


def test_a_unit_is_that_of_the_zone_in_which_it_is_written(tmp_path: Path) -> None:
    ingested(tmp_path, csv("2024-05-02"), IngestOptions(read=ReadOptions(time_zone="Asia/Kolkata")))
    assert intervals(tmp_path) == [(DAY - 19_800_000, 2 * DAY - 19_800_000 - 1)]


def test_each_time_has_the_unit_that_it_is_written_to(tmp_path: Path) -> None:
    summary = ingested(tmp_path, csv("2024-05-01", "2024-05-01T00:00:01Z"))
    assert intervals(tmp_path) == [(0, DAY - 1), (SECOND, 2 * SECOND - 1)]
    assert summary.notices[-1] == (
        "ticks of 1 ms; 2 times have no fraction, nor has any other of their column: each stands for "
        "its whole second "
        "or day; --exact-times takes them as exact"
    )


MIXED = "times without a fraction, among others that have one: "


def test_where_as_many_times_have_no_fraction_as_lose_their_zeros_these_are_exact(tmp_path: Path) -> None:
    summary = ingested(tmp_path, csv("2024-05-01T00:00:01Z", "2024-05-01T00:00:02.5Z"))
    assert intervals(tmp_path) == [(SECOND, SECOND), (2_500, 2_500)]
    assert [notice[:95] + " " for notice in summary.notices] == [
        f"{MIXED}0 stand for their whole second or coarser "
    ]


@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.log"])
@pytest.mark.parametrize(("without", "reach"), [(1, 0), (2, 999)])
def test_ten_times_as_many_without_a_fraction_are_written_to_the_second(
    tmp_path: Path, name: str, without: int, reach: int
) -> None:
    """Of 100 times with 3 digits one in 100 may have lost its zeros, and more than that has not."""
    clocks = [f"08:15:{each // 2:02}.{each:03}" for each in range(1, 101 - without)]
    clocks += [f"08:16:{each:02}" for each in range(without)]
    form = {
        "log.csv": ("A,2026-06-14T{}Z\n", "event_type,time\n"),
        "log.jsonl": ('{{"event_type":"A","time":"2026-06-14T{}Z"}}\n', ""),
        "log.log": ("2026-06-14 {} GMT job of a queue ended\n", ""),
    }[name]
    summary = ingested(tmp_path, form[1] + "".join(form[0].format(clock) for clock in clocks), name=name)
    widths = [last - first for first, last in intervals(tmp_path)]
    assert widths == [0] * (100 - without) + [reach] * without
    whole, exact = (without, 0) if reach else (0, without)
    told = [notice for notice in summary.notices if notice.startswith(MIXED)]
    assert len(told) == 1
    assert f"{whole} stand for their whole" in told[0]
    assert f" {exact} are exact" in told[0]


@pytest.mark.parametrize("records_of_a_chunk", [1, 3, 50_000])
@pytest.mark.parametrize("name", ["log.csv", "log.jsonl", "log.log"])
def test_a_time_without_a_fraction_that_would_be_before_the_record_before_it_is_written_to_the_second(
    name: str, records_of_a_chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "CHUNK_EVENTS", records_of_a_chunk)
    times = [f"2024-05-01T00:00:{n // 60:02d}.{n % 60 + 100}Z" for n in range(2_000)]
    times[60] = "2024-05-01T00:00:01Z"  # zeros that are lost: before it is 00.159
    times[90] = "2024-05-01T00:00:01Z"  # before it is 01.129
    times[180] = "2024-05-01T00:00:01Z"  # far before 02.159: it steps back, whatever it is written to
    form = {
        "log.csv": csv(*times),
        "log.jsonl": "".join(f'{{"event_type": "A", "time": "{time}"}}\n' for time in times),
        "log.log": "".join(f"{time} INFO order accepted\n" for time in times),
    }
    ingested(tmp_path, form[name], IngestOptions(writers=()), name)
    found = intervals(tmp_path)
    assert found[60] == (SECOND, SECOND)
    assert found[90] == (SECOND, SECOND + 999)
    assert found[180] == (SECOND, SECOND)


def test_what_stands_far_into_a_file_decides_for_its_beginning(tmp_path: Path) -> None:
    text = csv("2024-05-01T00:00:01Z", *["2024-05-01T00:00:02.512Z"] * 9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "CHUNK_EVENTS", 1)
        patch.setattr("cepctl.io.tabular.delimited._BLOCK_BYTES", 40, raising=False)
        ingested(tmp_path, text)
    assert intervals(tmp_path)[0] == (SECOND, 2 * SECOND - 1)


def test_starts_and_ends_are_columns_of_their_own(tmp_path: Path) -> None:
    ingested(tmp_path, "event_type,time,end_time\nA,2024-05-01T00:00:01Z,2024-05-01T00:00:05.0Z\n")
    row = rows(tmp_path)[0]
    assert row["upper"] - row["lower"] == SECOND - 1
    assert row["end_upper"] == row["end_lower"]


def test_a_rule_that_fits_decides(tmp_path: Path) -> None:
    model = parse_model("rule = [{ event_type = 'A', interval = { before = '1 ms' } }]")
    ingested(tmp_path, csv("2024-05-01T00:00:01Z") + "B,2024-05-01T00:00:01Z\n", IngestOptions(model=model))
    assert intervals(tmp_path) == [(SECOND - 1, SECOND), (SECOND, 2 * SECOND - 1)]


def test_exact_times_are_as_they_are_written(tmp_path: Path) -> None:
    summary = ingested(tmp_path, csv("2024-05-01", "2024-05-01T00:00:01Z"), EXACT)
    assert intervals(tmp_path) == [(0, 0), (SECOND, SECOND)]
    assert not [notice for notice in summary.notices if "whole" in notice]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.log", "time=2024-05-01T00:00:01Z msg=A\n"),
        ("a.log", "24/05/01 00:00:01 INFO a.B: c\n"),
        ("a.log", '198.51.100.7 - - [01/May/2024:00:00:01 +0000] "GET / HTTP/1.1" 200 20 "-" "-"\n'),
        ("a.log", "May  1 00:00:01 web1 sshd[1]: hello\n"),
    ],
)
def test_formats_of_lines_whose_last_digit_counts_can_be_exact(tmp_path: Path, name: str, text: str) -> None:
    widths = []
    for exact in (False, True):
        read = ReadOptions(exact_times=exact, epoch=1_714_521_600_000_000, keep_unmatched=True)
        ingested(tmp_path, text, IngestOptions(read=read, overwrite=True), name)
        widths.append([row["upper"] - row["lower"] + 1 for row in rows(tmp_path)])
    assert widths == [[SECOND], [1]]


@pytest.mark.parametrize("form", [XES.format, ocel])
def test_event_logs_have_the_unit_that_they_are_written_to(
    tmp_path: Path, form: Callable[[str], str]
) -> None:
    for time, interval in (
        ("2024-05-01T02:00:01+02:00", (SECOND, 2 * SECOND - 1)),
        ("2024-05-01T02:00:01.000+02:00", (SECOND, SECOND)),
        ("2024-05-01T00:00:00Z", (0, DAY - 1)),
        ("2024-05-01T00:00:01.000001Z", (1_000_001, 1_000_001)),
    ):
        ingested(tmp_path, form(time), IngestOptions(overwrite=True), "log.xes")
        assert intervals(tmp_path) == [interval]


@pytest.mark.parametrize(
    ("values", "width"),
    [
        (pa.array([datetime(2024, 5, 1, 0, 0, 1, tzinfo=UTC)], pa.timestamp("ns", "UTC")), SECOND),
        (pa.array([datetime(2024, 5, 1, 0, 0, 1)], pa.timestamp("s")), SECOND),
        (pa.array([datetime(2024, 5, 1, 0, 0, 1, 500_000)], pa.timestamp("us")), 1),
        (pa.array([date(2024, 5, 1)]), DAY),
    ],
)
def test_timestamps_of_tables_without_a_fraction_are_whole_seconds_and_dates_days(
    tmp_path: Path, values: pa.Array, width: int
) -> None:
    pq.write_table(pa.table({"event_type": ["A"], "time": values}), tmp_path / "log.parquet")
    ingest([str(tmp_path / "log.parquet")], str(tmp_path / "events"), IngestOptions())
    assert [upper - lower + 1 for lower, upper in intervals(tmp_path)] == [width]


def test_fractions_that_are_all_zero_are_told_with_the_rule_that_uses_them(tmp_path: Path) -> None:
    zeros = csv("2024-05-01T00:00:01.000Z", "2024-05-01T00:00:02.000Z")
    summary = ingested(tmp_path, zeros)
    assert summary.notices == (
        "log.csv: times have fractions, all of them zero, and are taken as exact; in a model the rule "
        'granularity = "1 s" takes each as its whole unit (cepctl inspect --full infers it)',
    )
    ruled = IngestOptions(model=parse_model("rule = [{ granularity = '1 s' }]"), overwrite=True)
    assert ingested(tmp_path, zeros, ruled).notices == ()


@pytest.mark.parametrize(
    ("text", "grain"),
    [
        ("2024-05-01T00:00:01Z", 1_000_000),
        ("2024-05-01T00:00:01.0Z", 0),
        ("2024-05-01 00:00:01,5", 0),
        ("2024-05-01T00:00:01.1234Z", 0),
        ("2024-05-01T00:00:01.1+02:00", 0),
        ("2024-05-01T00:00:01+02:00", 1_000_000),
        ("2024-05-01T00:01Z", 60_000_000),
        ("2024.5.1 0:00", 60_000_000),
        ("20240501T000001", 1_000_000),
        ("20240501T000001.5", 0),
        ("2024-05-01T10", 3_600_000_000),
        ("2024-05-01T10:00+02:00", 60_000_000),
        ("2024-05-01", 86_400_000_000),
        ("2024-05-01Z", 86_400_000_000),
        ("2024-05-01T24:00", 60_000_000),
        ("2024-12-31T23:59:60Z", 1_000_000),
    ],
)
def test_the_unit_of_a_written_time(text: str, grain: int) -> None:
    time = parse_time(text)
    assert time is not None
    assert time.grain == grain


def test_the_unit_of_a_form() -> None:
    forms = {"%d.%m.%Y": 86_400_000_000, "%Y %H": 3_600_000_000, "%Y%%f %H:%M": 60_000_000, "%T %Y": 10**6}
    assert {form: form_grain(form) for form in forms} == forms


# --- the same however it is read -----------------------------------------------------------

TEXTS = (
    "2024-05-01T00:00:01Z",
    "2024-05-01T00:00:02.5Z",
    "2024-05-01T00:00:03.000001Z",
    "2024-05-01",
    "1714521604",
    "1714521604.25",
    "2024-05-01T00:00:05.000000007Z",
    "1714521606.0000005",
)


def expected(texts: Sequence[str]) -> tuple[int, Intervals]:
    """By the words of the page: the nanoseconds of a tick, and the intervals in ticks."""
    nanos, grains = [], []
    for text in texts:
        time = parse_time(text)
        nanos.append(time.micros * 1_000 + time.nanos if time else int(Fraction(text) * 10**9))
        grains.append(time.grain * 1_000 if time else 0 if "." in text else 10**9)
    unit = next(unit for unit in (10**6, 10**3, 1) if not any(each % unit for each in nanos))
    fractions = [each % 10**9 for each, grain in zip(nanos, grains, strict=True) if not grain]
    digits = max((len(f"{each:09}".rstrip("0")) for each in fractions), default=0)
    without = Fraction(len(grains) - len(fractions), len(grains))
    if fractions and without <= Fraction(10) ** (1 - digits):
        rest = zip(nanos, nanos[1:], grains[1:], strict=False)
        behind = [time < before < time + grain for before, time, grain in rest]
        grains = [grain * wide for grain, wide in zip(grains, [False, *behind], strict=True)]
    origin = 1_714_521_600_000_000_000
    return unit, [
        ((each - origin) // unit, (each - origin + max(grain - 1, 0)) // unit)
        for each, grain in zip(nanos, grains, strict=True)
    ]


@given(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=12), st.integers(1, 4), st.integers(0, 1))
def test_chunks_and_parts_of_a_file_change_nothing(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], chunk: int, in_parts: int
) -> None:
    folder = tmp_path_factory.mktemp("written")
    (folder / "log.csv").write_text(csv(*texts))
    runner = LocalRunner(block_bytes=40) if in_parts else LocalRunner()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart, "can_fork", lambda: False)
        patch.setattr(reading, "CHUNK_EVENTS", chunk)
        patch.setattr("cepctl.io.tabular.delimited._BLOCK_BYTES", 40, raising=False)
        summary = ingest([str(folder / "log.csv")], str(folder / "events"), IngestOptions(), runner)
    assert (summary.time_unit.nanoseconds, intervals(folder)) == expected(texts)


@pytest.mark.spark
def test_both_runners_write_the_same_bytes(tmp_path: Path, spark: Session) -> None:
    (tmp_path / "logs").mkdir()
    for place, text in enumerate(TEXTS):
        (tmp_path / "logs" / f"{place}.csv").write_text(csv(text, "2024-05-01T00:00:09Z"))
    runners: dict[str, Runner] = {"local": LocalRunner(), "spark": SparkRunner(spark)}
    said = [
        ingest([str(tmp_path / "logs")], str(tmp_path / name), IngestOptions(), each)
        for name, each in runners.items()
    ]
    assert said[0] == said[1]
    parts = [(tmp_path / name / "part-00000.parquet").read_bytes() for name in runners]
    assert parts[0] == parts[1]
