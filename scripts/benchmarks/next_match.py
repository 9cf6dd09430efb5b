"""Next match with exact confidences: tens of rivals for each match, at any width."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
from engine import NO_CAP, confidences, matches_of
from judge import check_periodic
from measuring import timed
from peers import polars_join
from results import Goal, Row, Setup, check_close
from workloads import NEXT, SEED, appendix_c, events_table, plan_for, stored

from cepctl.engines.event.match import match_events
from cepctl.event_table import PMF_TYPE

WIDENED = 100
OF_ONE_TYPE = "PATTERN SEQ(E a, E b, E c) WITHIN 20 ticks STRATEGY skip_till_next_match"


def next_match(setup: Setup) -> Iterator[Row]:
    """The paper's workload at 5 % under skip_till_next_match."""
    size = setup.events(100_000, 20_000)
    timings = {}
    for half_width, least in ((10, 1e5), (50, 1e4)):
        path = stored(setup.folder, f"next_{half_width}", appendix_c(size, half_width))
        timing, matches = matches_of(setup, NEXT.plan, path)
        checked = check_periodic(matches, NEXT, half_width, size)
        join, _ = timed(setup, partial(polars_join, path, NEXT))
        timings[half_width], every = timing, matches.num_rows
        yield Row(
            f"d = {half_width}", timing, size, "events", ratio=timing.seconds / join.seconds,
            against="Polars join_where of the candidates, without confidences",
            rate_goal=Goal("at least", least), checked=checked, note=f"{matches.num_rows:,} matches",
        )  # fmt: skip
    pattern = NEXT.scaled(WIDENED)
    narrow, size = timings[50].seconds / size, setup.events(20_000, 2_000)
    path = stored(setup.folder, "next_wide", appendix_c(size, 50 * WIDENED, WIDENED))
    timing, matches = matches_of(setup, pattern.plan, path)
    _check_wide(confidences(matches), size)
    yield Row(
        f"d = {50 * WIDENED:,}", timing, size, "events", ratio=timing.seconds / size / narrow,
        against="d = 50, per event", goal=Goal("at most", 3), checked="sum converges with finer ticks",
        note=f"{matches.num_rows:,} matches, spacing and W times {WIDENED}",
    )  # fmt: skip
    yield _of_one_type(setup, timings[50].cpu_seconds / every)


def _of_one_type(setup: Setup, narrow: float) -> Row:
    """Few events, each of which may be any of three and is otherwise a rival in both gaps."""
    random = np.random.default_rng(SEED)
    lower = np.sort(random.integers(0, 150, 11))
    upper = lower + random.integers(0, 200, 11)
    plan, path = (
        plan_for(OF_ONE_TYPE),
        stored(
            setup.folder,
            "of_one_type",
            events_table(lower, upper, np.ones(11, dtype=np.int64), pa.nulls(11, PMF_TYPE)),
        ),
    )
    timing, matches = matches_of(setup, plan, path)
    chosen = random.choice(matches.num_rows, 5, replace=False)
    for row in matches.take(chosen).to_pylist():
        own = [int(event[0]) for event in row["signature"]]
        check_close("confidence of three neighbours", row["confidence"], _summed(lower, upper, own))
    return Row(
        "three of 11 events of one type, d up to 100", timing, matches.num_rows,
        ratio=timing.cpu_seconds / matches.num_rows / narrow, against="d = 50, per match, processor time",
        checked="5 sums over all ticks",
    )  # fmt: skip


def _summed(lower: np.ndarray, upper: np.ndarray, own: list[int]) -> float:
    """The sum over all ticks of three events in order, within 20 ticks, with none between neighbours."""
    others = [i for i in range(len(lower)) if i not in own]
    a, b, c = own
    first, last = lower[others], upper[others]
    size = (last - first + 1).astype(np.float64)
    total = 0.0
    for s in range(lower[a], upper[a] + 1):
        for u in range(max(lower[c], s + 2), min(upper[c], s + 19) + 1):
            inside = np.clip(np.minimum(last, u - 1) - np.maximum(first, s + 1) + 1, 0, None)
            for t in range(max(lower[b], s + 1), min(upper[b], u - 1) + 1):
                total += float(np.prod(1.0 - (inside - ((first <= t) & (t <= last))) / size))
    return total / float(np.prod(upper[own] - lower[own] + 1))


def _check_wide(total: float, events: int) -> None:
    """Hold the sum at finer ticks to the period, and to sums at half and a quarter of that fineness.

    Ties become rarer in proportion to the tick, so that the sums go to their limit as S + c / fineness.
    """

    def sum_at(factor: int, count: int) -> float:
        found = match_events(NEXT.scaled(factor).plan, appendix_c(count, 50 * factor, factor), NO_CAP)
        return confidences(found)

    quarter, half, at_2000 = (sum_at(WIDENED // part, 2000) for part in (4, 2, 1))
    check_close("confidence at finer ticks", at_2000, half - (quarter - half) / 2, relative=1e-3)
    at_1000 = sum_at(WIDENED, 1000)
    expected = at_1000 + (events / 1000 - 1) * (at_2000 - at_1000)
    check_close("confidence of wide intervals", total, expected, relative=1e-6)
