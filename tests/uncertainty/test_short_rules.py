"""Rules of uncertainty in one line each: what they mean, for which events, and what is refused."""

from __future__ import annotations

import json
import re
from pathlib import Path

import polars as pl
import pytest

import cepctl
from cepctl.cli import main
from cepctl.errors import UncertaintyModelError
from cepctl.uncertainty.short_rules import model_of, words_of

LOG = """\
event_type,time,host,port
A,2024-05-01T10:00:10.5Z,n1,80
B,2024-05-01T10:00:20.5Z,n7,443
"""
AT = 1_714_557_600_000


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CEPCTL_RUNNER", "local")
    file = tmp_path / "fw.csv"
    file.write_text(LOG)
    return file


def intervals(dataset: str | Path) -> list[tuple[int, int]]:
    """Lower and upper in milliseconds after ten o'clock."""
    frame = pl.read_parquet(Path(dataset, "*.parquet")).sort("event_type")
    return [(low - AT, up - AT) for low, up in frame.select("lower", "upper").rows()]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (["±500 ms"], [(10_000, 11_000), (20_000, 21_000)]),
        (["+-500ms"], [(10_000, 11_000), (20_000, 21_000)]),
        (["-16 s..+2 s"], [(-5_500, 12_500), (4_500, 22_500)]),
        (["1..2 s"], [(11_500, 12_500), (21_500, 22_500)]),
        (["1 min"], [(0, 59_999), (0, 59_999)]),
        (["host=n7: ±2 s", "±1 s"], [(9_500, 11_500), (18_500, 22_500)]),
        (["port=443=±2 s"], [(10_500, 10_500), (18_500, 22_500)]),
        (["A=±1 s", "fw.csv=±2 s"], [(9_500, 11_500), (18_500, 22_500)]),
        (["f*.csv: ±2 s"], [(8_500, 12_500), (18_500, 22_500)]),
    ],
)
def test_a_rule_in_one_line_gives_intervals(
    log: Path, rules: list[str], expected: list[tuple[int, int]]
) -> None:
    options = [word for rule in rules for word in ("--uncertainty", rule)]
    assert main(["ingest", "fw.csv", "-o", "events", *options, "--write-model", "model.toml"]) == 0
    assert intervals("events") == expected
    # The file that was written means the same, also to `assign`, as the rules do there.
    assert main(["assign", "events", "-o", "again", "--uncertainty", "model.toml"]) == 0
    assert main(["assign", "events", "-o", "anew", *options]) == 0
    assert intervals("again") == intervals("anew") == expected


def test_a_program_says_it_as_a_dict_a_text_or_a_path(log: Path) -> None:
    log.with_name("model.toml").write_text("[[rule]]\ngranularity = '1 min'\n")
    expected = [("±1 s", 0.5), ({"A": "±1 s", "*": "1 day"}, 0.5), (Path("model.toml"), 0.5)]
    for uncertainty, least in expected:
        (row,) = cepctl.match("PATTERN SEQ(A a, B b)", log, uncertainty=uncertainty)  # type: ignore[arg-type]
        assert row["confidence"] >= least - 0.02
    assert words_of({"A": "±1 s", "*": "1 day"}) == ("A=±1 s", "1 day")


def test_a_match_takes_rules(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "PATTERN SEQ(B b, A a)", "fw.csv", "--uncertainty", "±6 s", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["answer"]["rows"]
    assert 0 < row["confidence"] < 0.1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nosuch.toml"], "there is no such file, and it is no rule such as '±500 ms'"),
        (["±1 s", "model.toml"], "a model file stands alone"),
        (["±1 s", "A=±2 s"], "rule 2 is never reached: rule 1 fits every event"),
        (["±1 parsec"], "'1 parsec' is not a duration"),
        (
            ["±5m"],
            "'5m' is not a duration; write a number and a unit, such as '15 s' (units: ns, us, ms, s, "
            "min, h, day, week); did you mean 'min'?",
        ),
        (["±500"], "'±500' has no unit of time; write '±500 s', or ms"),
        (["A=±1 s", "B: -1..2"], "'B: -1..2' has no unit of time; write 'B: -1..2 s', or ms"),
        (["2 s..1 s"], "the interval is empty"),
    ],
)
def test_what_cannot_be_meant_is_refused(log: Path, words: list[str], message: str) -> None:
    with pytest.raises(UncertaintyModelError, match=re.escape(message)):
        model_of(words)


def test_a_rule_for_nothing_is_a_warning(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for which, why in [("C", "no type or file has the name 'C'"), ("hots=n1", "did you mean 'host'")]:
        assert main(["match", "PATTERN SEQ(A a, B b)", "fw.csv", "--uncertainty", f"{which}=±1 s", "-q"]) == 0
        said = capsys.readouterr().err
        assert said.startswith("warning: --uncertainty: rule 1 applies to no event")
        assert why in said


def test_exact_times_are_said_once(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["match", "PATTERN SEQ(A a, B b)", "fw.csv"]) == 0
    assert capsys.readouterr().err.count("note: every time is taken as exact, to one tick of 1 ms") == 1
    assert main(["match", "PATTERN SEQ(A a, B b)", "fw.csv", "--uncertainty", "±1 s"]) == 0
    assert "taken as exact" not in capsys.readouterr().err
