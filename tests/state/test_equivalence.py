"""However the input is split, and in whatever order it comes: the runs amount to one run over everything."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.errors import UnsupportedQueryError
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, assert_equal_rows, check
from tests.engines.clock_cases import CLOCK_LEVELS, ClockCase
from tests.plans import Event, plan_of
from tests.state.incremental import Runs, ends_in_order, in_one_run, late_ids, summed, total
from tests.strategies import LEVELS, Case


@dataclass(frozen=True)
class Delivery:
    """A case whose events arrive in pieces: in the order of the case, cut before some of them.

    `spread` moves events apart, so that what is old is forgotten on the way.
    """

    case: Case | ClockCase
    cuts: tuple[int, ...]
    spread: int
    spare_slack: int

    @property
    def pieces(self) -> list[tuple[Event, ...]]:
        events = tuple(_moved(event, self.spread) for event in self.case.events)
        edges = [0, *sorted(self.cuts), len(events)]
        return [events[a:b] for a, b in pairwise(edges)]

    @property
    def slack(self) -> int:
        """The smallest slack with which nothing is late, and some more."""
        newest, behind = None, 0
        for piece in self.pieces:
            if newest is not None:
                behind = max([behind, *(newest - event.lower for event in piece)])
            newest = max(
                [*([] if newest is None else [newest]), *(event.lower for event in piece)], default=None
            )
        return behind + self.spare_slack


def _moved(event: Event, spread: int) -> Event:
    """Later by `spread` ticks for each second event number, so that some stay close together."""
    shift = spread * (int(event.event_id[1:]) // 2)
    pmf = event.pmf and tuple((lo + shift, hi + shift, p) for lo, hi, p in event.pmf)
    return replace(event, lower=event.lower + shift, upper=event.upper + shift, pmf=pmf)


@st.composite
def deliveries(draw: st.DrawFn, cases: st.SearchStrategy[Case | ClockCase]) -> Delivery:
    case = draw(cases)
    if draw(st.integers(0, 3)):
        case = replace(case, events=tuple(sorted(case.events, key=lambda e: (e.lower, e.event_id))))
    every = list(range(1, len(case.events)))
    cuts = draw(st.lists(st.integers(0, len(case.events)), max_size=5) | st.just(every))
    return Delivery(case, tuple(cuts), draw(st.sampled_from([0, 0, 1, 3])), draw(st.sampled_from([0, 0, 2])))


def runs_of(delivery: Delivery, **options: Any) -> Runs:
    """All pieces, then the end; with the slack of the delivery unless told."""
    clocks = delivery.case.clocks if isinstance(delivery.case, ClockCase) else None
    plan = plan_of(delivery.case.query, clocks)
    assume(not engine_refusals(plan, "event"))
    runs = Runs.of(delivery.case.query, clocks, **({"slack": delivery.slack} | options))
    try:
        for piece in delivery.pieces:
            runs.take(*piece)
        runs.take(final=True, reopen=runs.options.reopen)
    except UnsupportedQueryError:
        assume(False)
    return runs


def delayed_runs_amount_to_one(delivery: Delivery) -> None:
    runs = runs_of(delivery)
    wanted = in_one_run(runs.plan, [event for piece in delivery.pieces for event in piece])
    assert_equal_rows(wanted, total(runs.emitted))
    assert ends_in_order(runs.emitted)
    assert [each.late.num_rows for each in runs.outcomes if each.late.num_rows] == []


def eager_runs_sum_up_to_one(delivery: Delivery) -> None:
    runs = runs_of(delivery, eager=True)
    wanted = in_one_run(runs.plan, [event for piece in delivery.pieces for event in piece])
    assert_equal_rows(wanted, summed(runs.emitted))


def late_events_are_left_out(delivery: Delivery) -> None:
    runs = runs_of(delivery, slack=0)
    late, newest = [], None
    for piece, outcome in zip(delivery.pieces, runs.outcomes, strict=False):
        expected = [event.event_id for event in piece if newest is not None and event.lower < newest]
        assert late_ids(outcome) == sorted(expected)
        late += expected
        newest = max([event.lower for event in piece] + ([] if newest is None else [newest]), default=None)
    in_time = [event for piece in delivery.pieces for event in piece if event.event_id not in late]
    assert_equal_rows(in_one_run(runs.plan, in_time), total(runs.emitted))
    assert ends_in_order(runs.emitted)


def reopened_runs_sum_up_to_one(delivery: Delivery) -> None:
    runs = runs_of(delivery, slack=0, reopen=True, keep=10**6)
    wanted = in_one_run(runs.plan, [event for piece in delivery.pieces for event in piece])
    assert_equal_rows(wanted, summed(runs.emitted))


def eager_and_reopened_runs_sum_up_to_one(delivery: Delivery) -> None:
    runs = runs_of(delivery, slack=0, eager=True, reopen=True, keep=10**6)
    wanted = in_one_run(runs.plan, [event for piece in delivery.pieces for event in piece])
    assert_equal_rows(wanted, summed(runs.emitted))


def test_any_split_and_order_within_the_slack_gives_the_rows_of_one_run() -> None:
    check(deliveries(st.one_of(*LEVELS.values())), delayed_runs_amount_to_one)


def test_eager_rows_sum_up_to_the_rows_of_one_run() -> None:
    check(deliveries(st.one_of(*LEVELS.values())), eager_runs_sum_up_to_one, 2 * FEW_EXAMPLES)


def test_late_events_are_told_and_the_rest_is_as_if_they_were_not_there() -> None:
    check(deliveries(st.one_of(*LEVELS.values())), late_events_are_left_out, 2 * FEW_EXAMPLES)


def test_reopened_runs_sum_up_to_the_rows_of_one_run_with_the_late_events() -> None:
    check(deliveries(st.one_of(*LEVELS.values())), reopened_runs_sum_up_to_one, FEW_EXAMPLES)
    check(deliveries(st.one_of(*LEVELS.values())), eager_and_reopened_runs_sum_up_to_one, FEW_EXAMPLES)


def test_a_late_event_that_others_leave_nothing_to_decide_changes_no_more_than_one_run_would() -> None:
    """Between e0 and e4 e1 can only lie where e5 does: it rounds their confidence otherwise, and no more."""
    group = "PATTERN SEQ(C+ a[]) WHERE count(a[]) <= 2 STRATEGY strict_contiguity WITHIN 5 ticks"
    events = (
        Event("e0", "C", 1, 2),
        Event("e3", "C", 2, 3),
        Event("e2", "C", 1, 3),
        Event("e4", "C", 3, 5),
        Event("e5", "C", 4, 4),
        Event("e1", "C", 1, 6, pmf=((1, 1, 0.1), (4, 4, 0.6), (5, 6, 0.3))),
    )
    reopened_runs_sum_up_to_one(Delivery(Case(group, events), (5,), 0, 0))
    eager_and_reopened_runs_sum_up_to_one(Delivery(Case(group, events), (5,), 0, 0))


def test_any_split_of_events_that_share_clocks_gives_the_rows_of_one_run() -> None:
    cases = deliveries(st.one_of(*CLOCK_LEVELS.values()))
    for holds in (delayed_runs_amount_to_one, eager_runs_sum_up_to_one, reopened_runs_sum_up_to_one):
        check(cases, holds, max(FEW_EXAMPLES // 3, 1))


@pytest.mark.slow
@pytest.mark.parametrize("level", CLOCK_LEVELS)
def test_any_split_of_events_that_share_clocks_in_many_cases(level: str) -> None:
    for holds in (delayed_runs_amount_to_one, eager_runs_sum_up_to_one, reopened_runs_sum_up_to_one):
        check(deliveries(CLOCK_LEVELS[level]), holds, MANY_EXAMPLES // 4)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_any_split_gives_the_rows_of_one_run_in_many_cases(level: str) -> None:
    check(deliveries(LEVELS[level]), delayed_runs_amount_to_one, MANY_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_reopened_runs_sum_up_in_many_cases(level: str) -> None:
    check(deliveries(LEVELS[level]), reopened_runs_sum_up_to_one, MANY_EXAMPLES // 2)
    check(deliveries(LEVELS[level]), eager_and_reopened_runs_sum_up_to_one, MANY_EXAMPLES // 2)
    check(deliveries(LEVELS[level]), late_events_are_left_out, MANY_EXAMPLES // 2)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_eager_rows_sum_up_in_many_cases(level: str) -> None:
    check(deliveries(LEVELS[level]), eager_runs_sum_up_to_one, MANY_EXAMPLES)
