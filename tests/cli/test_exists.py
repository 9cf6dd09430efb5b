"""`cepctl match --exists`: one row that says whether there is a match, and the first one."""

from __future__ import annotations

from pathlib import Path

import pytest

import cepctl
from cepctl.cli import main
from cepctl.errors import UsageError

CHAIN = "PATTERN SEQ(A a, B b) WITHIN 30 ticks"
HEADER = "exists,confidence,start,end,match"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a log of two keys."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    lines = ["a1,A,0,2,p", "b1,B,1,4,p", "a2,A,10,12,q", "b2,B,11,14,q", "c,C,3,3,p"]
    (tmp_path / "log.csv").write_text("\n".join(["event_id,event_type,lower,upper,k", *lines]))
    return tmp_path


def written(capsys: pytest.CaptureFixture[str], query: str, *more: str, code: int = 0) -> list[str]:
    arguments = ["match", query, "log.csv", "--exists", "--time", "ticks", "--quiet", *more]
    assert main(arguments) == code
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("engine", ["event", "point", "worlds"])
def test_the_row_names_the_first_match_or_none(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    first = [HEADER, "true,0.75,0,4,a1 b1"]
    nothing = [HEADER, "false,,,,"]
    assert written(capsys, CHAIN, "--engine", engine) == first
    assert written(capsys, "PATTERN SEQ(C a, A b) WITHIN 5 ticks", "--engine", engine) == nothing
    assert written(capsys, f"{CHAIN} CONFIDENCE >= 80%", "--engine", engine) == [
        HEADER,
        "true,1.0,0,14,a1 b2",
    ]
    assert written(capsys, f"{CHAIN} RETURN a.k, b.k", "--engine", engine) == first


@pytest.mark.parametrize("engine", ["event", "worlds"])
def test_each_key_of_group_by_has_a_row(engine: str, capsys: pytest.CaptureFixture[str]) -> None:
    query = f"{CHAIN} GROUP BY a.k"
    rows = [f"a.k,{HEADER}", "p,true,0.75,0,4,a1 b1", "q,true,0.75,10,14,a2 b2"]
    assert written(capsys, query, "--engine", engine) == rows
    assert written(capsys, f"{CHAIN} GROUP BY ()", "--engine", engine) == [HEADER, "true,0.75,0,4,a1 b1"]


def test_times_and_forms_are_those_of_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert written(capsys, CHAIN, "--since", "1970-01-01T00:00:00.005Z")[1] == "true,0.75,10,14,a2 b2"
    assert written(capsys, CHAIN, "--format", "jsonl") == [
        '{"exists":true,"confidence":0.75,"start":0,"end":4,"match":"a1 b1","signature":[["a1"],["b1"]]}'
    ]
    assert written(capsys, CHAIN, "--columns", "exists") == ["exists", "true"]
    assert written(capsys, CHAIN, "--fail-on-match", code=1) == [HEADER, "true,0.75,0,4,a1 b1"]
    assert written(capsys, "PATTERN SEQ(C a, A b) WITHIN 5 ticks", "--fail-on-match")[1] == "false,,,,"


def test_a_program_asks_as_well() -> None:
    found = cepctl.match(CHAIN, "log.csv", exists=True, runner="local", time="ticks")
    assert [(row["exists"], row["match"]) for row in found] == [(True, "a1 b1")]
    nothing = cepctl.match("PATTERN SEQ(C a, A b) WITHIN 5 ticks", "log.csv", exists=True, runner="local")
    assert [row["exists"] for row in nothing] == [False]
    with pytest.raises(UsageError, match="kleene cannot apply with exists=True: a summary names no match"):
        cepctl.match(CHAIN, "log.csv", exists=True, kleene="summary")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--top-k", "3"], "--top-k cannot apply with --exists: it looks for the first match and no further"),
        (["--kleene", "summary"], "--kleene cannot apply with --exists: a summary names no match"),
        (["--state", "kept"], "--state cannot apply with --exists"),
        (["--unordered"], "--unordered cannot apply with --exists"),
        (["--why-not"], "--why-not cannot apply with --exists"),
        (
            ["--approximate", "0.1"],
            "--approximate cannot apply with --exists: an estimate may lie on either side",
        ),
        (["--format", "trace"], "--format cannot apply with --exists: it lists no matches to draw"),
        (["--columns", "a.k"], "there is no column 'a.k'; there are exists, confidence, start, end, match"),
    ],
)
def test_what_cannot_apply_is_refused(
    more: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["match", CHAIN, "log.csv", "--exists", *more]) == 2
    assert message in capsys.readouterr().err
