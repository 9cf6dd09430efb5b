"""How many groups a threshold leaves is known before the first of them is measured."""

from __future__ import annotations

import pytest

from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.search.kleene import growth
from cepctl.errors import QueryTooLargeError
from tests.plans import Event, event_table, plan_of

READINGS = [Event(f"b{number:02}", "B", 0, 200) for number in range(8)]
EVENTS = [Event("a", "A", 0, 10), *READINGS, Event("c", "C", 190, 300)]


@pytest.fixture(autouse=True)
def any_number_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Even few groups are counted first."""
    monkeypatch.setattr(growth, "_FEW_SETS", 0)


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """No match can be measured."""

    def measured(*_: object) -> None:
        raise AssertionError("a group was measured")

    monkeypatch.setattr(PreparedAlternative, "measured", measured)


@pytest.mark.usefixtures("unmeasured")
@pytest.mark.parametrize("condition", ["CONFIDENCE >= 0.01", "WHERE sum(b[].x) <= 100"])
def test_too_many_groups_are_refused_before_one_is_measured(condition: str) -> None:
    plan = plan_of(f"PATTERN SEQ(A a, B+ b[], C c) {condition}")
    with pytest.raises(QueryTooLargeError, match=r"groups b\[\] .* would be tried by now, where 150 are"):
        match_events(plan, event_table(EVENTS), MatchOptions(max_matches=150))


def test_a_threshold_that_rises_is_not_tried_out_before_it_has_risen() -> None:
    """Each member lies before c with probability 1/2; once one is found, no pair is as good."""
    halves = [Event(f"b{number:02}", "B", 9, 10) for number in range(12)]
    events = event_table([Event("a", "A", 0, 0), *halves, Event("c", "C", 10, 10)])
    plan = plan_of("PATTERN SEQ(A a, B+ b[], C c)")
    best = match_events(plan, events, MatchOptions(max_matches=150, top=1))
    assert max(best.column("confidence").to_pylist()) == 0.5
