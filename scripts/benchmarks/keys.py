"""Answers per key, and what is given: the union of many rows that share events, and series in logged order.

groups      keys whose rows share their first and third event, the separators: n for b, n for d, n * n rows
tight       one event for a, two for b and two for c in a window that ties all of them
few rows    two events for a and two for b: within 40 ticks many keys are others moved, within 4,000 none
series      samples each of which is after the one logged before it: narrowing, ties and both passes
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from engine import NO_CAP
from measuring import timed
from results import CheckFailed, Goal, Row, Setup, check_equal
from workloads import SEED

from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.given.known import known_events
from cepctl.engines.event.match import match_events
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.schema import TimeUnit

SHARED = (
    # events for b and for d, milliseconds per key that are aimed at
    (4, 50.0),
    (7, 1_000.0),
)


def keys(setup: Setup) -> Iterator[Row]:
    """The probability of keys, then what is given of a series."""
    for each, most in SHARED:
        for width in (1_000, 100_000):
            yield _shared(setup, each, width, most)
    yield _tight(setup)
    yield _few_rows(setup, 40, setup.events(100_000, 5_000))
    yield _few_rows(setup, 4_000, setup.events(20_000, 2_000))
    yield _series(setup)


def _shared(setup: Setup, each: int, width: int, most: float) -> Row:
    groups = 4 if setup.quick or each > 4 else 40
    begins = {"A": (0, 1), "B": (width // 4, each), "C": (width // 2, 1), "D": (3 * width // 4, each)}
    table = _events(groups, begins, width)
    plan = _plan("PATTERN SEQ(A a, B b, C c, D d) WHERE [key] GROUP BY a.key")
    return _measured(
        setup, f"{each * each} rows and 2 separators, width {width:,}", plan, table, groups, each * each, most
    )


def _tight(setup: Setup) -> Row:
    groups = setup.events(10_000, 2_000)
    table = _events(groups, {"A": (0, 1), "B": (3, 2), "C": (6, 2)}, 10)
    plan = _plan("PATTERN SEQ(A a, B b, C c) WHERE [key] WITHIN 8 ticks GROUP BY a.key")
    return _measured(setup, "1, 2 and 2 events in a tight window", plan, table, groups, None, 0.2)


def _few_rows(setup: Setup, width: int, groups: int) -> Row:
    table = _events(groups, {"A": (0, 2), "B": (3 * width // 4, 2)}, width)
    plan = _plan("PATTERN SEQ(A a, B b) WHERE [key] GROUP BY a.key")
    return _measured(setup, f"up to 4 rows, width {width:,}", plan, table, groups, None, 0.1)


def _measured(
    setup: Setup, case: str, plan: Plan, table: pa.Table, groups: int, rows: int | None, most: float
) -> Row:
    timing, found = timed(setup, lambda: match_events(plan, table, NO_CAP))
    check_equal(f"keys of {case}", found.num_rows, groups)
    best, chance, expected = (
        found.column(name).to_numpy() for name in ("confidence", "occurrence", "expected")
    )
    if rows is not None:
        check_equal(f"rows of {case}", set(found.column("matches").to_pylist()), {rows})
    if not ((best <= chance + 1e-12) & (chance <= np.minimum(expected, 1.0) + 1e-12)).all():
        raise CheckFailed(f"{case}: an occurrence is below the best row or above what is expected")
    return Row(
        case, timing, groups, "keys", rate_goal=Goal("at least", 1_000 / most),
        checked="between the best row and what is expected", note=f"aimed at {most:g} ms per key",
    )  # fmt: skip


def _series(setup: Setup) -> Row:
    size = setup.events(1_000_000, 50_000)
    lower = 15 * np.arange(size)
    table = _table(np.zeros(size, dtype=np.int64), ["X"] * size, lower, lower + 18)
    plan = _plan("PATTERN SEQ(X x) GIVEN SEQ(X p, X q) IF p.key = q.key AND p.lower < q.lower")
    events = events_of(table)
    timing, known = timed(setup, lambda: known_events(plan, events))
    assert known.ties is not None
    check_equal("ties of the series", len(known.ties.left), size - 1)
    return Row(
        "a series in logged order, narrowed, tied and passed", timing, size, "samples",
        rate_goal=Goal("at least", 2.5e5), checked="each tied to the next",
        note="aimed at 1 us for each of two passes and 2 us for the ties",
    )  # fmt: skip


def _events(groups: int, begins: dict[str, tuple[int, int]], width: int) -> pa.Table:
    """Events of each type that begin near a tick, so many for each key."""
    kinds = [kind for kind, (_, count) in begins.items() for _ in range(count)]
    first = np.array([begin for begin, count in begins.values() for _ in range(count)])
    random = np.random.default_rng(SEED)
    lower = np.tile(first, groups) + random.integers(0, max(width // 4, 2), groups * len(kinds))
    return _table(np.repeat(np.arange(groups), len(kinds)), kinds * groups, lower, lower + width)


def _table(key: np.ndarray, kinds: list[str], lower: np.ndarray, upper: np.ndarray) -> pa.Table:
    names = pa.array(np.arange(len(lower))).cast(pa.string())
    return pa.table({"event_id": names, "event_type": kinds, "lower": lower, "upper": upper, "key": key})


def _plan(text: str) -> Plan:
    return analyze(parse(text), EventSchema({"key": pa.int64()}, TimeUnit(1_000)))
