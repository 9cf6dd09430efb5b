"""`cepctl ingest --explain`: how the first records of a file are understood, with nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main

LINES = (
    "[2026-06-14 08:15:04,978] INFO started on port 80 (kafka.server.KafkaServer)\n"
    "[2026-06-14 08:15:05,120] WARN stopped on port 81 (kafka.server.KafkaServer)\n"
) * 3


def test_three_records_are_shown_with_their_fields(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text(LINES)
    assert main(["ingest", "--explain", str(tmp_path / "a.log")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "a.log: lines (any other log of lines with a time in them)"
    assert lines[1] == (
        "  lines: YYYY-MM-DD hh:mm:ss (in 6 of the first 6 lines); log4j of Kafka (6 of these)"
    )
    assert lines[2:9] == [
        "  record 1",
        "    time  2026-06-14T08:15:04.978000+00:00, up to 1,000 us later",
        "    type  started on port",
        "    level = INFO",
        "    component = kafka.server.KafkaServer",
        "    port = 80",
        "    message = started on port 80 (kafka.server.KafkaServer)",
    ]
    assert [line for line in lines if line.startswith("  record")] == [
        "  record 1",
        "  record 2",
        "  record 3",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["a.log"]


def test_other_formats_are_explained_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("event_type,time,door\nEnter,2026-06-14T08:15:04Z,7\n")
    assert main(["ingest", "--explain", str(tmp_path / "a.csv")]) == 0
    assert "    door = 7" in capsys.readouterr().out.splitlines()


def test_without_it_the_dataset_has_to_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.log").write_text(LINES)
    assert main(["ingest", str(tmp_path / "a.log")]) == 2
    assert "-o EVENTS" in capsys.readouterr().err


def test_a_refusal_offers_a_mapping_that_was_tried(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.csv").write_text("activity;when\nsubmit;14.06.2026 08:15\napprove;14.06.2026 08:16\n")
    assert main(["ingest", str(tmp_path / "a.csv"), "-o", str(tmp_path / "e"), "--runner", "local"]) == 3
    told = capsys.readouterr().err.strip()
    offered = "--map event_type=activity,time=when --time-format '%d.%m.%Y %H:%M'"
    assert told.endswith(
        f"{offered} (with it 2 of its first 2 records would become events of 2 types: submit, approve)"
    )


def test_a_file_of_which_nothing_can_be_shown_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text, why in (
        ("event_type,time\n", "it has no records"),
        ("event_type,time\nA,?\n", "the first on line 2: no time: A,?"),
    ):
        (tmp_path / "x.csv").write_text(text)
        assert main(["ingest", "--explain", str(tmp_path / "x.csv")]) == 0
        assert why in capsys.readouterr().out
    (tmp_path / "x.log").write_text("")
    assert main(["ingest", "--explain", str(tmp_path / "x.log")]) == 3
