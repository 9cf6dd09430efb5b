"""One event that fits several negated components is absent once: interval events against the judge."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.confidence.intervals import clauses
from cepctl.engines.event.match import match_events
from tests.engines.agreement import MANY_EXAMPLES, check
from tests.engines.confidence.intervals.asked_ways import in_all_ways
from tests.engines.confidence.intervals.random_absences import shared_absences
from tests.engines.confidence.intervals.test_given_of_lasting_on_clocks import agrees
from tests.plans import Event, event_table, lasting, on, plan_of

COMBINATIONS = in_all_ways(shared_absences())


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_answers_are_those_of_the_judge(combination: str) -> None:
    check(COMBINATIONS[combination], agrees)


@pytest.mark.slow
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_answers_are_those_of_the_judge_many_times_over(combination: str) -> None:
    check(COMBINATIONS[combination], agrees, MANY_EXAMPLES)


CLOCKS: Clocks = {"m": ((-1, 1, 1.0),)}
WORKED: dict[str, tuple[str, tuple[Event, ...], Fraction]] = {
    "in one gap": (
        "SEQ(C c, !A n, !A m, B b)",
        (Event("c", "C", -1, -1), lasting("a", "A", (1, 1), (2, 7)), Event("b", "B", 5, 5)),
        Fraction(1, 2),
    ),
    "in two gaps": (
        "SEQ(!N n, A a, !N m, B b) WITHIN 12 ticks",
        (
            Event("n", "N", 0, 5),
            lasting("x", "N", (9, 9), (9, 9)),
            Event("a", "A", 2, 2),
            Event("b", "B", 7, 7),
        ),
        Fraction(1, 6),
    ),
    "beside ISEQ": (
        "ISEQ(A a, !N n, !N m) WHERE n OVERLAPS a AND m.start < a.start",
        (lasting("a", "A", (3, 3), (6, 6)), lasting("n", "N", (2, 3), (4, 4))),
        Fraction(1, 2),
    ),
    "on a clock": (
        "SEQ(C c, !A n, !A m, B b)",
        (
            Event("c", "C", -1, -1),
            on("m", CLOCKS, lasting("a", "A", (1, 1), (2, 5))),
            Event("b", "B", 5, 5),
        ),
        Fraction(1, 4),
    ),
}  # fmt: skip


def _are_right(*names: str) -> None:
    for name in names:
        query, events, confidence = WORKED[name]
        plan = plan_of(f"PATTERN {query}", CLOCKS, lasting=True)
        (row,) = match_events(plan, event_table(events)).to_pylist()
        assert row["confidence"] == pytest.approx(float(confidence), rel=1e-12), name


@pytest.mark.parametrize("name", WORKED)
def test_worked_numbers(name: str) -> None:
    _are_right(name)


def test_rivals_that_may_be_anywhere_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clauses, "_of_absence", lambda *_: iter(()))
    for each in WORKED:
        with pytest.raises(AssertionError):
            _are_right(each)
