"""The worked table of shared clocks in docs/semantics.md is what the command line prints."""

from __future__ import annotations

import csv
import re
from fractions import Fraction
from pathlib import Path

import pytest

from cepctl.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "semantics.md").read_text(encoding="utf-8")
STAMPED = PAGE.split("<!-- file: stamped.csv -->\n```csv\n")[1].split("```")[0]
ROWS = re.findall(r"^\| `(SEQ.*?)` \| (.*?) \| (.*?) \|$", PAGE, flags=re.MULTILINE)
CELL = re.compile(r"([0-9/]+), from (-?[0-9]+) to (-?[0-9]+)")


def test_the_table_has_all_its_rows() -> None:
    assert len(ROWS) == 8


@pytest.mark.parametrize(("query", "shared", "alone"), ROWS)
def test_the_table_is_what_the_command_line_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], query: str, shared: str, alone: str
) -> None:
    rows = list(csv.reader(STAMPED.splitlines()))
    assert rows[0][-2:] == ["clock", "clock_offset"]
    for columns, cell in ((6, shared), (4, alone)):
        file = tmp_path / f"events{columns}.csv"
        file.write_text("".join(",".join(row[:columns]) + "\n" for row in rows))
        command = ["match", f"PATTERN {query}", str(file), "--runner", "local", "--time", "ticks", "-q"]
        assert main(command) == 0
        (found,) = csv.DictReader(capsys.readouterr().out.splitlines())
        wanted = CELL.fullmatch(cell)
        assert wanted is not None
        assert (found["start"], found["end"]) == wanted.group(2, 3)
        assert float(found["confidence"]) == pytest.approx(float(Fraction(wanted[1])), abs=1e-12)
