"""Agreement with the judge fails on an engine with one fault planted where it applies what is given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cepctl.engines.confidence.coupled.problem import Clauses, clauses_of
from cepctl.engines.confidence.given import groups, known
from cepctl.engines.confidence.given.components import Sections
from cepctl.engines.confidence.given.groups import GroupComponents
from cepctl.engines.confidence.given.series import series_of
from cepctl.engines.confidence.occurrence import rows
from cepctl.engines.confidence.occurrence.occurrence import Weighted
from tests.engines.confidence.given.given_cases import agrees
from tests.engines.confidence.occurrence.test_group_mutants import kept_clauses
from tests.plans import Event
from tests.strategies import Case

TWO_TASKS = (
    Event("s1", "A", 1, 4, k="p"),
    Event("f1", "B", 2, 7, k="p"),
    Event("s2", "A", 6, 8, k="q"),
    Event("f2", "B", 6, 9, k="q"),
    Event("x", "C", 3, 7),
    Event("y", "C", 4, 5),
)
IN_ORDER = "GIVEN SEQ(A p, B q) IF p.k = q.k"
CASES = {
    "a row": Case(f"PATTERN SEQ(A a, C c) {IN_ORDER}", TWO_TASKS),
    "a rival": Case(f"PATTERN SEQ(A a, !B n, C c) WITHIN 9 ticks {IN_ORDER}", TWO_TASKS),
    "a key": Case(f"PATTERN SEQ(A a, C c) GROUP BY a.k {IN_ORDER}", TWO_TASKS),
    "a key beside a rival": Case(
        f"PATTERN SEQ(A a, !B n, C c) WITHIN 9 ticks GROUP BY a.k {IN_ORDER}", TWO_TASKS
    ),
}


def _ones(self: GroupComponents, ties: Any, masses: Any, count: int) -> Any:
    return np.ones(count)


def _of_the_wrong_component(ties: Any, masses: Any, pieces: Any, needed: Any) -> Any:
    from cepctl.engines.confidence.given.components import piece_probability

    another = Sections.whole(ties, (pieces.component + 1) % len(ties.sizes))
    return piece_probability(ties, masses, another, needed)


def _without_weights(self: GroupComponents, ties: Any, count: int) -> Any:
    return Weighted.none(series_of(ties).laws, count)


def _forgetting_the_last(given: Any, events: Any) -> Any:
    from cepctl.engines.confidence.given.edges import differences_of

    found = differences_of(given, events)
    return found.taken(np.arange(len(found) - 1))


def _rivals_may_be_anywhere(*arguments: Any, **named: Any) -> Clauses:
    found = clauses_of(*arguments, **named)
    return kept_clauses(found, np.flatnonzero(~found.absent).tolist())


FAULTS: dict[str, tuple[object, str, Callable[..., Any], tuple[str, ...]]] = {
    "the probability of what is given is forgotten": (
        GroupComponents, "probability", _ones, ("a rival", "a key beside a rival"),
    ),
    "that of another component is taken": (
        groups, "piece_probability", _of_the_wrong_component, ("a row", "a rival", "a key"),
    ),
    "what is before and after a piece is forgotten": (
        GroupComponents, "weighted", _without_weights, ("a row", "a key"),
    ),
    "a pair of events is forgotten": (
        known, "differences_of", _forgetting_the_last, ("a row", "a rival", "a key"),
    ),
    "a tied rival may be anywhere": (rows, "clauses_of", _rivals_may_be_anywhere, ("a rival",)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_the_engine_as_it_is_agrees(case: str) -> None:
    agrees(CASES[case])


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, planted, cases = FAULTS[fault]
    monkeypatch.setattr(module, name, planted)
    for case in cases:
        with pytest.raises(AssertionError):
            agrees(CASES[case])
