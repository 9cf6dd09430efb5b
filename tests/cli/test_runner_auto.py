"""`--runner auto`: Spark for what is large, or where it is said how; one process where there is no Java."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cepctl.cli import main
from cepctl.cli.match.kernel_hint import hint_at_kernels
from cepctl.errors import JobError
from cepctl.matching.execution import LOCAL_BYTES, LOCAL_EVENTS, Execution, RunnerChoice

QUERY = "PATTERN SEQ(A a, B b)"


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of two events, and a Spark that says only that it was called."""
    monkeypatch.chdir(tmp_path)
    Path("log.csv").write_text("event_type,lower,upper\nA,1,2\nB,3,4\n")

    @contextmanager
    def called(*_: object, **__: object) -> Iterator[Any]:
        raise JobError("Spark was called")
        yield

    monkeypatch.setattr("cepctl.runners.spark.runner.spark_session", called)


def test_the_size_decides() -> None:
    choice = RunnerChoice("auto", "local[*]", ())
    assert [choice.for_events(LOCAL_EVENTS + n).runner for n in (0, 1)] == ["local", "spark"]
    assert [choice.for_bytes(LOCAL_BYTES + n).runner for n in (0, 1)] == ["local", "spark"]
    spark = RunnerChoice("spark", "local[*]", ())
    assert spark.for_events(1) is spark
    assert not choice.on_spark


def test_what_is_small_stays_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ingest", "log.csv", "-o", "events", "--runner", "auto"]) == 0
    assert main(["match", QUERY, "events", "--runner", "auto", "--time", "ticks"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["1.0,1,4,log.csv#1 log.csv#2"]
    Path("model.toml").write_text("time_unit = '1 ms'\n")
    assert main(["assign", "events", "-o", "again", "--uncertainty", "model.toml", "--runner", "auto"]) == 0


@pytest.mark.parametrize("command", ["ingest log.csv -o events", f"match {QUERY.replace(' ', '_')} log.csv"])
def test_what_is_large_goes_to_spark(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepctl.matching.execution.LOCAL_EVENTS", 1)
    monkeypatch.setattr("cepctl.matching.execution.LOCAL_BYTES", 1)
    monkeypatch.setattr("cepctl.runners.spark.session.why_not_startable", lambda: None)
    words = [word.replace("_", " ") for word in command.split()]
    assert main([*words, "--runner", "auto"]) == 4
    assert capsys.readouterr().err.endswith("error: Spark was called\n")


@pytest.mark.parametrize("option", ["--master=local[1]", "--conf=spark.ui.enabled=true"])
def test_who_says_how_spark_runs_wants_spark(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", QUERY, "log.csv", "--runner", "auto", option]) == 4
    assert capsys.readouterr().err.endswith("error: Spark was called\n")


@pytest.mark.parametrize("command", ["ingest log.csv -o events", f"match {QUERY.replace(' ', '_')} log.csv"])
def test_without_java_what_is_large_stays_here_with_a_note(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CEPCTL_RUNNER", raising=False)
    monkeypatch.setattr("cepctl.matching.execution.LOCAL_EVENTS", 1)
    monkeypatch.setattr("cepctl.matching.execution.LOCAL_BYTES", 1)
    monkeypatch.setattr("cepctl.runners.spark.session.why_not_startable", lambda: "no Java found")
    words = [word.replace("_", " ") for word in command.split()]
    assert main(words) == 0
    said = capsys.readouterr().err
    assert "note: one process does all of it, although it is large: no Java found" in said
    assert main([*words, "--runner", "spark"]) == 4


def test_nothing_said_is_auto(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CEPCTL_RUNNER", raising=False)
    assert main(["ingest", "log.csv", "-o", "events"]) == 0
    assert main(["match", QUERY, "events"]) == 0
    assert main(["match", QUERY, "events", "--master", "local[1]"]) == 4
    assert capsys.readouterr().err.endswith("error: Spark was called\n")


def test_standard_input_is_no_file_whose_size_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CEPCTL_RUNNER", raising=False)
    with Path("log.csv").open("rb") as log:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(log))
        assert main(["ingest", "-", "-o", "events"]) == 0
    assert Path("events").is_dir()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("compiled", "hint"),
    [
        (0, ""),
        (
            7,
            "hint: 7 kernels had to be compiled, and are kept; cepctl doctor --warm compiles all at once\n",
        ),
    ],
)
def test_who_waited_for_kernels_hears_how_nobody_has_to(
    compiled: int, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepctl.process.doctor.warming.compiled_here", lambda: compiled)
    choice = RunnerChoice("local", "local[*]", ())
    for stream, said in ((Terminal(), hint), (io.StringIO(), "")):
        monkeypatch.setattr("sys.stderr", stream)
        hint_at_kernels(Execution("event", choice, verbose=False))
        assert stream.getvalue() == said
