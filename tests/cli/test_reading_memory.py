"""`--max-memory` where commands hold all events at once: what does not fit is refused with its number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cepctl.cli import main
from cepctl.ingestion import jobs
from cepctl.process.memory import READING_PROGRAM_BYTES, MemoryBudget

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
    assert f"of memory, and 5 kB are available; raise --max-memory to {enough}," in said.err


@pytest.mark.parametrize(
    ("command", "least"),
    [(["inspect", "events"], "240 MB"), (["show", QUERY, "events", "--match", "A1 B2"], "600 MB")],
)
def test_less_than_the_program_takes_is_refused(
    command: list[str], least: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*command, "--max-memory", "200MB"]) == 2
    assert f"name at least {least}" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["match", QUERY, "log.csv"],
        ["match", QUERY, "log.csv", "--state", "state"],
        ["explain", QUERY, "log.csv"],
        ["show", QUERY, "log.csv", "--match", "A1 B2"],
        ["show", QUERY, "log.csv", "--rank", "1"],
        ["inspect", "log.csv"],
    ],
    ids=lambda command: " ".join(command[:1] + command[3:4]),
)
def test_a_log_that_is_read_for_a_query_is_read_within_the_memory_too(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets: list[MemoryBudget] = []

    def noted(
        function: Callable[[Any], Any], task: object, step: str, memory: MemoryBudget, *, local: bool
    ) -> object:
        budgets.append(memory)
        return function(task)

    monkeypatch.setattr(jobs, "in_own_process", noted)
    assert main([*command, "--max-memory", "700MB"]) == 0
    assert {(each.total, each.program) for each in budgets} == {(700_000_000, READING_PROGRAM_BYTES)}
