"""Kleene groups whose members and neighbours may come in any order: a threshold keeps them few."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from engine import matches_of
from results import Row, Setup, check_equal
from workloads import SEED, events_table, plan_for, stored

from cepctl.event_table import PMF_TYPE
from cepctl.numeric.precision import CONFIDENCE_SLACK

PATTERN = "PATTERN SEQ(A a, B+ b[], C c)"
THRESHOLDS = 0.5, 0.3
JUDGED = 8
"""So many members form few enough groups to list them all."""


def uncertain_groups(setup: Setup) -> Iterator[Row]:
    """Members in intervals of 400 to 1,000 ticks between two events that are as uncertain."""
    few = stored(setup.folder, "few members", _members(JUDGED))
    listed = matches_of(setup, plan_for(PATTERN), few)[1].column("confidence").to_numpy()
    for least in THRESHOLDS:
        kept = matches_of(setup, plan_for(f"{PATTERN} CONFIDENCE >= {least}"), few)[1]
        reaching = int(np.sum(listed >= least - CONFIDENCE_SLACK))
        check_equal("groups that a filter leaves", kept.num_rows, reaching)
        for members in (12, 16, 20):
            path = stored(setup.folder, f"{members} members", _members(members))
            timing, found = matches_of(setup, plan_for(f"{PATTERN} CONFIDENCE >= {least}"), path)
            yield Row(
                f"{members} uncertain members, CONFIDENCE >= {least}", timing, found.num_rows,
                checked=f"with {JUDGED} members, same as filtered", note=f"of {2**members - 1:,} sets",
            )  # fmt: skip


def _members(count: int) -> pa.Table:
    random = np.random.default_rng(SEED)
    lower = random.integers(0, 1001, count)
    upper = lower + random.integers(400, 1001, count)
    nothing = pa.nulls(count + 2, PMF_TYPE)
    lower, upper = np.concatenate([[0, 1000], lower]), np.concatenate([[1000, 2000], upper])
    events = events_table(lower, upper, np.arange(count + 2), nothing)
    types = pa.array(["A", "C", *["B"] * count])
    events = events.set_column(events.column_names.index("event_type"), "event_type", types)
    return events.take(pc.sort_indices(events.column("lower")))
