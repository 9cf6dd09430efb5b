"""How seconds grow with the events, the width of intervals, length of pattern, window, selectivity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from engine import matches_of
from results import Goal, Row, Setup
from workloads import FIVE_PERCENT, ONE_PERCENT, Pattern, appendix_c, stored

BASE_WIDTH = 10


def growth(setup: Setup) -> Iterator[Row]:
    """One thing grows at a time, from the paper's workload with d = 10."""
    base = setup.events(200_000, 20_000)
    yield from _compared(
        setup, "events", [(count, ONE_PERCENT, count, BASE_WIDTH, 1) for count in (base, 2 * base, 5 * base)],
        linear=True,
    )  # fmt: skip
    # Spacing and window grow along, so that the matches stay the same and only the ticks get finer.
    yield from _compared(
        setup, "ticks per interval",
        [(k * 20 + 1, FIVE_PERCENT.scaled(k), base, BASE_WIDTH * k, k) for k in (1, 10, 100, 1000)],
    )  # fmt: skip
    values = (10, 20, 30, 40, 50)
    yield from _compared(
        setup, "components", [(n, Pattern(100, values[:n]), base, BASE_WIDTH, 1) for n in (2, 3, 4, 5)]
    )
    yield from _compared(
        setup,
        "window",
        [(w, replace(ONE_PERCENT, window=w), base, BASE_WIDTH, 1) for w in (50, 100, 200, 400)],
    )
    # Values 1, 2, 3 modulo m: each component takes one event in m.
    yield from _compared(
        setup, "percent of events per component",
        [(100 / m, Pattern(m, (1, 2, 3)), base, BASE_WIDTH, 1) for m in (200, 100, 50, 20)],
    )  # fmt: skip


def _compared(
    setup: Setup, what: str, cases: list[tuple[float, Pattern, int, int, int]], *, linear: bool = False
) -> Iterator[Row]:
    """Rows against the first of them; with `linear`, seconds for each event."""
    first: Row | None = None
    for x, pattern, count, half_width, spacing in cases:
        path = stored(setup.folder, "growth", appendix_c(count, half_width, spacing))
        timing, matches = matches_of(setup, pattern.plan, path)
        row = Row(
            f"{what}: {x:,g}", timing, count, "events", series=what, x=x, 
            note=f"{matches.num_rows:,} matches",
        )  # fmt: skip
        first = first or row
        assert first.timing is not None
        ratio = row.seconds_each / first.seconds_each if linear else timing.seconds / first.timing.seconds
        against = f"{first.case}, per event" if linear else first.case
        yield replace(row, ratio=ratio, against=against, goal=Goal("at most", 1.3) if linear else None)
