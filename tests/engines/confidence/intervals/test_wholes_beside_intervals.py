"""What must not happen as a whole, `!SEQ` and `!AND`, beside events that last: against the judge."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import strategies as st

from cepctl.engines.confidence.intervals import clauses
from cepctl.engines.event.match import match_events
from cepctl.errors import QueryTooLargeError
from tests.engines.agreement import MANY_EXAMPLES, check
from tests.engines.confidence.intervals.asked_ways import Case, in_all_ways
from tests.engines.confidence.intervals.random_intervals import lasting_events
from tests.engines.confidence.intervals.test_given_of_lasting_on_clocks import agrees
from tests.plans import Event, event_table, lasting, plan_of

_PATTERNS = st.sampled_from(
    [
        "SEQ(A a, {0}, C c)",
        "SEQ(A a, {0}, C c)",
        "SEQ(A a, {0})",
        "SEQ({0}, A a)",
        "SEQ(A a, {0}, !A o, C c)",
        "SEQ(A a, {0}, C c, !N o)",
        "SEQ(A a, {0}, AND(C c, B b))",
        "SEQ(A a, {0}, C+ c[])",
        "OR(SEQ(A a, {0}, C c), SEQ(A a, !N o, C c))",
    ]
)
_WHOLES = st.sampled_from(
    ["!SEQ(N n, M m)", "!SEQ(N n, N m)", "!AND(N n, M m)", "!AND(N n, N m)", "!SEQ(N n, M m, N l)"]
)
_ASKED = st.sampled_from(["", "", "", "m.x > n.x", "n.k = a.k", "a.end - a.start <= 3 ticks", "[k]"])


@st.composite
def absent_wholes(draw: st.DrawFn) -> Case:
    """A query, an event or two that it binds, some of which last, and two or three of what must be absent."""
    query, whole, asked = draw(_PATTERNS), draw(_WHOLES), draw(_ASKED)
    where = f" WHERE {asked}" if asked else ""
    lasting_kinds = "A" if "C+" in query else draw(st.sampled_from(["A", "AC"]))
    bound = [draw(lasting_events(f"e{n}", kind)) for n, kind in enumerate(lasting_kinds)]
    if "C+" in query:
        bound.append(Event("d", "C", 6, 9, k="p"))
    if "B b" in query:
        bound.append(Event("b", "B", 6, 7, k="p"))
    if "C" not in lasting_kinds:
        bound.append(Event("c", "C", draw(st.integers(4, 7)), 8, k="p"))
    hidden = []
    for number, kind in enumerate(draw(st.sampled_from(["NM", "NM", "NN", "NMN", "NNM"]))):
        begin = draw(st.integers(0, 6))
        own = Event(f"h{number}", kind, begin, begin + draw(st.integers(0, 3)), k="p")
        if draw(st.integers(0, 3)) == 0:
            own = replace(own, end_lower=own.lower + 1, end_upper=own.upper + 1)
        hidden.append(replace(own, x=draw(st.integers(0, 2))))
    return f"PATTERN {query.format(whole)}{where} WITHIN {draw(st.sampled_from([7, 12]))} ticks", (
        *bound, *hidden,
    )  # fmt: skip


COMBINATIONS = in_all_ways(absent_wholes())


@pytest.mark.parametrize("combination", COMBINATIONS)
def test_answers_are_those_of_the_judge(combination: str) -> None:
    check(COMBINATIONS[combination], agrees)


@pytest.mark.slow
@pytest.mark.parametrize("combination", COMBINATIONS)
def test_answers_are_those_of_the_judge_many_times_over(combination: str) -> None:
    check(COMBINATIONS[combination], agrees, MANY_EXAMPLES)


def _of_one_whole() -> float:
    events = (
        lasting("a", "A", (0, 0), (2, 4)),
        Event("n", "N", 3, 3),
        Event("m", "M", 5, 5),
        Event("c", "C", 9, 9),
    )
    plan = plan_of("PATTERN SEQ(A a, !SEQ(N n, M m), C c)", lasting=True)
    (row,) = match_events(plan, event_table(events)).to_pylist()
    return float(row["confidence"])


def test_a_whole_begins_after_the_end_of_what_lasts() -> None:
    """Both stand in the gap where the first event ends at tick 2, of 2, 3 and 4."""
    assert _of_one_whole() == pytest.approx(2 / 3, rel=1e-12)


def test_a_whole_that_is_forgotten_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clauses, "_of_absence", lambda *_: iter(()))
    assert _of_one_whole() != pytest.approx(2 / 3, rel=1e-3)


def test_what_couples_too_many_events_is_refused() -> None:
    events = [lasting("a", "A", (0, 0), (2, 4)), Event("c", "C", 40, 45)]
    events += [Event(f"{kind}{n}", kind.upper(), 1, 44) for kind in "nm" for n in range(7)]
    plan = plan_of("PATTERN SEQ(A a, !AND(N n, M m), C c)", lasting=True)
    with pytest.raises(QueryTooLargeError, match="products by nested sums over starts and ends"):
        match_events(plan, event_table(tuple(events)))
