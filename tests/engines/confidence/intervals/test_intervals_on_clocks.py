"""Interval events that share clocks in the event engine against the judge, and in examples."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.clocks.ties import ClockTie, tied
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.clocks import unions
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches
from cepctl.errors import EventSchemaError, QueryTooLargeError
from tests.engines.clock_cases import OFFSETS, ClockCase
from tests.engines.confidence.given.test_given_on_clocks import unbroken
from tests.engines.confidence.intervals.random_intervals import (
    choices_with_groups,
    negations,
    queries,
    queries_with_groups,
    streams,
    streams_with_points,
    streams_with_points_and_rivals,
    streams_with_rivals,
)
from tests.engines.confidence.intervals.test_interval_groups import groups_agree
from tests.engines.tied_clock_cases import tied_cases
from tests.fuzzing.drawn_events import drawn_chains
from tests.plans import Event, event_table, lasting, on, plan_of

_QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much]


@st.composite
def cases(
    draw: st.DrawFn,
    queries: st.SearchStrategy[str],
    streams: st.SearchStrategy[tuple[Event, ...]],
    *,
    least_sharp: int = 1,
) -> ClockCase:
    """A few events, many of which last, on up to three clocks; `least_sharp` in three or so start sharply."""
    clocks = {name: draw(st.sampled_from(OFFSETS)) for name in "nmk"[: draw(st.integers(1, 3))]}
    events = []
    for event in draw(streams):
        name = draw(st.sampled_from([*clocks, "n", None]))
        is_sharp = draw(st.integers(0, 2)) < least_sharp
        own = replace(event, upper=event.lower, pmf=None) if is_sharp else event
        events.append(own if name is None else on(name, clocks, own))
    return ClockCase(draw(queries), tuple(events), clocks)


_BOUND = cases(queries(), streams())
_BESIDE = cases(negations(), streams_with_rivals(), least_sharp=2)
_GROUPS = cases(queries_with_groups(), streams_with_points(), least_sharp=2) | cases(
    choices_with_groups(), streams_with_points_and_rivals(), least_sharp=2
)


def agrees(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks, lasting=True)
    try:
        judged = exact_matches(plan, case.table)
    except QueryTooLargeError:
        return
    found = {
        tuple(tuple(ids) for ids in row["signature"]): (row["start"], row["end"], row["confidence"])
        for row in match_events(plan, case.table).to_pylist()
    }
    assert found.keys() == judged.keys()
    for signature, match in judged.items():
        assert found[signature][:2] == (match.start, match.end)
        assert found[signature][2] == pytest.approx(float(match.confidence), rel=1e-9, abs=1e-12)


@settings(max_examples=15, deadline=None, suppress_health_check=_QUIET, derandomize=True)
@given(case=_BOUND)
def test_rows_are_those_of_the_judge(case: ClockCase) -> None:
    agrees(case)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=_QUIET)
@given(case=_BOUND)
def test_rows_are_those_of_the_judge_many_times_over(case: ClockCase) -> None:
    agrees(case)


@settings(max_examples=15, deadline=None, suppress_health_check=_QUIET, derandomize=True)
@given(case=_BESIDE)
def test_rows_beside_which_something_is_absent_are_those_of_the_judge(case: ClockCase) -> None:
    agrees(case)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=_QUIET)
@given(case=_BESIDE)
def test_rows_beside_which_something_is_absent_are_those_of_the_judge_many_times_over(
    case: ClockCase,
) -> None:
    agrees(case)


@settings(max_examples=8, deadline=None, suppress_health_check=_QUIET, derandomize=True)
@given(case=_GROUPS)
def test_rows_with_groups_of_points_are_those_of_the_judge(case: ClockCase) -> None:
    agrees(case)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=_QUIET)
@given(case=_GROUPS)
def test_rows_with_groups_of_points_are_those_of_the_judge_many_times_over(case: ClockCase) -> None:
    agrees(case)


@settings(max_examples=8, deadline=None, suppress_health_check=_QUIET, derandomize=True)
@given(case=_BOUND | _BESIDE)
def test_keys_are_those_of_the_judge(case: ClockCase) -> None:
    groups_agree(f"{case.query} GROUP BY ()", case.events, case.clocks)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=_QUIET)
@given(case=_BOUND | _BESIDE | _GROUPS, by_attribute=st.booleans())
def test_keys_are_those_of_the_judge_many_times_over(case: ClockCase, by_attribute: bool) -> None:
    pattern = case.query.split(" WHERE")[0]
    bound = [name for name in "abc" if re.search(rf"(?<!!){name.upper()} {name}\b", pattern)]
    key = f"{bound[0]}.k" if bound and by_attribute and "OR(" not in pattern else "()"
    groups_agree(f"{case.query} GROUP BY {key}", case.events, case.clocks)


def _late(seed: int) -> ClockCase:
    """One event that lasts, and sharp ones, each on one of three clocks, some of which are tied."""
    rng = Random(seed)
    clocks = {name: rng.choice(OFFSETS) for name in "nmk"}
    sharp = [
        Event(f"b{number}", "B", tick, tick) for number, tick in enumerate(rng.choices(range(2, 7), k=3))
    ]
    stamped = [on(rng.choice("nmk"), clocks, each) for each in sharp]
    query = f"PATTERN SEQ(A a, B b) WITHIN {rng.randint(3, 7)} ticks"
    held = lasting("a", "A", (-1, -1), (0, 0))
    return ClockCase(query, (held, *stamped), drawn_chains(rng, clocks))


@settings(max_examples=60, deadline=None, suppress_health_check=_QUIET, derandomize=True)
@given(case=st.integers(0, 1 << 32).map(_late))
def test_keys_on_tied_clocks_are_those_of_the_judge(case: ClockCase) -> None:
    groups_agree(f"{case.query} GROUP BY ()", case.events, case.clocks)


@pytest.mark.slow
@settings(max_examples=1000, deadline=None, suppress_health_check=_QUIET)
@given(case=tied_cases(_BOUND | _BESIDE | _GROUPS))
def test_keys_on_tied_clocks_are_those_of_the_judge_many_times_over(case: ClockCase) -> None:
    agrees(case)
    groups_agree(f"{case.query} GROUP BY ()", case.events, case.clocks)


WIDE: Clocks = {"n": ((-500, 500, 1.0),), "m": ((-500, 500, 1.0),)}
HELD = on("n", WIDE, lasting("a", "A", (0, 0), (100, 100)))


def confidences(condition: str, *events: Event) -> list[float]:
    plan = plan_of(f"PATTERN ISEQ(A a, B b) WHERE {condition}", WIDE, lasting=True)
    return [row["confidence"] for row in match_events(plan, event_table(events)).to_pylist()]


def test_what_one_clock_stamped_overlaps_for_certain_or_never() -> None:
    inside = on("n", WIDE, lasting("b", "B", (50, 50), (150, 150)))
    later = on("n", WIDE, lasting("b", "B", (101, 101), (150, 150)))
    assert confidences("a INTERSECTS b", HELD, inside) == [1.0]
    assert confidences("a INTERSECTS b", HELD, later) == []


def test_of_two_clocks_the_difference_of_their_offsets_decides() -> None:
    """The second is d ticks ahead in 1001 - |d| of 1001^2 worlds; they meet where -150 < d < 50."""
    other = on("m", WIDE, lasting("b", "B", (50, 50), (150, 150)))
    wanted = sum(1001 - abs(d) for d in range(-149, 50)) / 1001**2
    assert confidences("a INTERSECTS b", HELD, other) == pytest.approx([wanted], rel=1e-12)


BESIDE = "PATTERN ISEQ(A a, !B n) WHERE n INTERSECTS a"


def rows_beside(query: str, *events: Event) -> list[dict[str, Any]]:
    found = match_events(plan_of(query, WIDE, lasting=True), event_table(events))
    return list(found.to_pylist())


def test_what_one_clock_stamped_is_absent_for_certain_or_never() -> None:
    inside = on("n", WIDE, lasting("n", "B", (50, 50), (150, 150)))
    later = on("n", WIDE, lasting("n", "B", (101, 101), (150, 150)))
    assert rows_beside(BESIDE, HELD, inside) == []
    (row,) = rows_beside(BESIDE, HELD, later)
    assert (row["confidence"], row["start"], row["end"]) == (1.0, -500, 600)


def test_beside_rivals_of_other_clocks_the_differences_of_offsets_decide() -> None:
    """Each of two rivals of one clock meets it where -150 < d < 50, and where 150 < d < 350."""
    one = on("m", WIDE, lasting("n1", "B", (50, 50), (150, 150)))
    other = on("m", WIDE, lasting("n2", "B", (-250, -250), (-150, -150)))
    met = {*range(-149, 50), *range(151, 350)}
    (row,) = rows_beside(BESIDE, HELD, one, other)
    assert row["confidence"] == pytest.approx(1 - sum(1001 - abs(d) for d in met) / 1001**2, rel=1e-12)
    both = [each["confidence"] for each in rows_beside(f"{BESIDE} GROUP BY ()", HELD, one, other)]
    assert both == [row["confidence"]]


def test_rows_of_a_key_err_together() -> None:
    """Two rows of one clock hold where the offset of another is small, so that they hold together."""
    later = on("m", WIDE, lasting("b", "B", (50, 50), (150, 150)))
    again = replace(HELD, event_id="a2")
    (key,) = rows_beside("PATTERN ISEQ(A a, B b) WHERE a INTERSECTS b GROUP BY ()", HELD, again, later)
    wanted = sum(1001 - abs(d) for d in range(-149, 50)) / 1001**2
    assert (key["occurrence"], key["expected"]) == (
        pytest.approx(wanted, rel=1e-12), pytest.approx(2 * wanted, rel=1e-12)
    )  # fmt: skip


def test_rows_of_a_key_on_tied_clocks_err_together() -> None:
    """Of five worlds, (-1, 0), (0, 0), (1, 0), (0, 1), (1, 1), `b` is in time where m <= 0, `c` where n = 0.

    No event has the clock between m and n, whose offset is that of n and at most a tick from that of m.
    """
    clocks = tied(
        {"m": ((-1, 1, 1.0),), "x": ((0, 1, 1.0),), "n": ((0, 1, 1.0),)},
        [ClockTie("m", "x", 1), ClockTie("x", "n", 0)],
    )
    held = lasting("a", "A", (-1, -1), (0, 0))
    late = [on("m", clocks, Event("b", "B", 3, 3)), on("n", clocks, Event("c", "B", 3, 3))]
    plan = plan_of("PATTERN SEQ(A a, B b) WITHIN 5 ticks GROUP BY ()", clocks, lasting=True)
    (key,) = match_events(plan, event_table((held, *late))).to_pylist()
    assert (key["occurrence"], key["expected"]) == (pytest.approx(4 / 5), pytest.approx(6 / 5))


def jittery(condition: str = "a INTERSECTS b BY 15 ticks") -> None:
    """Wide own parts on two wide clocks, against a sum over all differences."""
    a = on("n", WIDE, lasting("a", "A", (0, 20), (15, 45)))
    b = on("m", WIDE, lasting("b", "B", (5, 12), (30, 47)))
    s, t = np.meshgrid(np.arange(21), np.arange(15, 46), indexing="ij")
    first, last = s[s <= t], t[s <= t]
    total = 0.0
    u, v = (each.reshape(-1) for each in np.meshgrid(np.arange(5, 13), np.arange(30, 48), indexing="ij"))
    for d in range(-1000, 1001):
        if -60 <= d <= 60:
            together = np.minimum(last[:, None], v + d) - np.maximum(first[:, None], u + d)
            total += (1001 - abs(d)) * float(np.mean(together >= 15))
    assert confidences(condition, a, b) == pytest.approx([total / 1001**2], rel=1e-12)


def test_wide_starts_and_ends_on_wide_clocks_are_summed_exactly() -> None:
    jittery()


def test_pieces_end_where_conditions_are_tight(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unions, "breakpoints_of_clauses", unbroken)
    with pytest.raises(AssertionError):
        jittery()


def test_both_ends_of_an_event_have_its_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(events: Events) -> EventClocks:
        assert events.clocks is not None
        ends = events.endpoints
        clock = np.concatenate([events.clocks.clock, np.full(len(ends.lasting), NO_CLOCK)])
        return replace(events.clocks, clock=clock, own=ends.masses)

    monkeypatch.setattr(Events, "endpoint_clocks", property(forgetful))
    with pytest.raises(AssertionError):
        test_what_one_clock_stamped_overlaps_for_certain_or_never()


def test_an_end_narrower_than_the_offset_is_named() -> None:
    narrow = replace(HELD, end_lower=100, end_upper=100)
    with pytest.raises(EventSchemaError, match=r"'a' has an end in 100\.\.100, narrower than the offset"):
        confidences("a INTERSECTS b", narrow, on("n", WIDE, lasting("b", "B", (50, 50), (150, 150))))
