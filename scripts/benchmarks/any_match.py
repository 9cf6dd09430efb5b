"""Every combination with its exact confidence, against Polars' join that computes none."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq
from engine import matches_of
from judge import check_periodic, check_sample
from measuring import timed
from peers import polars_join
from results import Goal, Row, Setup, check_equal
from workloads import FIVE, FIVE_PERCENT, FOUR, ONE_PERCENT, appendix_c, ragged, stored

JOIN = "Polars join_where without confidences"
WIDENED = 1000


def five_percent(setup: Setup) -> Iterator[Row]:
    """The paper's workload at 5 %: as fast as a join, and no slower where intervals are wide."""
    size = whole_size(setup)
    each = {}
    for half_width, most, least in ((0, None, None), (10, 1.0, 1.5e6), (50, 1.3, 1e6)):
        path = stored_five_percent(setup, half_width)
        timing, matches = matches_of(setup, FIVE_PERCENT.plan, path)
        checked = check_periodic(matches, FIVE_PERCENT, half_width, size)
        join, found = timed(setup, partial(polars_join, path, FIVE_PERCENT))
        check_equal("matches of the join", found.height, matches.num_rows)
        row = Row(
            f"3 components, d = {half_width}", timing, matches.num_rows, ratio=timing.seconds / join.seconds,
            against=JOIN, goal=Goal("at most", most) if most else None,
            rate_goal=Goal("at least", least) if least else None, checked=checked,
            series="time over Polars' join", x=half_width,
        )  # fmt: skip
        each[half_width] = row.seconds_each
        yield row
    yield _widened(setup, size, each[50])
    yield from _ragged(setup, size, each[50])


def stored_five_percent(setup: Setup, half_width: int) -> Path:
    """The events of a width, as many as the whole workload has."""
    return stored(setup.folder, f"appendix_c_{half_width}", appendix_c(whole_size(setup), half_width))


def whole_size(setup: Setup) -> int:
    """How many events that is."""
    return setup.events(1_000_000, 60_000)


def _widened(setup: Setup, size: int, at_50: float) -> Row:
    """The widest intervals: d = 50 with a thousand times finer ticks."""
    half_width, pattern = 50 * WIDENED, FIVE_PERCENT.scaled(WIDENED)
    events = appendix_c(size, half_width, WIDENED)
    path = stored(setup.folder, "appendix_c_wide", events)
    timing, matches = matches_of(setup, pattern.plan, path)
    checked = check_sample(matches, events, pattern.window)
    row = Row(f"3 components, d = {half_width:,}", timing, matches.num_rows, checked=checked)
    return Row(
        row.case, timing, row.count, ratio=row.seconds_each / at_50, against="d = 50, per match",
        goal=Goal("at most", 1.6), checked=checked, note="spacing and W times 1,000",
    )  # fmt: skip


def _ragged(setup: Setup, size: int, at_50: float) -> Iterator[Row]:
    """Random gaps, mixed widths, histograms; beside uniform intervals, and beside the join."""
    path = stored(setup.folder, "ragged", ragged(size, 50))
    timing, matches = matches_of(setup, FIVE_PERCENT.plan, path)
    join, found = timed(setup, partial(polars_join, path, FIVE_PERCENT))
    check_equal("matches of the join", found.height, matches.num_rows)
    checked = check_sample(matches, pq.read_table(path), FIVE_PERCENT.window)
    case, each = "3 components, ragged, d up to 50", timing.seconds / matches.num_rows
    yield Row(
        case, timing, matches.num_rows, ratio=each / at_50, against="d = 50, per match",
        goal=Goal("at most", 3), checked=checked,
    )  # fmt: skip
    yield Row(
        case, timing, matches.num_rows, ratio=timing.seconds / join.seconds, against=JOIN,
        goal=Goal("at most", 1.3), checked=checked,
    )  # fmt: skip


def longer(setup: Setup) -> Iterator[Row]:
    """Four and five components at 5 %."""
    size = setup.events(100_000, 20_000)
    path = stored(setup.folder, "appendix_c_longer", appendix_c(size, 10))
    for pattern in (FIVE_PERCENT, FOUR, FIVE):
        timing, matches = matches_of(setup, pattern.plan, path)
        checked = check_periodic(matches, pattern, 10, size)
        join, found = timed(setup, partial(polars_join, path, pattern))
        check_equal("matches of the join", found.height, matches.num_rows)
        length = len(pattern.values)
        yield Row(
            f"{length} components, d = 10", timing, matches.num_rows, ratio=timing.seconds / join.seconds,
            against=JOIN, checked=checked, series="time over Polars' join", x=length,
        )  # fmt: skip


def one_percent(setup: Setup) -> Iterator[Row]:
    """The paper's workload at 1 %: few matches, so that what counts is how fast events pass."""
    size = setup.events(1_000_000, 100_000)
    for half_width in (0, 10, 50):
        path = stored(setup.folder, f"appendix_c_{half_width}", appendix_c(size, half_width))
        timing, matches = matches_of(setup, ONE_PERCENT.plan, path)
        checked = check_periodic(matches, ONE_PERCENT, half_width, size)
        join, found = timed(setup, partial(polars_join, path, ONE_PERCENT))
        check_equal("matches of the join", found.height, matches.num_rows)
        yield Row(
            f"d = {half_width}", timing, size, "events", ratio=timing.seconds / join.seconds, against=JOIN,
            rate_goal=Goal("at least", 3e6), checked=checked, series="time over Polars' join", x=half_width,
        )  # fmt: skip
