"""Records of one writer in one unit: what stands hidden between two of them counts by its number alone."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.engines.confidence.given import components
from cepctl.engines.event.match import match_events
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.schema import IN_WRITTEN_ORDER, RECORD, WRITER
from tests.engines.agreement import FEW_EXAMPLES, MANY_EXAMPLES, check, rows_by_signature
from tests.engines.confidence.given.test_written_order import SCHEMA, agrees
from tests.plans import Event, event_table
from tests.strategies import LEVELS, Case

CHOSEN = (
    "chains", "negation", "AND", "next match", "contiguity", "timing", "OR", "Kleene sets", "runs",
    "everything",
)  # fmt: skip
W, V = "w", "v"


@st.composite
def in_units(draw: st.DrawFn, name: str) -> tuple[str, pa.Table]:
    """A query, and events that one writer or two wrote in this order in units of some ticks."""
    case: Case = draw(LEVELS[name])
    ticks, count = draw(st.integers(4, 7)), len(case.events)
    units = sorted(draw(st.lists(st.integers(0, 1), min_size=count, max_size=count)))
    events = [
        replace(event, lower=unit * ticks, upper=(unit + 1) * ticks - 1, pmf=None)
        for event, unit in zip(case.events, units, strict=True)
    ]
    writers = draw(st.sampled_from([W, W + V]))
    writer = [draw(st.sampled_from(writers)) for _ in events]
    table = event_table(events).append_column(WRITER, pa.array(writer, pa.string()))
    record = pa.array(range(1, count + 1), pa.int64())
    return f"{case.query} GIVEN {IN_WRITTEN_ORDER}", table.append_column(RECORD, record)


@pytest.mark.parametrize("name", CHOSEN)
def test_rows_are_those_of_the_judge(name: str) -> None:
    check(in_units(name), agrees, FEW_EXAMPLES)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHOSEN)
def test_rows_are_those_of_the_judge_in_many_cases(name: str) -> None:
    check(in_units(name), agrees, MANY_EXAMPLES)


def written(*events: tuple[str, str, str, int, int]) -> pa.Table:
    """Events by id, type, writer and interval, in the order in which they were written."""
    table = event_table([Event(name, kind, lower, upper) for name, kind, _, lower, upper in events])
    table = table.append_column(WRITER, pa.array([each[2] for each in events], pa.string()))
    return table.append_column(RECORD, pa.array(range(1, len(events) + 1), pa.int64()))


def confidences(pattern: str, table: pa.Table) -> dict[str, float]:
    """By the ids of the events, the confidence of each row."""
    plan = replace(analyze(parse(f"PATTERN {pattern} GIVEN {IN_WRITTEN_ORDER}"), SCHEMA), returns=())
    rows = rows_by_signature(match_events(plan, table))
    return {" ".join(each[0] for each in signature): row["confidence"] for signature, row in rows.items()}


SIX = written(
    ("a", "A", W, 0, 5), ("n", "N", W, 0, 5), ("c", "C", W, 0, 5), ("b", "B", V, 0, 5), ("d", "D", V, 0, 5)
)


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("SEQ(A a, C c)", Fraction(1)),
        ("SEQ(C c, A a)", None),
        ("SEQ(A a, B b)", Fraction(73, 150)),
        ("SEQ(A a, B b, C c)", Fraction(5, 12)),
        ("SEQ(A a, B b) WITHIN 2 ticks", Fraction(13, 60)),
        ("SEQ(A a, C c) WITHIN 3 ticks", Fraction(1, 5)),
        ("SEQ(A a, !N n, C c)", None),
        ("SEQ(A a, !N n, B b)", Fraction(49, 150)),
        ("SEQ(B b, !N n, D d)", Fraction(49, 75)),
        ("SEQ(A a, B b) STRATEGY strict_contiguity", Fraction(49, 150)),
        ("SEQ(B b, C c) STRATEGY strict_contiguity", Fraction(14, 75)),
    ],
)
def test_two_writers_of_five_records(pattern: str, wanted: Fraction | None) -> None:
    found = list(confidences(pattern, SIX).values())
    assert found == ([] if wanted is None else [pytest.approx(float(wanted), abs=1e-12)])


def test_of_rivals_of_one_writer_the_nearest_decides() -> None:
    table = written(
        ("a", "A", W, 0, 5), ("x", "X", W, 0, 5), ("b1", "B", V, 0, 5), ("b2", "B", V, 0, 5),
        ("b3", "B", V, 3, 8),
    )  # fmt: skip
    every = {"a b1": 27 / 80, "a b2": 767 / 960, "a b3": 63 / 64}
    first = {"a b1": 27 / 80, "a b2": 443 / 960, "a b3": 89 / 480}
    assert confidences("SEQ(A a, B b)", table) == pytest.approx(every, abs=1e-12)
    next_match = "SEQ(A a, B b) STRATEGY skip_till_next_match"
    assert confidences(next_match, table) == pytest.approx(first, abs=1e-12)


MANY = written(*((f"e{i}", "ABC"[i % 3], W, 0, 999) for i in range(20)), ("x", "X", V, 0, 999))


def test_records_without_a_tick_are_counted() -> None:
    """P(e0 < x < e19), where x is equally probable on all ticks: at e1 to e18 and between them."""
    assert confidences("SEQ(A a, X x, B b)", MANY)["e0 x e19"] == pytest.approx(_between(20, 1000), rel=1e-10)


def test_hidden_records_are_no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two records that lie within some ticks those between them count by their number."""
    found = confidences("SEQ(A a, B b) WITHIN 500 ticks", MANY)["e6 e13"]
    assert found == pytest.approx(_within(7, 20, 1000, 500), rel=1e-10)

    def forgotten(*arguments: object, **named: object) -> object:
        needed = components.needed_of(*arguments, **named)  # type: ignore[arg-type]
        return replace(needed, links=needed.links._replace(hidden=0 * needed.links.hidden))

    apart = "SEQ(A a, B b) WHERE b.time - a.time >= 300 ticks WITHIN 500 ticks"
    summed = confidences(apart, MANY)["e6 e13"]
    assert summed == pytest.approx(found - _within(7, 20, 1000, 300), rel=1e-10)
    monkeypatch.setattr("cepctl.engines.confidence.given.groups.needed_of", forgotten)
    mistaken = confidences(apart, MANY)["e6 e13"]
    assert mistaken != pytest.approx(summed, rel=1e-3)


def _between(count: int, ticks: int) -> float:
    """How probable it is that one of `ticks` lies inside of the range of `count` others, not on its ends."""
    # The range of a sorted sample without repetition is (count - 1)(ticks + 1)/(count + 1) on average.
    return float((Fraction((count - 1) * (ticks + 1), count + 1) - 1) / ticks)


def _within(places: int, count: int, ticks: int, window: int) -> float:
    """How probable it is that records so many places apart lie less than a window apart."""
    ways = sum(
        comb(apart - 1, places - 1) * comb(ticks - apart, count - places) for apart in range(places, window)
    )
    return ways / comb(ticks, count)
