"""`cepctl export` on the command line: to standard output, to a file, and what it says and refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.matching.inputs import read_events

HEADER = "event_id,event_type,lower,upper,case_id\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.csv").write_text(HEADER + "e1,Open,1,4,c1\ne2,Shut,3,6,c1\ne3,Open,5,5,\n")


def test_the_log_goes_to_standard_output_and_the_summary_beside_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["export", "log.csv", "--xes"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("<?xml") and said.out.endswith(
        "</trace>\n" + said.out.rpartition("</trace>\n")[2]
    )
    assert said.out.count("<event>") == 3 and said.out.count("<trace>") == 1
    assert "note: 1 event without case_id: written outside of traces" in said.err
    assert said.err.endswith("3 events of 1 case\n")


def test_a_file_is_read_like_any_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "log.csv", "--xes", "-o", "log.xes.gz", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    rows = read_events(["log.xes.gz"], ["case_id"]).to_pylist()
    assert [(row["event_type"], row["lower"], row["upper"], row["case_id"]) for row in rows] == [
        *(("Open", 1, 4, "c1"), ("Shut", 3, 6, "c1"), ("Open", 5, 5, None))
    ]


def test_the_form_has_to_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "log.csv"]) == 2
    assert "name the form to write: --xes" in capsys.readouterr().err


def test_an_input_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    before = Path("log.csv").read_bytes()
    assert main(["export", "log.csv", "--xes", "-o", "log.csv"]) == 2
    assert "would overwrite the input log.csv" in capsys.readouterr().err
    assert Path("log.csv").read_bytes() == before


def test_what_fails_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "log.csv", "--xes", "--by", "case", "-o", "log.xes"]) == 3
    assert "--by case: no event has this attribute" in capsys.readouterr().err
    assert not Path("log.xes").exists()


def test_shared_clocks_are_told_as_lost(capsys: pytest.CaptureFixture[str]) -> None:
    Path("clock.toml").write_text('[[rule]]\nclock = { name = "one", offset = "5 ms" }\n')
    Path("log.csv").write_text("event_type,time,case_id\nA,2026-03-03T09:00:00.5Z,c\n")
    assert main(["export", "log.csv", "--xes", "--uncertainty", "clock.toml"]) == 0
    assert "warning: events share clocks, for which XES has no key" in capsys.readouterr().err


def test_marks_without_a_model_are_refused_by_strict_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("log.xes").write_text(
        '<log><trace><event><string key="concept:name" value="A"/><string key="u:missing" value=""/>'
        '<date key="time:timestamp" value="2026-03-03T09:00:00.5Z"/></event></trace></log>'
    )
    assert main(["ingest", "log.xes", "-o", "events", "--runner", "local"]) == 0
    assert "as if the first alternative had happened" in capsys.readouterr().err
    assert main(["ingest", "log.xes", "-o", "strictly", "--strict", "--runner", "local"]) == 3
    assert "log.xes: event 1 of the log is marked as uncertain" in capsys.readouterr().err
    assert not Path("strictly").exists()
