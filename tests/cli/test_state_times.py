"""Incremental runs take times as the first run took them: its ticks, and whether fractions were dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main
from tests.cli.growing_log import begin_log, log

QUERY = "PATTERN SEQ(A a, B b) WITHIN 10 s"


def run(*arguments: str) -> str:
    """What the newest run has emitted, without its header."""
    assert main(["match", "--state", "S", "-o", "out", "--format", "csv", QUERY, "e.csv", *arguments]) == 0
    newest = max(Path("out").iterdir())
    return newest.read_text().partition("\n")[2]


def test_finer_digits_than_those_of_the_first_run_are_cut_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    begin_log(tmp_path, monkeypatch, "event_id,event_type,time", "a,A,2024-05-01T00:00:01.5Z")
    run()
    log("b,B,2024-05-01T00:00:02.000100Z")
    emitted = run("--final")
    assert emitted == "1.0,2024-05-01T00:00:01.500Z,2024-05-01T00:00:02.000Z,a b\n"
    assert "times with digits finer than a tick of 1 ms, which are cut: 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("first", "second", "span"),
    [
        pytest.param("01.000001", "02.5", "01.000001Z 02.500000Z", id="ticks of the first run stay"),
        pytest.param(
            "01.5", "02", "01.500Z 02.000Z", id="zeros are dropped where an earlier run saw fractions"
        ),
        pytest.param("01", "02", "01.000Z 02.999Z", id="a whole second where no earlier time had a fraction"),
    ],
)
def test_later_times_are_taken_as_those_of_the_first_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str, span: str
) -> None:
    begin_log(tmp_path, monkeypatch, "event_id,event_type,time", f"a,A,2024-05-01T00:00:{first}Z")
    run()
    log(f"b,B,2024-05-01T00:00:{second}Z")
    begin, end = (f"2024-05-01T00:00:{seconds}" for seconds in span.split())
    assert run("--final") == f"1.0,{begin},{end},a b\n"
