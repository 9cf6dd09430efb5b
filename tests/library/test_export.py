"""What is exported as XES is read back with the same types, cases, intervals, masses and attributes."""

from __future__ import annotations

import datetime as dt
import gzip
import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cepctl
from cepctl.errors import EventSchemaError, QueryTooLargeError
from cepctl.event_table import PMF_TYPE, TIME_TYPE
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io.contract.reader import ReadOptions
from cepctl.matching.inputs import read_events
from cepctl.uncertainty.model import load_model

TEXTS = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cn")), max_size=6
) | st.sampled_from(["a\nb\r\tc", "&amp;<>\"'", "1", "true", " ", "{}", "[1]", "2026-01-01"])
NAMES = TEXTS.filter(lambda text: text != "")
TICKS = st.integers(-(10**9), 10**9) | st.sampled_from([0, 86_400_000, 86_400, 3_600_000])
WIDTHS = st.sampled_from([0, 0, 1, 7, 999, 86_399_999])


@st.composite
def masses(draw: st.DrawFn, lower: int) -> list[dict[str, float]] | None:
    """Disjoint buckets from `lower` on, or none."""
    shares = draw(st.lists(st.integers(1, 9), max_size=4))
    buckets: list[dict[str, float]] = []
    for share in shares:
        width, gap = draw(st.integers(0, 5)), draw(st.integers(1, 3))
        buckets.append({"lo": lower, "hi": lower + width, "p": share / sum(shares)})
        lower += width + gap
    return buckets or None


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    lower = draw(TICKS)
    pmf = draw(masses(lower))
    upper = int(pmf[-1]["hi"]) if pmf else lower + draw(WIDTHS)
    row: dict[str, Any] = {
        "event_type": draw(NAMES),
        "case_id": draw(st.none() | st.sampled_from(["c1", "c 2", "&"])),
        **{"lower": lower, "upper": upper, "pmf": pmf, "end_lower": None, "end_upper": None, "end_pmf": None},
        "time": draw(st.none() | st.integers(0, 10**15)),
        "case:n": draw(st.none() | st.integers(-5, 5)),
        "text": draw(st.none() | TEXTS),
        "a & b": draw(st.none() | st.integers(-(2**63), 2**63 - 1)),
        "float": draw(st.none() | st.floats(allow_nan=False)),
        "flag": draw(st.none() | st.booleans()),
    }
    if draw(st.integers(0, 2)) == 0:
        end = upper + draw(st.integers(0, 50))
        of_end = draw(masses(end))
        row |= {"end_lower": end, "end_upper": int(of_end[-1]["hi"]) if of_end else end + draw(WIDTHS)}
        row["end_pmf"] = of_end
    return row


SCHEMA = pa.schema(
    [
        *(("event_type", pa.string()), ("event_id", pa.string()), ("case_id", pa.string())),
        *((name, pa.int64()) for name in ("lower", "upper", "end_lower", "end_upper", "case:n", "a & b")),
        *(("pmf", PMF_TYPE), ("end_pmf", PMF_TYPE), ("time", TIME_TYPE)),
        *(("text", pa.string()), ("float", pa.float64()), ("flag", pa.bool_())),
    ]
)
TOLD = (
    "event_type",
    "case_id",
    "lower",
    "upper",
    "end_lower",
    "end_upper",
    "case:n",
    "a & b",
    "text",
    "float",
)


def dataset(file: str, output: str, unit: str) -> list[dict[str, Any]]:
    """The events of a file in ticks of a unit."""
    model = Path(f"{output}.toml")
    model.write_text(f'time_unit = "{unit}"\n', encoding="utf-8")
    options = IngestOptions(read=ReadOptions(intervals=True), model=load_model(str(model)))
    summary = ingest([file], output, options)
    assert summary.rejects == ()
    rows: list[dict[str, Any]] = read_events([output]).to_pylist()
    return rows


def facts(row: dict[str, Any], event_id: str) -> tuple[Any, ...]:
    """What has to be the same after a round trip; masses to within the last digits."""

    def rounded(pmf: list[dict[str, float]] | None) -> object:
        # One bucket is a uniform mass, in other words.
        several = pmf is not None and len(pmf) > 1
        return [(each["lo"], each["hi"], round(each["p"], 13)) for each in pmf] if pmf and several else None

    known = tuple(row.get(name) for name in TOLD)
    flag = row.get("flag")
    return (row[event_id], *known, flag, rounded(row.get("pmf")), rounded(row.get("end_pmf")))


@given(st.lists(rows(), min_size=1, max_size=6), st.sampled_from(["1 ms", "1 us", "1 ns", "1 s", "15 s"]))
def test_what_is_written_is_read_back(written: list[dict[str, Any]], unit: str) -> None:
    with TemporaryDirectory() as folder:
        for number, row in enumerate(written):
            row["event_id"] = f"e{number}"
        pq.write_table(pa.Table.from_pylist(written, SCHEMA), f"{folder}/events.parquet")
        before = dataset(f"{folder}/events.parquet", f"{folder}/before", unit)
        done = cepctl.export_xes(f"{folder}/before", f"{folder}/log.xes")
        after = dataset(f"{folder}/log.xes", f"{folder}/after", unit)
        assert done.events == len(written) == len(after)
        assert sorted(facts(row, "attr:event_id") for row in after) == sorted(
            facts(row, "event_id") for row in before
        )
        # Written once more, it is the same again.
        cepctl.export_xes(f"{folder}/after", f"{folder}/again.xes")
        again = dataset(f"{folder}/again.xes", f"{folder}/twice", unit)
        assert sorted(map(repr, (facts(row, "attr:event_id")[1:] for row in again))) == sorted(
            map(repr, (facts(row, "attr:event_id")[1:] for row in after))
        )


def test_times_keep_their_zones_and_days_stay_days(tmp_path: Path) -> None:
    log = tmp_path / "days.xes"
    log.write_text(
        '<log><trace><string key="concept:name" value="c"/>'
        + "".join(
            f'<event><string key="concept:name" value="{name}"/>'
            f'<date key="time:timestamp" value="2024-05-0{day}T00:00:00+02:00"/></event>'
            for name, day in (("A", 6), ("B", 7))
        )
        + "</trace></log>",
        encoding="utf-8",
    )
    cepctl.export_xes(log, tmp_path / "out.xes")
    before = read_events([str(log)]).to_pylist()
    after = read_events([str(tmp_path / "out.xes")]).to_pylist()
    names = ("event_type", "case_id", "lower", "upper", "time", "zone_seconds")
    assert [[row[name] for name in names] for row in after] == [
        [row[name] for name in names] for row in before
    ]
    assert before[0]["upper"] - before[0]["lower"] == 86_399_999


EVENTS = pa.table(
    {
        "event_id": ["e1", "e2", "e3", "e4"],
        "event_type": ["A", "B", "A", "C"],
        "case_id": ["c1", "c2", "c1", None],
        "host": ["h1", "h2", "h1", "h1"],
        "lower": [1, 2, 3, 4],
        "upper": [4, 2, 6, 4],
    }
)


def test_traces_come_in_the_order_of_their_first_events_and_their_events_in_that_of_time(
    tmp_path: Path,
) -> None:
    assert cepctl.export_xes(EVENTS, tmp_path / "log.xes") == cepctl.Exported(events=4, cases=2)
    rows = read_events([str(tmp_path / "log.xes")], ["case_id", "attr:event_id"]).to_pylist()
    order = sorted(rows, key=lambda row: int(row["event_id"].rpartition("#")[2]))
    assert [(row["case_id"], row["attr:event_id"]) for row in order] == [
        *(("c1", "e1"), ("c1", "e3"), ("c2", "e2"), (None, "e4"))
    ]


def test_other_attributes_may_name_the_cases(tmp_path: Path) -> None:
    cepctl.export_xes(EVENTS, tmp_path / "log.xes", by=["host", "case_id"])
    rows = read_events([str(tmp_path / "log.xes")], ["case_id", "host"]).to_pylist()
    assert {(row["case_id"], row["host"]) for row in rows} == {
        *(("h1 | c1", "h1"), ("h2 | c2", "h2"), (None, "h1"))
    }
    with pytest.raises(EventSchemaError, match="did you mean 'host'"):
        cepctl.export_xes(EVENTS, tmp_path / "log.xes", by="hos")


def test_a_name_that_ends_with_gz_is_compressed(tmp_path: Path) -> None:
    cepctl.export_xes(EVENTS, tmp_path / "log.xes")
    cepctl.export_xes(EVENTS, tmp_path / "log.xes.gz")
    assert gzip.decompress((tmp_path / "log.xes.gz").read_bytes()) == (tmp_path / "log.xes").read_bytes()


@pytest.mark.parametrize(("column", "what"), [("a\x01b", "the attribute"), ("event_type", "the event type")])
def test_names_that_xml_cannot_write_are_refused_and_nothing_is_written(
    column: str, what: str, tmp_path: Path
) -> None:
    values = pa.array(["x", "y\x02", "z", "z"])
    if column in EVENTS.column_names:
        events = EVENTS.set_column(EVENTS.column_names.index(column), column, values)
    else:
        events = EVENTS.append_column(column, values)
    with pytest.raises(EventSchemaError, match=f"{what} .* XML cannot write"):
        cepctl.export_xes(events, tmp_path / "log.xes")
    assert list(tmp_path.iterdir()) == []


def test_values_that_xml_cannot_write_are_replaced_and_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    events = EVENTS.append_column("note", pa.array(["a\x00b", "fine", None, "\x1b[0m"]))
    with caplog.at_level("INFO", logger="cepctl"):
        cepctl.export_xes(events, tmp_path / "log.xes")
    assert any(
        "2 values with characters that XML cannot write" in record.message for record in caplog.records
    )
    rows = read_events([str(tmp_path / "log.xes")], ["note"])
    assert set(rows.column("note").to_pylist()) == {"a\ufffdb", "fine", None, "\ufffd[0m"}


def test_an_event_beyond_the_calendar_is_named(tmp_path: Path) -> None:
    events = EVENTS.set_column(5, "upper", pa.array([4, 2, 2**60, 4]))
    with pytest.raises(EventSchemaError, match=r"'e3' \(1 in all\) lies beyond the years 1 to 9999"):
        cepctl.export_xes(events, tmp_path / "log.xes")
    assert not (tmp_path / "log.xes").exists()


def test_cases_that_do_not_fit_in_memory_together_give_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 5_000
    many = pa.table(
        {
            "event_type": [f"T{at % 7}" for at in range(count)],
            "case_id": [f"c{at * 31 % 97}" for at in range(count)],
            "lower": list(range(count)),
            "upper": [at + at % 5 for at in range(count)],
        }
    )
    cepctl.export_xes(many, tmp_path / "whole.xes")
    monkeypatch.setattr("cepctl.matching.by_case.bytes_of_event", lambda *_: 300_000)
    cepctl.export_xes(many, tmp_path / "parts.xes", max_memory="900MB")
    assert (tmp_path / "parts.xes").read_bytes() == (tmp_path / "whole.xes").read_bytes()
    monkeypatch.setattr("cepctl.matching.by_case.bytes_of_event", lambda *_: 10**9)
    with pytest.raises(QueryTooLargeError, match=r"the events of case 'c\d+' take .* raise max_memory"):
        cepctl.export_xes(many, tmp_path / "parts.xes", max_memory="900MB")


def test_an_exact_time_is_one_of_its_own_and_no_infinity_is_lost(tmp_path: Path) -> None:
    midnight = dt.datetime(2026, 3, 2, tzinfo=dt.UTC)
    events = pa.table(
        {
            "event_type": ["A", "B"],
            "case_id": ["c", "c"],
            "time": pa.array([midnight, midnight + dt.timedelta(days=1)], TIME_TYPE),
            "value": [math.inf, -math.inf],
        }
    )
    cepctl.export_xes(events, tmp_path / "log.xes", exact_times=True)
    rows = read_events([str(tmp_path / "log.xes")], ["value"]).to_pylist()
    assert [row["upper"] - row["lower"] for row in rows] == [0, 0]
    assert [row["value"] for row in rows] == [math.inf, -math.inf]


def test_two_inputs_with_the_same_ids_are_refused(tmp_path: Path) -> None:
    for name in ("one", "two"):
        pq.write_table(EVENTS, tmp_path / f"{name}.parquet")
        ingest([str(tmp_path / f"{name}.parquet")], str(tmp_path / name), replace(IngestOptions()))
    with pytest.raises(EventSchemaError, match="ids occur in more than one input"):
        cepctl.export_xes([tmp_path / "one", tmp_path / "two"], tmp_path / "log.xes")
