"""Times to the nanosecond: in every spelling and format, beside coarser ones, and as far as 64 bits reach."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from math import ceil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cepctl.errors import UncertaintyModelError
from cepctl.ingestion.assigning import assign_dataset
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import BELOW_NANOSECONDS, ReadOptions
from cepctl.runners import apart
from cepctl.schema import MICROSECOND, MILLISECOND, NANOSECOND, TimeUnit
from cepctl.uncertainty.model import parse_model

MIDNIGHT = 1_714_521_600
SECOND = 10**9
"""Nanoseconds."""
BEYOND = "beyond what ticks of 1 ns reach, 1823-11-12 to 2116-02-20; --time-unit us reaches further"


def csv(*times: str) -> str:
    return "\n".join(["event_type,time", *(f'A,"{time}"' for time in times), ""])


def ingested(folder: Path, text: str | bytes, name: str, **options: Any) -> IngestSummary:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    chosen = IngestOptions(overwrite=True, max_errors=100, writers=(), **options)
    return ingest([str(folder / name)], str(folder / "events"), chosen)


def table(folder: Path) -> pa.Table:
    return pq.read_table(folder / "events")


def intervals(folder: Path) -> list[tuple[int, int]]:
    """In the order of the file, in ticks."""
    found = table(folder)
    ids = [int(each.rpartition("#")[2]) for each in found.column("event_id").to_pylist()]
    pairs = zip(found.column("lower").to_pylist(), found.column("upper").to_pylist(), strict=True)
    return [pair for _, pair in sorted(zip(ids, pairs, strict=True))]


# --- against exact arithmetic --------------------------------------------------------------


@dataclass(frozen=True)
class Time:
    """So many seconds after midnight, and the digits of a fraction that are written."""

    seconds: int
    digits: str
    zone_minutes: int = 0

    @property
    def since_1970(self) -> Fraction:
        """Seconds."""
        return Fraction(f"{MIDNIGHT + self.seconds}.{self.digits or 0}")

    def iso(self, point: str = ".", blank: str = "T") -> str:
        zone = timezone(timedelta(minutes=self.zone_minutes))
        shown = datetime.fromtimestamp(MIDNIGHT + self.seconds, zone)
        fraction = f"{point}{self.digits}" if self.digits else ""
        ending = "Z" if zone == UTC else shown.strftime("%z")
        return f"{shown:%Y-%m-%d}{blank}{shown:%H:%M:%S}{fraction}{ending}"

    def epoch(self, decimals: int) -> str:
        """The number of seconds, its point moved to the right."""
        digits = self.digits.ljust(decimals, "0")
        rest = digits[decimals:]
        return f"{MIDNIGHT + self.seconds}{digits[:decimals]}" + (f".{rest}" if rest else "")


times = st.builds(
    Time,
    st.integers(0, 86_399),
    st.text("0123456789", min_size=0, max_size=12)
    | st.sampled_from(["000000100", "000000900", "1" * 9, "000000000001", "500000", "0" * 9]),
    st.sampled_from([0, 0, 120, -330]),
)


def jsonl(times: Sequence[Time]) -> str:
    return "".join(json.dumps({"event_type": "A", "time": time.iso()}) + "\n" for time in times)


def docker(times: Sequence[Time]) -> str:
    return "".join(
        json.dumps({"log": "a\n", "stream": "stdout", "time": time.iso()}) + "\n" for time in times
    )


def xes(times: Sequence[Time]) -> str:
    events = "".join(
        '<event><string key="concept:name" value="A"/>'
        f'<date key="time:timestamp" value="{time.iso()}"/></event>'
        for time in times
    )
    return f"<log><trace>{events}</trace></log>"


# Whether a second is whole where no time has a fraction, or each last digit counts, to the microsecond.
FORMS: dict[str, tuple[Callable[[Sequence[Time]], str], str]] = {
    "log.csv": (lambda times: csv(*(time.iso() for time in times)), "column"),
    "blanks.csv": (lambda times: csv(*(time.iso(",", " ") for time in times)), "column"),
    "s.csv": (lambda times: csv(*(time.epoch(0) for time in times)), "column"),
    "ms.csv": (lambda times: csv(*(time.epoch(3) for time in times)), "exact"),
    "us.csv": (lambda times: csv(*(time.epoch(6) for time in times)), "exact"),
    "ns.csv": (lambda times: csv(*(time.epoch(9) for time in times)), "exact"),
    "log.jsonl": (jsonl, "column"),
    "log.xes": (xes, "column"),
    "docker.log": (docker, "exact"),
    "cri.log": (lambda times: "".join(f"{time.iso()} stdout F a\n" for time in times), "exact"),
    "rfc.log": (
        lambda times: "".join(f"<38>1 {time.iso()} web1 sshd 2210 - - a\n" for time in times),
        "last digit or lost zeros",
    ),
    "log.logfmt": (
        lambda times: "".join(f"time={time.iso()} level=info msg=a\n" for time in times),
        "last digit",
    ),
}


def expected(times: Sequence[Time], rule: str) -> tuple[int, list[tuple[int, int]], int]:
    """By the words of the page: nanoseconds of a tick, intervals in ticks, and how many times lose digits."""
    found = [time.since_1970 * SECOND for time in times]
    cut = [each // 1 for each in found]
    unit = next(unit for unit in (10**6, 10**3, 1) if not any(each % unit for each in cut))
    lengths = []
    fractions = [each % SECOND for each, time in zip(cut, times, strict=True) if time.digits]
    digits = next(d for d in range(10) if not any(each % 10 ** (9 - d) for each in fractions))
    # One without a fraction has lost its zeros where that is as rare as chance has it.
    lost = bool(fractions) and (len(times) - len(fractions)) * 10**digits <= 10 * len(times)
    for time in times:
        last = SECOND // 10 ** min(len(time.digits), 6)
        exact = {
            "exact": True,
            "column": lost or bool(time.digits),
            "last digit": False,
            "last digit or lost zeros": lost and not time.digits,
        }[rule]
        lengths.append(1 if exact or last == 1_000 else last)
    pairs = [(each // unit, (each + length - 1) // unit) for each, length in zip(cut, lengths, strict=True)]
    return unit, pairs, sum(a != b for a, b in zip(cut, found, strict=True))


@given(st.sampled_from(sorted(FORMS)), st.lists(times, min_size=1, max_size=6))
def test_intervals_are_those_of_exact_arithmetic(
    tmp_path_factory: pytest.TempPathFactory, name: str, times: list[Time]
) -> None:
    write, rule = FORMS[name]
    folder = tmp_path_factory.mktemp("exact")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart, "can_fork", lambda: False)
        summary = ingested(folder, write(times), name)
    unit, pairs, cut = expected(times, rule)
    assert (summary.time_unit.nanoseconds, intervals(folder)) == (unit, pairs)
    told = [note for note in summary.notices if BELOW_NANOSECONDS.split(",")[0] in note]
    assert told == ([f"{name}: {BELOW_NANOSECONDS.format(cut)}"] if cut else [])


@given(st.lists(st.integers(-SECOND, SECOND), min_size=1, max_size=6), st.sampled_from(["ns", "us", "ms"]))
def test_timestamps_of_tables_keep_what_they_hold_also_before_1970(
    tmp_path_factory: pytest.TempPathFactory, values: list[int], unit: str
) -> None:
    folder = tmp_path_factory.mktemp("table")
    per = {"ns": 1, "us": 10**3, "ms": 10**6}[unit]
    column = pa.array(values, pa.timestamp(unit, "Europe/Berlin"))
    pq.write_table(pa.table({"event_type": ["A"] * len(values), "time": column}), folder / "log.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(apart, "can_fork", lambda: False)
        options = IngestOptions(read=ReadOptions(exact_times=True))
        summary = ingest([str(folder / "log.parquet")], str(folder / "events"), options)
    nanos = [value * per for value in values]
    tick = next(tick for tick in (10**6, 10**3, 1) if not any(each % tick for each in nanos))
    assert summary.time_unit.nanoseconds == tick
    assert intervals(folder) == [(each // tick, each // tick) for each in nanos]
    if tick == 1:
        assert sorted(table(folder).column("time").cast(pa.int64()).to_pylist()) == sorted(nanos)


def test_spans_of_opentelemetry_keep_their_nanoseconds(tmp_path: Path) -> None:
    span = {
        "traceId": "5b8e", "spanId": "eee1", "name": "charge",
        "startTimeUnixNano": f"{MIDNIGHT}000000100", "endTimeUnixNano": f"{MIDNIGHT}000000900",
        "events": [{"name": "hit", "timeUnixNano": f"{MIDNIGHT}000000101"}],
    }  # fmt: skip
    text = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]})
    for lasting in (False, True):
        summary = ingested(tmp_path, text, "spans.json", read=ReadOptions(intervals=lasting))
        assert summary.time_unit == NANOSECOND
        found = table(tmp_path)
        ticks = [(each - MIDNIGHT * SECOND) for each in found.column("lower").to_pylist()]
        assert ticks == ([100, 101] if lasting else [100, 101, 900])
        if lasting:
            assert found.column("end_lower").to_pylist() == [MIDNIGHT * SECOND + 900, None]
            assert found.schema.field("end_time").type == pa.timestamp("ns", "UTC")


def test_spans_of_jaeger_have_ticks_of_a_microsecond(tmp_path: Path) -> None:
    span = {
        "traceID": "2",
        "spanID": "7",
        "operationName": "get",
        "startTime": MIDNIGHT * 10**6 + 4,
        "duration": 1,
    }
    text = json.dumps({"data": [{"traceID": "2", "spans": [span], "processes": {}}]})
    assert ingested(tmp_path, text, "spans.json").time_unit == MICROSECOND
    assert [lower % 10**6 for lower, _ in intervals(tmp_path)] == [4, 5]


# --- models, units that are named ----------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "interval"),
    [
        ("interval = { before = '200 ns', after = '0.5 us' }", (-200, 500)),
        ("interval = { before = '1.5 ns', after = '0 s' }", (-2, 0)),
        ("granularity = '1 us'", (-100, 899)),
        ("granularity = '250 ns'", (-100, 149)),
        ("latency = [['10 ns', '20 ns', 1.0]]", (-19, -10)),
        ("normal = { sigma = '1 ns', cut = 3 }", (-3, 3)),
    ],
)
def test_rules_are_counted_in_nanoseconds(tmp_path: Path, rule: str, interval: tuple[int, int]) -> None:
    model = parse_model(f"[[rule]]\n{rule}\n")
    assert (
        ingested(tmp_path, csv("2024-05-01T00:00:00.0000001Z"), "log.csv", model=model).time_unit
        == NANOSECOND
    )
    origin = MIDNIGHT * SECOND + 100
    assert intervals(tmp_path) == [(origin + interval[0], origin + interval[1])]


def test_durations_of_nanoseconds_in_a_model_make_ticks_of_a_nanosecond(tmp_path: Path) -> None:
    model = parse_model("rule = [{ interval = { after = '10 ns' } }]")
    assert ingested(tmp_path, csv("2024-05-01T00:00:00Z"), "log.csv", model=model).time_unit == NANOSECOND


def test_a_granularity_finer_than_microseconds_needs_ticks_that_are(tmp_path: Path) -> None:
    model = parse_model("time_unit = '1 us'\nrule = [{ granularity = '250 ns' }]")
    with pytest.raises(
        UncertaintyModelError, match=r"granularity of 250 ns .* name a finer time_unit, such as '1 ns'"
    ):
        ingested(tmp_path, csv("2024-05-01T00:00:00Z"), "log.csv", model=model)


@pytest.mark.parametrize("unit", ["1 ns", "100 ns", "1500 ns", "1 us", "1 ms", "1 s"])
def test_a_unit_that_is_named_counts_what_it_cuts(tmp_path: Path, unit: str) -> None:
    written = ["00:00:00.000000150", "00:00:00.000003", "00:00:03"]
    nanos = [150, 3_000, 3 * SECOND]
    model = parse_model(f"time_unit = '{unit}'")
    text = csv(*(f"2024-05-01T{time}Z" for time in written))
    summary = ingested(tmp_path, text, "log.csv", model=model, read=ReadOptions(exact_times=True))
    length = TimeUnit.parse(unit).nanoseconds
    ticks = [(MIDNIGHT * SECOND + each) // length for each in nanos]
    assert intervals(tmp_path) == [(tick, tick) for tick in ticks]
    cut = sum((MIDNIGHT * SECOND + each) % length != 0 for each in nanos)
    told = [note for note in summary.notices if "finer than a tick" in note]
    assert len(told) == bool(cut)
    assert all(f"cut: {cut};" in note for note in told)


def test_a_written_precision_ends_a_tick_before_its_unit(tmp_path: Path) -> None:
    text = "time=2024-05-01T00:00:00.001Z msg=a\ntime=2024-05-01T00:00:00.000000100Z msg=b\n"
    ingested(tmp_path, text, "log.logfmt")
    origin = MIDNIGHT * SECOND
    assert intervals(tmp_path) == [(origin + 10**6, origin + 2 * 10**6 - 1), (origin + 100, origin + 100)]


def test_ticks_and_written_bounds_of_plain_files_may_be_nanoseconds(tmp_path: Path) -> None:
    text = "event_type,lower,upper\nA,100,900\nA,1970-01-01T00:00:00.0000001Z,1970-01-01T00:00:00.0000009Z\n"
    summary = ingested(tmp_path, text, "log.csv", model=parse_model("time_unit = '1 ns'"))
    assert (intervals(tmp_path), summary.notices) == ([(100, 900), (100, 900)], ())


# --- folders, ranges, datasets -------------------------------------------------------------


def test_files_of_days_and_of_nanoseconds_stand_in_one_dataset(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    for name, time in (
        ("a", "2024-05-01"),
        ("b", "2024-05-01T00:00:00.000000007Z"),
        ("c", "2024-05-01T00:01Z"),
    ):
        (tmp_path / "logs" / f"{name}.csv").write_text(csv(time))
    summary = ingest([str(tmp_path / "logs")], str(tmp_path / "events"), IngestOptions())
    found = table(tmp_path)
    origin = MIDNIGHT * SECOND
    assert summary.time_unit == NANOSECOND
    assert dict(zip(found.column("source").to_pylist(), found.column("upper").to_pylist(), strict=True)) == {
        "a.csv": origin + 86_400 * SECOND - 1,
        "b.csv": origin + 7,
        "c.csv": origin + 120 * SECOND - 1,
    }
    assert found.schema.field("time").type == pa.timestamp("ns", "UTC")


@pytest.mark.parametrize(
    "time", ["9999-12-31", "2116-02-21", "1823-11-11", "0001-01-01", "1600-05-05T00:00:00Z"]
)
def test_what_nanoseconds_do_not_reach_is_a_reject_that_names_the_remedy(tmp_path: Path, time: str) -> None:
    text = csv("2024-05-01T00:00:00.000000001Z", time)
    summary = ingested(tmp_path, text, "log.csv")
    assert dict(summary.rejected) == {BEYOND: 1}
    assert summary.events == 1
    coarser = ingested(tmp_path, text, "log.csv", model=parse_model("time_unit = 'us'"))
    assert (coarser.events, coarser.rejects) == (2, ())


def test_coarser_ticks_reach_to_the_year_9999(tmp_path: Path) -> None:
    text = csv("2024-05-01T00:00:00.000001Z", "9999-12-31T23:59:59.999999Z", "0001-01-01T00:00:00Z")
    summary = ingested(tmp_path, text, "log.csv")
    assert (summary.time_unit, summary.events) == (MICROSECOND, 3)
    assert table(tmp_path).schema.field("time").type == pa.timestamp("us", "UTC")


def test_an_end_that_nanoseconds_do_not_reach_costs_its_event(tmp_path: Path) -> None:
    text = "event_type,time,end_time\nA,2024-05-01T00:00:00.000000001Z,9999-12-31T00:00:00Z\n"
    assert dict(
        ingested(tmp_path, text + text.splitlines()[1].replace("9999", "2025"), "log.csv").rejected
    ) == {BEYOND: 1}


def test_a_model_that_moves_a_time_beyond_them_costs_its_event(tmp_path: Path) -> None:
    model = parse_model(
        "rule = [{ where = 'far = 1', interval = { after = '40000 day' } }, { interval = {after = '1 ns'} }]"
    )
    text = "event_type,time,far\nA,2024-05-01T00:00:00.5Z,1\nA,2024-05-01T00:00:00.5Z,0\n"
    assert dict(ingested(tmp_path, text, "log.csv", model=model).rejected) == {BEYOND: 1}


@pytest.mark.parametrize(("before", "after"), [("0 s", "3 ns"), ("1 us", "0 s")])
def test_a_dataset_is_assigned_anew_from_all_its_digits(tmp_path: Path, before: str, after: str) -> None:
    ingested(tmp_path, csv("2024-05-01T00:00:00.000000150Z"), "log.csv")
    model = parse_model(f"rule = [{{ interval = {{ before = '{before}', after = '{after}' }} }}]")
    summary = assign_dataset(
        str(tmp_path / "events"), str(tmp_path / "anew"), IngestOptions(model=model, overwrite=True)
    )
    found = pq.read_table(tmp_path / "anew").to_pydict()
    origin, unit = MIDNIGHT * SECOND + 150, NANOSECOND
    ends = [ceil(TimeUnit.parse(each).nanoseconds) if each[0] != "0" else 0 for each in (before, after)]
    assert summary.time_unit == unit
    assert (found["lower"], found["upper"]) == ([origin - ends[0]], [origin + ends[1]])


def test_a_dataset_of_nanoseconds_keeps_them_beside_coarser_logs(tmp_path: Path) -> None:
    ingested(tmp_path, csv("2024-05-01T00:00:00.000000150Z"), "log.csv")
    part = tmp_path / "events" / "part-00000.parquet"
    (tmp_path / "other.csv").write_text(csv("2024-05-01T00:00:01.5Z"))
    summary = ingest([str(part), str(tmp_path / "other.csv")], str(tmp_path / "both"), IngestOptions())
    assert summary.time_unit == NANOSECOND
    origin = MIDNIGHT * SECOND
    lower = pq.read_table(tmp_path / "both").column("lower").to_pylist()
    assert lower == [origin + 150, origin + 1_500_000_000]


def test_the_account_tells_steps_of_nanoseconds(tmp_path: Path) -> None:
    texts = [f"2024-05-01T00:00:00.{number:09}Z" for number in range(1, 40)]
    (account,) = ingested(tmp_path, csv(*texts), "log.csv").accounts
    assert account.granularity == "1 ns"
    assert account.first == "2024-05-01T00:00:00.000000001Z"
    (account,) = ingested(tmp_path, csv(*(text.replace("Z", "000Z") for text in texts)), "log.csv").accounts
    assert account.granularity == "1 ns"
    micros = [f"2024-05-01T00:00:00.{number:06}Z" for number in range(1, 40)]
    (account,) = ingested(tmp_path, csv(*micros), "log.csv").accounts
    assert account.granularity == "1 us"


def test_a_unit_may_be_named_without_a_number() -> None:
    assert (TimeUnit.parse("ns"), TimeUnit.parse(" us "), TimeUnit.parse("ms")) == (
        NANOSECOND,
        MICROSECOND,
        MILLISECOND,
    )
    with pytest.raises(UncertaintyModelError, match="positive whole number of nanoseconds"):
        TimeUnit.parse("0.5 ns")
    assert datetime(2024, 5, 1, tzinfo=UTC).timestamp() == MIDNIGHT
