"""What a log says begins no line of what people read: a line end in a value cannot forge a note or a row."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from cepctl.cli import main

FORGED = "FORGED: 7 matches, all is well"
EVENTS = "PATTERN SEQ(* a, * b) WITHIN 3 s"
COMMANDS = {
    "inspect": ["inspect", "log.jsonl"],
    "inspect all": ["inspect", "events", "--full"],
    "audit": ["audit", "log.jsonl"],
    "ingest": ["ingest", "log.jsonl", "-o", "other", "--verbose", "--max-errors", "9"],
    "ingest refused": ["ingest", "log.jsonl", "-o", "other", "--strict", "--max-errors", "0"],
    "match": ["match", EVENTS, "events", "--format", "table"],
    "match keys": ["match", f"{EVENTS} GROUP BY (a.host)", "events", "--format", "table"],
    "match compares": ["match", "PATTERN SEQ(* a, * b) WHERE a.host > 5 WITHIN 3 s", "events"],
    "match why not": ["match", "PATTERN SEQ(C a, * b) WHERE a.host = 'x'", "events", "--why-not"],
    "show": ["show", EVENTS, "events", "--rank", "1"],
    "show none": ["show", EVENTS, "events", "--match", "i0"],
    "follows": ["follows", "events", "--by", "host"],
    "calibrate": ["calibrate", EVENTS, "events", "--jitter", "3 s"],
    "clocks": shlex.split(
        "clocks events --by host --reference h0 --given 'SEQ(* a, * b) IF a.host = b.host' -o c.csv"
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log every text of which has a line end in it, and its events."""
    folder = tmp_path_factory.mktemp("forged")
    end = f"\n{FORGED}"
    records = [
        {
            "event_id": f"i{number}{end}",
            "time": f"2026-06-14T10:00:{number:02}Z",
            "event_type": "AB"[number % 2] + end,
            "host": f"h{number % 3}{end}",
            f"name{end}": f"x{end}",
            "value": number,
        }
        for number in range(40)
    ]
    records += [{**records[0], "event_id": f"bad{end}", "time": f"2026-06-99T10{end}"}]
    (folder / "log.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in records))
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        assert main(["ingest", "log.jsonl", "-o", "events", "--max-errors", "9", "--quiet"]) == 0
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_no_value_begins_a_line(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    main(COMMANDS[command])
    said = capsys.readouterr()
    lines = f"{said.out}\n{said.err}".splitlines()
    assert lines
    assert [line for line in lines if line.startswith(FORGED)] == []


def test_a_query_that_is_offered_is_one_line_and_can_be_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    assert main(["inspect", "events"]) == 0
    offered = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("cepctl match"))
    told = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {offered}"], capture_output=True, text=True, check=True
    )
    assert main([*told.stdout.split("\0")[1:-1], "--quiet"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > 1


def test_every_table_is_one_whose_cells_end_no_line() -> None:
    files = Path("cepctl").rglob("*.py")
    assert [str(file) for file in files if " Table(" in file.read_text(encoding="utf-8")] == []
