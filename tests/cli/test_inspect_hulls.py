"""`cepctl inspect`: where no constant offsets fit, a command that looks for drifts, ready to be copied."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import polars as pl
import pytest

from cepctl.cli import main
from tests.cli.test_clock_hulls import ENTERS, LEAVES, log


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def inspected(events: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    assert main(["inspect", events, "--full"]) == 0
    return capsys.readouterr().out.splitlines()


def offered(lines: list[str]) -> list[str]:
    """The commands that make CLOCKS."""
    return [line for line in lines if line.startswith("cepctl clocks ")]


def ingested(given: tuple[str, ...] = (ENTERS, LEAVES)) -> None:
    log()
    texts = "".join(f"[[given]]\nholds = '{text}'\n" for text in given)
    Path("model.toml").write_text(f'time_unit = "1 ms"\n{texts}')
    assert main(["ingest", "spans.csv", "-o", "events", "--uncertainty", "model.toml", "--quiet"]) == 0


def test_hosts_that_no_constant_fits_are_named_with_the_command_that_looks_for_a_drift(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """At least 60 ms at the end, at most 30 at the begin: 30 too many."""
    ingested()
    lines = inspected("events", capsys)
    assert "node a, node b  0.030 s" in lines
    [command] = offered(lines)
    assert command == (
        f"cepctl clocks events --by node --reference a --given '{ENTERS}' --given '{LEAVES}' "
        "-o clocks.parquet"
    )
    assert main(shlex.split(command)[1:]) == 0
    assert pl.read_parquet("clocks.parquet").get_column("host").to_list() == ["a", "b"]
    assert main(["inspect", "events", "--format", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["hull_question"] == {"reference": "a", "given": [ENTERS, LEAVES]}


def test_bounds_from_one_side_contradict_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    ingested((ENTERS,))
    assert offered(inspected("events", capsys)) == []


def test_a_node_that_drifts_against_its_master(capsys: pytest.CaptureFixture[str]) -> None:
    """The clock of the node is 0.5 to 1.5 s ahead at first, and 8.5 to 9.5 s a day later: about 93 ppm."""
    rows = ["event_type,time,node,task_id,attempt_id,status"]
    for day, ahead, task in ((3, 1, "task_1"), (4, 9, "task_2")):
        master, node = f"2026-03-0{day}T09:00", f"2026-03-0{day}T09:00"
        rows += [
            f"TaskStart,{master}:10.000Z,,{task},,",
            f"MapAttemptStart,{node}:{10 + ahead}.500Z,node07,{task},attempt_{task},",
            f"MapAttemptFinish,{node}:{39 + ahead}.500Z,node07,{task},attempt_{task},SUCCEEDED",
            f"TaskFinish,{master}:40.000Z,,{task},,",
        ]
    Path("jobs.csv").write_text("\n".join(rows) + "\n")
    lines = inspected("jobs.csv", capsys)
    assert "master of jobs.csv, node node07  7.000 s" in lines
    [command] = offered(lines)
    assert "--reference '' " in command
    assert "TaskFinish q) IF p.task_id = q.task_id AND p.status IN ('SUCCEEDED')" in command
    assert main([*shlex.split(command)[1:], "--window", "2 days"]) == 0
    [row] = pl.read_parquet("clocks.parquet").to_dicts()
    ahead, to, off = (row[name] / 10**9 for name in ("ahead", "ahead_to", "high"))
    assert row["host"] == "node07"
    assert (ahead, to, off) == pytest.approx((1, 9, 0.5), abs=0.01)
