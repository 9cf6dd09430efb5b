"""Whether any world satisfies what is given is known before anything is summed, also of masses with holes."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import event as seen
from hypothesis import strategies as st

from cepctl.engines.confidence.given import closing, work
from cepctl.engines.event.match import match_events
from cepctl.errors import ContradictionError
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.plans import Event, event_table, plan_of

Ticks = tuple[int, ...]


def _event(number: int, ticks: Ticks) -> Event:
    share = 1.0 / len(ticks)
    return Event(
        f"e{number}", "A", ticks[0], ticks[-1], pmf=tuple((tick, tick, share) for tick in ticks), x=number
    )


CASES = st.tuples(
    st.lists(
        st.lists(st.integers(0, 12), min_size=1, max_size=4, unique=True).map(
            lambda each: tuple(sorted(each))
        ),
        min_size=2,
        max_size=4,
    ),
    st.integers(2, 6),
    st.sampled_from(("p.x < q.x", "p.x < q.x AND q.x - p.x < 2", "p.x < q.x AND p.lower <= q.upper")),
)


def a_world_or_a_contradiction(case: tuple[list[Ticks], int, str]) -> None:
    """Each later event lies after each earlier one that IF names, by less than the window."""
    stamps, window, condition = case
    plan = plan_of(f"PATTERN SEQ(A a, Z z) GIVEN SEQ(* p, * q) WITHIN {window} ticks IF {condition}")
    pairs = [
        (i, j)
        for i, j in product(range(len(stamps)), repeat=2)
        if i < j
        and ("< 2" not in condition or j - i < 2)
        and ("lower" not in condition or stamps[i][0] <= stamps[j][-1])
    ]
    possible = any(all(0 < world[j] - world[i] < window for i, j in pairs) for world in product(*stamps))
    seen(f"possible: {possible}")
    table = event_table(tuple(_event(number, ticks) for number, ticks in enumerate(stamps)))
    if possible:
        assert not match_events(plan, table).num_rows
    else:
        with pytest.raises(ContradictionError):
            match_events(plan, table)


@pytest.fixture(autouse=True)
def nothing_tied_is_summed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MOST_TIED", 0)
    monkeypatch.setattr("cepctl.engines.confidence.given.counted.MOST_COUNTED", 0)


def test_no_world_is_a_contradiction_without_a_sum() -> None:
    check(CASES, a_world_or_a_contradiction, FEW_EXAMPLES)


@pytest.mark.slow
def test_no_world_is_a_contradiction_in_many_cases() -> None:
    check(CASES, a_world_or_a_contradiction, MANY_EXAMPLES)


def test_ends_that_are_left_in_holes_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    none = np.zeros(0, dtype=np.int64)
    monkeypatch.setattr(closing, "_onto_mass", lambda masses, ends: (none, none))
    with pytest.raises((AssertionError, pytest.fail.Exception, ValueError)):
        check(CASES, a_world_or_a_contradiction, 300, shrink=False)


@pytest.mark.parametrize("window", ["", "WITHIN 8 ticks"])
def test_three_in_a_row_do_not_fit_into_two_ticks(window: str) -> None:
    """Followed along its path at once, as the records of a writer are, it is empty and moves no end."""
    given = f"GIVEN SEQ(* p, * q, * r) {window} IF p.x < q.x AND q.x < r.x"
    events = Event("e0", "B", 1, 2, x=0), Event("e1", "A", 1, 2, x=1), Event("e2", "B", 2, 2, x=2)
    with pytest.raises(ContradictionError):
        match_events(plan_of(f"PATTERN SEQ(A a, B b) {given}"), event_table(events))
