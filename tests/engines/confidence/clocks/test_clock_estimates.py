"""Estimates where events share clocks: within their error of the judge, with the time range of the judge."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.coupled import sampling
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.pattern.offset_bounds import stamps_of
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.points import Found
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check, rows_by_signature
from tests.engines.changed_methods import change, refuse_clocks
from tests.engines.clock_cases import CLOCK_LEVELS, ClockCase
from tests.plans import Event, event_table, on, plan_of

ERROR = 0.1
ESTIMATED = MatchOptions(approximate=ERROR)


@pytest.fixture
def nothing_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    refuse_clocks(monkeypatch)


def estimates_are_near(case: ClockCase) -> None:
    assume(case.clocks)
    plan = plan_of(case.query.split(" CONFIDENCE")[0], case.clocks)
    wanted = rows_by_signature(match_table(plan, case.table))
    found = rows_by_signature(match_events(plan, case.table, ESTIMATED))
    assert set(found) == set(wanted)
    for signature, row in found.items():
        assert (row["start"], row["end"]) == (wanted[signature]["start"], wanted[signature]["end"])
        assert abs(row["confidence"] - wanted[signature]["confidence"]) <= ERROR + 1e-9
        assert row["confidence_error"] == ERROR


@pytest.mark.usefixtures("nothing_is_exact")
def test_estimates_are_near_and_ranges_are_exact() -> None:
    check(st.one_of(*CLOCK_LEVELS.values()), estimates_are_near, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.usefixtures("nothing_is_exact")
@pytest.mark.parametrize("level", CLOCK_LEVELS)
def test_estimates_are_near_in_many_cases(level: str) -> None:
    check(CLOCK_LEVELS[level], estimates_are_near, MANY_EXAMPLES // 4)


CLOCKS: Clocks = {"n": ((-2, 2, 1.0),)}
TWO = event_table(on("n", CLOCKS, Event(name, kind, 1, 1)) for name, kind in (("a", "A"), ("b", "B")))


@pytest.mark.usefixtures("nothing_is_exact")
def test_a_world_draws_each_offset_once(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_of("PATTERN AND(A a, B b) WITHIN 1 ticks", CLOCKS)
    (row,) = match_events(plan, TWO, ESTIMATED).to_pylist()
    assert (row["confidence"], row["start"], row["end"]) == (1.0, -1, 3)
    monkeypatch.setattr(sampling, "stamps_of", _each_its_own)
    (row,) = match_events(plan, TWO, ESTIMATED).to_pylist()
    assert row["confidence"] == pytest.approx(0.2, abs=ERROR)


def _each_its_own(clocks: Any) -> Any:
    """Own parts as wide as offsets, and offsets of one tick: a planted fault."""
    own, one = clocks.own, clocks.offsets
    wide = Masses(own.lower - 2, own.upper + 2, own.starts, own.lo - 2, own.hi + 2, own.density / 5)
    still = Masses(one.lower * 0, one.upper * 0, one.starts, one.lo * 0, one.hi * 0, one.density * 5)
    return stamps_of(replace(clocks, own=wide, offsets=still))


def test_what_can_be_exact_is_exact_beside_what_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:

    def few(batch: Batch, rows: Indexes) -> Found:
        if len(batch) > 1 or batch.events[0, 0] == 0:
            raise QueryTooLargeError("too much")
        return exact(batch, rows)

    exact = change(monkeypatch, "chain in closed form, at few offsets of clocks", few)
    events = [on("n", CLOCKS, Event(f"a{i}", "A", i, i)) for i in (1, 2)] + [Event("b", "B", 2, 2)]
    rows = match_events(plan_of("PATTERN SEQ(A a, B b)", CLOCKS), event_table(events), ESTIMATED).to_pylist()
    assert sorted((row["start"], row["confidence_error"]) for row in rows) == [(-1, ERROR), (0, 0.0)]
    assert min(row["confidence"] for row in rows) == pytest.approx(0.4, abs=1e-12)


def test_an_occurrence_that_costs_too_much_is_estimated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.engines.confidence.clocks.estimates.MOST_NODES", 0)
    clocks: Clocks = {"n": ((-20, 19, 1.0),), "m": ((0, 12, 1.0),)}
    events = [on("n", clocks, Event(f"a{i}", "A", i, i + 5)) for i in (0, 2)]
    events += [on("m", clocks, Event("b", "B", 1, 8))]
    plan = plan_of("PATTERN SEQ(A a, B b) GROUP BY ()", clocks)
    (row,) = match_events(plan, event_table(events), ESTIMATED).to_pylist()
    assert row["occurrence_error"] == ERROR
    monkeypatch.undo()
    (exact,) = match_events(plan, event_table(events)).to_pylist()
    assert row["occurrence"] == pytest.approx(exact["occurrence"], abs=ERROR)
