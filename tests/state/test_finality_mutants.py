"""The random deliveries notice when a rule of finality is broken; without this they would prove nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.numeric.arrays import Ticks
from cepctl.plan.plan import Plan
from cepctl.state import advancing, finality
from cepctl.state.finality import DecidingReach, clamped
from tests.engines.agreement import check
from tests.random_patterns import NEXT
from tests.state.test_equivalence import (
    Delivery,
    delayed_runs_amount_to_one,
    deliveries,
    eager_runs_sum_up_to_one,
)
from tests.strategies import Case, chain_cases, kleene_cases, negation_cases, next_match_cases

reach_of = finality.reach_of


@dataclass(frozen=True)
class Mutant:
    """A broken rule, the cases and the test that must notice it."""

    broken: str
    cases: st.SearchStrategy[Case]
    attribute: str
    replacement: Callable[..., Any]
    test: Callable[[Delivery], None] = delayed_runs_amount_to_one


def _blind_after(plan: Plan) -> DecidingReach:
    return replace(reach_of(plan), after=0)


def _blind_for_absences(plan: Plan) -> DecidingReach:
    return replace(reach_of(plan), absences=False)


@dataclass(frozen=True)
class _ShortReach(DecidingReach):
    def earliest(self, end: int) -> int:
        return clamped(DecidingReach.earliest(self, end) + 1)


def _short(plan: Plan) -> DecidingReach:
    reach = reach_of(plan)
    return _ShortReach(reach.window, reach.absences, reach.after)


def _decided_a_tick_too_far(watermark: int, reach: DecidingReach) -> int:
    return clamped(watermark + 1 - reach.after)


def _least_is_the_range_end(matches: pa.Table, events: pa.Table) -> Ticks:
    return np.asarray(matches.column("end").to_numpy())


MUTANTS = (
    Mutant("what comes after a match is ignored", negation_cases(), "reach_of", _blind_after),
    Mutant(
        "a trailing group is taken for complete at its last member",
        kleene_cases(NEXT),
        "reach_of",
        _blind_after,
    ),
    Mutant("a tick of history too little", negation_cases(), "reach_of", _short),
    Mutant("a tick of history too little for chains", chain_cases(), "reach_of", _short),
    Mutant("decided a tick too far", chain_cases(), "decided_until", _decided_a_tick_too_far),
    Mutant("ranges that may shrink are not waited for", next_match_cases(), "reach_of", _blind_for_absences),
    Mutant(
        "rivals of what may end earlier are forgotten",
        next_match_cases(),
        "least_ends",
        _least_is_the_range_end,
        eager_runs_sum_up_to_one,
    ),
)


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.broken)
def test_a_broken_rule_is_noticed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advancing, mutant.attribute, mutant.replacement)
    with pytest.raises(AssertionError):
        check(deliveries(mutant.cases), mutant.test, 3_000, shrink=False)
