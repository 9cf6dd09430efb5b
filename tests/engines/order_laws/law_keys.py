"""Random keys and laws of order, small enough to enumerate, and the same as the engines take them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from cepctl.engines.columns.masses import Masses
from cepctl.engines.order_laws.keys import Factors, Keys
from cepctl.laws.law import OrderLaw
from tests.engines.order_laws.order_worlds import ROOT, Habits, Stamped

STEPS = ("A", "B", "", "C")
"""A step is null where it is empty."""


def uniform(step: str, first: int, last: int) -> Stamped:
    return Stamped(step, ((first, last, Fraction(1)),))


@st.composite
def stamped(draw: st.DrawFn, widest: int) -> Stamped:
    """An event of one to three buckets, with holes between them."""
    tick = draw(st.integers(0, 5))
    shares = draw(st.sampled_from([(1,), (1,), (1, 3), (2, 1, 1)]))
    parts, left = [], widest
    for share in shares:
        width = draw(st.integers(0, max(0, left - 1)))
        left -= width + 1
        parts.append((tick, tick + width, Fraction(share, sum(shares))))
        tick += width + 1 + draw(st.integers(0, 1))
        if left <= 0:
            break
    mass = sum(part[2] for part in parts)
    return Stamped(draw(st.sampled_from(STEPS)), tuple((lo, hi, p / mass) for lo, hi, p in parts))


@st.composite
def stamped_keys(draw: st.DrawFn, most: int = 5) -> tuple[Stamped, ...]:
    """Up to so many events, many of them alike; no more than four of one step share a tick with one."""
    count = draw(st.integers(1, most))
    events: list[Stamped] = []
    for _ in range(count):
        again = draw(st.sampled_from([False, False, True, False]))
        if events and again:
            events.append(draw(st.sampled_from(events)))
        else:
            events.append(draw(stamped(widest={1: 6, 2: 6, 3: 5, 4: 3}.get(count, 2))))
    steps = [each.step for each in events]
    events = [e for i, e in enumerate(events) if steps[:i].count(e.step) < 4]
    return tuple(draw(st.permutations(events)))


FACTORS = st.sampled_from([Fraction(4), Fraction(1, 3), Fraction(1), Fraction(7, 2)])
ROOTS = st.sampled_from([Fraction(9, 8), Fraction(4, 5), Fraction(1), Fraction(6, 5)])


@st.composite
def habits(draw: st.DrawFn) -> Habits:
    """A law of some following factors, of some of both, or of `before` alone."""
    kinds = draw(st.sampled_from(["both", "following", "before"]))
    following = st.tuples(st.sampled_from(["^", *STEPS]), st.sampled_from([*STEPS, "$"]))
    before = st.tuples(st.sampled_from(STEPS), st.sampled_from(STEPS))
    return Habits(
        draw(st.dictionaries(following, FACTORS, max_size=8)) if kinds != "before" else {},
        draw(st.dictionaries(before, ROOTS, max_size=6)) if kinds != "following" else {},
    )


def factors_of(law: Habits, steps: Sequence[str] = STEPS) -> Factors:
    """The factors as the engines take them."""
    following = {pair: float(factor) for pair, factor in law.following.items()}
    before = {pair: float(root**ROOT) for pair, root in law.before_roots.items()}
    return Factors.of_law(OrderLaw("case", following=following, before=before), steps)


def keys_of(*keys: Sequence[Stamped]) -> Keys:
    """Keys as the engines take them."""
    events = [event for key in keys for event in key]
    parts = [part for event in events for part in event.parts]
    lo, hi = (np.array([part[i] for part in parts], dtype=np.int64) for i in (0, 1))
    density = np.array([float(p / (last - first + 1)) for first, last, p in parts])
    starts = np.concatenate([[0], np.cumsum([len(event.parts) for event in events])]).astype(np.int64)
    step = np.array([STEPS.index(event.step) for event in events], dtype=np.int64)
    offsets = np.concatenate([[0], np.cumsum([len(key) for key in keys])]).astype(np.int64)
    return Keys(Masses.of_buckets(starts, lo, hi, density), offsets, step)
