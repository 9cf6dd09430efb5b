"""The random cases themselves: the same for a seed, of every construct, as they are kept in files."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from cepctl.clocks.ties import ties_of
from cepctl.engines.event.match import match_events
from cepctl.errors import CepctlError, UsageError
from cepctl.library.match import match
from cepctl.plan.support import Construct, constructs_of
from tests.fuzzing.case_files import events_csv, laws_toml, query_of_file
from tests.fuzzing.constructs import CHECKS, NAMES, STRATEGIES, require_together
from tests.fuzzing.drawing import drawn_case
from tests.fuzzing.queries import Case


def drawn(count: int, *only: str) -> list[Case]:
    return [drawn_case("7", number, frozenset(only)) for number in range(count)]


def test_a_seed_says_all_of_a_case() -> None:
    assert drawn(20) == drawn(20)
    assert drawn_case("8", 3) != drawn_case("7", 3)


def test_every_construct_is_drawn_beside_every_other() -> None:
    found: set[tuple[Construct, ...]] = set()
    refused = 0
    for case in drawn(600):
        try:
            plan = case.plan
        except CepctlError:
            refused += 1
            continue
        for size in (2, 3):
            found.update(combinations(constructs_of(plan, lasting=case.lasting), size))
    # What GROUP BY returns is told without RETURN.
    possible = {*combinations(Construct, 2)} - {(Construct.REACHED, Construct.GROUP_BY)}
    # Next match has running groups, and neither AND, interval events nor repetitions; these stand alone.
    for one in (Construct.AND_GROUP, Construct.INTERVALS, Construct.REPEATED):
        possible -= {(one, Construct.RUNNING), (Construct.RUNNING, one)}
    for one in (Construct.ABSENT_TOGETHER, Construct.INTERVALS):
        possible -= {(one, Construct.REPEATED), (Construct.REPEATED, one)}
    assert possible <= found
    assert {
        (Construct.CLOCKS, Construct.GROUP_BY, Construct.GIVEN),
        (Construct.KLEENE, Construct.REACHED, Construct.INTERVALS),
        (Construct.CLOCKS, Construct.GIVEN, Construct.INTERVALS),
    } <= found
    assert refused < 20


@pytest.mark.parametrize("name", NAMES)
def test_a_name_of_a_construct_chooses_cases_that_have_it(name: str) -> None:
    require_together(frozenset({name}))
    for case in drawn(20, name):
        assert name not in STRATEGIES or case.query.strategy == STRATEGIES[name]
        assert name not in CHECKS or case.check == name
        words = {"negation": "!", "kleene": "[]", "or": "OR(", "given": " GIVEN ", "group-by": " GROUP BY "}
        assert words.get(name, "") in str(case.query)


@pytest.mark.parametrize(
    ("only", "told"),
    [
        (["negations"], "no construct 'negations'"),
        (["next-match", "any-match"], "any-match and next-match"),
        (["order", "next-match"], "any-match and next-match"),
        (["group-by", "slices"], "does not go together"),
    ],
)
def test_what_no_case_can_have_is_said(only: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        require_together(frozenset(only))


def test_kept_events_are_those_that_were_judged(tmp_path: Path) -> None:
    """`cepctl match` on the kept files gives the rows of the case, also of events on clocks and that last.

    The file of events says nothing of ties: they are told beside it.
    """
    kept, laws = tmp_path / "events.csv", tmp_path / "laws.toml"
    compared = 0
    for case in drawn(30, "negation", "any-match", "threshold"):
        if case.query.group_by is not None or ties_of(case.used_clocks):
            continue
        kept.write_text(events_csv(case), encoding="utf-8")
        laws.write_text(laws_toml(case), encoding="utf-8")
        try:
            if case.plan.never is not None:
                continue
            rows = match_events(case.plan, case.table).to_pylist()
        except CepctlError:
            continue
        with match(query_of_file(case), kept, runner="local", laws=laws if case.laws else None) as found:
            read = found.table().to_pylist()
        assert sorted((row["signature"], row["start"], row["end"], row["confidence"]) for row in read) == (
            sorted((row["signature"], row["start"], row["end"], row["confidence"]) for row in rows)
        )
        compared += bool(rows)
    assert compared > 3
