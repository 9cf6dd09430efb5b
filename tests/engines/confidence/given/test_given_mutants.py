"""Agreement with the judge fails on an engine with one fault planted where it applies what is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cepctl.engines.confidence.given import confidences, groups, known, tied_problems
from cepctl.engines.confidence.given.components import Pieces
from tests.engines.confidence.given.given_cases import agrees
from tests.plans import Event
from tests.strategies import Case

TWO_TASKS = (
    Event("s1", "A", 1, 4, k="p"),
    Event("f1", "B", 2, 5, k="p"),
    Event("s2", "A", 6, 8, k="q"),
    Event("f2", "B", 6, 9, k="q"),
    Event("x", "C", 3, 7),
    Event("y", "C", 4, 5),
)
IN_ORDER = "GIVEN SEQ(A p, B q) IF p.k = q.k"
CASES = (
    Case(f"PATTERN SEQ(A a, C c) {IN_ORDER}", TWO_TASKS),
    Case(f"PATTERN SEQ(A a, !B n, C c) WITHIN 9 ticks {IN_ORDER}", TWO_TASKS),
    Case(f"PATTERN SEQ(A a, C c) GROUP BY a.k {IN_ORDER}", TWO_TASKS),
)


def _one(*_: Any) -> float:
    return 1.0


def _of_the_wrong_component(ties: Any, masses: Any, pieces: Any) -> Any:
    from cepctl.engines.confidence.given.components import piece_probability

    return piece_probability(ties, masses, Pieces.whole(ties, (pieces.component + 1) % len(ties.sizes)))


def _without_weights(ties: Any, ends: Any, **_: Any) -> Any:
    return ends


def _forgetting_the_last(given: Any, events: Any) -> Any:
    from cepctl.engines.confidence.given.edges import differences_of

    found = differences_of(given, events)
    return found.taken(np.arange(len(found) - 1))


def _rivals_may_be_anywhere(*_: Any) -> Any:
    return [[]]


FAULTS: dict[str, tuple[object, str, Callable[..., Any]]] = {
    "the probability of what is given is forgotten": (confidences, "given_probability", _one),
    "that of another component is taken": (confidences, "piece_probability", _of_the_wrong_component),
    "that of another component is taken for groups": (groups, "piece_probability", _of_the_wrong_component),
    "what is before and after a piece is forgotten": (tied_problems, "weighted_events", _without_weights),
    "what is before and after a group's piece is forgotten": (groups, "weighted_events", _without_weights),
    "a pair of events is forgotten": (known, "differences_of", _forgetting_the_last),
    "a tied rival may be anywhere": (tied_problems, "_placed", _rivals_may_be_anywhere),
}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.query)
def test_the_engine_as_it_is_agrees(case: Case) -> None:
    agrees(case)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*FAULTS[fault])
    with pytest.raises(AssertionError):
        for case in CASES:
            agrees(case)
