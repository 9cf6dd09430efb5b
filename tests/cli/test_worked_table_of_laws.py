"""Laws of order, worked by hand: the numbers of the table, by the worlds engine from the command line."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from pathlib import Path

import pytest

from cepctl.cli import main

LAWS = {
    "L1": '[[law]]\nby = "k"\n[law.next."A"]\n"B" = 4',
    "L2": '[[law]]\nby = "k"\n[law.before."A"]\n"B" = 4',
    "L3": '[[law]]\nby = "k"\n[law.next."A"]\n"B" = 4\n[law.next."^"]\n"A" = 2\n[law.before."B"]\n"C" = 3',
}
ABC = "A,a,1,4,x\nB,b,1,4,x\nC,c,3,6,x\n"
ABB = "A,a,1,4,x\nB,b1,1,4,x\nB,b2,1,4,x\n"
APART = "A,a,1,4,x\nB,b1,2,3,x\nB,b2,3,5,x\n"
NEXT = "STRATEGY skip_till_next_match"
WITHIN = "WITHIN 4 ticks"
BY = "GROUP BY a.k"

ABC_ROWS = {
    "SEQ(A a, B b)": {
        None: Fraction(3, 8),
        "L1": Fraction(9, 16),
        "L2": Fraction(3, 5),
        "L3": Fraction(171, 269),
    },
    "SEQ(B b, A a)": {
        None: Fraction(3, 8),
        "L1": Fraction(1, 6),
        "L2": Fraction(3, 20),
        "L3": Fraction(213, 2152),
    },
    "SEQ(A a, B b, C c)": {
        None: Fraction(1, 4),
        "L1": Fraction(4, 9),
        "L2": Fraction(2, 5),
        "L3": Fraction(144, 269),
    },
    f"SEQ(A a, B b, C c) {WITHIN}": {
        None: Fraction(1, 8),
        "L1": Fraction(2, 9),
        "L2": Fraction(1, 5),
        "L3": Fraction(72, 269),
    },
    "SEQ(A a, C c)": {
        None: Fraction(13, 16),
        "L1": Fraction(127, 144),
        "L2": Fraction(281, 320),
        "L3": Fraction(4059, 4304),
    },
    f"SEQ(A a, C c) {NEXT}": {
        None: Fraction(13, 16),
        "L1": Fraction(127, 144),
        "L2": Fraction(281, 320),
        "L3": Fraction(4059, 4304),
    },
    "SEQ(A a, !B b, C c)": {
        None: Fraction(9, 16),
        "L1": Fraction(7, 16),
        "L2": Fraction(153, 320),
        "L3": Fraction(1755, 4304),
    },
}
CASES = [
    *((ABC, query, law, [number]) for query, by in ABC_ROWS.items() for law, number in by.items()),
    (ABB, "SEQ(A a, B b)", None, [Fraction(3, 8), Fraction(3, 8)]),
    (ABB, "SEQ(A a, B b)", "L2", [Fraction(123, 224), Fraction(123, 224)]),
    (APART, "SEQ(A a, B b)", None, [Fraction(3, 4), Fraction(3, 8)]),
    (APART, "SEQ(A a, B b)", "L1", [Fraction(144, 169), Fraction(72, 169)]),
]
KEYS = [
    (ABB, None, Fraction(17, 32), Fraction(3, 4)),
    (ABB, "L2", Fraction(81, 112), Fraction(123, 112)),
    (APART, None, Fraction(3, 4), Fraction(9, 8)),
    (APART, "L1", Fraction(144, 169), Fraction(216, 169)),
]


def found(
    folder: Path, events: str, query: str, law: str | None, *more: str, capfd: pytest.CaptureFixture[str]
) -> list[dict[str, str]]:
    """The rows of a query under a law."""
    (folder / "events.csv").write_text(f"event_type,event_id,lower,upper,k\n{events}")
    asked = ["match", f"PATTERN {query}", str(folder / "events.csv"), "--engine", "worlds", "--quiet"]
    if law is not None:
        (folder / "laws.toml").write_text(LAWS[law])
        asked += ["--laws", str(folder / "laws.toml")]
    capfd.readouterr()
    assert main([*asked, "--time", "ticks", "--format", "csv", *more]) == 0
    return list(csv.DictReader(io.StringIO(capfd.readouterr().out)))


@pytest.mark.parametrize(("events", "query", "law", "expected"), CASES)
def test_confidences_are_those_of_the_table(
    events: str,
    query: str,
    law: str | None,
    expected: list[Fraction],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    rows = found(tmp_path, events, query, law, capfd=capfd)
    assert [float(row["confidence"]) for row in rows] == [float(number) for number in expected]


@pytest.mark.parametrize(("events", "law", "occurrence", "expected"), KEYS)
def test_occurrences_and_expected_numbers_are_under_the_law(
    events: str,
    law: str | None,
    occurrence: Fraction,
    expected: Fraction,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    (row,) = found(tmp_path, events, f"SEQ(A a, B b) {BY}", law, capfd=capfd)
    assert float(row["occurrence"]) == float(occurrence)
    assert float(row["expected"]) == float(expected)


def test_ranges_are_those_without_a_law(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with_law, without = (found(tmp_path, ABC, "SEQ(A a, B b)", law, capfd=capfd) for law in ("L3", None))
    assert [(row["start"], row["end"]) for row in with_law] == [(row["start"], row["end"]) for row in without]


def test_the_column_lawless_is_the_confidence_without_the_law(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    columns = ("--columns", "match,confidence,lawless")
    (row,) = found(tmp_path, ABC, "SEQ(A a, B b)", "L1", *columns, capfd=capfd)
    assert row == {"match": "a b", "confidence": repr(9 / 16), "lawless": repr(3 / 8)}
    (row,) = found(tmp_path, ABB, f"SEQ(A a, B b) {BY}", "L2", "--columns", "lawless,occurrence", capfd=capfd)
    assert row == {"lawless": repr(17 / 32), "occurrence": repr(81 / 112)}


def test_thresholds_speak_of_the_confidence_under_the_law(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    least = ("--min-confidence", "0.5")
    assert len(found(tmp_path, ABC, "SEQ(A a, B b)", "L1", *least, capfd=capfd)) == 1
    assert not found(tmp_path, ABC, "SEQ(A a, B b)", None, *least, capfd=capfd)
