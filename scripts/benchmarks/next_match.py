"""Next match with exact confidences: tens of rivals for each match, at any width."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from engine import NO_CAP, confidences, matches_of
from judge import check_periodic
from measuring import timed
from peers import polars_join
from results import Goal, Row, Setup, check_close
from workloads import NEXT, appendix_c, stored

from cepctl.engines.event.match import match_events

WIDENED = 100


def next_match(setup: Setup) -> Iterator[Row]:
    """The paper's workload at 5 % under skip_till_next_match."""
    size = setup.events(100_000, 20_000)
    timings = {}
    for half_width, least in ((10, 1e5), (50, 1e4)):
        path = stored(setup.folder, f"next_{half_width}", appendix_c(size, half_width))
        timing, matches = matches_of(setup, NEXT.plan, path)
        checked = check_periodic(matches, NEXT, half_width, size)
        join, _ = timed(setup, partial(polars_join, path, NEXT))
        timings[half_width] = timing
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
