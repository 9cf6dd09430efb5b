"""Every query on the pages of the language gives what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.language.query_pages import DOCS, Example, events_of, examples_of, fill, outcome

PAGES = ["language.md", "errors.md", "coming-from-sql-and-eql.md"]
EXAMPLES = [
    pytest.param(page, example, id=f"{page}:{example.line}")
    for page in PAGES
    for example in examples_of((DOCS / page).read_text(encoding="utf-8"))
]


@pytest.mark.parametrize(("page", "example"), EXAMPLES)
def test_the_page_shows_what_the_query_gives(page: str, example: Example, tmp_path: Path) -> None:
    events, schema = events_of((DOCS / page).read_text(encoding="utf-8"), tmp_path)
    assert example.shown, "a query on a page is followed by what it gives"
    assert outcome(example.query, events, schema) == example.shown


def test_the_page_of_errors_has_ten_mistakes_with_their_messages() -> None:
    sections = (DOCS / "errors.md").read_text(encoding="utf-8").split("\n## ")[1:]
    sections = [section for section in sections if section[0].isdigit()]
    assert [section.split(".")[0] for section in sections] == [str(n) for n in range(1, 11)]
    assert all("\nerror: " in section or "\nwarning: " in section for section in sections)


def test_a_page_that_shows_something_else_is_noticed(tmp_path: Path) -> None:
    page = (
        "```csv\nevent_id,event_type,lower,upper\n1,A,1,2\n2,B,2,3\n```\n"
        "```cep\nPATTERN SEQ(A a, B b)\n```\n```text\nwrong\n```\n"
    )
    mended = fill(page, tmp_path)
    assert "confidence,start,end,match\n0.75,1,3,1 2\n" in mended
    assert [example.shown for example in examples_of(page)] == ["wrong\n"]
