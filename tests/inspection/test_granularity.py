"""Which granularity is inferred from which times."""

from __future__ import annotations

import random
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.inspection.granularity import FEWEST, STEPS, Grain, granularities
from cepctl.schema import MICROSECOND, MILLISECOND, NANOSECOND, TimeUnit
from tests.inspection.observations import observed

SECOND, HOUR, DAY = 1_000_000, 3_600_000_000, 86_400_000_000
EAST = 2 * HOUR


def grain_of(times: list[int], zone: int = 0, unit: TimeUnit = MILLISECOND, **interval: int) -> Grain:
    """The one grain of events at these times (in the resolution of the unit), written in one zone."""
    rows = [{"time": time, "zone": zone, **interval} for time in times]
    (grain,) = granularities(observed(rows), unit)
    return grain


@settings(deadline=None)
@given(st.data(), st.sampled_from(list(STEPS)), st.integers(0, 2**32))
def test_a_planted_granularity_is_found_under_less_than_one_percent_of_noise(
    data: st.DataObject, step: str, seed: int
) -> None:
    length, rng = STEPS[step], random.Random(seed)
    count = data.draw(st.integers(200, 600))
    noisy = data.draw(st.integers(0, count // 100))
    start = data.draw(st.integers(-(10**4), 10**4))
    # Consecutive multiples: at most one in two of them is one of the next coarser step.
    times = [(start + number) * length for number in range(count - noisy)]
    times += [rng.randrange(-(10**18), 10**18) for _ in range(noisy)]
    rng.shuffle(times)
    assert grain_of(times, unit=NANOSECOND).step == step
    if length >= MICROSECOND.nanoseconds:
        assert grain_of([time // 1_000 for time in times]).step == step


def test_more_noise_than_one_percent_makes_it_finer() -> None:
    seconds = [number * SECOND for number in range(1, 100)]
    assert grain_of([*seconds, 100 * SECOND]).step == "1 s"
    assert grain_of([*seconds, 100 * SECOND + 1_000]).step == "1 s"  # 99 of 100
    assert grain_of([*seconds, 100 * SECOND + 1_000, 101 * SECOND + 1_000]).step == "1 ms"  # 99 of 101


def test_every_time_counts_but_thirty_of_them_must_differ() -> None:
    few = [number * DAY for number in range(FEWEST - 1)] * 50
    assert grain_of(few).step is None
    assert grain_of(few).distinct_times == FEWEST - 1
    assert grain_of([*few, FEWEST * DAY]).step == "1 day"


@pytest.mark.parametrize(
    ("shift", "local", "step"),
    [
        (0, False, "1 day"),  # midnights of UTC, written in Berlin: whole days in UTC alone
        (-EAST, True, "1 day"),  # midnights of Berlin
        (-EAST + HOUR, True, "1 h"),  # as coarse in both: the zone in which they were written
    ],
)
def test_days_are_days_of_the_zone_in_which_they_were_written(shift: int, local: bool, step: str) -> None:
    grain = grain_of([number * DAY + shift for number in range(40)], zone=EAST)
    assert (grain.step, grain.local, grain.share) == (step, local, 1.0)


def test_midnights_are_days_on_both_sides_of_a_change_of_clocks() -> None:
    rows = [{"time": number * DAY - zone, "zone": zone} for number in range(20) for zone in (HOUR, EAST)]
    (grain,) = granularities(observed(rows), MILLISECOND)
    assert (grain.step, grain.local) == ("1 day", True)


def test_each_type_of_each_source_has_its_own() -> None:
    rows = [
        {"source": source, "event_type": kind, "time": number * step}
        for source, kind, step in (("x", "A", SECOND), ("x", "B", 1_000), ("y", "A", 60 * SECOND))
        for number in range(100, 140)
    ]
    grains = granularities(observed(rows), MILLISECOND)
    assert [(grain.source, grain.event_type, grain.step) for grain in grains] == [
        ("x", "A", "1 s"),
        ("x", "B", "1 ms"),
        ("y", "A", "1 min"),
    ]


def test_intervals_that_hold_the_unit_cover_it() -> None:
    rows = [{"time": n * SECOND, "lower": n * 1_000, "upper": n * 1_000 + 999} for n in range(1, 41)]
    assert granularities(observed(rows), MILLISECOND)[0].covered
    short = [{**row, "upper": row["upper"] - 1} for row in rows]
    assert not granularities(observed(short), MILLISECOND)[0].covered
    early = [{**row, "lower": row["lower"] - 1, "upper": row["upper"] - 1} for row in rows]
    assert not granularities(observed(early), MILLISECOND)[0].covered
    moved = [{**row, "lower": row["lower"] + 1} for row in rows]  # as for a clock that is wrong
    assert granularities(observed(moved), MILLISECOND)[0].covered


def test_many_types_take_little_more_than_what_is_told_of_them() -> None:
    """Else a log whose every line is a type of its own fills the memory."""
    events = observed([{"event_type": f"T{n}", "time": n * SECOND} for n in range(2_000)])
    granularities(events, MILLISECOND)
    tracemalloc.start()
    try:
        told = granularities(events, MILLISECOND)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 500 * len(told)


def test_events_without_a_time_say_nothing() -> None:
    assert granularities(observed([{"lower": 1, "upper": 2}]), MILLISECOND) == ()


def of_types(**times: list[int]) -> dict[str, tuple[str | None, bool]]:
    """Step of each event type of one source, and whether it is that of the source."""
    rows = [{"event_type": kind, "time": time} for kind, each in times.items() for time in each]
    return {
        grain.event_type: (grain.step, grain.of_source)
        for grain in granularities(observed(rows), MILLISECOND)
    }


def test_a_rare_type_has_the_granularity_of_its_source() -> None:
    often = [number * SECOND for number in range(1, 200)]
    assert of_types(A=often, B=[7 * SECOND, 9 * SECOND]) == {"A": ("1 s", False), "B": ("1 s", True)}
    # Thirty distinct times in all are enough, whatever type has them.
    assert of_types(A=often[:20], B=often[20:35]) == {"A": ("1 s", True), "B": ("1 s", True)}


def test_a_rare_type_has_a_finer_step_that_it_shares_with_its_source_or_none() -> None:
    minutes = [number * 60 * SECOND for number in range(1, 200)]
    found = of_types(A=minutes, B=[90 * SECOND + 3_000], C=[61 * SECOND], D=[120 * SECOND + 7])
    assert found == {"A": ("1 min", False), "B": ("1 ms", True), "C": ("1 s", True), "D": (None, False)}
    assert of_types(B=[SECOND, 2 * SECOND]) == {"B": (None, False)}
