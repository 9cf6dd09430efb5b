"""Groups in order under next match: a row beside one of the same query without order, at two widths."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from engine import confidences, matches_of
from results import Goal, Row, Setup, check_close
from workloads import SEED, events_table, plan_for, stored

from cepctl.event_table import PMF_TYPE

PATTERN = "PATTERN SEQ(A a, B+ b[], C c)"
NARROW, WIDE = 50, 50_000


def runs(setup: Setup) -> Iterator[Row]:
    """Readings twice as far apart as they are uncertain on either side, in windows of some of them."""
    size, narrow = setup.events(20_000, 2_000), 0.0
    sums: list[float] = []
    for half_width in (NARROW, WIDE):
        path = stored(setup.folder, f"runs_{half_width}", _readings(size, half_width))
        rest = f"STRATEGY skip_till_next_match WITHIN {8 * half_width} ticks"
        without, sets = matches_of(setup, plan_for(f"{PATTERN} {rest}"), path)
        timing, matches = matches_of(setup, plan_for(f"{PATTERN} WHERE b[i].val >= b[i-1].val {rest}"), path)
        sums.append(float(np.sum(confidences(matches))))
        each = timing.cpu_seconds / matches.num_rows
        narrow = narrow or each
        yield Row(
            f"rising members, d = {half_width:,}", timing, matches.num_rows,
            ratio=each / (without.cpu_seconds / sets.num_rows),
            against="a row of the same query without order, processor time", goal=Goal("at most", 3),
            checked="sum converges with finer ticks", note=f"{each / narrow:.2f} of a row with d = {NARROW}",
        )  # fmt: skip
    check_close("sum of all confidences", sums[0], sums[1], relative=0.02)


def _readings(count: int, half_width: int) -> pa.Table:
    random = np.random.default_rng(SEED)
    tick = 2 * half_width * np.arange(count) + np.round(2 * half_width * random.random(count)).astype(
        np.int64
    )
    nothing = pa.nulls(count, PMF_TYPE)
    values = random.integers(0, 10, count)
    events = events_table(tick - half_width, tick + half_width, values, nothing)
    types = pa.array(["A", "B", "B", "B", "C"]).take(pa.array(random.integers(0, 5, count)))
    return events.set_column(events.column_names.index("event_type"), "event_type", types)
