"""`--max-memory` where commands hold all events at once: what does not fit is refused with its number."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.memory import MemoryBudget

QUERY = "PATTERN SEQ(A a, B b)"


@pytest.fixture(autouse=True)
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    rows = [f"{kind}{number},{kind},{number}" for number in range(100) for kind in "AB"]
    Path("log.csv").write_text("\n".join(["event_id,event_type,time", *rows, ""]))
    assert main(["ingest", "log.csv", "-o", "events", "--max-memory", "300MB", "-q"]) == 0


@pytest.mark.parametrize(
    ("command", "purpose", "enough"),
    [
        (["inspect", "events"], "inspect", "240 MB"),
        (["show", QUERY, "events", "--match", "A1 B2"], "show", "600 MB"),
    ],
)
def test_events_that_do_not_fit_are_refused_before_they_are_read(
    command: list[str],
    purpose: str,
    enough: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(command) == 0
    monkeypatch.setattr(MemoryBudget, "own", 5_000)
    capsys.readouterr()
    assert main(command) != 0
    said = capsys.readouterr()
    assert said.out == ""
    assert f"{purpose} holds all 200 events at once, which takes about" in said.err
    assert f"of memory, where 5 kB are left beside the program; raise --max-memory to {enough}," in said.err


@pytest.mark.parametrize(
    ("command", "least"),
    [(["inspect", "events"], "240 MB"), (["show", QUERY, "events", "--match", "A1 B2"], "600 MB")],
)
def test_less_than_the_program_takes_is_refused(
    command: list[str], least: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--max-memory", "200MB"]) == 2
    assert f"name at least {least}" in capsys.readouterr().err
