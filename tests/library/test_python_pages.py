"""The Python on the pages runs as it stands there, and shows what the pages say."""

from __future__ import annotations

import doctest
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.python_cells import blocks_of, run_cell

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    if "```python\n" in page.read_text(encoding="utf-8")
]


@pytest.fixture(autouse=True)
def listeners() -> Iterator[None]:
    """What a page adds to the logger is gone afterwards."""
    logger = logging.getLogger("cepctl")
    handlers, level = [*logger.handlers], logger.level
    yield
    logger.handlers, logger.level = handlers, level


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_on_the_page_shows_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    shutil.copytree(ROOT / "sample_data", tmp_path / "sample_data")
    names: dict[str, Any] = {}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        text = run_cell(block.code, names).text
        if block.shown is not None:
            agrees = doctest.OutputChecker().check_output(block.shown, text, doctest.ELLIPSIS)
            assert agrees, f"line {block.line} shows\n{text}\nbut the page says\n{block.shown}"


def test_the_page_about_python_has_blocks_with_answers() -> None:
    blocks = list(blocks_of((ROOT / "docs" / "python.md").read_text(encoding="utf-8")))
    assert len([block for block in blocks if block.shown is not None]) >= 5


def test_a_cell_shows_what_it_prints_and_its_last_value() -> None:
    names: dict[str, Any] = {}
    assert run_cell("a = 1\nprint(a)\na + 1", names).text == "1\n2\n"
    assert run_cell("b = a", names).text == ""
