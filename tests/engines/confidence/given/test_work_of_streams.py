"""What is given of one stream costs as much beside nine others as alone, or is refused."""

from __future__ import annotations

import pytest

from cepctl.engines.confidence.coupled.problem import Clauses
from cepctl.engines.confidence.occurrence import rows as row_sums
from cepctl.engines.confidence.occurrence.occurrence import Occurrences, Weighted, occurrences_by_rank
from cepctl.engines.event.match import match_events
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes
from tests.plans import Event, event_table, plan_of

IN_ORDER = "GIVEN SEQ(* x, * y) IF x.k = y.k AND x.lower < y.lower"
IN_PAIRS = "GIVEN SEQ(A x, C y) IF x.k = y.k AND x.x = y.x"
QUERIES = [
    f"PATTERN SEQ(A a, B b) WHERE [k] WITHIN 30 ticks {IN_ORDER}",
    f"PATTERN SEQ(A a, B b) WHERE [k] WITHIN 30 ticks {IN_PAIRS}",
    f"PATTERN SEQ(A a, !C c, B b) WHERE [k] WITHIN 30 ticks {IN_PAIRS}",
    f"PATTERN SEQ(B a, C b) WHERE [k] STRATEGY skip_till_next_match WITHIN 30 ticks {IN_PAIRS}",
]


def _stream(key: int, begin: int) -> list[Event]:
    return [
        Event(f"{key}-{n:02d}", "ABC"[n % 3], at, at + 9 + (key + 5 * n) % 4, k=f"k{key}", x=n // 3)
        for n, at in enumerate(range(begin, begin + 72, 6))
    ]


@pytest.mark.parametrize("apart", [0, 500])
@pytest.mark.parametrize("query", QUERIES)
def test_ten_streams_take_as_many_products_as_each_alone(
    query: str, apart: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = products = 0

    def counted(
        rank: Indexes, clauses: Clauses, weighted: Weighted, bound: int, *, all_or_none: bool = False
    ) -> Occurrences:
        nonlocal asked, products
        found = occurrences_by_rank(rank, clauses, weighted, bound, all_or_none=all_or_none)
        asked, products = asked + clauses.groups, products + int(found.products.sum())
        return found

    monkeypatch.setattr(row_sums, "occurrences_by_rank", counted)
    streams = [_stream(key, apart * key) for key in range(10)]
    plan = plan_of(query)
    rows = sum(match_events(plan, event_table(tuple(each))).num_rows for each in streams)
    alone, asked, products = (asked, products), 0, 0
    together = match_events(plan, event_table(tuple(event for each in streams for event in each)))
    assert (together.num_rows, (asked, products), asked > 0) == (rows, alone, True)


def test_passes_over_a_series_are_given_up_in_either_direction(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forward this one takes 124 steps, backward 135: a match is measured as without a bound, or refused."""
    ends = [(0, 64), (50, 65), (59, 88), (60, 89), (81, 90)]
    events = [Event(f"x{i}", "X", lower, upper, k="p") for i, (lower, upper) in enumerate(ends)]
    table = event_table((*events, Event("a", "A", 5, 60)))
    plan = plan_of("PATTERN SEQ(A a, X x) GIVEN SEQ(X x, X y) IF x.event_id < y.event_id")
    exact, told = match_events(plan, table), set()
    for most in (0, 100, 123, 124, 130, 134, 135, 200, 10_000):
        monkeypatch.setattr("cepctl.engines.confidence.given.series.MOST_STEPS", most)
        try:
            assert match_events(plan, table).equals(exact)
            told.add("measured")
        except QueryTooLargeError as problem:
            assert "each of which overlaps many others" in str(problem)
            told.add("refused")
    assert told == {"measured", "refused"}
