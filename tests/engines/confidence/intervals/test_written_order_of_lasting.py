"""Records of interval events are written as these begin, or end: rows of their writers are the judge's."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import exact_matches
from cepctl.errors import ContradictionError, QueryTooLargeError
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.schema import IN_WRITTEN_ORDER, MILLISECOND, RECORD, WRITER
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check
from tests.engines.confidence.intervals.random_intervals import (
    negations,
    queries,
    streams,
    streams_with_points,
    streams_with_rivals,
)
from tests.plans import ATTRIBUTES, Event, event_table

WRITERS = ("w",), ("w", "v"), ("w ends",), ("w ends", "v"), ("w ends", "v ends")
SCHEMA = EventSchema({**ATTRIBUTES, WRITER: pa.string(), RECORD: pa.int64()}, MILLISECOND, lasting=True)


@dataclass(frozen=True)
class Written:
    """A query, and events that some writers wrote, mostly as they began or as they ended."""

    query: str
    table: pa.Table


@st.composite
def written(draw: st.DrawFn, writers: tuple[str, ...]) -> Written:
    asked, drawn = draw(
        st.sampled_from(
            [(queries, streams), (queries, streams_with_points), (negations, streams_with_rivals)]
        )
    )
    query, events = draw(asked()), draw(drawn())
    writer = [draw(st.sampled_from(writers)) for _ in events]
    middle = [
        draw(st.integers(-3, 3)) + (_end(event) if "ends" in name else event.lower + event.upper)
        for name, event in zip(writer, events, strict=True)
    ]
    record = np.argsort(np.argsort(middle, kind="stable"), kind="stable") + 1
    table = event_table(events).append_column(WRITER, pa.array(writer, pa.string()))
    table = table.append_column(RECORD, pa.array(record, pa.int64()))
    return Written(f"{query} GIVEN {IN_WRITTEN_ORDER}", table)


def _end(event: Event) -> int:
    return (event.lower if event.end_lower is None else event.end_lower) + (event.end_upper or event.upper)


def agrees(case: Written) -> None:
    plan = analyze(parse(case.query), SCHEMA)
    try:
        judged = exact_matches(plan, case.table)
    except QueryTooLargeError:
        return
    except ContradictionError:
        # Where nothing fits, nobody looks at the worlds.
        with suppress(ContradictionError):
            assert match_events(plan, case.table).num_rows == 0
        return
    found = {
        tuple(tuple(ids) for ids in row["signature"]): (row["start"], row["end"], row["confidence"])
        for row in match_events(plan, case.table).to_pylist()
    }
    assert found.keys() == judged.keys()
    for signature, match in judged.items():
        assert found[signature][:2] == (match.start, match.end)
        assert found[signature][2] == pytest.approx(float(match.confidence), rel=1e-9)


@pytest.mark.parametrize("writers", WRITERS, ids=" and ".join)
def test_rows_are_those_of_the_judge(writers: tuple[str, ...]) -> None:
    check(written(writers), agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("writers", WRITERS, ids=" and ".join)
def test_rows_are_those_of_the_judge_in_many_cases(writers: tuple[str, ...]) -> None:
    check(written(writers), agrees, MANY_EXAMPLES)


def test_what_one_writes_ends_whenever_it_does() -> None:
    events = (
        Event("a", "A", 0, 5, end_lower=10, end_upper=15),
        Event("b", "B", 0, 5, end_lower=12, end_upper=20),
    )
    table = event_table(events).append_column(WRITER, pa.array(["w", "w"]))
    table = table.append_column(RECORD, pa.array([1, 2]))
    for asked in ("b.start - a.start >= 1 ticks", "b.end - a.end >= 1 ticks", "a.end - b.start >= 1 ticks"):
        agrees(Written(f"PATTERN AND(A a, B b) WHERE {asked} GIVEN {IN_WRITTEN_ORDER}", table))


def test_what_one_writes_as_it_ends_began_whenever_it_did() -> None:
    """Uniform on 10..15 and 12..20, the first ends first: 44 of 54, and their starts stay open."""
    events = (
        Event("a", "A", 0, 5, end_lower=10, end_upper=15),
        Event("b", "B", 0, 5, end_lower=12, end_upper=20),
    )
    table = event_table(events).append_column(WRITER, pa.array(["w ends #2", "w ends #2"]))
    table = table.append_column(RECORD, pa.array([1, 2]))
    for asked, confidence in (("b.end - a.end >= 1 ticks", 1), ("b.start - a.start >= 1 ticks", 15 / 36)):
        case = Written(f"PATTERN AND(A a, B b) WHERE {asked} GIVEN {IN_WRITTEN_ORDER}", table)
        agrees(case)
        (row,) = match_events(analyze(parse(case.query), SCHEMA), table).to_pylist()
        assert row["confidence"] == pytest.approx(confidence)


@pytest.mark.parametrize("writer", ["w", "w ends"])
def test_an_event_that_cannot_happen_parts_no_others(writer: str) -> None:
    """e1 ends before it begins."""
    events = (
        Event("e0", "A", 0, 5, end_lower=6, end_upper=9),
        Event("e1", "C", 3, 3, end_lower=2, end_upper=2),
        Event("e2", "B", 0, 5, end_lower=6, end_upper=9),
    )
    table = event_table(events).append_column(WRITER, pa.array([writer] * 3))
    table = table.append_column(RECORD, pa.array([1, 2, 3]))
    for side in ("start", "end"):
        asked = f"PATTERN AND(A a, B b) WHERE b.{side} - a.{side} >= 1 ticks GIVEN {IN_WRITTEN_ORDER}"
        agrees(Written(asked, table))
