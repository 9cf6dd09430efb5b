"""GROUP BY where events share clocks: the judge's groups, and sums over wide offsets against plain sums."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.confidence.clocks import unions
from cepctl.engines.confidence.clocks.clause_breakpoints import breakpoints_of_clauses
from cepctl.engines.confidence.clocks.frames import Frames
from cepctl.engines.confidence.clocks.nodes import OffsetBreakpoints, Segments
from cepctl.engines.confidence.clocks.unions import UnionParts, union_parts
from cepctl.engines.confidence.coupled.problem import Clauses
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.groups import group_table
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.clock_cases import ClockCase, clock_cases
from tests.engines.confidence.occurrence.groups_agree import assert_same_groups, grouped
from tests.plans import Event, event_table, on, plan_of
from tests.strategies import LEVELS

CLOCKED_GROUPS = {name: clock_cases(grouped(cases)) for name, cases in LEVELS.items()}
CLOCKS: Clocks = {"n": ((-20, -3, 0.5), (2, 19, 0.5)), "m": ((0, 12, 1.0),)}
WIDE = (
    on("n", CLOCKS, Event("a", "A", 0, 6)),
    on("n", CLOCKS, Event("b", "B", 3, 11)),
    on("m", CLOCKS, Event("c", "A", 2, 2)),
    on("m", CLOCKS, Event("d", "B", 1, 8)),
)


def groups_agree_on_clocks(case: ClockCase) -> None:
    plan = plan_of(case.query, case.clocks)
    assert_same_groups(plan, group_table(plan, case.table), match_events(plan, case.table))


def groups_agree_or_are_refused(case: ClockCase) -> None:
    """The same; a key of too many rows to be taken together may be refused."""
    with suppress(QueryTooLargeError):
        groups_agree_on_clocks(case)


def test_groups_of_events_that_share_clocks_are_those_of_the_judge() -> None:
    check(st.one_of(*CLOCKED_GROUPS.values()), groups_agree_on_clocks, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", CLOCKED_GROUPS)
def test_groups_of_events_that_share_clocks_are_those_of_the_judge_in_many_cases(level: str) -> None:
    check(CLOCKED_GROUPS[level], groups_agree_or_are_refused, MANY_EXAMPLES // 4)


def occurrence(query: str, events: tuple[Event, ...]) -> float:
    (row,) = match_events(plan_of(query, CLOCKS), event_table(events)).to_pylist()
    return float(row["occurrence"])


def plain_sum(window: int) -> float:
    """P(some A before some B, both within the window) of WIDE, tick by tick."""
    n = np.concatenate([np.arange(-20, -2), np.arange(2, 20)])[:, None, None, None, None]
    m, a = np.arange(13)[:, None, None, None], np.arange(7)[:, None, None]
    b, d = np.arange(3, 12)[:, None], np.arange(1, 9)
    first, second = (n + a, m + 2), (n + b, m + d)
    held = [(x < y) & (y - x < window) for x in first for y in second]
    return float(np.mean(np.logical_or.reduce(np.broadcast_arrays(*held))))


@pytest.mark.parametrize("window", [3, 10, 1000])
def test_wide_offsets_and_own_parts_are_summed_exactly(window: int) -> None:
    query = f"PATTERN SEQ(A a, B b) WITHIN {window} ticks GROUP BY ()"
    assert occurrence(query, WIDE) == pytest.approx(plain_sum(window), rel=1e-12)


def test_the_rows_of_a_key_err_together() -> None:
    clocks: Clocks = {"n": ((-2, 2, 1.0),)}
    pairs = [(Event(f"a{k}", "A", 5, 5, k=k), on("n", clocks, Event(f"b{k}", "B", 5, 5, k=k))) for k in "xy"]
    plan = plan_of("PATTERN SEQ(A a, B b) WHERE [k] GROUP BY ()", clocks)
    # Both come after 5 in two of five worlds, in the same ones.
    (row,) = match_events(plan, event_table([event for pair in pairs for event in pair])).to_pylist()
    assert row["occurrence"] == pytest.approx(0.4)
    assert row["expected"] == pytest.approx(0.8)


def test_too_many_offsets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cepctl.engines.confidence.clocks.estimates.MOST_NODES", 3)
    clocks: Clocks = {"n": ((-20, 19, 1.0),), "m": ((0, 12, 1.0),)}
    events = event_table(WIDE)
    with pytest.raises(QueryTooLargeError, match=r"the occurrence of a key .* sums over 1 clocks"):
        match_events(plan_of("PATTERN SEQ(A a, B b) GROUP BY ()", clocks), events)


def test_rows_that_share_a_clock_alone_are_not_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(clocks: EventClocks, clauses: Clauses) -> UnionParts:
        return union_parts(replace(clocks, clock=np.full_like(clocks.clock, NO_CLOCK)), clauses)

    monkeypatch.setattr(unions, "union_parts", forgetful)
    with pytest.raises(AssertionError):
        test_the_rows_of_a_key_err_together()


def test_offsets_are_summed_between_all_breakpoints(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(frames: Frames, clauses: Clauses) -> tuple[OffsetBreakpoints, Flags]:
        found, costly = breakpoints_of_clauses(frames, clauses)
        return {key: Segments(0 * each.offsets, each.values[:0]) for key, each in found.items()}, costly

    monkeypatch.setattr(unions, "breakpoints_of_clauses", none)
    with pytest.raises(AssertionError):
        test_wide_offsets_and_own_parts_are_summed_exactly(10)
