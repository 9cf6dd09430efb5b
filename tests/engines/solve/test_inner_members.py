"""Members of a set that are never its first nor its last are left out of the sums, and change no number."""

from __future__ import annotations

import numpy as np
import pytest

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.events import events_of
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.solve import methods
from cepctl.engines.solve.batch import Batch, without_inner_members
from tests.engines.agreement import FEW_EXAMPLES, assert_same_rows, check
from tests.engines.judged_ways import where_it_runs
from tests.plans import Event, event_table, plan_of
from tests.strategies import Case, kleene_cases, running_cases

NEXT, STRICT = "skip_till_next_match", "strict_contiguity"


def kept(query: str, *events: Event) -> list[int]:
    """Which of the events of group b are left, by their number."""
    plan = plan_of(f"PATTERN {query}")
    source = prepared_alternative(plan, plan.alternatives[0], events_of(event_table(events)), MatchOptions())
    group = Group(np.array([0, len(events) - 1]), np.arange(1, len(events)))
    batch = Batch(source.measure, {0: np.array([0]), 1: group}, [])
    found = without_inner_members(batch).bound[1]
    assert isinstance(found, Group)
    return [int(each) for each in found.members]


A = Event("a", "A", 0, 2)
MEMBERS = [
    Event(f"b{at}", "B", lower, upper) for at, (lower, upper) in enumerate([(1, 4), (3, 5), (6, 7), (8, 9)])
]


def test_a_member_that_may_be_first_or_last_is_kept() -> None:
    assert kept("SEQ(A a, B+ b[])", A, *MEMBERS) == [1, 2, 4]
    assert kept("SEQ(A a, B+ b[])", A, *MEMBERS[:3]) == [1, 2, 3]
    assert kept("SEQ(A a, B+ b[])", A, *MEMBERS[2:]) == [1, 2]


def test_times_of_members_and_sequences_keep_them_all() -> None:
    assert kept("SEQ(A a, B+ b[]) WHERE b[i].time - a.time <= 8 ticks", A, *MEMBERS) == [1, 2, 3, 4]
    assert kept("SEQ(A a, B+ b[]) RETURN b[last].x", A, *MEMBERS) == [1, 2, 3, 4]


def test_they_change_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    def agrees(case: Case) -> None:
        plan = plan_of(case.query)
        own = match_events(plan, case.table)
        with monkeypatch.context() as patched:
            patched.setattr(methods, "without_inner_members", lambda batch: batch)
            assert_same_rows(match_events(plan, case.table), own)

    check(kleene_cases(NEXT, STRICT) | kleene_cases() | running_cases(), where_it_runs(agrees), FEW_EXAMPLES)


def test_a_set_of_many_members_is_measured_by_its_ends() -> None:
    events = [
        Event("a", "A", 0, 0),
        *(Event(f"b{at:04}", "B", 10 * at, 10 * at + 12) for at in range(1, 800)),
    ]
    plan = plan_of(f"PATTERN SEQ(A a, B+ b[]) STRATEGY {NEXT} WITHIN 9000 ticks")
    assert match_events(plan, event_table(events)).column("confidence").to_pylist() == [1.0]
