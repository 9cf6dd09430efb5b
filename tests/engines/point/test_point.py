"""The point engine on the paper's example, at its bounds, and however its work is cut into pieces."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from cepctl.engines.point import combinations, stream
from cepctl.engines.point import engine as point
from cepctl.engines.point.engine import match_table
from cepctl.engines.worlds.engine import match_table as judged
from cepctl.errors import QueryTooLargeError, UnsupportedQueryError
from tests.engines.agreement import assert_same_rows, check
from tests.plans import Event, event_table, histogram, plan_of
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT, Level
from tests.strategies import Case, cases, twin_cases

ENGINES = Path(__file__).resolve().parents[3] / "engines"
FIGURE_1 = (Event("a1", "A", 1, 5), Event("c2", "C", 3, 5), Event("b3", "B", 3, 5), Event("c4", "C", 4, 8))
FIGURE_1_QUERY = "PATTERN SEQ(A a, B b, C c) WITHIN 4 ticks"


def found(query: str, *events: Event) -> dict[str, Any]:
    rows = match_table(plan_of(query), event_table(events)).to_pylist()
    return {
        " ".join(ids[0] for ids in row["signature"]): (row["start"], row["end"], row["confidence"])
        for row in rows
    }


def test_figure_1_of_zdi10_under_any_match() -> None:
    assert found(FIGURE_1_QUERY, *FIGURE_1) == {
        "a1 b3 c2": (1, 5, pytest.approx(25 / 225, abs=1e-12)),
        "a1 b3 c4": (1, 7, pytest.approx(27 / 225, abs=1e-12)),
    }


def test_figure_1_of_zdi10_under_next_match() -> None:
    assert found(f"{FIGURE_1_QUERY} STRATEGY skip_till_next_match", *FIGURE_1) == {
        "a1 b3 c2": (1, 5, pytest.approx(24 / 225, abs=1e-12)),
        "a1 b3 c4": (1, 7, pytest.approx(25 / 225, abs=1e-12)),
    }


def test_a_next_event_that_is_certainly_over_ends_the_search() -> None:
    """NELT: b1 happens at 4 or 5 whenever it does, so no next match reaches b2."""
    events = Event("a", "A", 1, 3), Event("b1", "B", 4, 5), Event("b2", "B", 6, 9)
    assert set(found("PATTERN SEQ(A a, B b)", *events)) == {"a b1", "a b2"}
    assert set(found("PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match", *events)) == {"a b1"}


def test_next_event_latest_time_leaves_only_points_that_a_rival_may_still_follow(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen = []
    latest_next = combinations.PointSearch._latest_next

    def watched(
        self: combinations.PointSearch, longer: combinations.Combinations, row: object, count: int
    ) -> object:
        latest = latest_next(self, longer, row, count)  # type: ignore[arg-type]
        seen.append(latest.tolist())
        return latest

    monkeypatch.setattr(combinations.PointSearch, "_latest_next", watched)
    events = Event("a", "A", 3, 4), Event("b1", "B", 4, 6), Event("b2", "B", 5, 9)
    found("PATTERN SEQ(A a, B b) STRATEGY skip_till_next_match", *events)
    # From a at 3 both lie ahead, the first is over at 6; from a at 4 only b2 certainly lies ahead.
    assert seen == [[6, 9]]


def test_an_absent_event_that_two_gaps_forbid_is_taken_away_once() -> None:
    """It may be at 2 or 4, each forbidden by another negation: of its three ticks one is left."""
    events = (
        *(Event(name, name.upper(), tick, tick) for name, tick in (("a", 1), ("b", 3), ("c", 5))),
        (histogram("n", "N", (2, 2, 0.25), (4, 4, 0.25), (6, 6, 0.5))),
    )
    query = "PATTERN SEQ(A a, !N m, B b, !N n, C c)"
    assert found(query, *events) == {"a b c": (1, 5, pytest.approx(0.5, abs=1e-12))}


def test_a_match_that_an_event_certainly_breaks_is_none() -> None:
    """The masses of ten ticks do not add up to 1 in floating point; the match still is impossible."""
    events = Event("a", "A", 0, 0), Event("n", "N", 1, 10), Event("b", "B", 11, 11)
    assert found("PATTERN SEQ(A a, !N n, B b)", *events) == {}


def test_more_points_than_the_bound_are_refused_by_their_number() -> None:
    events = Event("a", "A", 0, 29_999_999), Event("b", "B", 7, 30_000_006), Event("z", "Z", 0, 10**15)
    with pytest.raises(QueryTooLargeError, match=r"60,000,000 points, .* at most 50,000,000"):
        found("PATTERN SEQ(A a, B b)", *events)


@pytest.mark.parametrize("strategy", [ANY, NEXT])
def test_more_combinations_than_the_bound_are_refused(strategy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "MAX_STEPS", 999)
    events = Event("a", "A", 0, 99), Event("b", "B", 0, 99)
    with pytest.raises(QueryTooLargeError, match=r"more than 999, the point engine looks at no more"):
        found(f"PATTERN SEQ(A a, B b) STRATEGY {strategy} WITHIN 50 ticks", *events)


def test_kleene_groups_are_refused_by_name() -> None:
    with pytest.raises(UnsupportedQueryError, match=r"Kleene groups .* in the point engine; --engine event"):
        found("PATTERN SEQ(A a, B+ b[])", *FIGURE_1)


def test_work_cut_into_small_pieces_gives_the_same_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (stream, combinations):
        monkeypatch.setattr(module, "ROWS_AT_ONCE", 3)
    monkeypatch.setattr(point, "_STARTS_AT_ONCE", 2)

    def agrees(case: Case) -> None:
        plan = plan_of(case.query)
        assert_same_rows(judged(plan, case.table), match_table(plan, case.table))

    level = Level(strategies=(ANY, NEXT, STRICT, PARTITION), negation=True, choice=True)
    check(cases(level) | cases(Level()) | twin_cases(), agrees)


def test_it_shares_neither_search_nor_confidence_with_the_event_engine() -> None:
    """A second opinion that asked the same code would only repeat it."""
    imports = [
        (node.module.removeprefix("cepctl.engines."), {each.name for each in node.names})
        for path in (ENGINES / "point").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cepctl.engines.")
        if node.module is not None
    ]
    shared = {name for name, _ in imports if not name.startswith("point")}
    reading_and_fitting = {
        "columns." + name
        for name in (
            "events",
            "masses",
            "clocks",
            "endpoints",
            "tick_sums",
            "predicates",
            "joins",
            "bindings",
            "numbering",
        )
    }
    assert shared - reading_and_fitting == {"event.match", "event.options"}  # options, schema
    # Of joins its keys alone: it finds by itself what they join.
    assert all(
        names <= {"JoinKey", "join_key", "partition_codes"}
        for name, names in imports
        if name == "columns.joins"
    )
