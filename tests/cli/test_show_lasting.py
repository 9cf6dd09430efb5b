"""`cepctl show` of events that last: bars with fuzzy ends, and the relation in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.cli import main

# a starts at 0 to 4 and ends at 3 to 8, b starts at 2 to 5 and ends at 6 to 9.
EVENTS = (
    "event_id,event_type,lower,upper,end_lower,end_upper\na,A,0,4,3,8\nb,B,2,5,6,9\nn,N,3,5,5,7\nq,Q,2,6,,\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("events.csv").write_text(EVENTS)


def shown(capsys: pytest.CaptureFixture[str], query: str, match: str, code: int = 0) -> tuple[list[str], str]:
    arguments = ["show", f"PATTERN {query}", "events.csv", "--match", match, "--time", "ticks"]
    assert main(arguments) == code
    captured = capsys.readouterr()
    return captured.out.splitlines(), captured.err


def test_a_bar_rises_while_the_event_may_have_begun_and_falls_while_it_may_be_over(
    capsys: pytest.CaptureFixture[str],
) -> None:
    told, _ = shown(capsys, "A a OVERLAPS B b", "a b")
    assert told[0] == "confidence 0.318966, from 0 to 9"  # 148 of 464 worlds
    assert told[3].split("  ")[-1].strip() == "0 .. 4 until 3 .. 8"
    a, b = ([line for line in told if line.startswith(f"{name} {name} ")][-1] for name in "ab")
    width = 120 - 7
    ticks = [f"{a[6:]:<{width + 1}}"[int((tick + 0.5) * width / 10)] for tick in range(10)]
    # P(under way at the ticks 0 to 9), of 29 worlds: 6, 12, 18, 24, 25, 20, 15, 10, 5, 0.
    assert "".join(ticks) == "▂▄▆██▇▅▄▂ "
    assert not b[6 : 6 + 2 * width // 10].strip()
    assert any("how probable it is that it is under way" in line for line in told)
    words = "a OVERLAPS b: a starts first and b ends last, and for a time both are under way"
    assert words in told


def test_a_relation_narrows_what_starts_and_ends_can_use(capsys: pytest.CaptureFixture[str]) -> None:
    told, _ = shown(capsys, "Q q DURING A a", "q a")
    assert told[0] == "confidence 0.468966, from 0 to 8"  # 68 of 145 worlds
    assert [" ".join(line.split()) for line in told[3:5]] == [
        "q q Q 2 .. 6 2 .. 6",
        "a a A 0 .. 4 until 3 .. 8 0 .. 4 until 3 .. 8",
    ]


def test_what_is_absent_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    told, _ = shown(capsys, "ISEQ(A a, !N n) WHERE n INTERSECTS a", "a")
    assert told[0] == "confidence 0.310345, from 0 to 5"  # 9 of 29 worlds
    (absent,) = (line for line in told if "must be absent" in line)
    assert " ".join(absent.split()) == "and nothing happens that must be absent 0.310345 (31.0% of it)"
    assert told[-1].startswith("  confidence by: nested sums over starts and ends (")


def test_what_is_no_match_says_what_fails(capsys: pytest.CaptureFixture[str]) -> None:
    _, error = shown(capsys, "A a AFTER B b", "a b", code=2)
    assert "the conditions on starts and ends, their order and the window does not hold" in error
    _, error = shown(capsys, "A a BEFORE B b", "q b", code=2)
    assert "a is A does not hold" in error
