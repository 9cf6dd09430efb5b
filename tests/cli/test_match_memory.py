"""`--max-memory` and `--top-k` on the command line: the same bytes, whatever fits in memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.engines.event import match
from cepctl.process.memory import MemoryBudget

AB = "PATTERN SEQ(A a, B b) RETURN a.x"
FORMS = ["csv", "jsonl", "parquet", "tsv", "json", "arrow"]


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    write_events(tmp_path / "log.csv", 40)
    return tmp_path / "scratch"


def write_events(file: Path, count: int) -> None:
    lines = [
        f"{kind}{i},{kind.upper()},{begin + i % 7},{begin + 10 + i % 11},{i % 3}"
        for i in range(count)
        for kind, begin in (("a", 0), ("b", 8))
    ]
    file.write_text("\n".join(["event_id,event_type,lower,upper,x", *lines, ""]))


def few_rows_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MemoryBudget, "rows", property(lambda _: 5_000))


@pytest.mark.parametrize("form", FORMS)
def test_rows_from_disk_are_written_as_those_in_memory(
    form: str, scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["match", AB, "log.csv", "--format", form, "-o", f"whole.{form}"]) == 0
    told = capsys.readouterr().err
    few_rows_in_memory(monkeypatch)
    assert main(["match", AB, "log.csv", "--format", form, "-o", f"merged.{form}"]) == 0
    assert Path(f"merged.{form}").read_bytes() == Path(f"whole.{form}").read_bytes()
    found, _, doubts = capsys.readouterr().err.rpartition(" s; ")
    assert (found.partition(",")[0], doubts) == (told.partition(",")[0], told.rpartition(" s; ")[2])
    assert list(scratch.iterdir()) == []


def test_what_must_see_all_rows_is_refused_when_they_do_not_fit(
    scratch: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few_rows_in_memory(monkeypatch)
    for arguments in (["match", "--format", "trace"], ["report"]):
        assert main([*arguments, AB, "log.csv", "-o", "out"]) == 2
        assert "matches take" in capsys.readouterr().err
    assert not Path("out").exists()
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("k", [1, 10, 300])
def test_the_best_rows_are_not_held_to_the_number_of_all(
    k: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["match", AB, "log.csv", "--quiet"]) == 0
    every = capsys.readouterr().out.splitlines(keepends=True)
    assert main(["match", AB, "log.csv", "--max-matches", "100"]) == 2
    refused = capsys.readouterr().err
    assert "more than 100 matches" in refused
    assert "--top-k" in refused
    monkeypatch.setattr(match, "_HELD_AT_LEAST", 20)
    assert main(["match", AB, "log.csv", "--top-k", str(k), "--max-matches", "100", "--quiet"]) == 0
    assert capsys.readouterr().out == "".join(every[: k + 1])


def test_the_best_rows_among_those_that_start_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    times = ["--since", "1970-01-01T00:00:00.003Z", "--until", "1970-01-01T00:00:00.005Z"]
    assert main(["match", AB, "log.csv", "--quiet", *times]) == 0
    every = capsys.readouterr().out.splitlines(keepends=True)
    assert main(["match", AB, "log.csv", "--quiet", *times, "--top-k", "7"]) == 0
    assert capsys.readouterr().out == "".join(every[:8])


@pytest.mark.parametrize("command", ["match", "report", "explain"])
def test_a_memory_that_is_none_is_refused(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    output = ["-o", "out"] if command == "report" else []
    assert main([command, AB, "log.csv", "--max-memory", "lots", *output]) == 2
    assert "'lots' is not a size of memory" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.spark
def test_tasks_on_this_machine_hand_over_sorted_runs(scratch: Path, tmp_path: Path) -> None:
    """More rows than a task holds in its part of the memory: the bytes are those of the local runner."""
    write_events(tmp_path / "many.csv", 450)
    arguments = ["match", AB, "many.csv", "--quiet"]
    assert main([*arguments, "-o", "local.csv"]) == 0
    spark = ["--runner", "spark", "--master", "local[1]", "--max-memory", "600MB", "-o", "spark.csv"]
    # In a process of its own: a session that runs here already has as many tasks at a time as it has.
    subprocess.run([sys.executable, "-m", "cepctl", *arguments, *spark], check=True)
    assert Path("spark.csv").read_bytes() == Path("local.csv").read_bytes()
    assert [each for each in scratch.iterdir() if each.name.startswith(".cepctl")] == []
