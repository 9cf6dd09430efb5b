"""How many sets a Kleene group can be is counted, not listed, and a query with too many says the number."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.search.kleene import counts
from cepctl.engines.search.kleene.counts import count_sets
from cepctl.errors import QueryTooLargeError
from tests.engines.agreement import check
from tests.plans import Event, event_table, plan_of
from tests.random_patterns import Level
from tests.strategies import Case, cases

QUERY = "PATTERN SEQ(S a, R+ b[], E c)"


def between(*readings: Event) -> tuple[Event, ...]:
    return (Event("start", "S", 0, 0), *readings, Event("stop", "E", 10, 12))


def test_any_combination_of_what_lies_between_is_a_set() -> None:
    same = np.zeros(3, dtype=np.int64)
    assert count_sets(same, 1, same + 1, same + 2, same + 9) == [7]


@pytest.mark.parametrize("count", [61, 62, 63, 64, 130, 20_000])
def test_counts_are_exact_however_large(count: int) -> None:
    row = np.zeros(count, dtype=np.int64)
    assert count_sets(row, 1, row + 1, row + 2, row + 9) == [2**count - 1]


def test_two_that_no_neighbour_can_have_both_between_are_no_set() -> None:
    """Behind a stop at tick 11 or before one at tick 3: the first ends the reach of the other."""
    lower, upper, reach = np.array([1, 5]), np.array([2, 8]), np.array([4, 9])
    assert count_sets(np.zeros(2, dtype=np.int64), 1, lower, upper, reach) == [2]


@pytest.mark.parametrize(
    ("count", "said"), [(30, "1,073,741,823"), (400, "about 10^120"), (30_000, "about 10^9030")]
)
def test_too_many_groups_are_refused_with_their_number_before_any_is_listed(count: int, said: str) -> None:
    events = between(*(Event(f"r{i}", "R", 1, 5) for i in range(count)))
    with pytest.raises(
        QueryTooLargeError, match=f"{said.replace('^', '.')} are possible, where 10,000,000"
    ) as refused:
        match_events(plan_of(QUERY), event_table(events))
    assert "--kleene summary" in str(refused.value)


@pytest.mark.parametrize("count", [60, pytest.param(600, marks=pytest.mark.slow)])
def test_nothing_is_refused_that_listing_would_not_have_refused(
    monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    foreseen = 0

    def refused_either_way(case: Case) -> None:
        nonlocal foreseen
        plan, options = plan_of(case.query), MatchOptions(max_matches=2)
        try:
            match_events(plan, case.table, options)
        except QueryTooLargeError as refused:
            if "are possible" in str(refused):
                foreseen += 1
                with monkeypatch.context() as patched, pytest.raises(QueryTooLargeError):
                    patched.setattr(counts.GroupBudget, "foresee", lambda *_: None)
                    match_events(plan, case.table, options)

    # As many as it takes to meet some that are foreseen.
    check(cases(Level(kleene=True)), refused_either_way, count, shrink=False)
    assert foreseen > 0
