"""Masses of ends and bounds of lengths in plain files and datasets, and what cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.cli import main

EVENTS = """event_id,event_type,lower,upper,end_lower,end_upper,length_lower,length_upper,end_pmf
a,A,0,4,,,4,4,
b,B,2,5,6,9,,,
c,C,0,4,,,,,3:4:0.25|7:8:0.75
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    Path("events.csv").write_text(EVENTS)
    return tmp_path


def confidences(query: str, events: str, capsys: pytest.CaptureFixture[str]) -> list[float]:
    assert main(["match", f"PATTERN {query}", events, "--format", "jsonl", "--quiet"]) == 0
    return [json.loads(line)["confidence"] for line in capsys.readouterr().out.splitlines()]


def test_a_length_without_an_end_gives_the_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "events.csv", "-o", "events"]) == 0
    a, c, b = pq.read_table("events").to_pylist()
    assert [a[name] for name in ("end_lower", "end_upper", "length_lower", "length_upper")] == [4, 8, 4, 4]
    assert [(each["lo"], each["hi"], each["p"]) for each in c["end_pmf"]] == [(3, 4, 0.25), (7, 8, 0.75)]
    assert (c["end_lower"], c["end_upper"], b["end_pmf"], b["length_upper"]) == (3, 8, None, None)
    capsys.readouterr()
    for query, expected in (("BEFORE", 1 / 20), ("OVERLAPS", 17 / 40), ("INTERSECTS", 17 / 20)):
        assert confidences(f"A a {query} B b", "events", capsys) == pytest.approx([expected])
        assert confidences(f"A a {query} B b", "events.csv", capsys) == pytest.approx([expected])


def test_the_engines_agree_on_the_mass_of_an_end(capsys: pytest.CaptureFixture[str]) -> None:
    query = "C c OVERLAPS B b"
    assert main(["match", f"PATTERN {query}", "events.csv", "--engine", "worlds", "--quiet"]) == 0
    judged = float(capsys.readouterr().out.splitlines()[1].split(",")[0])
    assert confidences(query, "events.csv", capsys) == pytest.approx([judged], rel=1e-12)


def test_assigning_keeps_masses_and_lengths_of_events_without_times() -> None:
    Path("model.toml").write_text('rule = [{ interval = { before = "1 s", after = "1 s" } }]')
    assert main(["ingest", "events.csv", "-o", "events"]) == 0
    assert main(["assign", "events", "-o", "again", "--uncertainty", "model.toml"]) == 0
    assert pq.read_table("again").to_pylist() == pq.read_table("events").to_pylist()


@pytest.mark.parametrize(
    ("row", "cause"),
    [
        ("d,D,5,6,1,2,,,", "ends before its start"),
        ("d,D,5,6,6,7,4,,", "ends before its start"),
        ("d,D,0,1,8,9,,3,", "ends before its start"),
        ("d,D,0,1,,,5,3,", "ends before its start"),
        ("d,D,0,1,2,3,-1,,", "length_lower is not a number of ticks, 0 or more"),
        ("d,D,0,1,2,3,x,,", "length_lower is not a number of ticks, 0 or more"),
        ("d,D,0,1,,,,,3:4:0.2", "end_pmf is not a list of lo:hi:p whose p sum to 1"),
    ],
)
def test_what_cannot_be_is_a_reject(row: str, cause: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("events.csv").write_text(f"{EVENTS}{row}\n")
    assert main(["ingest", "events.csv", "-o", "events"]) == 0
    assert cause in capsys.readouterr().err
    assert pq.read_table("events").num_rows == 3


def test_what_ends_before_its_start_in_an_older_dataset_fits_nothing_and_is_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["ingest", "events.csv", "-o", "events"]) == 0
    (part,) = Path("events").glob("*.parquet")
    rows = pq.read_table(part)
    ticks = {"lower": 5, "upper": 9, "end_lower": 1, "end_upper": 3}
    early = [{**row, **ticks} if row["event_id"] == "b" else row for row in rows.to_pylist()]
    pq.write_table(pa.Table.from_pylist(early, rows.schema), part)
    capsys.readouterr()
    assert main(["match", "PATTERN SEQ(B b)", "events", "--format", "csv"]) == 0
    written = capsys.readouterr()
    assert written.out.splitlines() == ["confidence,start,end,match"]
    assert "warning: left out 1 event that the query asks for: ends before its start in every world;" in (
        written.err
    )
    assert main(["match", "PATTERN SEQ(A a)", "events"]) == 0
    assert "left out" not in capsys.readouterr().err
