"""`cepctl learn` on the command line: what it writes and says, and what it refuses."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from cepctl.cli import main

WORDS = ("learn", "log.csv", "--by", "door", "--coarsen", "10 ms")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty doors, each of which is opened and shut within a unit of 10 ticks."""
    monkeypatch.chdir(tmp_path)
    rows = [f"{step},{tick},{tick},d{i:02},{step[0]}" for i in range(20) for step, tick in _of_door(i)]
    (tmp_path / "log.csv").write_text("\n".join(["event_type,lower,upper,door,letter", *rows, ""]))


def _of_door(number: int) -> list[tuple[str, int]]:
    return [("Open", 100 * number + 2), ("Shut", 100 * number + 4 + number % 4)]


def refused(capsys: pytest.CaptureFixture[str], *words: str, code: int = 2) -> str:
    assert main(list(words)) == code
    assert not Path("laws.toml").exists()
    told = capsys.readouterr()
    assert told.out == ""
    return told.err.splitlines()[0]


def test_a_law_is_written_and_its_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "-o", "laws.toml"]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith(
        "laws.toml: a law of door with 8 factors, learned from 20 keys under coarsen 10 ms; "
        "20 held-out open pairs: log score 0."
    )
    (law,) = tomllib.loads(Path("laws.toml").read_text())["law"]
    assert (law["by"], law["step"]) == ("door", ["event_type"])
    assert law["before"]["Open"]["Shut"] > 1 > law["before"]["Shut"]["Open"]
    assert law["evidence"]["blur"] == "coarsen 10 ms"


def test_steps_may_be_of_several_attributes() -> None:
    assert main([*WORDS, "--step", "event_type, letter", "-o", "laws.toml", "--quiet"]) == 0
    (law,) = tomllib.loads(Path("laws.toml").read_text())["law"]
    assert law["step"] == ["event_type", "letter"]
    assert list(law["before"]) == ["Open+O", "Shut+S"]


def test_a_part_of_the_keys_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*WORDS, "--part", "1/2", "-o", "laws.toml"]) == 0
    assert "learned from 10 keys" in capsys.readouterr().err
    assert main([*WORDS, "--max-keys", "12", "-o", "laws.toml"]) == 0
    assert "learned from 12 keys under coarsen 10 ms; 8 keys not needed; " in capsys.readouterr().err


@pytest.mark.slow
def test_the_hidden_times_are_those_of_calibrate(capsys: pytest.CaptureFixture[str]) -> None:
    """Other draws hide other orders; the same seed hides the same ones."""
    texts = []
    for seed in ("1", "2", "1"):
        words = ("learn", "log.csv", "--by", "door", "--jitter", "5 ms", "--seed", seed)
        assert main([*words, "-o", "laws.toml", "--quiet"]) == 0
        texts.append(Path("laws.toml").read_bytes())
    assert texts[0] == texts[2] != texts[1]


def test_a_file_that_is_there_is_kept_where_nothing_is_learned(capsys: pytest.CaptureFixture[str]) -> None:
    Path("laws.toml").write_text("mine")
    assert main([*WORDS, "--part", "0/5", "-o", "laws.toml"]) == 2
    assert Path("laws.toml").read_text() == "mine"
    assert main([*WORDS, "-o", "laws.toml", "--quiet"]) == 0
    assert Path("laws.toml").read_text().startswith("[[law]]\n")


def test_what_is_refused_is_named_with_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    log, end = ("learn", "log.csv", "--by", "door"), ("-o", "laws.toml")
    assert refused(capsys, *log, *end) == (
        "error: name one blur, the way in which true times are hidden: --coarsen '1 day', --jitter '60 s' or "
        "--model FILE"
    )
    assert refused(capsys, "learn", "log.csv", "--by", "dor", "--coarsen", "10 ms", *end, code=3) == (
        "error: --by: no event has the attribute 'dor' (did you mean 'door'?)"
    )
    assert refused(capsys, *WORDS, "--step", "kind", *end, code=3) == (
        "error: --step: no event has the attribute 'kind' (attributes: door, letter)"
    )
    assert refused(capsys, *log, "--coarsen", "1 ms", *end).startswith(
        "error: coarsen 1 ms hides nothing: each of 40 events keeps its one tick of 1 ms; "
    )
    assert refused(capsys, *WORDS, "--part", "2/2", *end) == (
        "error: --part 2/2 is not a part; write I/K with I from 0 to K - 1, such as 0/2 and 1/2"
    )
    assert refused(capsys, *log, "--coarsen", "2 ms", *end) == (
        "error: coarsen 2 ms leaves no order of two steps open within a door; hide more of the times, or "
        "tell more steps apart with --step"
    )


def test_shared_clocks_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("clock.toml").write_text("[[rule]]\nclock = { by = 'letter', offset = '5 ms' }\n")
    words = ("learn", "log.csv", "--by", "door", "--model", "clock.toml", "-o", "laws.toml")
    told = (
        "error: learn takes no shared clocks, whose events err together: it learns from events that err "
        "alone; "
    )
    assert refused(capsys, *words) == (
        f"{told}leave the clock out of model clock.toml, or take --jitter with as much as it errs"
    )
    words = ("learn", "log.csv", "--by", "door", "--clock", "by=letter 5 ms", "-o", "laws.toml")
    assert refused(capsys, *words) == f"{told}take --jitter with as much as the clocks err"


def test_where_it_cannot_write_is_said_before_any_work(capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, *WORDS, "-o", "nowhere/laws.toml") == (
        "error: cannot write nowhere/laws.toml: there is no directory nowhere"
    )
    assert refused(capsys, *WORDS, "-o", "log.csv").startswith("error: -o would overwrite the input log.csv")


def test_a_table_of_random_orders_leaves_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    steps = [("Open", "Shut") if number % 2 else ("Shut", "Open") for number in range(40)]
    rows = [
        f"{s},{10 * i + t},{10 * i + t},d{i:02}" for i, both in enumerate(steps) for t, s in enumerate(both)
    ]
    Path("log.csv").write_text("\n".join(["event_type,lower,upper,door", *rows, ""]))
    told = refused(capsys, *WORDS, "-o", "laws.toml")
    assert told.startswith("error: no law is written: under coarsen 10 ms the held-out log score of 40 open")


def test_without_scipy_one_line_says_how_to_get_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cepctl.laws.learning.likelihood.find_spec", lambda name: None)
    told = refused(capsys, *WORDS, "-o", "laws.toml")
    assert "error: learn needs SciPy, which is not installed; pip install 'cepctl[learn]'" in told
