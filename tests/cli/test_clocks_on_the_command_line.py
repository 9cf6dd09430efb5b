"""Shared clocks on the command line: where they are named, and what does not run with them yet."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.errors import UnsupportedQueryError

STAMPED = """event_id,event_type,lower,upper,clock,clock_offset
a,A,-1,3,n,-2:2:1
b,B,1,5,n,-2:2:1
c,C,2,6,,
"""


def called(folder: Path, *arguments: str) -> int:
    (folder / "stamped.csv").write_text(STAMPED)
    command, *options = arguments
    query = "PATTERN SEQ(A a, B b)" if "summary" not in options else "PATTERN SEQ(A a, B+ b[], C c)"
    return main([command, query, str(folder / "stamped.csv"), *options])


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("match", "--why-not", "--runner", "local"), "--why-not"),
        (("match", "--format", "trace", "--runner", "local"), "a drawing of matches"),
        (("match", "--approximate", "0.1", "--runner", "local"), "--approximate"),
        (("match", "--kleene", "summary", "--runner", "local"), "--kleene summary"),
        (("match", "--state", "STATE", "--runner", "local"), "--state"),
        (("show", "--match", "a b"), "cepctl show"),
        (("report", "-o", "PAGE", "--runner", "local"), "a drawing of matches"),
    ],
)
def test_what_does_not_run_with_clocks_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], what: str
) -> None:
    given = [str(tmp_path / each) if each in ("STATE", "PAGE") else each for each in arguments]
    assert called(tmp_path, *given) == UnsupportedQueryError.exit_code
    said = capsys.readouterr()
    assert f"error: not supported yet: {what}" in said.err
    assert said.out == ""


def test_events_of_one_clock_keep_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    called(tmp_path, "match", "--runner", "local", "--time", "ticks", "-q")
    assert capsys.readouterr().out == "match,start,end,confidence\na b,-1,5,1.0\n"


def test_inspect_explain_and_the_report_name_clocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "stamped.csv").write_text(STAMPED)
    stamped, events, report = (str(tmp_path / name) for name in ("stamped.csv", "events", "report.json"))
    assert main(["ingest", stamped, "-o", events, "--report", report, "--runner", "local"]) == 0
    assert json.loads(Path(report).read_text())["clocks"] == {"n": [[-2, 2, 1.0]]}
    assert main(["inspect", events]) == 0
    assert "events share 1 clock: n, -2 to 2 ticks off" in capsys.readouterr().out
    assert main(["explain", "PATTERN SEQ(A a, B b)", events]) == 0
    assert "Clocks      1 shared by events, such as n: summed over their offsets" in capsys.readouterr().out
