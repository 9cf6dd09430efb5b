"""Confidence of chains with negations on wide intervals, against exact polynomials.

Every rival has the type N, and is absent from each gap where the pattern says !N: one rival in
several gaps is one event, absent from their union.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

import pytest
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from cepctl.engines.worlds.engine import match_table
from tests.engines.agreement import FEW_EXAMPLES, Engine, check
from tests.engines.confidence.test_wide_chains import wide_masses
from tests.engines.exact_chain import Mass, chain_confidence_with_absences
from tests.plans import Event, event_table, plan_of

CONFIDENCE_ERROR = 1e-9
MILLION = 10**6
WIDE = (1, 10, 1_000, MILLION)
Negated: TypeAlias = tuple[list[Mass], int | None, list[Mass], list[int]]
"""Masses of the chain, window, masses of the rivals, and the positions after which !N stands."""


def event(event_id: str, event_type: str, mass: Mass) -> Event:
    pmf = tuple((lo, hi, float(p)) for lo, hi, p in mass)
    return Event(event_id, event_type, mass[0][0], mass[-1][1], pmf)


def confidence(engine: Engine, case: Negated) -> float:
    """Confidence of SEQ(A a, !N n1, B b, ...) over these events; 0 when there is no match."""
    chain, window, rivals, gaps = case
    types = "ABCDEFGH"[: len(chain)]
    parts = ["!N n"] if -1 in gaps else []
    for place, name in enumerate(types):
        parts += [f"{name} {name.lower()}", *([f"!N n{place}"] if place in gaps else [])]
    within = "" if window is None else f" WITHIN {window} ticks"
    events = [event(name.lower(), name, mass) for name, mass in zip(types, chain, strict=True)]
    events += [event(f"n{i}", "N", mass) for i, mass in enumerate(rivals)]
    plan = plan_of(f"PATTERN SEQ({', '.join(parts)}){within}")
    rows = engine(plan, event_table(events)).to_pylist()
    return float(rows[0]["confidence"]) if rows else 0.0


def agrees(engine: Engine, case: Negated) -> None:
    chain, window, rivals, gaps = case
    absences = [(rival, gap, gap + 1) for rival in rivals for gap in gaps]
    exact = chain_confidence_with_absences(chain, window, absences)
    measured = confidence(engine, case)
    assert (measured > 0) == (exact > 0)
    assert math.isclose(measured, exact, rel_tol=0, abs_tol=CONFIDENCE_ERROR), (measured, float(exact))


@st.composite
def negated_chains(draw: st.DrawFn, scales: tuple[int, ...]) -> Negated:
    """Up to three events and two rivals; negations inside, and at the edges where there is a window."""
    chain = draw(st.lists(wide_masses(scales), min_size=1, max_size=3))
    window = draw(st.none() | st.integers(1, 20) | st.integers(1, 4 * MILLION))
    gaps = [g for g in range(-1, len(chain)) if window is not None or 0 <= g < len(chain) - 1]
    chosen = draw(st.lists(st.sampled_from(gaps), max_size=2, unique=True)) if gaps else []
    return chain, window, draw(st.lists(wide_masses(scales), max_size=2)), chosen


def test_the_judge_on_narrow_chains() -> None:
    check(negated_chains((1,)), lambda case: agrees(match_table, case), FEW_EXAMPLES)


def test_random_negated_chains() -> None:
    check(negated_chains(WIDE), lambda case: agrees(match_events, case), FEW_EXAMPLES)


@pytest.mark.parametrize("gaps", [[0], [1], [0, 1], [-1], [2], [-1, 2]])
def test_coinciding_intervals_of_a_million_ticks(gaps: list[int]) -> None:
    wide: Mass = [(0, MILLION, Fraction(1))]
    agrees(
        match_events,
        ([wide] * 3, 3 * MILLION // 4, [wide, [(MILLION // 3, MILLION // 2, Fraction(1))]], gaps),
    )
