"""Ways to find the same rows: in slices, in batches, shuffled, beside other events; and what their rows are.

A row's numbers may depend on nothing but what can decide it (semantics), so every way gives equal bytes.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from hypothesis import strategies as st

from cepctl.datasets.row_groups import row_groups
from cepctl.engines.columns import joins
from cepctl.engines.confidence.gaps import polynomials, tables
from cepctl.engines.confidence.occurrence import rows
from cepctl.engines.event import kleene_summary
from cepctl.engines.event.match import match_events, schema_for
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.point import engine as point
from cepctl.engines.point import stream as point_stream
from cepctl.engines.point.engine import match_table as match_points
from cepctl.engines.rows.numbers import with_columns
from cepctl.engines.runners.slices import SliceTask, choose_slicing
from cepctl.engines.search import search
from cepctl.engines.search.kleene import growth
from cepctl.plan.evaluation_order import OrderName
from cepctl.plan.plan import Plan
from tests.event_sources import TableSource
from tests.plans import Event, event_table, plan_of
from tests.strategies import Case

FAR = 10**9
"""Ticks after which a copy of the events cannot matter to any of them."""

SMALL_BATCHES: dict[object, dict[str, int]] = {
    search: {"FEWEST_STARTS": 1, "FEWEST_COSTLY_STARTS": 1, "MOST_STARTS": 1},
    joins: {"PAIRS_AT_ONCE": 1},
    polynomials: {"_MOST_CHAINS": 1},
    tables: {"_MOST_SLOTS": 1},
    growth: {"_GROWN_AT_ONCE": 1},
    kleene_summary: {"_ROWS_AT_ONCE": 1},
    point: {"_STARTS_AT_ONCE": 1},
    point_stream: {"ROWS_AT_ONCE": 1},
}
"""Bounds on batches, so small that nearly each row is measured alone."""


@dataclass(frozen=True)
class Trial:
    """A query on a stream that is longer than its window, and how to look at it in other ways.

    `wide`: intervals of any width go the way of wide ones.  `work` bounds the exact work for a match, beyond
    which it is sampled; `least` is the confidence that a row must have.
    """

    query: str
    events: tuple[Event, ...]
    seed: int
    options: MatchOptions = field(default_factory=MatchOptions)
    wide: bool = False
    work: int | None = None
    engine: str = "event"
    least: float | None = None

    @property
    def plan(self) -> Plan:
        return replace(plan_of(self.query), minimum_confidence=self.least)

    @cached_property
    def table(self) -> pa.Table:
        return event_table(self.events)


@st.composite
def trials(draw: st.DrawFn, cases: st.SearchStrategy[Case], copies: int = 4) -> Trial:
    """A random case whose events come again some ticks later, at the scale of the case or far wider."""
    case = draw(cases)
    spacing = draw(st.sampled_from([3, 5, 8, 12]))
    events = [
        _moved(event, spacing * i + draw(st.sampled_from([0, 0, 1])), f"{event.event_id}{'.' * i}")
        for i in range(draw(st.integers(1, copies)))
        for event in case.events
    ]
    scale = draw(st.sampled_from([1, 1, 1, 7, 1_000, 1_000_003]))
    return Trial(
        re.sub(r"WITHIN (\d+)", lambda found: f"WITHIN {int(found[1]) * scale}", case.query),
        tuple(_scaled(event, scale) for event in events),
        draw(st.integers(0, 10**6)),
        wide=draw(st.booleans()),
    )


def _moved(event: Event, ticks: int, name: str) -> Event:
    pmf = event.pmf and tuple((lo + ticks, hi + ticks, p) for lo, hi, p in event.pmf)
    return replace(event, event_id=name, lower=event.lower + ticks, upper=event.upper + ticks, pmf=pmf)


def _scaled(event: Event, scale: int) -> Event:
    pmf = event.pmf and tuple((lo * scale, hi * scale + scale - 1, p) for lo, hi, p in event.pmf)
    upper = event.upper * scale + (scale - 1 if event.upper > event.lower else 0)
    return replace(event, lower=event.lower * scale, upper=pmf[-1][1] if pmf else upper, pmf=pmf)


Rows = dict[tuple[Any, ...], tuple[Any, ...]]


def rows_of(matches: pa.Table) -> Rows:
    """Every row by its signature, its numbers as they are."""
    found = {}
    for row in matches.to_pylist():
        signature = tuple(tuple(part) for part in row.pop("signature"))
        numbers = tuple(each.hex() if isinstance(each, float) else each for each in row.values())
        assert signature not in found, "a signature was returned twice"
        found[signature] = numbers
    return found


Way = Callable[[Trial], Rows]


@contextmanager
def _under(trial: Trial, patches: dict[object, dict[str, int]] | None = None) -> Iterator[None]:
    """The bounds of a trial, and of batches, in force."""
    chosen = [
        (module, name, value) for module, each in (patches or {}).items() for name, value in each.items()
    ]
    if trial.wide:
        chosen.append((tables, "MOST_TICKS", 0))
    if trial.work is not None:
        chosen.append((rows, "WORK_BOUND", trial.work))
    active = [patch.object(module, name, value) for module, name, value in chosen]
    for each in active:
        each.start()
    try:
        yield
    finally:
        for each in active:
            each.stop()


def confidences(rows: Rows) -> list[float]:
    """Every confidence; it comes third of a row's numbers."""
    return [float.fromhex(row[2]) for row in rows.values()]


def first_difference(wanted: Rows, found: Rows) -> str:
    changed = [key for key in wanted.keys() | found.keys() if wanted.get(key) != found.get(key)]
    first = min(changed, key=repr)
    return f"{first}: {found.get(first)} instead of {wanted.get(first)}"


def by_points(trial: Trial) -> Rows:
    return rows_of(match_points(trial.plan, trial.table, trial.options))


def at_once(trial: Trial) -> Rows:
    if trial.engine == "point":
        return by_points(trial)
    with _under(trial):
        return rows_of(match_events(trial.plan, trial.table, trial.options))


def shuffled(trial: Trial) -> Rows:
    events = tuple(random.Random(trial.seed).sample(trial.events, len(trial.events)))
    return at_once(replace(trial, events=events))


def in_small_batches(trial: Trial) -> Rows:
    with _under(trial, SMALL_BATCHES):
        return at_once(trial)


def on_threads(trial: Trial) -> Rows:
    with _under(trial, {search: SMALL_BATCHES[search]}):
        return rows_of(match_events(trial.plan, trial.table, replace(trial.options, threads=3)))


def in_another_order(trial: Trial) -> Rows:
    orders: tuple[OrderName, ...] = ("sort", "any-state", "selectivity")
    options = replace(trial.options, order=random.Random(trial.seed).choice(orders))
    return at_once(replace(trial, options=options))


def in_slices(trial: Trial) -> Rows:
    """Read by slices of a random length; in one where there is no window."""
    plan, chance = trial.plan, random.Random(trial.seed)
    source = TableSource.of(trial.table, chance.choice([1, 2, 3, 7]))
    task = SliceTask(plan, trial.options, (source,), row_groups([source]))
    widest = max(event.upper for event in trial.events) - min(event.lower for event in trial.events) + 1
    slicing = choose_slicing(task.groups, plan, 2, max(widest // chance.choice([2, 3, 5, 9]), 1))
    with _under(trial):
        found = [part for own in slicing.slices for part in task.run(own)]
    batches = [with_columns(batch) for _, batch in found if batch is not None]
    return rows_of(pa.Table.from_batches(batches, schema_for(plan, trial.options)))


def beside_others(trial: Trial) -> Rows:
    """With copies far away, and events of a type and a key that nothing asks for."""
    far = [_moved(event, FAR * 1_000, f"far {event.event_id}") for event in trial.events]
    near = []
    if not any(each in trial.query for each in ("* ", "*+ ", "*{", "strict")):
        near = [_moved(replace(e, event_type="Y", k="other"), 1, f"near {e.event_id}") for e in trial.events]
    others = [*far, *near] if trial.plan.window is not None else near
    if "partition" in trial.query and "[k" not in trial.query:
        others = []
    events = (*others[::2], *trial.events, *others[1::2])
    found = at_once(replace(trial, events=tuple(events)))
    own = {"*", *(event.event_id for event in trial.events)}
    return {
        signature: row for signature, row in found.items() if {i for part in signature for i in part} <= own
    }


WAYS: dict[str, Way] = {
    "shuffled": shuffled,
    "in small batches": in_small_batches,
    "on threads": on_threads,
    "in another order": in_another_order,
    "in slices": in_slices,
    "beside others": beside_others,
}
