"""GROUP BY over a Kleene group counts its sets: the rows are those of the judge, who lists them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import strategies as st

from cepctl.engines.event import counted_sets as engine
from cepctl.engines.event.match import match_events
from cepctl.plan.counted_sets import counted_sets
from cepctl.plan.group_sizes import CountedSets
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.confidence.given.given_cases import agrees, with_given
from tests.engines.confidence.occurrence.groups_agree import groups_agree
from tests.plans import Event, event_table, plan_of
from tests.random_events import streams
from tests.strategies import WORLDS, Case

_SETS = (None, "count(b[]) >= 2", "count(b[]) = 2", "count(b[]) < 3", "2 <= count(b[]) AND count(b[]) <= 3")
_PATTERNS = ("A a, B+ b[]", "B+ b[], A a", "A a, B+ b[], C c", "B+ b[], A a, C c", "A a, !Z, C c, B+ b[]")


@st.composite
def counted_cases(draw: st.DrawFn) -> Case:
    pattern = draw(st.sampled_from(_PATTERNS))
    conditions = ["[g]", "b[i].x <> 2", "b[i].x >= a.x"]
    chosen = draw(st.lists(st.sampled_from(conditions), max_size=1))
    sets = draw(st.sampled_from(_SETS))
    chosen += [sets] if sets else []
    where = f" WHERE {' AND '.join(chosen)}" if chosen else ""
    window = draw(st.sampled_from(["", " WITHIN 4 ticks", " WITHIN 6 ticks"]))
    key = draw(st.sampled_from(["()", "a.k", "a.x"]))
    events = draw(streams(["B", "A", "B", "C", "B"], draw(st.sampled_from(WORLDS))))
    if draw(st.booleans()):
        # Without holes in their masses the neighbours alone are summed over.
        events = tuple(replace(event, pmf=None) for event in events)
    return Case(f"PATTERN SEQ({pattern}){where}{window} GROUP BY {key}", events)


def _agrees(case: Case) -> None:
    assert counted_sets(plan_of(case.query)) is not None
    groups_agree(case)


def test_groups_are_those_of_the_judge() -> None:
    check(counted_cases(), _agrees, FEW_EXAMPLES)


def test_groups_given_what_is_known_are_those_of_the_judge() -> None:
    check(with_given(counted_cases()), agrees, FEW_EXAMPLES)


@pytest.mark.slow
def test_groups_are_those_of_the_judge_in_many_cases() -> None:
    check(counted_cases(), _agrees, MANY_EXAMPLES)
    check(with_given(counted_cases()), agrees, MANY_EXAMPLES // 2)


def test_the_property_fails_where_members_are_taken_for_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = engine._certainly_between
    monkeypatch.setattr(engine, "_certainly_between", lambda *asked: whole(*asked) | True)
    with pytest.raises(AssertionError):
        check(counted_cases(), _agrees, 40, shrink=False)


def _queued(count: int, uncertain: int = 0) -> list[Event]:
    certain = [Event(f"q{i:03}", "Queued", i, i, k="t1") for i in range(count)]
    late = [Event(f"r{i:03}", "Queued", count, count + 1, k="t1") for i in range(uncertain)]
    return [*certain, *late, Event("done", "Done", count + 1, count + 1, k="t1")]


def _one(query: str, events: list[Event]) -> dict[str, object]:
    (row,) = match_events(plan_of(query), event_table(events)).to_pylist()
    return dict(row)


THREE_TIMES = "PATTERN SEQ(Queued+ b[], Done c) WHERE [k] AND count(b[]) >= 3 GROUP BY c.k"


def test_more_sets_than_can_be_listed_are_one_row() -> None:
    row = _one(THREE_TIMES, _queued(50))
    sets = 2**50 - 1 - 50 - math.comb(50, 2)
    assert (row["occurrence"], row["matches"], row["expected"]) == (1.0, sets, float(sets))
    assert row["signature"] == [["q000", "q001", "q002"], ["done"]]


def test_more_sets_than_a_number_counts_exactly_have_no_number() -> None:
    row = _one(THREE_TIMES, _queued(100))
    assert row["matches"] is None
    assert row["expected"] == pytest.approx(2**100, rel=1e-12)


def test_what_is_certain_and_what_is_not_count_together() -> None:
    # Two for certain, and each of three more before Done with probability 1/2: one of them is enough.
    row = _one(THREE_TIMES, _queued(2, 3))
    assert row["occurrence"] == pytest.approx(7 / 8, abs=1e-12)
    # 3 sets of one (both certain), 3 x 1/4 of two with 1 or 2 certain, 1/8 of three with any number.
    assert row["expected"] == pytest.approx(3 / 2 + 3 / 4 * 3 + 1 / 8 * 4, abs=1e-12)
    assert row["matches"] == 3 + 3 * 3 + 4


@pytest.mark.parametrize(
    ("condition", "sets"),
    [
        ("count(b[]) > 2", CountedSets(0, 3)),
        ("3 > count(b[])", CountedSets(0, 1, 2)),
        ("count(b[]) = 2 AND count(b[]) >= 1", CountedSets(0, 2, 2)),
        ("b[i].x > 1", CountedSets(0)),
        ("max(b[].x) > 1", None),
        ("count(b[]) <> 2", None),
        ("b[i].x > b[i-1].x", None),
    ],
)
def test_which_conditions_leave_sets_to_be_counted(condition: str, sets: CountedSets | None) -> None:
    query = f"PATTERN SEQ(B+ b[], C c) WHERE {condition} GROUP BY c.k"
    assert counted_sets(plan_of(query)) == sets
