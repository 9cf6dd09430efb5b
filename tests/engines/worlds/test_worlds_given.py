"""The judge and what is given, against worlds counted by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cepctl.engines.worlds.engine import exact_matches
from cepctl.errors import ContradictionError
from tests.engines.confidence.given.worked_given import IMPOSSIBLE, ON_CLOCKS, STARTS_FIRST, WORKED, Worked
from tests.plans import Event, event_table, plan_of


@pytest.mark.parametrize("worked", [*WORKED, *ON_CLOCKS], ids=lambda worked: worked.query)
def test_worked_numbers(worked: Worked) -> None:
    found = exact_matches(plan_of(worked.query, worked.clocks), event_table(worked.events))
    assert {" ".join(i for ids in signature for i in ids) for signature in found} == set(worked.returned)
    for signature, match in found.items():
        wanted = worked.returned[" ".join(i for ids in signature for i in ids)]
        if isinstance(wanted, Fraction):
            assert match.confidence == wanted
        else:
            assert (match.start, match.end, match.confidence) == wanted


def test_no_world_remains() -> None:
    with pytest.raises(ContradictionError, match="GIVEN SEQ"):
        exact_matches(plan_of(f"PATTERN SEQ(S s, F f) {STARTS_FIRST}"), event_table(IMPOSSIBLE))


def test_a_condition_that_is_null_ties_nothing() -> None:
    events = (Event("s", "S", 1, 4), Event("f", "F", 2, 5))
    (match,) = exact_matches(plan_of(f"PATTERN SEQ(S s, F f) {STARTS_FIRST}"), event_table(events)).values()
    assert match.confidence == Fraction(5, 8)


def test_and_holds_a_window_whatever_the_order() -> None:
    events = (Event("s", "S", 1, 4), Event("f", "F", 2, 5))
    query = "PATTERN SEQ(F f, S s) GIVEN AND(S s, F f) WITHIN 2 ticks IF TRUE"
    (match,) = exact_matches(plan_of(query), event_table(events)).values()
    assert (match.start, match.end, match.confidence) == (2, 4, Fraction(2, 9))
