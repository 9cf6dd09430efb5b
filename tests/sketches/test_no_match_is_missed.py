"""The promises of sketches, on random patterns and streams: every match in a row, and no match changed."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.event.match import match_events
from cepctl.engines.rows.order import ordered
from cepctl.errors import UnsupportedQueryError
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.plan.support import require_engine
from cepctl.schema import MILLISECOND
from cepctl.sketches import listing, spans
from cepctl.sketches.archive import SketchArchive
from cepctl.sketches.listing import Indexed
from cepctl.sketches.probing import probe_rows
from cepctl.sketches.skipping import row_groups_to_read
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.engines.clock_cases import clocked_any_cases
from tests.engines.confidence.intervals.random_intervals import queries, streams
from tests.plans import ATTRIBUTES, Event, event_table, plan_of
from tests.sketched_tables import kept_events, sketch_of_table
from tests.strategies import Case, any_cases, chain_cases, repeated_cases, running_cases

INDEXES = (Indexed(), Indexed(("k", "x")), Indexed(("k", "g"), ("x",)), Indexed(("x",), ("x",)))

SHARES = (0.01, 0.3, 0.6, 1.0)
ASKED = (
    *(
        f"{name}.x {sign} {bound}"
        for name in "ab"
        for sign in ("<", "<=", "=", ">=", ">")
        for bound in (1, 2, 4)
    ),
    *(
        f"{name}.{condition}"
        for name in "ab"
        for condition in ("k = 'p'", "k IN ('q', 'r')", "x BETWEEN 1 AND 3")
    ),
    *("[k]", "a.k = b.k", "a.x = b.x"),
)


@dataclass(frozen=True)
class Sketched:
    """A random case, how its events are stored, and what the sketch of them knows."""

    query: str
    table: pa.Table
    clocks: Clocks
    size: int
    span: int
    indexed: Indexed
    share: float
    lasting: bool = False
    joined: bool = False


@st.composite
def sketched_cases(draw: st.DrawFn, cases: st.SearchStrategy[Case] | None = None) -> Sketched:
    case = draw((chain_cases() | any_cases() | clocked_any_cases()) if cases is None else cases)
    return Sketched(
        case.query,
        case.table,
        getattr(case, "clocks", {}),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 2)),
        draw(st.sampled_from(INDEXES)),
        draw(st.sampled_from(SHARES)),
    )


@st.composite
def asked_cases(draw: st.DrawFn) -> Sketched:
    """Many events of few types, asked by their values, so that lists hold some of a type and not the rest."""
    events = tuple(
        Event(
            f"e{number}",
            draw(st.sampled_from("AAAB")),
            2 * number,
            2 * number + draw(st.integers(0, 3)),
            x=draw(st.sampled_from([0, 1, 2, 3, 4, 5, None])),
            k=draw(st.sampled_from(["p", "q", "r", None])),
        )
        for number in range(draw(st.integers(6, 14)))
    )
    conditions = draw(st.lists(st.sampled_from(ASKED), min_size=1, max_size=2, unique=True))
    last = draw(st.sampled_from("AB"))
    query = f"PATTERN SEQ(A a, {last} b) WHERE {' AND '.join(conditions)} WITHIN 6 ticks"
    size, span = draw(st.integers(1, 4)), draw(st.integers(1, 2))
    indexed, share = draw(st.sampled_from(INDEXES)), draw(st.sampled_from(SHARES))
    return Sketched(query, event_table(events), {}, size, span, indexed, share)


@st.composite
def lasting_cases(draw: st.DrawFn) -> Sketched:
    """Events that have a start and an end, and conditions on both."""
    table = event_table(draw(streams()))
    size, span = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    indexed, share = draw(st.sampled_from(INDEXES)), draw(st.sampled_from(SHARES))
    return Sketched(draw(queries()), table, {}, size, span, indexed, share, lasting=True)


def as_joined(case: Sketched) -> Sketched:
    """The case where what was sketched part by part is one part."""
    return replace(case, joined=True)


def matches_of(plan: Plan, table: pa.Table) -> pa.Table:
    return ordered(match_events(plan, table))


def holds(case: Sketched) -> None:
    plan = plan_of(case.query, case.clocks, lasting=case.lasting)
    try:
        require_engine(plan, "event")
    except UnsupportedQueryError:
        return
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        patched.setattr(spans, "SPAN_EVENTS", case.span)
        patched.setattr(listing, "EXTREMES", 3)
        target = Path(folder, "events.sketch")
        sketch = sketch_of_table(
            target, case.table, case.indexed, case.size, share=case.share, joined=case.joined
        )
        archive = SketchArchive((sketch,), EventSchema(ATTRIBUTES, MILLISECOND))
        rows = probe_rows(plan, archive).to_pylist()
        chosen = row_groups_to_read(plan, archive)
    matches = matches_of(plan, case.table)
    for match in matches.to_pylist():
        assert any(row["start"] <= match["start"] and match["end"] <= row["end"] for row in rows)
    for row in rows:
        inside = [each for each in matches.to_pylist() if row["start"] <= each["start"] <= row["end"]]
        assert row["at_most"] is None or len(inside) <= row["at_most"]
    assert all(earlier["end"] < later["start"] for earlier, later in pairwise(rows))
    if not case.joined:
        kept = kept_events(case.table, case.size, chosen.groups[0])
        assert len(kept) == len(case.table) or matches_of(plan, kept).equals(matches)


def test_every_match_lies_in_a_row_and_reading_less_changes_no_match() -> None:
    check(sketched_cases(), holds, 2 * FEW_EXAMPLES)


def test_every_match_of_repetitions_and_running_groups_lies_in_a_row() -> None:
    check(sketched_cases(repeated_cases() | running_cases()), holds, FEW_EXAMPLES)


def test_every_match_of_values_that_are_asked_lies_in_a_row() -> None:
    check(asked_cases(), holds, 2 * FEW_EXAMPLES)


def test_every_match_lies_in_a_row_of_parts_that_were_joined() -> None:
    check((asked_cases() | sketched_cases()).map(as_joined), holds, 2 * FEW_EXAMPLES)


def test_every_match_of_events_that_last_lies_in_a_row() -> None:
    check(lasting_cases(), holds, 2 * FEW_EXAMPLES)
