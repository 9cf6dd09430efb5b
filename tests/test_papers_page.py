"""The papers' queries: each runs under a strategy, those that the papers ask under next match there."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from cepctl.language.parser import parse

ROOT = Path(__file__).resolve().parent.parent


def script(name: str) -> ModuleType:
    """A module in the folder of scripts."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(ROOT / "scripts"))
        return import_module(name)


@pytest.fixture(scope="module")
def answers() -> list[tuple[str, dict[str, str | None]]]:
    """Each query by name, with why it is not run by strategy."""
    queries, page = script("paper_queries"), script("make_papers_page")
    return [(each.name, page.Answer.of(each).why_not) for each in queries.PAPER_QUERIES]


def test_no_query_stands_there_twice(answers: list[tuple[str, dict[str, str | None]]]) -> None:
    assert len({name for name, _ in answers}) == len(answers) == 47


@pytest.mark.parametrize(
    "name",
    ["the volume plummets", "Q3: reducers that pull data too slowly", "Q4: how much data a job has moved",
     "Q6: the load keeps rising", "Q6 by its running maximum"],
)  # fmt: skip
def test_groups_in_order_run_under_every_strategy(
    name: str, answers: list[tuple[str, dict[str, str | None]]]
) -> None:
    assert set(dict(answers)[name].values()) == {None}


def test_most_queries_run_under_any_match(answers: list[tuple[str, dict[str, str | None]]]) -> None:
    refused = [name for name, why_not in answers if why_not["skip_till_any_match"] is not None]
    assert set(refused) <= {"Q4 as it grows", "a sequence, repeated"}


def test_queries_of_zdi14_are_those_that_the_parser_is_tested_with() -> None:
    """The golden files hold them as they are printed."""
    queries = script("paper_queries").PAPER_QUERIES
    texts = {each.name.partition(":")[0]: each.text for each in queries if each.work == "ZDI14"}
    for number in range(1, 7):
        printed = (ROOT / "tests" / "language" / "golden" / f"zdi14_q{number}.cep").read_text("utf-8")
        assert parse(texts[f"Q{number}"]) == parse(printed)
