"""What is given where exact sums would cost too much: estimates from the worlds that remain, or a refusal."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.errors import QueryTooLargeError
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.schema import IN_WRITTEN_ORDER
from tests.engines.confidence.given.test_hidden_events import written
from tests.engines.confidence.given.test_parts_of_units import by_no_unit
from tests.engines.confidence.given.test_written_order import SCHEMA
from tests.engines.confidence.given.worked_given import (
    IN_LOGGED_ORDER,
    SAMPLES,
    STARTS_FIRST,
    TASK,
    WORKED,
    Worked,
)
from tests.plans import Event, event_table, plan_of

ERROR = 0.01
OPTIONS = MatchOptions(approximate=ERROR)
TIED = [each for each in WORKED if "GIVEN" in each.query and not each.clocks and "GROUP" not in each.query]


@pytest.fixture
def nothing_tied_is_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.engines.confidence.given.work.MOST_TIED", 0)
    monkeypatch.setattr("cepctl.engines.confidence.given.counted.MOST_COUNTED", 0)
    monkeypatch.setattr("cepctl.engines.confidence.given.confidences.by_units", by_no_unit)


@pytest.mark.usefixtures("nothing_tied_is_summed")
@pytest.mark.parametrize("worked", TIED, ids=lambda each: each.query)
def test_estimates_are_of_the_worlds_that_remain(worked: Worked) -> None:
    found = match_events(plan_of(worked.query), event_table(worked.events), OPTIONS).to_pylist()
    rows = {" ".join("+".join(part) for part in row["signature"]): row for row in found}
    assert set(rows) == set(worked.returned)
    for signature, expected in worked.returned.items():
        row = rows[signature]
        exact = expected if isinstance(expected, Fraction) else expected[2]
        # What the order decides alone needs no sum, and no estimate.
        assert abs(row["confidence"] - exact) <= row["confidence_error"] == (0.0 if exact == 1 else ERROR)
        if not isinstance(expected, Fraction):
            assert (row["start"], row["end"]) == expected[:2]


@pytest.mark.usefixtures("nothing_tied_is_summed")
@pytest.mark.parametrize(
    "query",
    [
        "PATTERN SEQ(A a, X x, B b)",
        "PATTERN SEQ(A a, !X n, B b) WITHIN 9 ticks",
        "PATTERN SEQ(A a, X+ x[], B b)",
        "PATTERN AND(A a, X x) WITHIN 3 ticks",
        "PATTERN OR(SEQ(A a, X x), SEQ(X x, A a)) STRATEGY skip_till_next_match",
    ],
)
def test_they_are_as_near_to_the_exact_ones_as_their_error_says(
    query: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, table = plan_of(f"{query} {IN_LOGGED_ORDER}"), event_table(SAMPLES)
    estimated = {str(row["signature"]): row for row in match_events(plan, table, OPTIONS).to_pylist()}
    monkeypatch.undo()
    exact = match_events(plan, table).to_pylist()
    assert {str(row["signature"]) for row in exact} == set(estimated)
    for row in exact:
        found = estimated[str(row["signature"])]
        assert abs(found["confidence"] - row["confidence"]) <= found["confidence_error"]
        assert (found["start"], found["end"]) == (row["start"], row["end"])


def test_what_can_be_summed_is_exact() -> None:
    plan = plan_of(f"PATTERN SEQ(S s, X x, F f) {STARTS_FIRST}")
    (row,) = match_events(plan, event_table(TASK), OPTIONS).to_pylist()
    assert (row["confidence"], row["confidence_error"]) == (pytest.approx(2 / 5), 0.0)


@pytest.mark.usefixtures("nothing_tied_is_summed")
def test_too_few_worlds_are_refused_with_how_many_remain() -> None:
    """Of twelve samples within 20 ticks hardly any world has all in logged order."""
    events = [Event(f"x{i:02}", "X", 2 * i, 20 + 2 * i, g="n") for i in range(12)]
    plan = plan_of(f"PATTERN SEQ(X x, A a) {IN_LOGGED_ORDER}")
    with pytest.raises(QueryTooLargeError, match=r"until 72,544 satisfy .*, and only \d+ of [\d,]+ do"):
        match_events(plan, event_table([*events, Event("a", "A", 10, 20)]), OPTIONS)


def test_an_occurrence_that_is_too_costly_is_estimated_in_the_worlds_that_remain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    query = f"PATTERN SEQ(A a, X x) WITHIN 3 ticks {IN_LOGGED_ORDER} GROUP BY a.event_type"
    plan, table = plan_of(query), event_table([*SAMPLES, Event("a2", "A", 6, 8)])
    (exact,) = match_events(plan, table).to_pylist()
    monkeypatch.setattr("cepctl.engines.confidence.occurrence.occurrence.WORK_BOUND", 1)
    (row,) = match_events(plan, table, OPTIONS).to_pylist()
    assert row["occurrence_error"] > 0
    assert abs(row["occurrence"] - exact["occurrence"]) <= row["occurrence_error"]
    assert row["expected"] == pytest.approx(exact["expected"])


@pytest.mark.parametrize(
    "pattern",
    ["SEQ(A a, B b) STRATEGY skip_till_next_match", "SEQ(A a, !C n, B b)", "SEQ(A a, B b) WITHIN 300 ticks"],
)
def test_worlds_of_two_writers_are_drawn_in_the_order_of_their_records(
    pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 20 and 12 independent ticks one world in 20! 12! would have both orders."""
    kinds = [("ABC"[i % 3], "w") for i in range(20)] + [("BCA"[i % 3], "v") for i in range(12)]
    table = written(*((f"e{i:02}", kind, writer, 0, 999) for i, (kind, writer) in enumerate(kinds)))
    plan = analyze(parse(f"PATTERN {pattern} GIVEN {IN_WRITTEN_ORDER}"), SCHEMA)
    exact = {str(row["signature"]): row for row in match_events(plan, table).to_pylist()}
    monkeypatch.setattr("cepctl.engines.confidence.coupled.sampling._PRODUCTS_OF_WORLD", 0)
    monkeypatch.setattr("cepctl.engines.confidence.given.confidences.by_units", by_no_unit)
    found = match_events(plan, table, MatchOptions(approximate=0.05)).to_pylist()
    assert {str(row["signature"]) for row in found} == set(exact)
    assert sum(row["confidence_error"] > 0 for row in found) >= 8
    for row in found:
        assert abs(row["confidence"] - exact[str(row["signature"])]["confidence"]) <= row["confidence_error"]
