"""The pages in docs/ make a site: all of them reachable, no link dead, nothing loaded from elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("zensical", reason="the site is made with the extra `docs`")

ROOT = Path(__file__).resolve().parent.parent
LOADED = re.compile(r"<(?:script|img|iframe)\b[^>]*\bsrc=\"?(?:https?:)?//|@import\s+url\(|<link\b[^>]*>")
ELSEWHERE = re.compile(r"(?:src|href)=\"?(?:https?:)?//")


UNLISTED = {"derivations.md", "performance-tables.md"}
"""For who works on the code, or checks it: pages lead to them, the navigation does not."""


def copy_of_docs(folder: Path) -> Path:
    shutil.copy(ROOT / "zensical.toml", folder)
    shutil.copytree(ROOT / "docs", folder / "docs")
    return folder


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def listed_pages(entry: Any) -> Iterator[str]:
    """The files that (a part of) the navigation names."""
    if isinstance(entry, str):
        yield entry
    else:
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from listed_pages(part)


def test_every_page_has_its_place_in_the_navigation() -> None:
    navigation = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"]
    pages = {page.name for page in (ROOT / "docs").glob("*.md")}
    assert sorted(listed_pages(navigation)) == sorted(pages - UNLISTED)


def test_the_first_page_is_one_to_read() -> None:
    page = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert "| --- |" not in page.replace("|---|", "| --- |"), "no table of links"
    assert page.index("match.png") < page.index("cepctl demo") < page.index("tutorial.md")


def test_the_site_holds_every_page_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    done = build(copy_of_docs(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    made = {page.stem: page.read_text(encoding="utf-8") for page in (tmp_path / "site").glob("*.html")}
    assert {page.stem for page in (ROOT / "docs").glob("*.md")} <= set(made)
    loaded = [tag for text in made.values() for tag in LOADED.findall(text) if ELSEWHERE.search(tag)]
    assert loaded == []


@pytest.mark.slow
@pytest.mark.parametrize("link", ["nowhere.md", "glossary.md#nowhere"])
def test_a_dead_link_is_no_site(tmp_path: Path, link: str) -> None:
    page = copy_of_docs(tmp_path) / "docs" / "index.md"
    page.write_text(f"{page.read_text(encoding='utf-8')}\n[gone]({link})\n", encoding="utf-8")
    done = build(tmp_path)
    assert done.returncode != 0
    assert "index.md" in done.stdout + done.stderr
