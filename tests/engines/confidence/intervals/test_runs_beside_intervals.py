"""Repetitions, and groups in order inside AND, of points beside events that last: against the judge."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from tests.engines.agreement import MANY_EXAMPLES, check
from tests.engines.confidence.intervals.asked_ways import Case, in_all_ways
from tests.engines.confidence.intervals.random_intervals import lasting_events
from tests.engines.confidence.intervals.test_given_of_lasting_on_clocks import agrees
from tests.plans import Event

_PATTERNS = st.sampled_from(
    [
        ("SEQ(A a, SEQ(B b[], D d[])+)", ""),
        ("SEQ(A a, SEQ(B b[], D d[])+, C c)", "d[i].x >= b[i].x"),
        ("SEQ(SEQ(B b[], D d[])+, A a)", "b[i].x >= d[i-1].x"),
        ("AND(A a, B+ b[])", "b[i].x >= b[i-1].x"),
        ("AND(A a, B+ b[])", "a.end - a.start <= 3 ticks"),
        ("AND(A a, B{2} b[])", "b[i].x > b[i-1].x"),
        ("SEQ(C c, AND(A a, B+ b[]))", "b[i].x >= b[i-1].x"),
        ("SEQ(A a, AND(C c, B+ b[]))", "b[last].time - b[first].time <= 3 ticks"),
    ]
)
_ABSENT = st.sampled_from(["", "", "", "!N n, ", "!N n, ", "!SEQ(N n, N m), ", "!AND(N n, D m), "])
_ASKED = st.sampled_from(["", "", "", "a.end - a.start <= 3 ticks", "n.x < b[first].x", "[k]"])


@st.composite
def runs_beside_intervals(draw: st.DrawFn) -> Case:
    """A query, an event that lasts or two, and points for its groups."""
    (pattern, condition), asked = draw(_PATTERNS), [draw(_ASKED)]
    absent = draw(_ABSENT) if pattern.startswith("SEQ") else ""
    pattern = pattern.replace("SEQ(", f"SEQ({absent}", 1)
    if draw(st.booleans()) and absent and pattern.startswith(f"SEQ({absent}A a, "):
        pattern = pattern.replace(f"{absent}A a, ", f"A a, {absent}", 1)
    asked = [each for each in (condition, *asked) if each and ("n.x" not in each or "N n" in pattern)]
    where = f" WHERE {' AND '.join(asked)}" if asked else ""
    events = [draw(lasting_events("a", "A"))]
    if "C c" in pattern:
        events.append(draw(lasting_events("c", "C")) if draw(st.booleans()) else Event("c", "C", 5, 8, k="p"))
    kinds = draw(st.sampled_from(["BB", "BBB"] if "D d" not in pattern else ["BD", "BDBD", "BDD", "BBD"]))
    for number, kind in enumerate(kinds + ("NN" if "SEQ(N" in absent else "N" if absent else "")):
        begin = draw(st.integers(0, 7))
        key = draw(st.sampled_from(["p", "p", "p", "q"]))
        end = begin + draw(st.integers(0, 3))
        events.append(Event(f"p{number}", kind, begin, end, k=key, x=draw(st.integers(0, 2))))
    return f"PATTERN {pattern}{where} WITHIN {draw(st.sampled_from([7, 14]))} ticks", tuple(events)


COMBINATIONS = in_all_ways(runs_beside_intervals())


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_answers_are_those_of_the_judge(combination: str) -> None:
    check(COMBINATIONS[combination], agrees)


@pytest.mark.slow
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_answers_are_those_of_the_judge_many_times_over(combination: str) -> None:
    check(COMBINATIONS[combination], agrees, MANY_EXAMPLES)
