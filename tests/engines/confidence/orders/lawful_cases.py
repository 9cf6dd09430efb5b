"""Random queries over events of which laws of order weigh the orders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
from hypothesis import strategies as st

from cepctl.laws.law import BEGIN, END, OrderLaw
from cepctl.plan.plan import Plan
from tests.plans import Event, event_table, plan_of
from tests.strategies import Case

FACTORS = (0.01, 0.25, 0.5, 2.0, 4.0, 9.0)


@dataclass(frozen=True)
class LawfulCase:
    """A query, its events, and the laws that they are under."""

    case: Case
    laws: tuple[OrderLaw, ...]

    @cached_property
    def table(self) -> pa.Table:
        return event_table(self.case.events)

    @property
    def plan(self) -> Plan:
        return replace(plan_of(self.case.query), laws=self.laws)


@st.composite
def laws_of_order(draw: st.DrawFn, by: str) -> OrderLaw:
    """Factors for a few steps, by type alone or with `g`."""
    step = draw(st.sampled_from((("event_type",), ("event_type", "g"))))
    types = ("A", "B", "C", "N")
    steps = types if len(step) == 1 else tuple(f"{each}+{g}" for each in types for g in ("", "u", "v"))
    named = st.sampled_from(steps)
    following = draw(
        st.dictionaries(
            st.tuples(named | st.just(BEGIN), named | st.just(END)), st.sampled_from(FACTORS), max_size=5
        )
    )
    following = {pair: factor for pair, factor in following.items() if pair != (BEGIN, END)}
    before = draw(st.dictionaries(st.tuples(named, named), st.sampled_from(FACTORS), max_size=4))
    return OrderLaw(by, step, following, before)


@st.composite
def lawful_cases(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> LawfulCase:
    """Cases whose events are in a few keys, or in none."""
    case = draw(cases)
    keys = st.sampled_from(("k1", "k1", "k1", "k2", None))
    events: list[Event] = []
    for event in case.events:
        events.append(replace(event, k=draw(keys), g=draw(st.sampled_from((None, "u", "v")))))
    return LawfulCase(replace(case, events=tuple(events)), (draw(laws_of_order("k")),))
