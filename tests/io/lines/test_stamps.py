"""Layouts of times: each is found among all others, and its times are those that were written."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from io import BytesIO
from pathlib import Path

import pyarrow.parquet as pq
import pytest

import cepctl
from cepctl.errors import LogFormatError
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.lines.log import LinesLog
from cepctl.io.lines.recognition import is_log_of_lines, layout_of, sample_lines
from cepctl.io.lines.stamps import stamps

# Every layout as strftime writes it, with what stands around it; %f3 and the like are digits of the fraction.
DATES = (
    "%Y-%m-%d",
    "%Y/%m/%d",
    "%Y.%m.%d",
    "%d.%m.%Y",
    "%d-%b-%Y",
    "%d/%b/%Y",
    "%Y %b %d",
    "%b %d %Y",
    "%d %b %Y",
    "%Y%m%d",
    "%d/%m/%Y",
    "%m/%d/%Y",
    "%d-%m-%Y",
)
CLOCKS = ("%H:%M:%S", "%H:%M:%S.%f3", "%H:%M:%S,%f3", "%H:%M:%S:%f3", "%H:%M:%S.%f6", "%I:%M:%S %p")
OWN = (
    "%a %b %d %H:%M:%S %Y",
    "%a %b %d %H:%M:%S.%f6 %Y",
    "%a %b %d %H:%M:%S UTC %Y",
    "%a, %d %b %Y %H:%M:%S +0000",
    "%Y-%m-%dT%H:%M:%SZ",
    "%Y-%m-%dT%H:%M:%S.%f3Z",
    "%Y-%m-%dT%H:%M:%S.%f6+00:00",
    "%Y-%m-%dT%H:%M:%S,%f3",
    "%Y-%m-%d %H:%M:%S.%f3 +0000",
    "%Y-%m-%d %H:%M:%S UTC",
    "%Y-%m-%d-%H.%M.%S.%f6",
    "%Y%m%d-%H:%M:%S:%f3",
    "%Y%m%d-%H:%M:%S",
    "%Y%m%d %H%M%S",
    "%Y%m%dT%H%M%S",
    "%Y%m%dT%H%M%SZ",
    "%Y-%m-%d_%H:%M:%S",
    "%Y-%m-%d, %H:%M:%S",
    "%d/%b/%Y:%H:%M:%S +0000",
    "%H:%M:%S %Y-%m-%d",
    "%y%m%d %H%M%S",
    "%y%m%d %H:%M:%S",
    "%s",
    "%s.%f3",
    "%s.%f6",
    "%s%f3",
    "%s%f6",
    "%s%f6000",
    "%b %d %H:%M:%S",
    "%b %d %H:%M:%S.%f3",
    "%m-%d %H:%M:%S.%f3",
    "%m-%d %H:%M:%S",
    "%m%d %H:%M:%S.%f6",
    "%Y%m%d-%-H:%-M:%-S:%f3",
    "%Y-%m-%dT%H:%M:%S.%f6000Z",
    "%Y-%m-%d %H:%M",
    "%b %d, %Y %I:%M:%S %p",
    "%d-%b-%y %H:%M:%S",
    "%a %b %d %H:%M:%S",
    "%d %b %H:%M:%S",
    "%m.%d %H:%M:%S",
    "%d.%m %H:%M:%S",
    "%Y-%m-%d at %H:%M:%S",
)
AROUND = (
    "{} started",
    "[{}] started",
    "<{}> started",
    "{} - started",
    "time={} started",
    "w1 {} started",
    "{}|started",
    "{}, Info started",
)
LAYOUTS = [f"{date} {clock}" for date in DATES for clock in CLOCKS] + [*OWN]


def written(moment: datetime, layout: str) -> str:
    """A moment in a layout; a day is beyond the twelfth somewhere, so that it is not the month."""
    micros = f"{moment.microsecond:06}"
    layout = layout.replace("%f3", micros[:3]).replace("%f6", micros)
    return moment.strftime(layout.replace("%s", str(int(moment.timestamp()))))


def precision(layout: str) -> int:
    finest = 1 if "%f6" in layout else 1_000 if "%f3" in layout else 1_000_000
    return finest if "%S" in layout.replace("-", "") or "%s" in layout else 60_000_000


def read(text: str, name: str = "x.log", **options: object) -> tuple[list[dict[str, object]], ReadReport]:
    report = ReadReport()
    batches = list(LinesLog().read(BytesIO(text.encode()), name, ReadOptions(**options), report))  # type: ignore[arg-type]
    return [row for batch in batches for row in batch.to_pylist()], report


def test_there_are_more_than_a_hundred_layouts() -> None:
    assert len(set(LAYOUTS)) > 100
    assert len({stamp.name for stamp in stamps()}) == len(stamps()) > 100


@pytest.mark.parametrize("layout", LAYOUTS)
def test_lines_drawn_from_a_layout_give_the_times_that_were_written(layout: str) -> None:
    drawn = random.Random(layout)
    around = drawn.choice(AROUND)
    moments = [datetime(drawn.randint(2010, 2035), drawn.randint(1, 12), 13, tzinfo=UTC)]
    for _ in range(drawn.randint(5, 12)):
        moments.append(moments[-1] + timedelta(microseconds=drawn.randint(1, 20 * 86_400 * 10**6)))
    lines = "".join(around.format(written(moment, layout)) + "\n" for moment in moments)
    events, report = read(lines, epoch=int(moments[0].timestamp()) * 10**6)
    assert report.rejects == []
    step = precision(layout)
    written_micros = [int(moment.timestamp()) * 10**6 + moment.microsecond for moment in moments]
    expected = [micros // step * step for micros in written_micros]
    found = [event["time"] for event in events]
    assert all(isinstance(time, datetime) for time in found)
    assert [
        int(time.timestamp()) * 10**6 + time.microsecond for time in found if isinstance(time, datetime)
    ] == expected
    assert {event["after"] for event in events} == {step - 1}


def test_of_two_times_in_a_line_the_first_counts() -> None:
    seconds = ("01", "02", "03")
    lines = "".join(f"2026-06-14 08:15:{each} up since 2026-06-01 00:00:{each}\n" for each in seconds)
    events, _ = read(lines)
    assert [str(event["time"])[:19] for event in events] == [f"2026-06-14 08:15:{each}" for each in seconds]


def test_written_offsets_count_and_differ_from_line_to_line() -> None:
    east, west = timezone(timedelta(hours=2)), timezone(-timedelta(hours=3, minutes=30))
    moments = [datetime(2026, 6, 14, 8, 15, second, tzinfo=zone) for second, zone in ((1, east), (2, west))]
    events, report = read("".join(f"{moment.isoformat()} x\n" for moment in moments))
    assert [event["time"] for event in events] == moments
    assert [event["zone_seconds"] for event in events] == [7200, -12600]
    assert not [note for note in report.notes if "year" in note or "zone" in note]


def test_fractions_that_lose_their_zeros_are_as_coarse_as_they_are_written() -> None:
    events, _ = read("2026-06-14 08:15:04 x\n2026-06-14 08:15:04.5 x\n2026-06-14 08:15:04.123456789 x\n")
    assert [event["after"] for event in events] == [999_999, 99_999, 0]


@pytest.mark.parametrize(
    ("days", "found"),
    [
        (("03/04/2026", "13/04/2026"), "DD/MM/YYYY hh:mm:ss"),
        (("03/04/2026", "03/14/2026"), "MM/DD/YYYY hh:mm:ss"),
    ],
)
def test_a_value_over_twelve_tells_day_from_month(days: tuple[str, ...], found: str) -> None:
    layout = layout_of([f"{day} 12:00:01 x" for day in days])
    assert layout is not None
    assert layout.stamp.name == found


def test_a_day_that_could_be_the_month_is_asked_for_and_the_answer_taken() -> None:
    text = "03/04/2026 12:00:01 x\n"
    with pytest.raises(
        LogFormatError, match=r"could be the month; .*'%d/%m/%Y %H:%M:%S' or .*'%m/%d/%Y %H:%M:%S'"
    ):
        read(text)
    events, _ = read(text, time_format="%m/%d/%Y %H:%M:%S")
    assert events[0]["time"] == datetime(2026, 3, 4, 12, 0, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "All rights given away.\nDo what you like.\n",
        "version 1.2.3.4 of 10.0.0.7:8080\nready\n",
        "order 1234567 of 12 items\n",
        "",
    ],
)
def test_text_without_times_is_no_log(text: str) -> None:
    assert not is_log_of_lines(text.encode())


def test_binary_is_no_log_and_utf_16_is() -> None:
    assert not is_log_of_lines(bytes(range(256)) * 40)
    assert is_log_of_lines("2026-06-14 08:15:04 x\n".encode("utf-16"))


def test_a_line_cut_at_the_end_of_the_head_is_not_looked_at() -> None:
    assert sample_lines(b"2026-06-14 08:15:04 x\n2026-06") == ["2026-06-14 08:15:04 x"]


@pytest.mark.parametrize(
    ("line", "time"),
    [
        ("2026-165T08:15:04,672:DEBUG:foo bar baz", "2026-06-14 08:15:04.672000"),
        ("20260614.081504,672:DEBUG:foo bar baz", "2026-06-14 08:15:04.672000"),
        ("@400000006a2e63123b6e1a8c tcpserver: status: 5/30", "2026-06-14 08:15:04.997071"),
        ("14 juin 2026 08:15:04 web arrêt", "2026-06-14 08:15:04"),
        ("14. März 2026 08:15:04 web Halt", "2026-03-14 08:15:04"),
        ("14-AGO-2026 08:15:04 web alto", "2026-08-14 08:15:04"),
        ("14 jun 2026 08:15:04 web stop", "2026-06-14 08:15:04"),
        ("Main::INFO::2026-06-14 08:15:04,101::vdsm::71::vds::(run) here", "2026-06-14 08:15:04.101000"),
    ],
)
def test_times_that_few_programs_write(tmp_path: Path, line: str, time: str) -> None:
    (tmp_path / "x.log").write_text(f"{line}\n" * 3)
    made = cepctl.ingest(tmp_path / "x.log", tmp_path / "events", tz="UTC")
    table = pq.read_table(made.output)
    assert [str(each)[: len(time)] for each in table.column("time").to_pylist()] == [time] * 3


def test_a_day_that_its_year_does_not_have_is_rejected(tmp_path: Path) -> None:
    lines = "".join(f"2026-{day:03}T08:15:04 x\n" for day in (*range(1, 30), 366, 0))
    (tmp_path / "x.log").write_text(lines)
    summary = cepctl.ingest(tmp_path / "x.log", tmp_path / "events", tz="UTC").summary
    assert (summary.events, dict(summary.rejected)) == (29, {"no time": 2})


def test_dates_of_two_digits_each_may_have_a_comma_before_the_clock() -> None:
    rows, _ = read("08-12-26,01:10:08.882,0 begins\n08-13-26,01:10:09.001,1 ends\n")
    assert [str(row["time"])[:23] for row in rows] == ["2026-08-12 01:10:08.882", "2026-08-13 01:10:09.001"]
    with pytest.raises(LogFormatError, match=r"'08-12-26,01:10:08\.882' could be the month; say which"):
        read("08-12-26,01:10:08.882,0 begins\n" * 3)


def test_numbers_of_processes_may_stand_before_times_of_day() -> None:
    text = '08:15:04.1 execve("a") = 0\n[pid  77] 08:15:05.2 brk(0) = 0\n78 08:15:05.3 brk(0) = 0\n'
    rows, _ = read(text, epoch=int(datetime(2026, 6, 14, tzinfo=UTC).timestamp()) * 1_000_000)
    told = [(str(row["time"])[11:21], row["pid"], row["message"]) for row in rows]
    assert told == [
        ("08:15:04.1", None, 'execve("a") = 0'),
        ("08:15:05.2", "77", "brk(0) = 0"),
        ("08:15:05.3", "78", "brk(0) = 0"),
    ]


def test_one_line_of_other_signs_does_not_hide_the_times_of_a_short_log() -> None:
    assert is_log_of_lines(b"2026-06-14 08:15:04 got:\n<node>\xff\xfe\xfd\xfc\xfb</node>\n")
    assert not is_log_of_lines(b"\xff\xfe\xfd\xfc\xfb 2026-06-14 08:15:04 got:\n\xff\xfe\xfd\n")
