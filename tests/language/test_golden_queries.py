"""Queries as the papers print them: what they parse to and what would run, one pair of files each.

NAME.cep is the query, NAME.json its AST and its plan, or the refusal that stands in its place.
CEPCTL_WRITE_GOLDEN=1 writes the JSON files anew; read the difference before committing it.
"""

from __future__ import annotations

import dataclasses
import json
import os
from enum import Enum
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cepctl.errors import UnsupportedQueryError
from cepctl.language.ast import Query
from cepctl.language.parser import parse
from cepctl.language.printer import to_text
from cepctl.language.strategies import Strategy
from cepctl.plan.analyze import analyze
from cepctl.plan.explain import to_json

GOLDEN = Path(__file__).parent / "golden"
QUERIES = sorted(GOLDEN.glob("*.cep"))


def plain(value: Any) -> Any:
    """A value of the AST for JSON; spans and the text itself are left out."""
    if isinstance(value, Strategy):
        return value.word
    if dataclasses.is_dataclass(value):
        kept = {
            each.name: plain(getattr(value, each.name)) for each in dataclasses.fields(value) if each.compare
        }
        return {"is": type(value).__name__, **kept}
    if isinstance(value, tuple):
        return [plain(each) for each in value]
    if isinstance(value, Fraction):
        return str(value)
    return value.value if isinstance(value, Enum) else value


def meaning(query: Query) -> dict[str, Any]:
    try:
        planned: dict[str, Any] = {"plan": to_json(analyze(query))}
    except UnsupportedQueryError as refusal:
        planned = {"refused": str(refusal).splitlines()}
    planned.get("plan", {}).pop("engines", None)  # what runs where has its own table and test
    return {"ast": plain(query), **planned}


@pytest.mark.parametrize("file", QUERIES, ids=lambda file: file.stem)
def test_query_means_what_its_golden_file_says(file: Path) -> None:
    found = json.loads(json.dumps(meaning(parse(file.read_text(encoding="utf-8")))))
    golden = file.with_suffix(".json")
    if os.environ.get("CEPCTL_WRITE_GOLDEN"):
        golden.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert found == json.loads(golden.read_text(encoding="utf-8"))


@pytest.mark.parametrize("file", QUERIES, ids=lambda file: file.stem)
def test_printed_query_parses_to_the_same(file: Path) -> None:
    query = parse(file.read_text(encoding="utf-8"))
    assert parse(to_text(query)) == query


def test_both_spellings_of_iseq_are_one_query() -> None:
    printed, ours = (GOLDEN / f"li10_iseq{name}.cep" for name in ("_bracket", "_conditions"))
    named = printed.read_text(encoding="utf-8").replace("(A, B;", "(A a, B b;").replace("A.", "a.")
    assert parse(named.replace("B.", "b.")) == parse(ours.read_text(encoding="utf-8"))


def test_every_golden_file_has_its_query() -> None:
    assert {file.stem for file in GOLDEN.glob("*.json")} == {file.stem for file in QUERIES}
