"""Random queries beside interval events in all the ways in which rows are asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from hypothesis import strategies as st

from tests.engines.clock_cases import OFFSETS, ClockCase
from tests.engines.confidence.intervals.given_of_lasting import GIVENS
from tests.plans import Event, on

Case: TypeAlias = tuple[str, tuple[Event, ...]]


def in_all_ways(cases: st.SearchStrategy[Case]) -> dict[str, st.SearchStrategy[ClockCase]]:
    """The cases alone, beside GIVEN, on clocks, and by key."""
    either = cases | _beside_given(cases)
    return {
        "alone": cases.map(_without_clocks),
        "given": _beside_given(cases).map(_without_clocks),
        "on clocks": _on_clocks(cases),
        "given, on clocks": _on_clocks(_beside_given(cases)),
        "by key": _by_key(either).map(_without_clocks),
        "by key, on clocks": _on_clocks(_by_key(either)),
    }


def _without_clocks(case: Case) -> ClockCase:
    return ClockCase(*case, {})


@st.composite
def _beside_given(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> Case:
    query, events = draw(cases)
    return query + draw(GIVENS), events


@st.composite
def _on_clocks(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> ClockCase:
    """Sharp starts leave worlds for the offsets of one clock or two."""
    query, events = draw(cases)
    clocks = {name: draw(st.sampled_from(OFFSETS)) for name in "nm"[: draw(st.integers(1, 2))]}
    stamped = []
    for event in events:
        name = draw(st.sampled_from([*clocks, "n", None]))
        own = replace(event, upper=event.lower, pmf=None) if draw(st.integers(0, 2)) else event
        stamped.append(own if name is None else on(name, clocks, own))
    return ClockCase(query, tuple(stamped), clocks)


@st.composite
def _by_key(draw: st.DrawFn, cases: st.SearchStrategy[Case]) -> Case:
    query, events = draw(cases)
    pattern, *given = query.split(" GIVEN ")
    clauses = "".join(f" GIVEN {each}" for each in given)
    return f"{pattern} GROUP BY {draw(st.sampled_from(['()', 'a.k']))}{clauses}", events
