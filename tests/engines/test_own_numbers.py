"""A row's numbers depend on what can decide it, and on nothing else: every way to it gives equal bytes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.errors import CepctlError, QueryTooLargeError, UnsupportedQueryError
from cepctl.plan.summary import require_summary
from cepctl.plan.support import engine_refusals
from tests.engines.agreement import EXAMPLES, FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.own_numbers import (
    WAYS,
    Trial,
    Way,
    at_once,
    beside_others,
    by_points,
    confidences,
    first_difference,
    in_slices,
    in_small_batches,
    rows_of,
    shuffled,
    trials,
)
from tests.plans import Event, event_table, plan_of
from tests.strategies import LEVELS, kleene_cases

MOST_ROWS = 400
"""Trials with more matches cost much and show little more."""


def same_every_way(trial: Trial, ways: dict[str, Way] = WAYS, engine: Way = at_once) -> None:
    trial = replace(trial, options=replace(trial.options, max_matches=MOST_ROWS))
    try:
        wanted = engine(trial)
    except CepctlError:
        assume(False)
        return
    sampled = trial.options.approximate is not None  # then a row may be that no sampled world returned
    assert all((each >= 0.0 if sampled else each > 0.0) and each <= 1.0 for each in confidences(wanted))
    for name, way in ways.items():
        # Events beside those of the trial have matches of their own.
        try:
            found = way(replace(trial, options=replace(trial.options, max_matches=100 * MOST_ROWS)))
        except QueryTooLargeError:
            assume(False)  # so are the groups of all events together
        assert found == wanted, f"{name}: {first_difference(wanted, found)}"


def summarised(trial: Trial) -> None:
    try:
        require_summary(trial.plan)
    except UnsupportedQueryError:
        assume(False)
    same_every_way(replace(trial, options=MatchOptions(kleene="summary")))


def estimated(trial: Trial) -> None:
    """So little work is allowed that most matches are sampled."""
    same_every_way(replace(trial, options=MatchOptions(approximate=0.2), work=300))


def pointwise(trial: Trial) -> None:
    assume(not engine_refusals(trial.plan, "point"))
    assume(max(event.upper for event in trial.events) < 1_000)
    ways: dict[str, Way] = {
        name: lambda trial, way=way: way(replace(trial, engine="point"))  # type: ignore[misc]
        for name, way in (("shuffled", shuffled), ("small", in_small_batches), ("beside", beside_others))
    }
    same_every_way(replace(trial, engine="point"), ways, by_points)


def what_a_threshold_leaves_is_unchanged(trial: Trial) -> None:
    trial = replace(trial, options=replace(trial.options, max_matches=MOST_ROWS))
    try:
        wanted = at_once(trial)
    except CepctlError:
        assume(False)
    assume(len(wanted) > 1)
    kept = sorted(confidences(wanted))[len(wanted) // 2]
    best = at_once(replace(trial, options=replace(trial.options, top=max(len(wanted) // 2, 1))))
    reaching = at_once(replace(trial, least=kept))
    assert best
    assert best.items() <= wanted.items()
    assert reaching.items() <= wanted.items()
    assert len(reaching) >= len(wanted) - len(wanted) // 2


def test_every_way_to_find_a_row_gives_equal_bytes() -> None:
    check(trials(st.one_of(*LEVELS.values())), same_every_way)


def test_every_way_to_summarise_groups_gives_equal_bytes() -> None:
    check(trials(kleene_cases(), copies=3), summarised, FEW_EXAMPLES)


def test_every_way_to_estimate_a_row_gives_equal_bytes() -> None:
    check(trials(st.one_of(*LEVELS.values())), estimated, FEW_EXAMPLES)


def test_every_way_to_find_a_row_by_points_gives_equal_bytes() -> None:
    check(trials(st.one_of(*LEVELS.values()), copies=2), pointwise, FEW_EXAMPLES)


def test_thresholds_change_no_byte_of_the_rows_that_stay() -> None:
    check(trials(st.one_of(*LEVELS.values())), what_a_threshold_leaves_is_unchanged, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_every_way_gives_equal_bytes_in_many_cases(level: str) -> None:
    check(trials(LEVELS[level]), same_every_way, max(MANY_EXAMPLES // 4, EXAMPLES))
    check(trials(LEVELS[level]), estimated, MANY_EXAMPLES // 20)
    check(trials(LEVELS[level]), what_a_threshold_leaves_is_unchanged, MANY_EXAMPLES // 20)


# --- causes that were found ----------------------------------------------------------------


def confidence_of(query: str, *events: Event) -> float:
    (found,) = match_events(plan_of(query), event_table(events)).column("confidence").to_pylist()
    assert isinstance(found, float)
    return found


NEGATED = "PATTERN SEQ(A a, !N n, B b, C c) WITHIN 60 ticks"
CHAIN = (Event("a", "A", 1023, 1038), Event("b", "B", 1062, 1112), Event("c", "C", 1077, 1127))


def test_a_rival_that_the_window_keeps_out_of_its_gap_changes_no_bit() -> None:
    assert confidence_of(NEGATED, *CHAIN, Event("n", "N", 1101, 1151)) == confidence_of(NEGATED, *CHAIN)


def test_a_rival_that_can_lie_in_its_gap_at_one_tick_alone_still_counts() -> None:
    within = NEGATED.replace("60", "66")
    assert confidence_of(within, *CHAIN, Event("n", "N", 1101, 1151)) < confidence_of(within, *CHAIN)


def test_matches_of_other_groups_in_the_batch_change_no_bit() -> None:
    """Members that are neither first nor last of some group once cut the sums of all others."""
    query = "PATTERN SEQ(B a, A+ b[]) WHERE [k] WITHIN 8000024 ticks STRATEGY partition_contiguity"
    steps = ((1_000_003, 2_000_005, 0.5), (3_000_009, 4_000_011, 0.2), (4_000_012, 5_000_014, 0.3))
    events = (
        Event("e0", "B", 1_000_003, 5_000_014, steps, k="p"),
        Event("e1", "A", 1_000_003, 2_000_005, k="p"),
        Event("e2", "B", 2_000_006, 6_000_017, k="p"),
        Event("e3", "A", 4_000_012, 6_000_017, k="p"),
    )
    wanted = at_once(Trial(query, events, seed=0))
    assert len(wanted) == 4
    assert in_small_batches(Trial(query, events, seed=0)) == wanted


def test_chains_that_share_their_middle_event_change_no_bit_of_each_other() -> None:
    query = "PATTERN SEQ(A a, B b, C c) WITHIN 6000 ticks STRATEGY skip_till_next_match"
    events = tuple(Event(f"e{i}", "ABC"[i % 3], 997 * i - 2_003, 997 * i + 2_003, x=1) for i in range(24))
    trial = Trial(query, events, seed=3, wide=True)
    wanted = at_once(trial)
    assert len(wanted) == 96
    for name in ("in small batches", "in slices", "shuffled"):
        assert WAYS[name](trial) == wanted
    # Few sums are so near a border between rounded numbers; these too come out alike.
    assert in_slices(replace(trial, seed=4)) == wanted


# --- no number above 1 ---------------------------------------------------------------------


@pytest.mark.parametrize("members", [2, 3, 5, 6])
@pytest.mark.parametrize("strategy", ["skip_till_any_match", "skip_till_next_match", "strict_contiguity"])
def test_what_is_certain_has_confidence_1(members: int, strategy: str) -> None:
    group = [Event(f"b{i}", "B", 10, 16 + i) for i in range(members)]
    events = [Event("a", "A", 0, 6), *group, Event("c", "C", 30, 33)]
    query = f"PATTERN SEQ(A a, B+ b[], C c) WITHIN 50 ticks STRATEGY {strategy}"
    rows = match_events(plan_of(query), event_table(events)).to_pylist()
    whole = [row for row in rows if len(row["signature"][1]) == members]
    assert [row["confidence"] for row in whole] == [1.0]
    assert all(row["confidence"] <= 1.0 for row in rows)


def test_a_chain_that_is_certain_has_confidence_1_whatever_its_masses_sum_to() -> None:
    events = [Event("a", "A", 0, 43), Event("b", "B", 100, 144), Event("c", "C", 300, 348)]
    assert confidence_of("PATTERN SEQ(A a, B b, C c) WITHIN 349 ticks", *events) == 1.0
    assert confidence_of("PATTERN SEQ(A a, B b, C c) WITHIN 348 ticks", *events) < 1.0


def test_a_rival_that_no_member_of_the_group_leaves_within_reach_changes_no_bit() -> None:
    """The window reaches it from the first member alone, but not once the other one comes after that."""
    early = ((13_000, 13_999, 0.1), (14_000, 14_999, 0.6), (15_000, 16_999, 0.3))
    late = ((20_000, 20_999, 0.1), (21_000, 21_999, 0.6), (22_000, 23_999, 0.3))
    group = [
        Event("m", "A", 13_000, 16_999, early, 1),
        Event("f", "A", 16_000, 17_999, None, 1),
        Event("l", "A", 17_000, 20_999, None, 1),
        Event("p", "A", 19_000, 19_000, None, 1),
    ]
    far = Event("r", "A", 20_000, 23_999, late, 1)
    query = "PATTERN SEQ(A+ a[], A b) STRATEGY skip_till_next_match WITHIN 3000 ticks"
    alone, beside = (
        rows_of(match_events(plan_of(query), event_table(events))) for events in (group, [*group, far])
    )
    signature = (("f", "m"), ("l",))
    assert alone[signature] == beside[signature]
