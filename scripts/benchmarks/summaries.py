"""One row for all groups: sequences that rise in one value, counted; runs of next match, listed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pyarrow as pa
from engine import NO_CAP, confidences, matches_of
from results import Goal, Row, Setup, check_equal
from workloads import SEED, events_table, plan_for, stored

from cepctl.event_table import PMF_TYPE

PATTERN = "PATTERN SEQ(A a, B+ b[], C c)"
APART, HALF_WIDTH = 10, 15
GOALS = {1_000: 3.0, 10_000: 5.0}
"""Seconds of processor time for so many readings."""
SUMMARY = replace(NO_CAP, kleene="summary")


def summaries(setup: Setup) -> Iterator[Row]:
    """Readings closer than they are uncertain between two certain events, all of which may be in a group."""
    for size in (1_000, 10_000):
        events = _between_two(size)
        path = stored(setup.folder, f"rising_{size}", events)
        for rest in ("", f" WITHIN {APART * size - 4 * HALF_WIDTH} ticks"):
            plan = plan_for(f"{PATTERN} WHERE b[i].val > b[i-1].val{rest}")
            timing, rows = matches_of(setup, plan, path, SUMMARY)
            (count,) = rows.column("count").to_pylist()
            if not rest:
                check_equal("sequences that rise", int(count), _by_hand(events))
            yield Row(
                f"{size:,} readings{rest}", timing, size, "events", ratio=timing.cpu_seconds,
                against="seconds of processor time", goal=Goal("at most", GOALS[size]),
                checked="" if rest else "same as a table in plain Python",
                note=f"10^{len(count) - 1} sequences",
            )  # fmt: skip
    yield _of_runs(setup)


def _of_runs(setup: Setup) -> Row:
    """Runs of next match, as many as before, and the union of those with the same neighbours."""
    size = setup.events(20_000, 2_000)
    path = stored(setup.folder, "summary_runs", _in_turn(size))
    plan = plan_for(f"{PATTERN} WHERE b[i].val >= b[i-1].val STRATEGY skip_till_next_match WITHIN 400 ticks")
    groups, matches = matches_of(setup, plan, path)
    timing, rows = matches_of(setup, plan, path, SUMMARY)
    check_equal("groups of all rows", sum(map(int, rows.column("count").to_pylist())), matches.num_rows)
    expected = float(np.sum(confidences(matches)))
    assert float(np.sum(confidences(rows))) <= expected + 1e-6
    return Row(
        "runs of next match", timing, rows.num_rows, "rows", ratio=timing.cpu_seconds / groups.cpu_seconds,
        against="its groups one by one, processor time", checked="counts all groups",
        note=f"{rows.num_rows:,} rows for {matches.num_rows:,} groups",
    )  # fmt: skip


def _by_hand(events: pa.Table) -> int:
    """How many sequences end at each earliest tick, in order of values; C may be later than all of them."""
    columns = [events.column(name).to_pylist() for name in ("event_type", "lower", "upper", "val")]
    kinds, _, uppers, _ = columns
    latest = uppers[kinds.index("C")] - 1
    readings = sorted(
        (value, lower, upper) for kind, lower, upper, value in zip(*columns, strict=True) if kind == "B"
    )
    table = {0: 1}
    for _, lower, upper in readings:
        found = {end: max(lower, end + 1) for end in table}
        added: dict[int, int] = {}
        for end, later in found.items():
            if later <= min(upper, latest):
                added[later] = added.get(later, 0) + table[end]
        for later, number in added.items():
            table[later] = table.get(later, 0) + number
    return sum(table.values()) - 1


def _between_two(size: int) -> pa.Table:
    """Readings of different values, each `APART` ticks after the last, an A and a C at the ends."""
    values = np.random.default_rng(SEED).permutation(size)
    tick, wide = HALF_WIDTH + APART * np.arange(1, size + 1), 4 * HALF_WIDTH
    lower = np.concatenate([[0], tick - HALF_WIDTH, [APART * size - wide]])
    upper = np.concatenate([[wide], tick + HALF_WIDTH, [APART * size]])
    events = events_table(lower, upper, np.concatenate([[0], values, [0]]), pa.nulls(size + 2, PMF_TYPE))
    return _with_types(events, [0, *[1] * size, 2])


def _in_turn(size: int) -> pa.Table:
    random = np.random.default_rng(SEED)
    tick = 100 * np.arange(size) + random.integers(0, 100, size)
    nothing = pa.nulls(size, PMF_TYPE)
    events = events_table(tick - 50, tick + 50, random.integers(0, 10, size), nothing)
    return _with_types(events, random.choice([0, 1, 1, 1, 2], size).tolist())


def _with_types(events: pa.Table, kinds: list[int]) -> pa.Table:
    return events.set_column(
        events.column_names.index("event_type"), "event_type", pa.array(["A", "B", "C"]).take(pa.array(kinds))
    )
