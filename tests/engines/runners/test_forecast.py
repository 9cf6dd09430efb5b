"""A forecast is of the order of magnitude of what then happens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cepctl
from cepctl.engines.event.match import match_batches
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.runners import forecast as forecasts
from cepctl.engines.runners.forecast import forecast
from cepctl.language.parser import parse
from cepctl.library.events import paths_of
from cepctl.matching.inputs import EventInputs, open_events
from cepctl.plan.analyze import analyze
from cepctl.plan.plan import Plan

EVENTS = 3_000


def events() -> pa.Table:
    """Events of three types and 20 keys; twice as many in the second half of the time as in the first."""
    random = np.random.default_rng(7)
    times = np.sort(
        np.concatenate(
            [random.integers(0, 250_000, EVENTS // 3), random.integers(250_000, 500_000, EVENTS * 2 // 3)]
        )
    )
    return pa.table(
        {
            "event_type": random.choice(["A", "B", "C"], EVENTS, p=[0.45, 0.45, 0.1]),
            "lower": times,
            "upper": times + random.integers(0, 50, EVENTS),
            "k": random.integers(0, 20, EVENTS),
        }
    )


EVENT_TABLE = events()
QUERIES = {
    "window": "PATTERN SEQ(A a, B b) WITHIN 2000 ticks",
    "three": "PATTERN SEQ(A a, B b, A c) WITHIN 1000 ticks",
    "key without window": "PATTERN SEQ(C a, C b) WHERE [k]",
    "negation": "PATTERN SEQ(A a, !C x, B b) WHERE [k] WITHIN 20000 ticks",
    "next match": "PATTERN SEQ(A a, B b) WHERE [k] STRATEGY skip_till_next_match WITHIN 20000 ticks",
    "OR": "PATTERN OR(SEQ(A a, B b), SEQ(C c, B d)) WITHIN 1000 ticks",
    "Kleene": "PATTERN SEQ(C a, B+ b[], C c) WHERE [k] WITHIN 20000 ticks",
    "nothing": "PATTERN SEQ(A a, B b) WHERE a.k > 100 WITHIN 2000 ticks",
}


@pytest.mark.parametrize("name", QUERIES)
def test_the_number_of_matches_is_forecast_to_a_factor_of_three(name: str) -> None:
    figures = cepctl.explain(QUERIES[name], EVENT_TABLE).to_json()["forecast"]
    found = len(cepctl.match(QUERIES[name], EVENT_TABLE))
    assert found / 3 <= figures["matches"] <= found * 3
    assert figures["tried"] <= EVENTS / 4


@contextmanager
def opened() -> Iterator[tuple[Plan, EventInputs]]:
    """The plan of the first query, and the events."""
    with ExitStack() as stack:
        inputs = stack.enter_context(open_events(paths_of(EVENT_TABLE, stack), None))
        yield analyze(parse(QUERIES["window"]), inputs.schema), inputs


class _Clock:
    """A clock that goes on with the work alone: a second for each match that is found."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds

    def match_batches(self, *arguments: Any) -> Iterator[pa.RecordBatch]:
        for batch in match_batches(*arguments):
            self.seconds += batch.num_rows
            yield batch


def test_the_time_is_forecast_by_the_pace_of_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = _Clock()
    monkeypatch.setattr(forecasts, "match_batches", clock.match_batches)
    monkeypatch.setattr(forecasts, "usable_cores", lambda: 2)
    monkeypatch.setattr(forecasts, "_ENOUGH_SECONDS", float("inf"))
    with opened() as (plan, inputs):
        told = forecast(plan, inputs.sources(plan.attributes), MatchOptions(), clock)
    found = len(cepctl.match(QUERIES["window"], EVENT_TABLE))
    assert told is not None
    assert found / 2 / 3 <= told.seconds <= found / 2 * 3


def _compiling_first(
    clock: _Clock, compiled: list[float], seconds: float, *arguments: Any
) -> Iterator[pa.RecordBatch]:
    clock.seconds += seconds
    compiled[0] += seconds
    return clock.match_batches(*arguments)


def test_kernels_that_are_compiled_meanwhile_are_not_forecast(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kernel is compiled once, however many events there are, and later runs find it."""
    told = []
    for seconds in (0.0, 60.0):
        clock, compiled = _Clock(), [0.0]
        found = partial(_compiling_first, clock, compiled, seconds)
        monkeypatch.setattr(forecasts, "match_batches", found)
        monkeypatch.setattr(forecasts, "compiling_seconds", partial(compiled.__getitem__, 0))
        with opened() as (plan, inputs):
            told.append(forecast(plan, inputs.sources(plan.attributes), MatchOptions(), clock))
    assert told[0] == told[1]
    assert told[0] is not None and told[0].seconds > 0


def test_a_trial_that_has_lasted_enough_stops_and_still_speaks_of_all() -> None:
    seconds = iter(range(10**6))
    with opened() as (plan, inputs):
        told = forecast(plan, inputs.sources(plan.attributes), MatchOptions(), lambda: next(seconds))
    assert told is not None
    assert told.beginning == pytest.approx(0.45 * EVENTS, rel=0.5)


def test_a_trial_that_finds_too_much_says_so() -> None:
    told = str(cepctl.explain("PATTERN SEQ(A a, B+ b[], A c) WITHIN 60000 ticks", EVENT_TABLE))
    assert "Forecast    a trial with few events was refused: " in told


def test_without_a_window_more_events_than_a_trial_may_read_are_not_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(forecasts, "MOST_READ", 100)
    told = str(cepctl.explain(QUERIES["key without window"], EVENT_TABLE))
    assert "Forecast    none: without WITHIN a trial would read all events, more than 100" in told
