"""What pairs of tasks and attempts say about the clocks of nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.inspection.clocks import ClockBound, clock_bounds
from cepctl.schema import TimeUnit
from tests.inspection.observations import observed

MILLISECOND = TimeUnit(1_000)
Row = dict[str, Any]


def pair(name: str, task: tuple[int, int], attempt: tuple[int, int], **more: Any) -> list[Row]:
    """A task and its attempt, each with its start and finish in microseconds."""
    ids = {"task_id": f"task_{name}", "node": "n1", **more}
    own = {**ids, "attempt_id": f"attempt_{name}"}
    return [
        {**ids, "event_type": "TaskStart", "time": task[0]},
        {**own, "event_type": "MapAttemptStart", "time": attempt[0]},
        {**own, "event_type": "MapAttemptFinish", "time": attempt[1], "status": "SUCCEEDED"},
        {**ids, "event_type": "TaskFinish", "time": task[1]},
    ]


def bounds(rows: Sequence[Row]) -> dict[str, tuple[int, int]]:
    found = clock_bounds(observed(rows), MILLISECOND)
    return {clock.node: (clock.lowest_microseconds, clock.highest_microseconds) for clock in found}


def only(rows: Sequence[Row]) -> ClockBound:
    (clock,) = clock_bounds(observed(rows), MILLISECOND)
    return clock


def test_the_offset_lies_between_the_two_differences() -> None:
    rows = pair("1", task=(100, 900), attempt=(130, 850)) + pair("2", task=(100, 900), attempt=(120, 890))
    clock = only(rows)
    assert (clock.lowest_microseconds, clock.highest_microseconds, clock.attempts) == (-10, 20, 2)
    assert clock.verdict == "may be right"
    assert not clock.provably_skewed


def test_an_attempt_before_its_task_proves_a_clock_behind_and_one_after_it_ahead() -> None:
    assert only(pair("1", task=(100, 900), attempt=(99, 700))).verdict == "behind"
    assert only(pair("1", task=(100, 900), attempt=(200, 901))).verdict == "ahead"
    assert only(pair("1", task=(100, 900), attempt=(100, 900))).verdict == "may be right"


def test_a_clock_that_was_set_meanwhile_is_inconsistent_and_provably_wrong() -> None:
    rows = pair("1", task=(100, 900), attempt=(90, 800)) + pair("2", task=(100, 900), attempt=(200, 950))
    clock = only(rows)
    assert clock.verdict == "inconsistent"
    assert clock.provably_skewed


def test_only_successful_attempts_count() -> None:
    failed = [
        row for row in pair("1", task=(100, 900), attempt=(50, 700)) if "Finish" not in row["event_type"]
    ]
    killed = [{**row, "status": "KILLED"} for row in pair("2", task=(100, 900), attempt=(50, 700))]
    assert bounds(failed) == {}
    assert bounds(killed) == {}
    plain = [{**row, "status": None} for row in killed]
    assert bounds(plain) == {"n1": (-200, -50)}


def test_a_task_is_looked_for_in_the_source_of_the_attempt_first() -> None:
    here = pair("1", task=(100, 900), attempt=(110, 880), source="here")
    there = pair("1", task=(0, 5_000), attempt=(10, 4_000), source="there", node="n2")
    assert bounds(here + there) == {"n1": (-20, 10), "n2": (-1_000, 10)}
    apart = [{**row, "source": "master" if "Attempt" not in row["event_type"] else "node"} for row in here]
    assert bounds(apart) == {"n1": (-20, 10)}


def test_what_occurs_twice_counts_in_the_way_that_claims_least() -> None:
    rows = pair("1", task=(100, 900), attempt=(110, 880))
    again = [{**row, "time": row["time"] + (40 if "Finish" in row["event_type"] else -40)} for row in rows]
    assert bounds(rows + again) == {"n1": (880 - 940, 110 - 60)}


def test_intervals_that_hold_what_the_bounds_leave_cover_it() -> None:
    rows = pair("1", task=(100_000, 900_000), attempt=(97_000, 850_000))
    assert not only(rows).covered
    wide = [{**row, "lower": row["time"] // 1_000 + 3, "upper": row["time"] // 1_000 + 50} for row in rows]
    assert only(wide).covered
    assert not only([{**row, "upper": row["upper"] - 1} for row in wide]).covered


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from("abc"), st.integers(-10_000, 10_000), min_size=1),
    st.lists(st.tuples(*[st.integers(0, 5_000)] * 4), min_size=1, max_size=8),
)
def test_a_planted_offset_lies_within_its_bounds(
    offsets: dict[str, int], runs: list[tuple[int, int, int, int]]
) -> None:
    rows = []
    for node, offset in offsets.items():
        for number, (began, waited, ran, reported) in enumerate(runs):
            start, finish = began + waited + offset, began + waited + ran + offset
            task = (began, began + waited + ran + reported)
            rows += pair(f"{node}{number}", task, (start, finish), node=node)
    found = clock_bounds(observed(rows), MILLISECOND)
    assert {clock.node for clock in found} == set(offsets)
    for clock in found:
        assert clock.lowest_microseconds <= offsets[clock.node] <= clock.highest_microseconds
        assert clock.verdict != "inconsistent"
