"""The signposts for developers: every file that they send somebody to is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parent.parent
PATH = re.compile(r"`((?:[\w.]+/)*[\w.]+(?:\.(?:py|txt|md)|/))`")


def rows_of_changes() -> list[str]:
    """The rows of the tables "To change X, go to Y"."""
    section = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("## To change X, go to Y")[1]
    lines = section.split("\n## ")[0].splitlines()
    return [line for line in lines if line.startswith("| ") and not line.startswith("| to change |")]


def places(text: str) -> list[PurePosixPath]:
    """The files and folders that a text names; a bare name stands in the folder of the one before."""
    found: list[PurePosixPath] = []
    for name in PATH.findall(text):
        bare = "/" not in name
        found.append(found[-1].parent / name if bare and found else PurePosixPath(name))
    return found


def test_the_table_has_a_place_for_many_changes() -> None:
    assert len(rows_of_changes()) >= 20


@pytest.mark.parametrize("row", rows_of_changes())
def test_a_change_is_sent_to_files_that_are_there(row: str) -> None:
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    for cell in cells[1:]:
        assert places(cell), f"no file is named in: {cell}"
        assert [str(place) for place in places(cell) if not (ROOT / place).exists()] == []


def test_the_script_of_the_tests_names_tests_that_are_there() -> None:
    script = (ROOT / "scripts" / "test").read_text(encoding="utf-8")
    listed = subprocess.run(
        ["bash", "-c", "printf '%s\\n' " + " ".join(re.findall(r"tests/[\w/{},]+\.py", script))],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert len(listed) > 5
    assert [name for name in listed if not (ROOT / name).is_file()] == []


def test_the_walk_through_the_rooms_names_files_that_are_there() -> None:
    page = (ROOT / "docs" / "how-data-flows.md").read_text(encoding="utf-8")
    named = {name for name in PATH.findall(page) if name.startswith(("cepctl/", "engines/", "io/", "tests/"))}
    assert len(named) > 30
    assert sorted(name for name in named if not (ROOT / name).exists()) == []


def test_every_room_of_the_engines_has_its_row_in_the_walk() -> None:
    page = (ROOT / "docs" / "how-data-flows.md").read_text(encoding="utf-8")
    rooms = {path.parent.name for path in (ROOT / "engines").glob("*/__init__.py")}
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == rooms


def test_the_glossary_explains_each_term_once() -> None:
    page = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \|", page.partition("## ")[2], re.MULTILINE)
    terms = [term for row in rows if row not in {"term", "---"} for term in row.split(", ")]
    assert len(terms) > 50
    assert sorted(terms) == sorted(set(terms))
