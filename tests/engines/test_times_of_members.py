"""Conditions on `b[first].time` and `b[last].time`, and conditions on times joined by OR, NOT and IN."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches, match_table
from cepctl.errors import CepctlError
from cepctl.plan.plan import Alternative
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, assert_same_rows, check
from tests.engines.confidence.occurrence.groups_agree import all_of_them_agree
from tests.engines.test_engines_agree import event_engine_agrees, event_engine_agrees_above
from tests.plans import Event, event_table, plan_of
from tests.random_events import streams
from tests.random_patterns import ANY, NEXT, STRICT
from tests.strategies import WORLDS, Case


@st.composite
def timed_cases(draw: st.DrawFn) -> Case:
    """SEQ of two or three, one of them perhaps a group in order, with one or two conditions on times."""
    strategy = draw(st.sampled_from([ANY, ANY, NEXT, STRICT]))
    types = [draw(st.sampled_from(["A", "B", "C", "*"])) for _ in range(draw(st.sampled_from([2, 2, 3])))]
    group = draw(st.sampled_from([None, *range(len(types))]))
    names = "abc"[: len(types)]
    parts = [
        f"{kind}+ {name}[]" if i == group else f"{kind} {name}"
        for i, (name, kind) in enumerate(zip(names, types, strict=True))
    ]
    absent = draw(st.integers(0, 3)) == 0
    if absent:
        parts.insert(1, f"!{draw(st.sampled_from(['A', 'B', 'C']))} n")
    sides = [name for i, name in enumerate(names) if i != group]
    sides += [f"{names[group]}[{which}]" for which in ("first", "last")] if group is not None else []

    def compared(left: str, right: str) -> str:
        sign = draw(st.sampled_from(["<", "<=", ">", ">=", "=", "<>"]))
        return f"{left}.time - {right}.time {sign} {draw(st.integers(0, 4))} ticks"

    def comparison() -> str:
        if len(sides) < 2:
            return f"{sides[0]}.time > '1970-01-01T00:00:00.002Z'"
        return compared(*draw(st.permutations(sides))[:2])

    def condition() -> str:
        form = draw(st.sampled_from(["", "OR", "NOT", "AND OR", "IN"]))
        if form == "IN" and len(sides) > 1:
            left, right = draw(st.permutations(sides))[:2]
            return f"{left}.time - {right}.time {draw(st.sampled_from(['', 'NOT ']))}IN (1 ticks, 2 ticks)"
        forms = {
            "OR": "({} OR {})",
            "NOT": "NOT ({} AND {})",
            "AND OR": "({} AND {} OR {})",
        }
        text = forms.get(form, "{}")
        return text.format(*(comparison() for _ in range(text.count("{}"))))

    conditions = [condition() for _ in range(draw(st.sampled_from([1, 1, 2])))]
    if group is not None:
        conditions.append(f"{names[group]}[i].x >= {names[group]}[i-1].x")
    if absent:
        conditions.append(compared("n", draw(st.sampled_from(sides))))
    within = f" WITHIN {draw(st.sampled_from([4, 6, 8]))} ticks"
    needs = strategy == NEXT and group == len(types) - 1
    clauses = f"PATTERN SEQ({', '.join(parts)}) WHERE {' AND '.join(conditions)} STRATEGY {strategy}"
    wanted = [kind.replace("*", "A") for kind in types]
    return Case(
        clauses + (within if needs or draw(st.booleans()) else ""),
        draw(streams(wanted, draw(st.sampled_from(WORLDS)))),
    )


def test_the_event_engine_agrees_with_the_judge() -> None:
    check(timed_cases(), event_engine_agrees, EXAMPLES)


def test_occurrences_and_thresholds_agree_with_the_judge() -> None:
    def agrees(case: Case) -> None:
        all_of_them_agree(case)
        event_engine_agrees_above(case, 0.3)

    check(timed_cases(), agrees, FEW_EXAMPLES)


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(AND(B c, C d), A+ e[]) WHERE e[first].time - d.time > 3 ticks",
        "OR(SEQ(AND(B c, C d), A+ e[]), SEQ(B c, C d, A+ e[])) WHERE e[last].time - d.time > 3 ticks",
        "SEQ(A+ e[], AND(B c, C d)) WHERE d.time - e[last].time > 3 ticks",
    ],
)
def test_a_member_beside_events_in_any_order(pattern: str) -> None:
    table = event_table(
        (Event("e0", "A", 1, 2), Event("b", "B", 4, 6), Event("c", "C", 5, 7), Event("e1", "A", 9, 11))
    )
    plan = plan_of(f"PATTERN {pattern}")
    rows = match_events(plan, table)
    assert 0.0 < rows.column("confidence").to_pylist()[0] < 1.0
    assert_same_rows(match_table(plan, table), rows)


EVENTS = event_table(
    (Event("a", "A", 0, 1), Event("b1", "B", 1, 3), Event("b2", "B", 2, 4), Event("c", "C", 5, 7))
)


def _confidence(where: str) -> Fraction:
    found = exact_matches(plan_of(f"PATTERN SEQ(A a, B+ b[], C c) WHERE {where}"), EVENTS)
    return found[("a",), ("b1", "b2"), ("c",)].confidence


def test_first_and_last_are_times_of_one_member() -> None:
    """Of b1 before b2, all at ticks from 1 to 4: b[first] is b1, b[last] b2, and b[i] both."""
    both = _confidence("b[i].time - a.time <= 2 ticks AND b[last].x IS NULL")
    assert _confidence("b[last].time - a.time <= 2 ticks") == both
    first = _confidence("b[first].time - a.time <= 2 ticks")
    # The worlds in order, and those in which a is at 0 and b1 at 3, so that b2 is at 4.
    assert first == Fraction(9, 18) - Fraction(1, 18)
    assert _confidence("b[last].time - b[first].time = 1 ticks") == Fraction(5, 18)


def test_the_cases_of_an_or_exclude_each_other() -> None:
    """`P OR Q` is P, or Q without P, so that what both leave is counted once."""

    def bounds(alternative: Alternative) -> list[int]:
        return [timing.bound for timing in alternative.timings]

    plan = plan_of("PATTERN SEQ(A a, C c) WHERE c.time - a.time <= 6 ticks OR c.time - a.time >= 5 ticks")
    assert [bounds(each) for each in plan.alternatives] == [[6], [-7, -5]]
    (found,) = exact_matches(plan, EVENTS).values()
    assert found.confidence == 1
    assert match_events(plan, EVENTS).column("confidence").to_pylist() == [1.0]


@pytest.mark.parametrize(
    ("where", "remedy"),
    [
        ("a.time > '1970-01-01' OR a.x = 1", "joined by OR or NOT with one on times; write an OR of two"),
        ("b[i].time - a.time < 2 ticks OR c.time - a.time < 9 ticks", "write b[first].time or b[last].time"),
        ("b[i].time - b[i-1].time < 2 ticks", "write b[first].time, b[last].time, or b[i].time for each"),
        (
            "n.time - a.time < 2 ticks OR n.time - a.time > 4 ticks",
            "one absent component for each, as in !N n",
        ),
    ],
)
def test_what_has_no_form_names_place_and_remedy(where: str, remedy: str) -> None:
    with pytest.raises(CepctlError) as refused:
        plan_of(f"PATTERN SEQ(A a, B+ b[], !N n, C c) WHERE {where}")
    assert str(refused.value).startswith("line 1, column ")
    assert remedy in str(refused.value)


def test_too_many_cases_are_refused() -> None:
    one = "(c.time - a.time < 2 ticks OR c.time - a.time > 4 ticks)"
    with pytest.raises(CepctlError, match="over 64"):
        plan_of(f"PATTERN SEQ(A a, C c) WHERE {' AND '.join([one] * 7)}")
