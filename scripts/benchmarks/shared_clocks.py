"""Events that share clocks, side by side with the same own parts without any.

alike       the same search without clocks: what one clock per key is held to
chains      groups of events of their own key, whose clocks are laid out as letters: nnmm is two on either
rivals      the next match where three more events of a second clock could be it, all of them with jitter
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from engine import NO_CAP, confidences
from measuring import timed
from results import Goal, Row, Setup, check_close, check_equal
from workloads import FIVE_PERCENT, SEED, appendix_c

from cepctl.clocks.shared import Clocks
from cepctl.engines.event.match import match_events
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.schema import TimeUnit

HOSTS = 1_000
LAYOUTS = (
    # clocks, sharp, microseconds per match that are aimed at
    ("nnmm", True, 5.0),
    ("nnm", False, 20.0),
    ("nnmm", False, 200.0),
    ("nnmk", True, 70.0),
    ("mnk", False, 50.0),
)


def shared_clocks(setup: Setup) -> Iterator[Row]:
    """One clock for each key, then chains whose events are on several."""
    yield from _one_clock_per_key(setup)
    for layout, sharp, most in LAYOUTS:
        for width in (10, 1_000, 100_000):
            yield from _chains(setup, layout, width, most, sharp=sharp)
    for pattern in ("SEQ(A a, B b)", "SEQ(A a, B b, C c)"):
        for width in (10, 1_000, 100_000):
            yield _rivals(setup, pattern, width)


def _one_clock_per_key(setup: Setup) -> Iterator[Row]:
    """The paper's workload at 5 % on many hosts, as it is and with one clock for each host."""
    size = setup.events(1_000_000, 60_000)
    plain = appendix_c(size, 10)
    host = np.arange(size) // 1_000 % HOSTS
    plain = plain.append_column("host", pa.array(host))
    clocks: Clocks = {f"host={number}": ((-500, 500, 1.0),) for number in range(HOSTS)}
    names = pa.array(list(clocks)).take(pa.array(host))
    stamped = _moved(plain.append_column("clock", names), -500, 500)
    text = FIVE_PERCENT.text.replace("WHERE ", "WHERE [host] AND ")
    without, found = timed(setup, lambda: match_events(_plan(text, {}, "host"), plain, NO_CAP))
    yield Row("one clock per key, without clocks", without, found.num_rows)
    timing, rows = timed(setup, lambda: match_events(_plan(text, clocks, "host"), stamped, NO_CAP))
    check_equal("matches with clocks", found.num_rows, rows.num_rows)
    check_close("sum with clocks", confidences(found), confidences(rows), relative=1e-12)
    yield Row(
        "one clock per key", timing, rows.num_rows, ratio=timing.seconds / without.seconds,
        against="without clocks", goal=Goal("at most", 1.2), rate_goal=Goal("at least", 3e5),
        checked="rows and sum as without clocks",
    )  # fmt: skip


def _chains(setup: Setup, layout: str, width: int, most: float, *, sharp: bool) -> Iterator[Row]:
    groups = setup.events(5_000, 500)
    length, random = len(layout), np.random.default_rng(SEED)
    step = max(width // 4, 1)
    tick = np.tile(np.arange(length) * step, groups) + random.integers(0, step + 1, groups * length)
    own = 0 if sharp else width // 2
    key = np.repeat(np.arange(groups), length)
    names = [f"{letter}{number % 50}" for number in range(groups) for letter in layout]
    table = pa.table(
        {
            "event_id": pa.array(np.arange(len(tick))).cast(pa.string()),
            "event_type": pa.array(list("ABCD"[:length]) * groups),
            "lower": tick - own,
            "upper": tick + own,
            "key": key,
        }
    )
    components = ", ".join(f"{kind} {kind.lower()}" for kind in "ABCD"[:length])
    text = f"PATTERN SEQ({components}) WHERE [key] WITHIN {2 * width} ticks"
    kind = f"{layout}, {'sharp' if sharp else 'jitter'}, width {width:,}"
    alone = _moved(table, -width, width)
    without, found = timed(setup, lambda: match_events(_plan(text, {}, "key"), alone, NO_CAP))
    yield Row(f"{kind}, without clocks", without, found.num_rows)
    clocks: Clocks = dict.fromkeys(sorted(set(names)), ((-width, width, 1.0),))
    stamped = alone.append_column("clock", pa.array(names))
    timing, rows = timed(setup, lambda: match_events(_plan(text, clocks, "key"), stamped, NO_CAP))
    yield Row(
        kind, timing, rows.num_rows, ratio=timing.seconds / without.seconds, against="without clocks",
        rate_goal=Goal("at least", 1e6 / most), note=f"aimed at {most:g} us per match",
    )  # fmt: skip


def _rivals(setup: Setup, pattern: str, width: int) -> Row:
    groups, letters = 4 if setup.quick else 40, "ABBBBC" if "C" in pattern else "ABBBB"
    step, random = width // 8, np.random.default_rng(SEED)
    first = np.array([0, *(width // 2 + step * np.arange(4)), 2 * width])[: len(letters)]
    # No two groups are alike, or they would be measured once.
    tick = np.tile(first, groups) + random.integers(0, max(width // 4, 2), groups * len(letters))
    table = pa.table(
        {
            "event_id": pa.array(np.arange(groups * len(letters))).cast(pa.string()),
            "event_type": pa.array(list(letters) * groups),
            "lower": tick,
            "upper": tick + width,
            "key": np.repeat(np.arange(groups), len(letters)),
            "clock": ["m" if kind == "B" else "n" for kind in letters] * groups,
        }
    )
    clocks: Clocks = dict.fromkeys("mn", ((-width, width, 1.0),))
    text = f"PATTERN {pattern} WHERE [key] STRATEGY skip_till_next_match WITHIN {4 * width} ticks"
    plan, events = _plan(text, clocks, "key"), _moved(table, -width, width)
    timing, rows = timed(setup, lambda: match_events(plan, events, NO_CAP))
    return Row(
        f"next match {pattern}, 3 rivals on m, jitter, width {width:,}", timing, rows.num_rows,
        rate_goal=Goal("at least", 20.0), note="aimed at 50 ms per match",
    )  # fmt: skip


def _moved(events: pa.Table, first: int, last: int) -> pa.Table:
    """Events with these own parts on clocks whose offsets lie from `first` to `last`."""
    for name, by in (("lower", first), ("upper", last)):
        ticks = pa.array(events.column(name).to_numpy() + by)
        events = events.set_column(events.column_names.index(name), name, ticks)
    return events


def _plan(text: str, clocks: Clocks, key: str) -> Plan:
    schema = {"val": pa.int64(), key: pa.int64()}
    return analyze(parse(text), EventSchema(schema, TimeUnit(1_000), clocks=clocks))
