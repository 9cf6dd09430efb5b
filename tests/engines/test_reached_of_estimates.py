"""reached(c) of rows that --approximate estimates: from the samples that the confidence comes from."""

from __future__ import annotations

from typing import Any

import pytest

from cepctl.clocks.shared import Clocks
from cepctl.engines.confidence.occurrence import rows
from cepctl.engines.event.match import match_events
from cepctl.engines.event.options import MatchOptions
from tests.engines.changed_methods import refuse_clocks
from tests.plans import Event, event_table, on, plan_of

ERROR = 0.1
CLOCKS: Clocks = {"n": ((-200, 200, 1.0),)}
EVENTS = (
    Event("a", "A", 0, 300, x=1),
    Event("b", "B", 200, 900, x=1),
    Event("c", "C", 250, 800, x=2),
    Event("n", "N", 100, 1000, x=3),
)
STAMPED = tuple(on("n", CLOCKS, each) if each.event_id in "ac" else each for each in EVENTS)


def row_of(
    query: str, events: tuple[Event, ...], clocks: Clocks | None, error: float | None
) -> dict[str, Any]:
    options = MatchOptions(approximate=error)
    rows: list[dict[str, Any]] = match_events(
        plan_of(query, clocks), event_table(events), options
    ).to_pylist()
    assert len(rows) == 1
    return rows[0]


@pytest.mark.parametrize(
    ("pattern", "events", "clocks", "given"),
    [
        ("SEQ(A a, AND(B b, C c))", EVENTS, None, ""),
        ("SEQ(A a, AND(B b, C c), !N n) WITHIN 700 ticks", EVENTS, None, ""),
        ("OR(SEQ(A a, AND(B b, C c)), SEQ(A x, B y, C z, !N n)) WITHIN 700 ticks", EVENTS, None, ""),
        ("SEQ(A a, AND(B b, C c))", STAMPED, CLOCKS, ""),
        ("SEQ(A a, AND(B b, C c))", EVENTS, None, "GIVEN SEQ(B p, N q) IF p.x < q.x"),
    ],
)
def test_the_tick_is_as_near_as_the_error_says(
    pattern: str,
    events: tuple[Event, ...],
    clocks: Clocks | None,
    given: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    query = f"PATTERN {pattern} RETURN reached({{}}), reached({{}}), reached({{}}) {given}"
    whole = row_of(f"PATTERN {pattern} {given}", events, clocks, None)["confidence"]
    share = round(whole / 2, 3)
    shares = round(share - ERROR, 3), share, round(share + ERROR, 3)
    exact = list(row_of(query.format(*shares), events, clocks, None).values())[4:7]
    refuse_clocks(monkeypatch)
    monkeypatch.setattr("cepctl.engines.confidence.given.work.MOST_TIED", 0)
    monkeypatch.setattr("cepctl.engines.confidence.given.counted.MOST_COUNTED", 0)
    monkeypatch.setattr(rows, "WORK_BOUND", 1)
    row = row_of(query.format(*shares), events, clocks, ERROR)
    assert row["confidence_error"] == ERROR
    assert exact[0] <= row[f"reached({share})"] <= exact[2]
    assert exact[0] < exact[2]


def test_no_tick_is_enough_for_more_than_the_estimate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "WORK_BOUND", 1)
    row = row_of("PATTERN SEQ(A a, AND(B b, C c)) RETURN reached(1)", EVENTS, None, ERROR)
    assert row["reached(1)"] is None
