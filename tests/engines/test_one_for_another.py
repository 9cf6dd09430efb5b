"""Components that may be absent, one of which may take the events of another, under next match."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from cepctl.engines.diagnosis.one_match import ids_of, one_match
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.raw_time_counts import counts_of
from cepctl.engines.worlds.engine import exact_matches, match_table
from cepctl.plan.passed_over import may_meet
from cepctl.plan.plan import FOUND_AT_RAW_TIMES
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.confidence.occurrence.groups_agree import all_of_them_agree
from tests.engines.diagnosis.test_one_match import agrees_with_the_rows
from tests.engines.event.test_raw_times import expected_counts, raw_times, with_times
from tests.engines.test_engines_agree import event_engine_agrees, event_engine_agrees_above
from tests.plans import Event, event_table, plan_of
from tests.random_patterns import NEXT
from tests.strategies import Case

FIRST = (
    "SEQ(B? x, B? y, C c)",
    "SEQ(B? x, B y, C c)",
    "SEQ(A|B? x, B? y, B? z, C|A c)",
    "SEQ(B? x, !A n, * y, C? c)",
    "SEQ(B? x, B{1,2} y[], C c)",
    "SEQ(B{0,2} y[], B? x, C c)",
    "SEQ(B* x[], B? y, C c)",
    "SEQ(B? x, B* y[], C c)",
    "SEQ(B* y[], B* z[], C c, B? x)",
    "SEQ(B? x, B? y, RUNNING C|B+ c[])",
    "SEQ(B* x[], B{1,2} y[], C c)",
    "SEQ(B{1,2} x[], B* y[], C c)",
    "SEQ(B{0,2} x[], B* y[], C c)",
)
LATER = (
    "SEQ(A a, B? x, B? y, C c)",
    "SEQ(A a, B? x, A? z, B y)",
    "SEQ(A a, B? x, B* y[], C c)",
    "SEQ(A a, B* x[], !A n, B* y[], C c)",
    "SEQ(A a, B{0,2} x[], B? y, B|C c)",
    "SEQ(A a, B? x, C c, B? y)",
    "SEQ(A a, B* x[], B{1,2} y[], C c)",
    "SEQ(A+ a[], B? x, B|C y)",
    "SEQ(A+ a[], B? x, B? y, C c)",
)
CONDITIONS = (
    "x{x}.x >= 1",
    "y{y}.x = 1",
    "z{z}.x < 2",
    "c.x >= y{y}.x",
    "x{x}.x < y{y}.x",
    "c.x > x{x}.x",
    "c.time - x{x}.time <= 3 ticks",
    "c.time - y{y}.time > 1 ticks",
)


def usable(pattern: str) -> list[str]:
    """The conditions on what a pattern has; none of a later component on a set."""
    groups = {*re.findall(r"(\w)\[\]", pattern)}
    names = {*re.findall(r"(\w)(?:\[\])?[,)]", pattern)} - ({"c"} & groups)
    sets = {*re.findall(r"\* (\w)\[\]", pattern)}
    every = {each.format(**{name: "[i]" if name in groups else "" for name in "xyz"}) for each in CONDITIONS}
    read = {each: {*re.findall(r"\b(\w)(?:\.|\[)", each)} for each in every}
    return sorted(each for each, own in read.items() if own <= names and (len(own) == 1 or not own & sets))


@st.composite
def one_for_another(draw: st.DrawFn, patterns: tuple[str, ...]) -> Case:
    """A few events most of which fit several components."""
    pattern = draw(st.sampled_from(patterns))
    conditions = draw(st.lists(st.sampled_from(usable(pattern)), max_size=2, unique=True))
    conditions += draw(st.sampled_from([[], [], ["[k]"]]))
    events = []
    kinds = draw(st.sampled_from(["ABBC", "BBC", "ABBCC", "BBBC", "ABAC"]))
    for place, kind in enumerate(draw(st.permutations(kinds))):
        lower, name = place + draw(st.integers(-1, 2)), draw(st.integers(0, 9))
        x, k = draw(st.integers(0, 2)), draw(st.sampled_from("ppq"))
        events.append(Event(f"e{name}{place}", kind, lower, lower + draw(st.integers(0, 3)), x=x, k=k))
    where = f"WHERE {' AND '.join(conditions)} " if conditions else ""
    window = draw(st.sampled_from([5, 9]))
    returned = draw(st.sampled_from(["", "RETURN x, y", "RETURN reached(0.5) AS r"]))
    return Case(f"PATTERN {pattern} {where}WITHIN {window} ticks STRATEGY {NEXT} {returned}", tuple(events))


@pytest.mark.parametrize("pattern", [*FIRST, *LATER])
def test_either_may_take(pattern: str) -> None:
    check(one_for_another((pattern,)), event_engine_agrees, FEW_EXAMPLES)


@pytest.mark.slow
def test_either_may_take_in_many_cases() -> None:
    check(one_for_another((*FIRST, *LATER)), event_engine_agrees, MANY_EXAMPLES)


def test_a_row_of_two_readings_counts_once_in_each_world() -> None:
    """b1 is x in 3/4 of the worlds, where b2 is no y; y in 2/3, those after 0; and both in 7/12."""
    events = event_table([Event("b1", "B", 0, 2), Event("b2", "B", 1, 4), Event("c", "C", 3, 3)])
    query = f"SEQ(B? x, B? y, C c) WHERE c.time - y.time <= 2 ticks STRATEGY {NEXT} RETURN x, y"
    plan = plan_of(f"PATTERN {query}")
    found = exact_matches(plan, events)[(("b1",), ("c",))]
    assert (found.start, found.end, found.confidence) == (0, 3, Fraction(5, 6))
    assert found.bindings == {"x": ("b1",), "y": (), "c": ("c",)}
    assert_same_rows(match_table(plan, events), match_events(plan, events))
    shown = one_match(plan, events, ids_of("b1 c"))
    assert shown.confidence == pytest.approx(3 / 4)
    assert shown.other_readings == 1
    assert shown.whole is not None
    assert shown.whole.confidence == pytest.approx(5 / 6)


@pytest.mark.parametrize("condition", ["c.k = b.k", "c.x > b.x"])
def test_a_condition_on_what_may_be_absent_is_asked_only_once_that_has_taken(condition: str) -> None:
    """d1 comes before any B, so that C takes it whatever B is like."""
    events = event_table(
        [
            Event("a", "A", 1, 1),
            Event("d1", "D", 2, 2, x=0, k="p"),
            Event("b", "B", 3, 3, x=1, k="q"),
            Event("d2", "D", 4, 4, x=2, k="q"),
        ]
    )
    for pattern, rows in (
        ("SEQ(A+ a[], B? b, D c)", ["a d1"]),
        ("SEQ(A+ a[], B? b, D? c, D d)", ["a d1"]),
        ("SEQ(A+ a[], B? b, B|D c)", ["a d1"]),
    ):
        plan = plan_of(f"PATTERN {pattern} WHERE {condition} WITHIN 9 ticks STRATEGY {NEXT}")
        found = match_events(plan, events)
        assert_same_rows(match_table(plan, events), found)
        assert [" ".join(map("+".join, row)) for row in found.column("signature").to_pylist()] == rows


def test_only_what_may_begin_a_match_gives_one_row_for_another() -> None:
    def meets(pattern: str) -> bool:
        return may_meet(plan_of(f"PATTERN {pattern} STRATEGY {NEXT}"))

    assert meets("SEQ(B? x, A? a, B y, C c)")
    assert not meets("SEQ(B? x, A a, B? y, C c)")
    assert not meets("SEQ(A a, B? x, B? y, C c)")


def test_grouped_rows_thresholds_and_shown_matches_agree() -> None:
    def agrees(case: Case) -> None:
        all_of_them_agree(case)
        event_engine_agrees_above(case, 0.4)
        agrees_with_the_rows(case)

    check(one_for_another((*FIRST, *LATER)), agrees, FEW_EXAMPLES)


def test_raw_times_give_a_row_as_any_of_its_readings() -> None:
    def agrees(drawn: tuple[Case, list[int | None]]) -> None:
        case, ticks = drawn
        plan, table = plan_of(case.query.partition(" RETURN")[0]), with_times(case.table, ticks)
        matches = match_events(plan, table, MatchOptions(raw_times=True))
        found = counts_of(matches.column(FOUND_AT_RAW_TIMES))
        assert found == expected_counts(plan, matches, table)

    check(raw_times(one_for_another((*FIRST, *LATER))), agrees, FEW_EXAMPLES)
