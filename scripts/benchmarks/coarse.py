"""Coarse clocks: a process log with days for times, where many events share one interval."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from engine import NO_CAP, matches_of
from measuring import once
from results import Row, Setup, check_close, check_equal
from workloads import plan_for, stored

from cepctl.engines.event.match import match_events
from cepctl.schema import PMF_TYPE

DAY = 86_400_000
NEXT_RECEIPT = (
    "PATTERN SEQ(Create a, Receipt b, Invoice c) WHERE [val] WITHIN 30 days STRATEGY skip_till_next_match"
)


def coarse(setup: Setup) -> Iterator[Row]:
    """One order with many receipts on a single day; beside it the same, each receipt a millisecond later."""
    count = 40 if setup.quick else 168
    plan, path = plan_for(NEXT_RECEIPT), stored(setup.folder, "purchase", purchase(count))
    alike, matches = matches_of(setup, plan, path)
    check_equal("matches", matches.num_rows, count)
    # Of receipts that are ordered at random the first one counts; ties count for all.
    for confidence in matches.column("confidence").to_pylist():
        check_close("confidence of a receipt", confidence, 1 / count + 0.5 / DAY)
    apart, beside = once(lambda: match_events(plan, purchase(count, apart=1), NO_CAP))
    check_equal("matches of the peer", beside.num_rows, count)
    yield Row(
        f"{count} receipts on one day, next match", alike, count, ratio=alike.seconds / apart.seconds,
        against="receipts whose days begin a millisecond apart", checked="closed form of each",
        note=f"peer {apart.seconds:.2f} s",
    )  # fmt: skip


def purchase(receipts: int, apart: int = 0) -> pa.Table:
    """An order is made on day 0, its receipts come on day 3 and the invoice on day 5; milliseconds."""
    kinds = np.repeat(["Create", "Receipt", "Invoice"], [1, receipts, 1])
    lower = np.repeat([0, 3 * DAY, 5 * DAY], [1, receipts, 1])
    lower[1:-1] += np.arange(receipts) * apart
    return pa.table(
        {
            "event_id": pa.array(np.arange(len(lower))).cast(pa.string()),
            "event_type": pa.array(kinds.tolist()),
            "lower": lower,
            "upper": lower + DAY - 1,
            "pmf": pa.nulls(len(lower), PMF_TYPE),
            "val": np.ones(len(lower), dtype=np.int64),
        }
    )
