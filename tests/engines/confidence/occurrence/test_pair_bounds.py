"""Bounds of a union from pairs: numbers by hand, and around what is exact."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.coupled.problem import Clauses
from cepctl.engines.confidence.occurrence.group_estimates import RowPairs, bounds_by_pairs
from cepctl.engines.confidence.occurrence.occurrence import Occurrences, Weighted, occurrences
from cepctl.engines.event import group_occurrences
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from tests.plans import Event, event_table, plan_of

TASKS = (
    Event("a1", "A", 1, 4, k="t1"),
    Event("a2", "A", 2, 5, k="t2"),
    Event("b1", "B", 2, 4),
    Event("b2", "B", 4, 6),
)


def test_the_heaviest_tree_is_subtracted() -> None:
    """Three sets of 1/2 each: 1 and 2 share 1/4, 2 and 3 share 3/8, 1 and 3 share 1/8."""
    pairs = RowPairs.of(np.array([3]))
    common = {(0, 1): 1 / 4, (0, 2): 1 / 8, (1, 2): 3 / 8}
    union = np.array([1 - common[int(i), int(j)] for i, j in zip(pairs.one, pairs.other, strict=True)])
    least, most = bounds_by_pairs(np.full(3, 0.5), np.array([3]), pairs, union)
    assert least.tolist() == [7 / 8]
    assert most.tolist() == [3 / 2 - 3 / 8 - 1 / 4]


def test_a_pair_that_is_not_known_is_taken_for_disjoint() -> None:
    pairs = RowPairs.of(np.array([2, 2]))
    union = np.array([np.nan, 0.3])
    least, most = bounds_by_pairs(np.array([0.5, 0.25, 0.2, 0.2]), np.array([2, 2]), pairs, union)
    assert least == pytest.approx([0.5, 0.3])
    assert most == pytest.approx([0.75, 0.3])


def test_pairs_bound_what_is_too_costly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four rows of 19/12 together, the best of 1/2: one of them holds with 8/9."""

    def pairs_alone(events: Events, clauses: Clauses, weighted: Weighted, shares: int) -> Occurrences:
        found = occurrences(events, clauses, weighted, shares)
        found.probability[np.diff(clauses.problem_offsets) > 2] = np.nan
        return found

    monkeypatch.setattr(group_occurrences, "occurrences", pairs_alone)
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 3 ticks GROUP BY ()")
    (row,) = match_events(plan, event_table(TASKS), MatchOptions(approximate=0.5)).to_pylist()
    assert row["expected"] == pytest.approx(19 / 12)
    assert abs(row["occurrence"] - 8 / 9) <= row["occurrence_error"] < 0.14


def test_the_pairs_of_a_key_share_the_work_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where 64 rows of six events each are too costly, and so would be two of them."""
    taken: list[int] = []

    def costly(events: Events, clauses: Clauses, weighted: Weighted, shares: int) -> Occurrences:
        taken.append(-(-clauses.groups // shares))
        found = occurrences(events, clauses, weighted, shares)
        found.probability[:] = np.nan
        return found

    monkeypatch.setattr(group_occurrences, "occurrences", costly)
    several = [*TASKS, *(Event(f"a{number}", "A", number, number + 3, k="t") for number in range(3, 9))]
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 9 ticks GROUP BY ()")
    (row,) = match_events(plan, event_table(several), MatchOptions(approximate=0.05)).to_pylist()
    assert row["occurrence_error"] <= 0.05
    assert taken == [1, 1], "the key, and all its pairs together"
