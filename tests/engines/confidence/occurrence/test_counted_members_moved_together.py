"""Members of a Kleene group are counted where one clock moves all of a match, and beside ties of others."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import pytest
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.given.known import known_events
from cepctl.engines.event import counted_members as engine
from cepctl.engines.event.groups import with_counted_sets
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternatives
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import ContradictionError
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.clock_cases import OFFSETS, ClockCase
from tests.engines.confidence.occurrence.groups_agree import assert_same_groups
from tests.engines.confidence.occurrence.test_counted_sets import counted_cases
from tests.plans import Event, event_table, on, plan_of


@st.composite
def on_one_clock_each(draw: st.DrawFn) -> ClockCase:
    """All events of one `[g]` on one clock, or on none; without a key all of them."""
    case = draw(counted_cases())
    clocks: Clocks = {name: draw(st.sampled_from(OFFSETS)) for name in ("n", "m")}
    keyed = "[g]" in case.query
    of_key = {key: draw(st.sampled_from(["n", "m", None])) for key in ("u", "v")}
    events = []
    for event in case.events:
        name = of_key[event.g if keyed and event.g else "u"]
        events.append(event if name is None else on(name, clocks, replace(event, pmf=None)))
    return ClockCase(case.query, tuple(events), clocks)


@st.composite
def given_of_others(draw: st.DrawFn) -> ClockCase:
    """Two events that no pattern names, one of which is known to come first."""
    case = draw(counted_cases())
    ticks = [(draw(st.integers(0, 4)), draw(st.integers(0, 3))) for _ in "XY"]
    others = tuple(
        Event(kind.lower(), kind, low, low + wide) for kind, (low, wide) in zip("XY", ticks, strict=True)
    )
    return ClockCase(f"{case.query} GIVEN SEQ(X p, Y q) IF TRUE", (*case.events, *others), {})


def is_counted(case: ClockCase) -> bool:
    """Whether uncertain members are counted, and not listed."""
    plan = plan_of(case.query, case.clocks)
    events = events_of(case.table, plan.clocks)
    events = known_events(plan, events) if plan.given else events
    (source,) = with_counted_sets(prepared_alternatives(plan, events, MatchOptions()))
    return source.members is not None


def agrees(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks)
    try:
        expected = group_table(plan, case.table)
    except ContradictionError:
        return
    assert_same_groups(plan, expected, match_events(plan, case.table))


def counted_and_agrees(case: ClockCase) -> None:
    """Absences, and holes beside a window, are listed; the cases without are most."""
    assert is_counted(case) or "!Z" in case.query or "WITHIN" in case.query
    agrees(case)


def test_groups_on_one_clock_are_those_of_the_judge() -> None:
    check(on_one_clock_each(), counted_and_agrees, FEW_EXAMPLES)


def test_groups_beside_what_is_given_of_others_are_those_of_the_judge() -> None:
    check(given_of_others(), agrees, FEW_EXAMPLES)


@pytest.mark.slow
def test_groups_are_those_of_the_judge_in_many_cases() -> None:
    check(on_one_clock_each(), counted_and_agrees, MANY_EXAMPLES)
    check(given_of_others(), agrees, MANY_EXAMPLES)


CLOCKS: Clocks = {"n": ((-5, -4, 0.5), (3, 7, 0.5)), "m": ((-1, 1, 1.0),)}
QUERY = "PATTERN SEQ(B+ b[], C c) WHERE [k] AND count(b[]) >= 3 GROUP BY c.k"
MEMBERS, TICKS = 30, 50


def crowd(key: str) -> list[Event]:
    """Thirty members at any of fifty ticks, and what follows them: too many sets to list."""
    members = [Event(f"b{i:02}{key}", "B", 0, TICKS - 1, k=key) for i in range(MEMBERS)]
    return [*members, Event(f"c{key}", "C", 0, TICKS - 1, k=key)]


def at_least_three() -> float:
    ways = [
        comb(MEMBERS, k) * t**k * (TICKS - t) ** (MEMBERS - k)
        for t in range(TICKS)
        for k in range(3, MEMBERS + 1)
    ]
    return float(Fraction(sum(ways), TICKS ** (MEMBERS + 1)))


def test_what_one_clock_stamped_is_counted_by_its_own_parts() -> None:
    """The offset moves all of a key: its probabilities are those without, its range has both ends of it."""
    stamped = [on(name, CLOCKS, event) for key, name in (("p", "n"), ("q", "m")) for event in crowd(key)]
    found = match_events(plan_of(QUERY, CLOCKS), event_table([*stamped, *crowd("r")])).to_pylist()
    assert [row["occurrence"] for row in found] == pytest.approx([at_least_three()] * 3, abs=1e-12)
    assert {(row["c.k"], row["start"], row["end"]) for row in found} == {
        ("p", -5, TICKS + 6),
        ("q", -1, TICKS),
        ("r", 0, TICKS - 1),
    }
    for name in ("occurrence", "expected", "matches", "confidence"):
        assert len({row[name] for row in found}) == 1


def test_two_clocks_in_one_key_are_not_taken_for_one() -> None:
    events = (
        *(on("m", CLOCKS, Event(f"b{i}", "B", i, i + 1, k="p")) for i in range(3)),
        Event("c", "C", 2, 4, k="p"),
    )
    case = ClockCase(QUERY.replace("3", "2"), events, CLOCKS)
    assert not is_counted(case)
    agrees(case)


def test_the_property_fails_where_two_clocks_are_taken_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_one_clock_each", lambda *_: True)
    with pytest.raises(AssertionError):
        test_two_clocks_in_one_key_are_not_taken_for_one()


def test_what_is_given_of_other_events_leaves_members_counted() -> None:
    others = (Event("x", "X", 0, 9), Event("y", "Y", 5, 12))
    given = f"{QUERY} GIVEN SEQ(X p, Y q) IF TRUE"
    (row,) = match_events(plan_of(given), event_table([*crowd("p"), *others])).to_pylist()
    assert row["occurrence"] == pytest.approx(at_least_three(), abs=1e-12)


def test_a_member_that_is_tied_is_not_counted_as_if_it_were_free() -> None:
    members = tuple(Event(f"b{i}", "B", i, i + 4, k="p") for i in range(3))
    events = (*members, Event("c", "C", 2, 6, k="p"), Event("x", "X", 1, 6))
    case = ClockCase(f"{QUERY.replace('3', '2')} GIVEN SEQ(B p, X q) IF p.event_id = 'b1'", events, {})
    assert not is_counted(case)
    agrees(case)
