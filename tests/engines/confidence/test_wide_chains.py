"""Confidence of chains whose intervals are far too wide to enumerate, against exact polynomials."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import strategies as st

from cepctl.engines.event.match import match_events
from tests.engines.agreement import EXAMPLES, MANY_EXAMPLES, check
from tests.engines.exact_chain import Mass, chain_confidence
from tests.plans import Event, event_table, plan_of

RELATIVE_ERROR = 1e-9
BILLION = 10**9


def event_engine_confidence(masses: list[Mass], window: int | None) -> float:
    """Confidence of SEQ over events of types A, B, ... with these masses; 0 when there is no match."""
    types = "ABCDEFGH"[: len(masses)]
    query = f"PATTERN SEQ({', '.join(f'{t} {t.lower()}' for t in types)})"
    within = "" if window is None else f" WITHIN {window} ticks"
    events = [
        Event(t.lower(), t, mass[0][0], mass[-1][1], tuple((lo, hi, float(p)) for lo, hi, p in mass))
        for t, mass in zip(types, masses, strict=True)
    ]
    rows = match_events(plan_of(query + within), event_table(events)).to_pylist()
    assert len(rows) <= 1
    return float(rows[0]["confidence"]) if rows else 0.0


def agrees(chain: tuple[list[Mass], int | None]) -> None:
    exact = chain_confidence(*chain)
    measured = event_engine_confidence(*chain)
    assert (measured > 0) == (exact > 0)
    assert math.isclose(measured, exact, rel_tol=RELATIVE_ERROR, abs_tol=5e-324), (measured, float(exact))


@st.composite
def wide_masses(draw: st.DrawFn, scales: tuple[int, ...] = (1, 10, 1_000, BILLION)) -> Mass:
    """Uniform or up to three buckets; probabilities are sums of powers of two, exact as floats."""
    scale = draw(st.sampled_from(scales))
    lo = draw(st.integers(-3, 3)) * scale // 2 + draw(st.integers(-2, 2))
    shares = draw(st.sampled_from([(1.0,), (1.0,), (0.25, 0.75), (0.5, 0.25, 0.25)]))
    buckets = []
    for share in shares:
        hi = lo + draw(st.integers(0, 2)) * scale + draw(st.integers(0, 3))
        buckets.append((lo, hi, Fraction(share)))
        lo = hi + 1 + draw(st.sampled_from([0, 0, 1, scale]))
    return buckets


@st.composite
def wide_chains(draw: st.DrawFn) -> tuple[list[Mass], int | None]:
    """Chains of up to eight events, with windows from a few ticks to billions."""
    chain = draw(st.lists(wide_masses(), min_size=1, max_size=draw(st.sampled_from([2, 3, 4, 8]))))
    window = draw(st.none() | st.integers(1, 20) | st.integers(1, 4 * BILLION))
    return chain, window


def test_random_wide_chains() -> None:
    check(wide_chains(), agrees, EXAMPLES)


@pytest.mark.slow
def test_many_random_wide_chains() -> None:
    check(wide_chains(), agrees, MANY_EXAMPLES)


@pytest.mark.parametrize("window", [None, 10, 1_000_003, BILLION, 3 * BILLION])
@pytest.mark.parametrize("length", [2, 3, 5, 8])
def test_coinciding_intervals_of_a_billion_ticks(length: int, window: int | None) -> None:
    agrees(([[(0, BILLION, Fraction(1))]] * length, window))


def test_intervals_that_overlap_in_a_single_tick() -> None:
    first, second = [(0, BILLION, Fraction(1))], [(BILLION - 1, 2 * BILLION, Fraction(1))]
    agrees(([first, second, first], 10))
    agrees(([second, first], None))
