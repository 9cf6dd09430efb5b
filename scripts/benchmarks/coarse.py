"""Coarse clocks: process logs with days for times, where many events share one interval."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from engine import NO_CAP, confidences, matches_of
from measuring import once
from results import Row, Setup, check_close, check_equal
from workloads import SEED, plan_for, stored

from cepctl.engines.event.match import match_events
from cepctl.event_table import PMF_TYPE

DAY = 86_400_000
LOG_EVENTS = 338_247
"""As many as in a real log of purchases, of which this is a twin."""
ANY_RECEIPT = "PATTERN SEQ(Create a, Receipt b, Invoice c) WHERE [val] WITHIN 30 days"
NEXT_RECEIPT = f"{ANY_RECEIPT} STRATEGY skip_till_next_match"


def coarse(setup: Setup) -> Iterator[Row]:
    """A log of purchases, and a single order with many receipts on one day."""
    yield _log(setup)
    yield _order(setup)


def _log(setup: Setup) -> Row:
    events, expected = purchases(setup.events(LOG_EVENTS, LOG_EVENTS // 10))
    path = stored(setup.folder, "purchases", events)
    every, _ = matches_of(setup, plan_for(ANY_RECEIPT), path)
    following, matches = matches_of(setup, plan_for(NEXT_RECEIPT), path)
    check_equal("matches", matches.num_rows, expected[0])
    # Of the receipts of a day one comes first; where two tie, both count.
    check_close("confidence in all", confidences(matches), expected[1], relative=1e-5)
    return Row(
        "a log of purchases by days, next match", following, events.num_rows, "events",
        ratio=following.cpu_seconds / every.cpu_seconds, against="any match, processor time",
        checked="count, and sum by orders", note=f"{matches.num_rows:,} matches",
    )  # fmt: skip


def _order(setup: Setup) -> Row:
    """Many receipts on a single day; beside it the same, each receipt a millisecond later."""
    count = 40 if setup.quick else 168
    plan, path = plan_for(NEXT_RECEIPT), stored(setup.folder, "purchase", purchase(count))
    alike, matches = matches_of(setup, plan, path)
    check_equal("matches", matches.num_rows, count)
    # Of receipts that are ordered at random the first one counts; ties count for all.
    for confidence in matches.column("confidence").to_pylist():
        check_close("confidence of a receipt", confidence, 1 / count + 0.5 / DAY)
    apart, beside = once(lambda: match_events(plan, purchase(count, apart=1), NO_CAP))
    check_equal("matches of the peer", beside.num_rows, count)
    return Row(
        f"{count} receipts on one day, next match", alike, count, ratio=alike.seconds / apart.seconds,
        against="receipts whose days begin a millisecond apart", checked="closed form of each",
        note=f"peer {apart.seconds:.2f} s",
    )  # fmt: skip


def purchase(receipts: int, apart: int = 0) -> pa.Table:
    """An order is made on day 0, its receipts come on day 3 and the invoice on day 5; milliseconds."""
    kinds = np.repeat(["Create", "Receipt", "Invoice"], [1, receipts, 1])
    lower = np.repeat([0, 3 * DAY, 5 * DAY], [1, receipts, 1])
    lower[1:-1] += np.arange(receipts) * apart
    return _table(kinds, lower, np.ones(len(lower), dtype=np.int64))


def purchases(count: int) -> tuple[pa.Table, tuple[int, float]]:
    """A year of orders, and how many next matches they have, with how much confidence in all.

    Most have a receipt and an invoice, some dozens of both on a few days; half of the events are others.
    """
    random = np.random.default_rng(SEED)
    small, large = count * 9 // 50, count // 5_000
    made = random.integers(0, 365, small + large)
    days = [made, made[:small] + random.geometric(1 / 25, small)]
    days.append(days[1] + random.geometric(1 / 25, small))
    order = [np.arange(small + large), np.arange(small), np.arange(small)]
    apart = days[2] - made[:small]
    matches, total = int((apart <= 30).sum()), float((apart < 30).sum()) + 0.5 * float((apart == 30).sum())
    kinds = [
        np.full(len(each), name) for each, name in zip(order, ("Create", "Receipt", "Invoice"), strict=True)
    ]
    for number in range(small, small + large):
        receipts = made[number] + 3 + 2 * random.integers(0, random.integers(1, 7), random.integers(20, 169))
        invoices = receipts.min() + 1 + random.integers(0, 15, random.integers(1, 7))
        matches += int((receipts == receipts.min()).sum() * (invoices == invoices.min()).sum())
        total += 1.0
        for name, each in (("Receipt", receipts), ("Invoice", invoices)):
            days.append(each)
            order.append(np.full(len(each), number))
            kinds.append(np.full(len(each), name))
    others = count - sum(len(each) for each in days)
    order.append(random.integers(0, small, others))
    days.append(made[order[-1]] + random.integers(0, 60, others))
    kinds.append(np.full(others, "Other"))
    day = np.concatenate(days)
    by_day = np.argsort(day, kind="stable")
    events = _table(
        np.concatenate(kinds)[by_day], day[by_day] * DAY, np.concatenate(order)[by_day].astype(np.int64)
    )
    return events, (matches, total)


def _table(kinds: np.ndarray, lower: np.ndarray, order: np.ndarray) -> pa.Table:
    """Events on whole days; with as many digits the ids sort like numbers."""
    return pa.table(
        {
            "event_id": pa.array(np.char.zfill(np.arange(len(lower)).astype(str), 7).tolist()),
            "event_type": pa.array(kinds.tolist()),
            "lower": lower,
            "upper": lower + DAY - 1,
            "pmf": pa.nulls(len(lower), PMF_TYPE),
            "val": order,
        }
    )
