"""The papers' figures: engines (ZDI10, Fig. 4a, 4e), orders (Fig. 4b to 4d), Kleene (ZDI14, Fig. 6a)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from engine import NO_CAP, confidences, matches_of
from judge import check_periodic
from measuring import timed
from results import Row, Setup, check_close, check_equal
from workloads import COLUMNS, ONE_PERCENT, appendix_c, plan_for, stored, with_types

from cepctl.engines.point import engine as point
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.evaluation_order import OrderName

ORDERS: tuple[OrderName, ...] = ("sort", "any-state", "selectivity")


def engines(setup: Setup) -> Iterator[Row]:
    """Intervals as they are against intervals expanded to points."""
    size = setup.events(100_000, 5_000)
    for half_width in (1, 10, 50):
        path = stored(setup.folder, f"points_{half_width}", appendix_c(size, half_width))
        timing, matches = matches_of(setup, ONE_PERCENT.plan, path)
        checked = check_periodic(matches, ONE_PERCENT, half_width, size)
        points, found = timed(setup, partial(_expanded, path))
        check_equal("matches of the point engine", found.num_rows, matches.num_rows)
        check_close("confidence of the point engine", confidences(found), confidences(matches))
        yield Row(
            f"d = {half_width}", timing, size, "events", ratio=points.seconds / timing.seconds,
            against="how many times longer the point engine takes", checked=checked,
            series="point engine over event engine", x=half_width,
        )  # fmt: skip


def _expanded(path: Path) -> pa.Table:
    return point.match_table(ONE_PERCENT.plan, pq.read_table(path, columns=list(COLUMNS)))


def orders(setup: Setup) -> Iterator[Row]:
    """The three orders of binding, as the pattern and the frequency of its first component grow."""
    size = setup.events(200_000, 20_000)
    for length in (2, 3, 4, 5):
        shares = (0.10, *(0.01,) * (length - 1))
        yield from _orders(setup, size, shares, f"{length} components", "as l grows", length)
    for share in (0.01, 0.05, 0.10, 0.20):
        shares = (share, 0.01, 0.01)
        yield from _orders(
            setup, size, shares, f"first component {share:.0%}", "as its share grows", 100 * share
        )


def _orders(
    setup: Setup, size: int, shares: tuple[float, ...], case: str, series: str, x: float
) -> Iterator[Row]:
    names = "ABCDEFG"[: len(shares)]
    plan = plan_for(f"PATTERN SEQ({', '.join(f'{each} {each.lower()}' for each in names)}) WITHIN 100 ticks")
    events = with_types(size, 10, dict(zip(names, shares, strict=True)))
    path = stored(setup.folder, "orders", events)
    counts = {
        row["values"]: row["counts"] for row in pc.value_counts(events.column("event_type")).to_pylist()
    }
    sort_seconds, expected = 0.0, (0, 0.0)
    for order in ORDERS:
        options = replace(NO_CAP, order=order, type_counts=counts)
        timing, matches = matches_of(setup, plan, path, options)
        found = (matches.num_rows, confidences(matches))
        if order == "sort":
            sort_seconds, expected = timing.seconds, found
        check_equal(f"matches in order {order}", found[0], expected[0])
        check_close(f"confidence in order {order}", found[1], expected[1])
        yield Row(
            f"{case}, {order}", timing, matches.num_rows, ratio=timing.seconds / sort_seconds,
            against="order sort", checked="same as sort", series=f"{order} {series}", x=x,
        )  # fmt: skip


def kleene(setup: Setup) -> Iterator[Row]:
    """SEQ(A, B+, C) as the window grows: all groups while they can be listed, thresholds, one row for all."""
    size = setup.events(100_000, 10_000)
    path = stored(setup.folder, "kleene", with_types(size, 2, {"A": 0.005, "B": 0.10, "C": 0.005}))
    most = 100_000 if setup.quick else 500_000
    for window in (20, 40, 60, 80, 100, 120, 400):
        text = f"PATTERN SEQ(A a, B+ b[], C c) WITHIN {window} ticks"
        summary = replace(NO_CAP, kleene="summary")
        timing, rows = matches_of(setup, plan_for(text), path, summary)
        groups = sum(int(each) for each in rows.column("count").to_pylist())
        note = f"{rows.num_rows:,} rows for {groups:.3g} groups"
        if groups > most:
            yield Row(
                f"W = {window}, summary", timing, rows.num_rows, "rows", series="summary", x=window, note=note
            )
            continue
        all_groups, matches = matches_of(setup, plan_for(text), path)
        check_equal("groups that the summary counts", groups, matches.num_rows)
        yield Row(
            f"W = {window}, groups", all_groups, matches.num_rows, ratio=1.0, against="groups",
            checked="counted by the summary", series="groups", x=window,
        )  # fmt: skip
        for least in (0.5, 0.9):
            yield _above(
                setup, f"{text} CONFIDENCE >= {least}", path, matches, least, all_groups.seconds, window
            )
        yield Row(
            f"W = {window}, summary", timing, rows.num_rows, "rows",
            ratio=timing.seconds / all_groups.seconds,
            against="groups", checked="counts all groups", series="summary", x=window, note=note,
        )  # fmt: skip


def _above(
    setup: Setup, text: str, path: Path, matches: pa.Table, least: float, seconds: float, window: int
) -> Row:
    timing, kept = matches_of(setup, plan_for(text), path)
    expected = int(np.sum(matches.column("confidence").to_numpy() >= least - CONFIDENCE_SLACK))
    check_equal(f"groups above {least}", kept.num_rows, expected)
    return Row(
        f"W = {window}, CONFIDENCE >= {least}", timing, kept.num_rows, ratio=timing.seconds / seconds,
        against="groups", checked="same as filtered", series=f"confidence >= {least}", x=window,
    )  # fmt: skip
