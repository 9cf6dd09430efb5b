"""What fails a case: another row or number, an exception that is none of ours, a row lost by a threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cepctl.engines.event.match import match_events
from cepctl.errors import EventSchemaError
from cepctl.plan.plan import Plan
from tests.fuzzing import checks, verdicts
from tests.fuzzing.queries import Case, Group, Query
from tests.fuzzing.verdicts import verdict_on
from tests.plans import Event
from tests.random_patterns import ANY, Part

CHAIN = Group("SEQ", (Part("a", "A"), Part("b", "B")))
EVENTS = (Event("a", "A", 0, 3), Event("b", "B", 2, 5), Event("c", "B", 9, 9))
CASE = Case(Query(CHAIN, ANY), EVENTS, check="threshold", setting=0.0)


def _with_column(name: str, change: Callable[[Any], Any]) -> Callable[..., pa.Table]:
    def engine(plan: Plan, table: pa.Table, *options: Any) -> pa.Table:
        found = match_events(plan, table, *options)
        column = pa.array([change(value) for value in found.column(name).to_pylist()], found[name].type)
        return found.set_column(found.column_names.index(name), name, column)

    return engine


def _refusing(*_: Any) -> pa.Table:
    raise EventSchemaError("no")


def _broken(*_: Any) -> pa.Table:
    raise ZeroDivisionError


def _without_the_least(plan: Plan, table: pa.Table, *options: Any) -> pa.Table:
    """An engine that loses a row where there is a threshold."""
    found = match_events(plan, table, *options)
    return found if plan.minimum_confidence is None else found.filter(pc.greater(found["confidence"], 0.9))


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (_with_column("confidence", lambda value: value * 0.99), "rows: confidence"),
        (_with_column("confidence", lambda value: value * (1 - 1e-13)), "rows: not certain"),
        (_with_column("start", lambda value: value - 1), "rows: start"),
        (_with_column("signature", lambda value: value[::-1]), "rows: other rows"),
        (_refusing, "rows: EventSchemaError instead of rows"),
        (_broken, "ZeroDivisionError in"),
    ],
    ids=["confidence", "not certain", "start", "signature", "refused", "broken"],
)
def test_an_engine_that_errs_fails(
    engine: Callable[..., pa.Table], reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert verdict_on(CASE).outcome == "agreed"
    monkeypatch.setattr(verdicts, "match_events", engine)
    verdict = verdict_on(CASE)
    assert verdict.outcome == "failed"
    assert verdict.reason.startswith(reason)


def test_a_threshold_that_loses_a_row_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "match_events", _without_the_least)
    assert verdict_on(CASE).reason == "CONFIDENCE"
