"""`cepctl match --state DIR --follow`: runs again when the inputs have grown, until it is interrupted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from cepctl.cli import main

QUERY = "PATTERN SEQ(A a, B b) WITHIN 4 ticks"
FOLLOW = ["match", QUERY, "e.csv", "--state", "S", "--time", "ticks", "--follow", "-q"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    Path("e.csv").write_text("event_id,event_type,lower,upper\na1,A,1,1\nb1,B,3,3\n")
    return tmp_path


def followed(
    monkeypatch: pytest.MonkeyPatch, *steps: Callable[[], object], more: tuple[str, ...] = ()
) -> int:
    """Exit code of a run that takes a step whenever it waits, and is interrupted after the last."""
    left = list(steps)

    def sleep(seconds: float) -> None:
        if not left:
            raise KeyboardInterrupt
        left.pop(0)()

    monkeypatch.setattr("cepctl.cli.match.following.time", SimpleNamespace(sleep=sleep))
    return main([*FOLLOW, *more])


def grow(*lines: str) -> Callable[[], object]:
    def write() -> None:
        with Path("e.csv").open("a") as log:
            log.writelines(f"{line}\n" for line in lines)

    return write


def test_rows_come_below_each_other_under_one_header(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = grow("c,C,10,10", "a2,A,10,10", "b2,B,12,12"), grow("d,C,20,20")
    assert followed(monkeypatch, *steps) == 130
    assert capsys.readouterr().out == "confidence,start,end,match\n1.0,1,3,a1 b1\n1.0,10,12,a2 b2\n"


def test_nothing_runs_while_nothing_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert followed(monkeypatch, lambda: None, lambda: None, more=("-o", "out")) == 130
    assert [path.name for path in Path("out").iterdir()] == ["run-000001.csv"]


def test_a_log_that_is_gone_for_a_moment_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    away, log = Path("away"), Path("e.csv")
    steps = (lambda: log.rename(away)), (lambda: away.rename(log)), grow("c,C,10,10")
    assert followed(monkeypatch, *steps) == 130
    assert capsys.readouterr().out.splitlines()[1:] == ["1.0,1,3,a1 b1"]


def test_the_same_state_goes_on_without_following(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert followed(monkeypatch) == 130
    grow("c,C,10,10")()
    assert main([word for word in FOLLOW if word != "--follow"]) == 0
    assert capsys.readouterr().out.endswith("1.0,1,3,a1 b1\n")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--format", "json"), "--follow prints the rows of many runs, and json is one document; choose csv"),
        (("--fail-on-match",), "--fail-on-match cannot apply with --follow: it runs until it is interrupt"),
        (("--final",), "--final cannot apply with --follow: a closed state reads no more input"),
    ],
)
def test_what_cannot_go_on_is_refused(
    more: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*FOLLOW, *more]) == 2
    assert capsys.readouterr().err.startswith(f"error: {said}")
