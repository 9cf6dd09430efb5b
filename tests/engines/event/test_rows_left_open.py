"""Rows that the end of the events leaves open: which they are, until when, and what the judge says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cepctl
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.worlds.engine import match_table
from cepctl.errors import UncertaintyModelError
from cepctl.language.parser import parse
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan
from cepctl.schema import MILLISECOND
from cepctl.uncertainty.model import parse_model
from tests.engines.agreement import EXAMPLES, check, rows_by_signature
from tests.plans import plan_of
from tests.strategies import Case, kleene_cases, negation_cases

Span = tuple[str, int, int]


def table(*events: Span) -> pa.Table:
    rows = [
        {"event_id": f"{kind.lower()}{lower}", "event_type": kind, "lower": lower, "upper": upper}
        for kind, lower, upper in events
    ]
    return pa.Table.from_pylist(rows)


def found(
    query: str, events: pa.Table, until: int | None = None, **options: Any
) -> dict[str, tuple[bool, int | None]]:
    """Of each match whether it is open, and until when; `until`: what was observed, if not all events."""
    plan = analyze(parse(query), EventSchema({}, MILLISECOND))
    observed = max(events.column("upper").to_pylist()) if until is None else until
    rows = match_events(plan, events, MatchOptions(observed=observed, **options)).to_pylist()
    judged = match_table(plan, events, observed=observed).to_pylist()
    assert {(str(row["signature"]), row["open"], row["open_until"]) for row in rows} <= {
        (str(row["signature"]), row["open"], row["open_until"]) for row in judged
    }
    return {" ".join(chain(*row["signature"])): (row["open"], row["open_until"]) for row in rows}


ABSENT = "PATTERN SEQ(A a, !N n) WITHIN 10 ticks"


@pytest.mark.parametrize(
    ("events", "rows"),
    [
        # The window of a0 ends at tick 9, where the events end.
        ([("A", 0, 0), ("X", 9, 9)], {"a0": (False, None)}),
        ([("A", 0, 0), ("X", 8, 8)], {"a0": (True, 9)}),
        # The latest tick counts, at which a can have happened.
        ([("A", 0, 3), ("X", 9, 9)], {"a0": (True, 12)}),
        # n at tick 9 rules the later ones out, so the last window ends there.
        ([("A", 0, 3), ("N", 10, 10)], {"a0": (False, None)}),
        ([("A", 0, 0), ("A", 8, 8), ("X", 12, 12)], {"a0": (False, None), "a8": (True, 17)}),
    ],
)
def test_an_absence_that_reaches_beyond_the_last_event_is_open(
    events: Sequence[Span], rows: dict[str, tuple[bool, int | None]]
) -> None:
    assert found(ABSENT, table(*events)) == rows


@pytest.mark.parametrize("query", ["SEQ(A a, !N n, B b)", "SEQ(A a, B b) STRATEGY skip_till_next_match"])
def test_what_is_absent_between_events_is_open_where_less_was_observed(query: str) -> None:
    pattern, _, strategy = query.partition(" STRATEGY ")
    asked = f"PATTERN {pattern} WITHIN 10 ticks" + (f" STRATEGY {strategy}" if strategy else "")
    events = table(("A", 0, 3), ("B", 5, 5), ("A", 7, 7), ("B", 9, 12))
    closed = {"a0 b5": (False, None), "a7 b9": (False, None)}
    rows = found(asked, events)
    assert {match: rows[match] for match in closed} == closed
    earlier = found(asked, events, until=5)
    assert {match: earlier[match] for match in closed} == closed | {"a7 b9": (True, 11)}
    assert found("PATTERN SEQ(A a, B b)", events, until=5)["a7 b9"] == (False, None)


def test_a_group_at_the_end_takes_what_still_comes() -> None:
    query = "PATTERN SEQ(A a, B+ b[]) WITHIN 10 ticks STRATEGY skip_till_next_match"
    assert found(query, table(("A", 0, 0), ("B", 2, 2), ("B", 4, 4))) == {"a0 b2 b4": (True, 9)}
    assert found(query, table(("A", 0, 0), ("B", 2, 2), ("X", 9, 9))) == {"a0 b2": (False, None)}


def test_of_several_events_the_window_begins_with_the_first() -> None:
    query = "PATTERN SEQ(A a, B b, !N n) WITHIN 10 ticks"
    assert found(query, table(("A", 0, 6), ("B", 4, 4))) == {"a0 b4": (True, 12)}


def test_of_alternatives_those_that_wait_are_open() -> None:
    query = "PATTERN OR(SEQ(A a, !N n), SEQ(A b, B c)) WITHIN 10 ticks"
    assert found(query, table(("A", 0, 0), ("B", 2, 2))) == {"a0": (True, 9), "a0 b2": (False, None)}


def test_closed_rows_alone() -> None:
    events = table(("A", 0, 0), ("A", 8, 8), ("X", 12, 12))
    assert found(ABSENT, events, closed=True) == {"a0": (False, None)}


def test_the_best_closed_rows_are_no_fewer_for_the_open_ones() -> None:
    events = table(("A", 0, 0), ("A", 1, 1), ("A", 8, 8), ("N", 9, 40), ("X", 12, 12))
    assert "a8" not in found(ABSENT, events, closed=True, top=1)


def is_open_wherever_the_judge_says_so(case: Case) -> None:
    """Of several events the engine knows the latest begin by their intervals; rivals may leave it less."""
    plan = plan_of(case.query)
    if plan.group_by is not None or not case.table.num_rows:
        return
    last = max(case.table.column("upper").to_pylist())
    for observed in (last, last - 3):
        is_open_where_so_much_is_observed(case, plan, observed)


def is_open_where_so_much_is_observed(case: Case, plan: Plan, observed: int) -> None:
    rows = rows_by_signature(match_events(plan, case.table, MatchOptions(observed=observed)))
    for signature, judged in rows_by_signature(match_table(plan, case.table, observed=observed)).items():
        assert rows[signature]["open"] >= judged["open"]
        assert (rows[signature]["open_until"] or 0) >= (judged["open_until"] or 0)
        if sum(map(len, signature)) == 1:
            assert rows[signature]["open_until"] == judged["open_until"]


def test_no_row_that_the_judge_calls_open_is_called_closed() -> None:
    check(negation_cases() | kleene_cases(), is_open_wherever_the_judge_says_so, EXAMPLES)


LOG = (
    '{"event_type":"Started","time":"2026-06-14T05:02:00.000Z","id":"i2"}\n'
    '{"event_type":"Started","time":"2026-06-14T05:17:04.859Z","id":"i3"}\n'
    '{"event_type":"Tick","time":"2026-06-14T05:20:00.000Z","id":"i9"}\n'
)
QUERY = "PATTERN SEQ(Started a, !Recovered r) WHERE [id] WITHIN 10 min RETURN a.id"


def test_the_summary_counts_open_rows_and_every_form_of_rows_says_which(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(LOG)
    matches = cepctl.match(QUERY, tmp_path / "x.jsonl", time="ticks")
    assert [(row["a.id"], row["open"], row["open_until"]) for row in matches] == [
        ("i2", False, None),
        ("i3", True, 1_781_414_824_858),
    ]
    assert "1 open where the events end (--closed leaves them out)" in str(matches.summary)
    closed = cepctl.match(QUERY, tmp_path / "x.jsonl", closed=True)
    assert [row["a.id"] for row in closed] == ["i2"]
    keyed = cepctl.match(f"{QUERY.partition(' RETURN')[0]} GROUP BY a.id", tmp_path / "x.jsonl", closed=True)
    assert [row["a.id"] for row in keyed] == ["i2"]


@pytest.mark.parametrize("observed", ['until = "2026-06-14T05:12:00Z"', 'grace = "1 min"'])
def test_a_model_says_until_when_events_tell_what_happened(observed: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(LOG)
    (tmp_path / "end.toml").write_text(f"observed = {{ {observed} }}\n")
    cepctl.ingest(tmp_path / "x.jsonl", tmp_path / "events", uncertainty=tmp_path / "end.toml")
    asked = "PATTERN SEQ(Started a, !Recovered r, Tick b) RETURN a.id"
    for rows in (
        cepctl.match(asked, tmp_path / "events", time="ticks"),
        cepctl.match(asked, tmp_path / "x.jsonl", time="ticks", uncertainty=tmp_path / "end.toml"),
    ):
        assert [(row["open"], row["open_until"]) for row in rows] == [(True, 1_781_414_399_999)] * 2
    assert "open" not in next(iter(cepctl.match(asked, tmp_path / "x.jsonl")))
    rows = cepctl.match(QUERY, tmp_path / "events")
    assert {row["a.id"]: row["open"] for row in rows} == {"i2": False, "i3": True}


@pytest.mark.parametrize(
    ("observed", "told"),
    [
        ('{ until = "yesterday" }', "no time with a zone"),
        ('{ until = "2026-06-14T05:12:00" }', "no time with a zone"),
        ('{ grace = "-1 s" }', "negative"),
        ('{ grace = "1 s", until = "2026-06-14T05:12:00Z" }', "until or grace"),
        ("3", "until or grace"),
    ],
)
def test_what_no_end_of_events_says_is_named(observed: str, told: str) -> None:
    with pytest.raises(UncertaintyModelError, match=told):
        parse_model(f"observed = {observed}")


def test_a_group_in_order_beside_a_set_may_go_on_after_the_end() -> None:
    """Its run is bound one event after the other, and shown by its groups."""
    events = table(("A", 0, 0), ("B", 1, 1), ("B", 2, 2), ("C", 4, 4))
    query = "PATTERN SEQ(A a, B+ b[], C+ c[]) WHERE c[i].v <= c[i-1].v WITHIN 9 ticks"
    events = events.append_column("v", pa.array([1] * 4))
    asked = f"{query} STRATEGY skip_till_next_match"
    plan = analyze(parse(asked), EventSchema({"v": pa.int64()}, MILLISECOND))
    (row,) = match_events(plan, events, MatchOptions(observed=4)).to_pylist()
    assert (row["open"], row["open_until"]) == (True, 8)
