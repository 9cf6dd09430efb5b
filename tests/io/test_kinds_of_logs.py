"""Kinds of logs with names of their own: `cepctl formats` names each, and a page has a question for it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.io.formats import known_formats

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("logs-*.md"))
SECTION = re.compile(r"^##+ (?P<kind>[^:\n]+): (?P<asked>.+\?)\n(?P<text>(?:(?!##).*\n)*)", re.MULTILINE)
# The last lines of a command, then what it prints: names of columns, and at least one row.
ANSWERED = re.compile(r"^[$>] .*\n(?:.*\b(?:confidence|occurrence)\b.*\n)?(?![$>`\n]).*\d", re.MULTILINE)
KINDS = [kind for known in known_formats() for kind in known.kinds]


def sections_of(kind: str) -> list[str]:
    """The sections that ask something of a log of this kind."""
    named = re.compile(rf"\b{re.escape(kind)}(?!\w)", re.IGNORECASE)
    found = [each for page in PAGES for each in SECTION.finditer(page.read_text(encoding="utf-8"))]
    return [each["text"] for each in found if named.search(each["kind"])]


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_asks_a_question_of_a_log_of_every_kind_and_answers_it(kind: str) -> None:
    sections = sections_of(kind)
    assert sections, f"no section of docs/logs-*.md is headed '{kind}: a question?'"
    shown = [text for text in sections if "<!-- file: " in text or "sample_data/" in text]
    assert shown == sections
    assert all(map(ANSWERED.search, shown))


def test_a_section_without_an_answer_would_be_noticed() -> None:
    asked = '$ cepctl match "PATTERN A a\n>   RETURN a.x" a.log\n'
    assert ANSWERED.search(f"{asked}a.x,confidence,start,end,match\n7,1.0,...,a.log#1\n```\n")
    assert not ANSWERED.search(f"{asked}```\n")
    assert not ANSWERED.search(f"{asked}a.x,confidence,start,end,match\n```\n")


def test_formats_names_every_kind(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["formats"]) == 0
    shown = capsys.readouterr().out
    assert "    such as: Apache's error log, ZooKeeper, Kafka," in shown
    assert [kind for kind in KINDS if kind not in shown] == []
