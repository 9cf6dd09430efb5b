"""Claims about performance: each names the part of the bench that measures it, and repeats its figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CLAIM = re.compile(r"^\| (?P<claim>[^|]+) \| (?P<measured>[^|]+) \| `(?P<part>[\w-]+)` \|$", re.MULTILINE)
NUMBER = re.compile(r"(?<![\w,.])\d[\d,]*(?:\.\d+)?(?:e\+\d+)?(?: million)?")


def claims() -> list[tuple[str, str]]:
    """What each claim says was measured, and the part of the bench that measures it."""
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    return [(found["measured"], found["part"]) for found in CLAIM.finditer(page)]


def sections() -> dict[str, str]:
    """The tables of each part of the bench."""
    page = (ROOT / "docs" / "performance-tables.md").read_text(encoding="utf-8")
    found = re.split(r"^## .*\n\n`scripts/bench --only ([\w-]+)`$", page, flags=re.MULTILINE)
    return dict(zip(found[1::2], found[2::2], strict=True))


def parts_of_the_bench() -> list[str]:
    program = (ROOT / "scripts" / "benchmarks" / "__main__.py").read_text(encoding="utf-8")
    return re.findall(r"^    Part\(\"([\w-]+)\"", program, re.MULTILINE)


def value_and_step(text: str) -> tuple[float, float]:
    """A number, and what its last digit counts: 5.2 million is 5,200,000 to the nearest 100,000."""
    digits, _, million = text.replace(",", "").partition(" ")
    mantissa, _, exponent = digits.partition("e")
    scale = 10.0 ** int(exponent or 0) * (1e6 if million else 1.0)
    places = len(mantissa.partition(".")[2])
    zeros = 0 if places else len(mantissa) - len(mantissa.rstrip("0"))
    return float(mantissa) * scale, 10.0 ** (zeros - places) * scale


def unmeasured(claim: str, tables: str) -> list[str]:
    """The numbers of a claim that are none of the tables' numbers, rounded."""
    known = [value_and_step(text)[0] for text in NUMBER.findall(tables)]
    return [
        text
        for text in NUMBER.findall(claim)
        for value, step in [value_and_step(text)]
        if not any(abs(value - each) <= 0.5000001 * step for each in known)
    ]


def test_every_part_of_the_bench_has_a_claim_and_tables() -> None:
    names = set(parts_of_the_bench())
    assert len(names) > 20
    assert {part for _, part in claims()} == names
    assert set(sections()) == names


@pytest.mark.parametrize(("measured", "part"), claims())
def test_a_claim_repeats_measured_figures(measured: str, part: str) -> None:
    assert unmeasured(measured, sections()[part]) == []


def test_a_figure_that_was_not_measured_would_be_noticed() -> None:
    tables = "| d = 10 | 5,157,078 | 0.757 | 1.869 |"
    assert unmeasured("5.2 million at d = 10, 0.76 times, 1.9 s", tables) == []
    assert unmeasured("5.3 million at d = 10, 0.75 times, 2 s", tables) == ["5.3 million", "0.75"]
