"""`SEQ(B b[], C c[])+`: events in turn, each repetition wholly after the one before."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import strategies as st

from cepctl.engines.diagnosis.one_match import one_match
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import exact_matches, match_table
from cepctl.errors import CepctlError, QueryTooLargeError, UnsupportedQueryError, UsageError
from cepctl.language.parser import parse
from cepctl.language.printer import to_text
from cepctl.plan.summary import require_summary
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, MANY_EXAMPLES, assert_same_rows, check
from tests.engines.judged_ways import WAYS, judged
from tests.engines.own_numbers import trials
from tests.engines.test_own_numbers import same_every_way
from tests.plans import Event, event_table, plan_of
from tests.random_events import streams
from tests.random_patterns import ANY, NEXT, PARTITION, STRICT
from tests.state.test_equivalence import delayed_runs_amount_to_one, deliveries
from tests.strategies import WORLDS, Case, repeated_cases
from tests.worked_events import PAGE

BOTH_WAYS = event_table(
    (
        Event("a1", "A", 0, 2, x=1),
        Event("b1", "B", 1, 3, x=1),
        Event("b2", "B", 3, 5, x=2),
        Event("b3", "B", 3, 6, x=1),
        Event("c1", "C", 2, 4, x=2),
    )
)
CASES = repeated_cases() | repeated_cases(STRICT, PARTITION)
CERTAIN = event_table(
    Event(f"{kind.lower()}{tick}", kind, tick, tick, x=value)
    for tick, (kind, value) in enumerate([("B", 1), ("C", 2), ("B", 3), ("C", 1), ("B", 2), ("C", 5)])
)


def groups(query: str) -> list[str]:
    """The rows of a query among certain events, by their text."""
    plan = plan_of(f"PATTERN {query}")
    assert_same_rows(match_table(plan, CERTAIN), match_events(plan, CERTAIN))
    rows = match_events(plan, CERTAIN).column("signature").to_pylist()
    return sorted(" ".join("+".join(part) for part in row) for row in rows)


def test_worked_numbers() -> None:
    found = exact_matches(plan_of("PATTERN SEQ(B b[], C c[])+"), PAGE)
    assert len(found) == 8
    row = found[(("b1", "c1", "b3", "c2"),)]
    assert (row.start, row.end, row.confidence) == (1, 7, Fraction(1, 9))
    plan = plan_of("PATTERN SEQ(A a, SEQ(B b[], B c[])+) STRATEGY strict_contiguity")
    row = exact_matches(plan, PAGE)[(("a1",), ("b1", "b2"))]
    assert (row.start, row.end, row.confidence) == (0, 4, Fraction(4, 9))
    for each in (plan, plan_of("PATTERN SEQ(B b[], C c[])+")):
        assert_same_rows(match_table(each, PAGE), match_events(each, PAGE))


def test_repetitions_come_one_after_the_other() -> None:
    strict = " STRATEGY strict_contiguity"
    assert groups("SEQ(B b[], C c[])+" + strict) == [
        *("b0+c1", "b0+c1+b2+c3", "b0+c1+b2+c3+b4+c5", "b2+c3", "b2+c3+b4+c5", "b4+c5"),
    ]
    assert groups("SEQ(SEQ(B b[], C c[])+, B d, C e)" + strict) == [
        *("b0+c1 b2 c3", "b0+c1+b2+c3 b4 c5", "b2+c3 b4 c5"),
    ]


def test_what_is_read_of_repetitions() -> None:
    """`b[i]`, `c[i]` are of one, `c[i-1]` of the one before, aggregates of all or of those so far."""
    strict = " STRATEGY strict_contiguity"
    assert groups("SEQ(B b[], C c[])+ WHERE c[i].x > b[i].x" + strict) == ["b0+c1", "b4+c5"]
    assert groups("SEQ(B b[], C c[])+ WHERE b[i].x > c[i-1].x AND count(b[]) >= 2" + strict) == [
        *("b0+c1+b2+c3", "b0+c1+b2+c3+b4+c5", "b2+c3+b4+c5"),
    ]
    assert groups("SEQ(B b[], C c[])+ WHERE sum(b[].x) < sum(c[].x)" + strict) == [
        *("b0+c1", "b0+c1+b2+c3+b4+c5", "b2+c3+b4+c5", "b4+c5"),
    ]
    assert groups("SEQ(B b[], C c[])+ WHERE sum(b[1..i].x) < sum(c[1..i].x)" + strict) == ["b0+c1", "b4+c5"]
    query = "PATTERN SEQ(B b[], C c[])+ STRATEGY strict_contiguity RETURN b, c[last].x AS x, count(c[]) AS n"
    rows = match_events(plan_of(query), CERTAIN).to_pylist()
    longest = max(rows, key=lambda row: row["n"])
    assert (longest["b"], longest["x"], longest["n"]) == ("b0+b2+b4", 5, 3)


@pytest.mark.parametrize("strategy", [ANY, STRICT])
@pytest.mark.parametrize(
    "query",
    [
        "OR(SEQ(B b[], C|B c[])+, B|C+ d[])",
        "OR(SEQ(A a, B+ d[]), SEQ(A a, SEQ(B b[])+)) WHERE d[i].x >= d[i-1].x RETURN count(b[]) AS n, d",
        "OR(SEQ(A a, SEQ(B b[], B y[])+, !C n), SEQ(A a, !C n, B{1,2} d[])) WITHIN 6 ticks",
        "OR(SEQ(A a, B+ d[]), SEQ(A a, SEQ(B x[], B y[])+)) WHERE d[i].time - a.time <= 3 ticks",
    ],
)
def test_a_row_of_repetitions_and_of_a_group_is_counted_once(query: str, strategy: str) -> None:
    plan = plan_of(f"PATTERN {query} STRATEGY {strategy}")
    assert_same_rows(match_table(plan, BOTH_WAYS), match_events(plan, BOTH_WAYS))


def test_a_member_apart_that_fits_what_follows_leaves_nothing_for_both() -> None:
    """The set takes e1 and e2 at one tick alone, the run one after the other."""
    events = (
        Event("e1", "A", 0, 3, x=3),
        Event("e2", "B", 1, 4, x=1),
        Event("e0", "B", 2, 2, x=3),
    )
    runs = "SEQ(A|B{2} p[], B c), SEQ(A|B+ q[], B d)) WHERE p[i].x <= p[i-1].x WITHIN 4 ticks"
    plan, table = plan_of(f"PATTERN OR({runs} STRATEGY {NEXT}"), event_table(events)
    rows = match_events(plan, table)
    assert_same_rows(match_table(plan, table), rows)
    both = next(row for row in rows.to_pylist() if row["signature"] == [["e1", "e2"], ["e0"]])
    assert both["confidence"] == pytest.approx(2 / 16)


@st.composite
def in_both_ways(draw: st.DrawFn) -> Case:
    """OR of a SEQ(...)+ or a group in order and a group of the same events, which may be a set."""
    forms = {
        "turn": ["SEQ({0} x[])+", "SEQ({0} x[], {0} y[])+"],
        "set": ["{0}+ s[]", "{0}{{1,2}} s[]", "{0}+ s[]"],
        "order": ["{0}+ o[]"],
    }
    strategy = draw(st.sampled_from([ANY, STRICT, PARTITION, NEXT]))
    kinds = ["order", "set"] if strategy == NEXT else draw(st.sampled_from(list(permutations(forms, 2))))
    types, before = draw(st.sampled_from(["B", "A|B"])), draw(st.sampled_from(["A", "A", ""]))
    forms["set"] = ["{0}+ s[]", *(["{0}* s[]"] if before else [])] if strategy == NEXT else forms["set"]
    behind, parts = draw(st.sampled_from(["", "C", "B"])), list[str]()
    for kind in kinds:
        absent = f"!{draw(st.sampled_from('BC'))} n{kind}" if draw(st.integers(0, 3)) == 0 else ""
        group = draw(st.sampled_from(forms[kind])).format(types)
        written = [before and f"{before} a{kind}", absent, group, behind and f"{behind} c{kind}"]
        parts.append(f"SEQ({', '.join(filter(None, written))})")
    asked = ["o[i].x >= o[i-1].x"] if "order" in kinds else []
    asked += ["[k]"] if strategy == PARTITION else []
    if "set" in kinds and draw(st.booleans()):
        asked.append(draw(st.sampled_from(["s[i].x > 0", "sum(s[].x) <= 3"])))
    where = f" WHERE {' AND '.join(asked)}" if asked else ""
    query = (
        f"PATTERN OR({', '.join(parts)}){where} STRATEGY {strategy} WITHIN {draw(st.integers(3, 7))} ticks"
    )
    return Case(query, draw(streams(["A", "B", "B", "C"], draw(st.sampled_from(WORLDS)))))


@pytest.mark.parametrize("way", WAYS)
def test_rows_of_both_ways_agree_with_the_judge(way: str) -> None:
    check(*judged(way, in_both_ways()), FEW_EXAMPLES if way == "rows" else FEW_EXAMPLES // 2)


@pytest.mark.slow
def test_rows_of_both_ways_agree_with_the_judge_in_many_cases() -> None:
    check(*judged("rows", in_both_ways()), MANY_EXAMPLES)


@pytest.mark.parametrize("way", WAYS)
def test_repetitions_agree_with_the_judge(way: str) -> None:
    check(*judged(way, CASES), EXAMPLES if way == "rows" else FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_repetitions_agree_with_the_judge_in_many_cases(way: str) -> None:
    check(*judged(way, CASES), MANY_EXAMPLES if way == "rows" else MANY_EXAMPLES // 4)


def test_every_way_to_find_repetitions_gives_equal_bytes() -> None:
    check(trials(CASES), same_every_way, FEW_EXAMPLES // 2)


def test_incremental_runs_give_the_rows_of_one() -> None:
    check(deliveries(CASES), delayed_runs_amount_to_one, FEW_EXAMPLES)


def test_a_match_is_shown_as_of_a_pattern_that_writes_each_repetition() -> None:
    plan = plan_of("PATTERN SEQ(B b[], C c[])+ WHERE c[i].x <= b[i].x")
    whole = (("b1", "c1", "b3", "c2"),)
    shown = one_match(plan, PAGE, whole)
    assert [each.variable for each in shown.members] == ["b[1]", "c[1]", "b[2]", "c[2]"]
    assert [each.condition.text for each in shown.reasons] == ["c[i].x <= b[i].x"]
    shown = one_match(plan_of("PATTERN SEQ(B b[], C c[])+"), PAGE, whole)
    assert shown.confidence == pytest.approx(1 / 9)
    with pytest.raises(UsageError, match=r"not the form of the pattern: a b\+c\+"):
        one_match(plan_of("PATTERN SEQ(A a, SEQ(B b[], C c[])+)"), PAGE, (("a1",), ("b1", "c1", "b3")))


def test_each_row_is_shown_with_its_confidence() -> None:
    def agrees(case: Case) -> None:
        plan = plan_of(case.query)
        for row in match_events(plan, case.table).to_pylist():
            each = one_match(plan, case.table, tuple(tuple(part) for part in row["signature"]))
            assert not each.reasons
            assert (each.whole or each).confidence == pytest.approx(row["confidence"], abs=1e-9)

    check(CASES, agrees, FEW_EXAMPLES)


@pytest.mark.parametrize(
    ("query", "remedy"),
    [
        ("SEQ(A a, SEQ(B b[], C+ c[])+)", "anything but single events in SEQ(...)+; write SEQ of it so many"),
        ("SEQ(A a, SEQ(B b[], !C c, D d[])+)", "anything but single events in SEQ(...)+"),
        ("SEQ(A a, SEQ(B b[], SEQ(C c, D d)+)+)", "anything but single events in SEQ(...)+"),
        ("AND(A a, SEQ(B b[], C c[])+)", "SEQ(...)+ inside AND; write it before or behind the group"),
        (
            "SEQ(A a, SEQ(B b[], C c[])+) STRATEGY skip_till_next_match",
            "SEQ(...)+ under skip_till_next_match",
        ),
        ("SEQ(A a, SEQ(B b[], C c[])+) WHERE b.x > 1", "'b' is a group of events: write b[i] for each"),
        ("SEQ(A a, SEQ(B b[], C c[]))", "b[] is a Kleene variable and needs a + after its type"),
        ("SEQ(A a[], SEQ(B b[], C c[])+)", "a[] is a Kleene variable and needs a + after its type"),
        ("AND(B b, C c)+", "a repeated AND"),
    ],
)
def test_what_is_refused_names_place_and_remedy(query: str, remedy: str) -> None:
    with pytest.raises(CepctlError) as refused:
        plan_of(f"PATTERN {query}")
    assert "line 1, column " in str(refused.value)
    assert remedy in str(refused.value)


def test_repetitions_have_no_summary() -> None:
    with pytest.raises(UnsupportedQueryError, match=r"does not run SEQ\(...\)\+"):
        require_summary(plan_of("PATTERN SEQ(B b[], C c[])+"))


def test_too_many_repetitions_are_refused() -> None:
    table = event_table(Event(f"{kind}{at}", kind, at, at) for at in range(60) for kind in "BC")
    with pytest.raises(QueryTooLargeError, match=r"SEQ\(...\)\+ of this query has more than 1,000 matches"):
        match_events(plan_of("PATTERN SEQ(B b[], C c[])+"), table, MatchOptions(max_matches=1_000, top=1))


@pytest.mark.parametrize(
    "pattern", ["SEQ(B b[], C c[])+", "SEQ(A a, SEQ(B, C)+, D d)", "SEQ(SEQ(B b[])+, C c)"]
)
def test_repetitions_are_printed_as_they_are_read(pattern: str) -> None:
    query = parse(f"PATTERN {pattern}")
    assert parse(to_text(query)) == query
    assert parse(f"PATTERN {pattern.replace('[]', '')}") == query
