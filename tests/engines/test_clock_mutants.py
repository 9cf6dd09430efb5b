"""The random cases with clocks can tell the event engine from one that forgets who stamped what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from cepctl.engines.clocks import conditioned, frames
from cepctl.engines.clocks.frames import CONVOLVED, Frames
from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from tests.engines.agreement import assert_same_rows, check
from tests.engines.clock_cases import CLOCK_LEVELS, ClockCase
from tests.engines.clock_examples import CLOCKS, READINGS
from tests.plans import Event, plan_of

frames_of = frames.frames_of


@dataclass(frozen=True)
class Mutant:
    """A broken rule: the cases that must notice it, and what stands in place of what."""

    broken: str
    cases: st.SearchStrategy[ClockCase]
    owner: Any
    attribute: str
    replacement: Callable[..., Any]


def _the_reference_stays(*arguments: Any, **named: Any) -> Frames:
    found = frames_of(*arguments, **named)
    return replace(found, reference=np.full_like(found.reference, NO_CLOCK))


def _each_draws_for_itself(*arguments: Any, **named: Any) -> Frames:
    found = frames_of(*arguments, **named)
    return replace(
        found,
        level=np.full_like(found.level, CONVOLVED),
        levels=np.zeros_like(found.levels),
        reference=np.full_like(found.reference, NO_CLOCK),
    )


def exactly(query: str, *events: Event) -> st.SearchStrategy[ClockCase]:
    used = {event.clock: CLOCKS[event.clock] for event in events if event.clock is not None}
    return st.just(ClockCase(query, events, used))


MUTANTS = [
    Mutant(
        "the offset that drops out moves no range",
        CLOCK_LEVELS["chains"],
        conditioned,
        "frames_of",
        _the_reference_stays,
    ),
    Mutant(
        "an offset is drawn once more for every event",
        exactly("PATTERN SEQ(A a, B b, C c)", *READINGS),
        conditioned,
        "frames_of",
        _each_draws_for_itself,
    ),
    Mutant(
        "a rival forgets its clock",
        exactly("PATTERN SEQ(A a, !B b, C c)", *READINGS[:3]),
        conditioned,
        "frames_of",
        _each_draws_for_itself,
    ),
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.broken)
def test_a_broken_rule_is_noticed(mutant: Mutant, monkeypatch: pytest.MonkeyPatch) -> None:
    def agrees(case: ClockCase) -> None:
        plan = plan_of(case.query, case.clocks)
        assert_same_rows(match_table(plan, case.table), match_events(plan, case.table))

    monkeypatch.setattr(mutant.owner, mutant.attribute, mutant.replacement)
    with pytest.raises(AssertionError):
        check(mutant.cases, agrees, 30, shrink=False)
