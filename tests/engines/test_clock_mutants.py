"""The random cases with clocks can tell the event engine from one that forgets who stamped what."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import strategies as st

from cepctl.clocks.shared import Clocks
from cepctl.engines.columns import events
from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks, event_clocks
from cepctl.engines.confidence.clocks import chains, unions
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.occurrence.ends import ends_of
from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from cepctl.numeric.arrays import Indexes
from tests.engines.agreement import assert_same_rows, check
from tests.engines.clock_cases import CLOCK_LEVELS, ClockCase
from tests.engines.clock_examples import CLOCKS, READINGS
from tests.plans import Event, plan_of


@dataclass(frozen=True)
class Mutant:
    """A broken rule: the cases that must notice it, and what stands in place of what."""

    broken: str
    cases: st.SearchStrategy[ClockCase]
    owner: Any
    attribute: str
    replacement: Callable[..., Any]


def _range_stays(_clocks: EventClocks, _clock: Indexes, found: Measured) -> Measured:
    return found


def _own_parts_stay(clocks: EventClocks, *rest: Any) -> Any:
    return ends_of(replace(clocks, clock=np.full_like(clocks.clock, NO_CLOCK)), *rest)


def _each_draws_for_itself(table: pa.Table, clocks: Clocks) -> EventClocks | None:
    return _with_clocks_of_their_own(table, clocks, set(table.column("event_type").to_pylist()))


def _rivals_draw_for_themselves(table: pa.Table, clocks: Clocks) -> EventClocks | None:
    return _with_clocks_of_their_own(table, clocks, {"B"})


def _with_clocks_of_their_own(table: pa.Table, clocks: Clocks, types: set[str]) -> EventClocks | None:
    names, offsets = [], dict(clocks)
    for number, (name, kind) in enumerate(
        zip(*(table.column(each).to_pylist() for each in ("clock", "event_type")), strict=True)
    ):
        own = f"{name} of {number}"
        if name is not None and kind in types:
            offsets[own] = clocks[name]
        names.append(own if own in offsets else name)
    place = table.column_names.index("clock")
    return event_clocks(table.set_column(place, "clock", pa.array(names, pa.string())), offsets)


def exactly(query: str, *given: Event) -> st.SearchStrategy[ClockCase]:
    used = {event.clock: CLOCKS[event.clock] for event in given if event.clock is not None}
    return st.just(ClockCase(query, given, used))


MUTANTS = [
    Mutant(
        "the offset of a chain's one clock moves no range",
        CLOCK_LEVELS["chains"],
        chains,
        "_moved",
        _range_stays,
    ),
    Mutant(
        "no offset moves a range",
        CLOCK_LEVELS["negation"],
        unions,
        "ends_of",
        _own_parts_stay,
    ),
    Mutant(
        "an offset is drawn once more for every event",
        exactly("PATTERN SEQ(A a, B b, C c)", *READINGS),
        events,
        "event_clocks",
        _each_draws_for_itself,
    ),
    Mutant(
        "a rival forgets its clock",
        exactly("PATTERN SEQ(A a, !B b, C c)", *READINGS[:3]),
        events,
        "event_clocks",
        _rivals_draw_for_themselves,
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
