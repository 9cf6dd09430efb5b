"""The worked numbers tell an engine with one fault planted from the right one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cepctl.engines.columns import endpoints
from cepctl.engines.confidence.coupled.problem import Part, present
from cepctl.engines.confidence.intervals import conditions, edges, rows, sums
from cepctl.engines.confidence.intervals.conditions import Edge
from cepctl.engines.event.match import match_events
from cepctl.numeric.arrays import Indexes, Reals, Ticks
from cepctl.plan import relations
from cepctl.plan.plan import Alternative
from tests.engines.confidence.intervals.worked_intervals import CASES, Row
from tests.plans import Event, event_table, plan_of

in_reach = edges.reached


def is_right(query: str, events: tuple[Event, ...], row: Row | None) -> bool:
    found = match_events(plan_of(f"PATTERN {query}", lasting=True), event_table(events)).to_pylist()
    expected = [] if row is None else [(row.start, row.end, float(row.confidence))]
    return [(each["start"], each["end"], round(each["confidence"], 12)) for each in found] == [
        (start, end, round(confidence, 12)) for start, end, confidence in expected
    ]


def _ends_before_its_start(*arguments: Any) -> Any:
    endpoints, *others = arguments
    return in_reach(replace(endpoints, shortest=np.full_like(endpoints.shortest, -100)), *others)


def _equal_ticks_are_in_order(problem: Indexes, left: Indexes, right: Indexes, bound: Ticks) -> Part:
    return present(problem, left, right, bound + (bound == -1))


def _all_stamps_agree(*arguments: Any) -> Reals:
    return np.ones(len(arguments[1]))


def _window_of_starts(alternative: Alternative, window: int | None) -> Iterator[Edge]:
    for i, j in ((0, 1), (1, 0)) if window is not None else ():
        yield (2 * i, 2 * j, (window or 0) - 1)


def _without_the_third_sign() -> dict[Any, Any]:
    return {name: (starts, ends, None) for name, (starts, ends, _) in relations._SIGNS.items()}


FAULTS: dict[str, tuple[Any, str, Callable[..., Any] | dict[Any, Any]]] = {
    "an event may end before its start": (rows, "reached", _ends_before_its_start),
    "equal ticks are strictly in order": (sums, "present", _equal_ticks_are_in_order),
    "worlds that contradict a length still count": (endpoints, "agreeing", _all_stamps_agree),
    "the window counts starts alone": (conditions, "_window", _window_of_starts),
    "meets, overlaps and before are one": (relations, "_SIGNS", _without_the_third_sign()),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, spoiled = FAULTS[fault]
    monkeypatch.setattr(module, name, spoiled)
    assert not all(is_right(*case) for case in CASES)
