"""Chains on tied clocks of wide offsets, against sums over every tick of these."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepctl.clocks.shared import Offset
from cepctl.clocks.ties import Clocks, ClockTie, tied
from cepctl.engines.columns.events import events_of
from cepctl.engines.confidence.clocks.chain_weights import AFTER, BEFORE, ChainWeights, weights_at
from cepctl.engines.event.match import match_events
from tests.plans import Event, event_table, on, plan_of


def ticks_of(offset: Offset) -> list[tuple[int, Fraction]]:
    return [(tick, Fraction(p) / (hi - lo + 1)) for lo, hi, p in offset for tick in range(lo, hi + 1)]


def by_every_tick(
    clocks: Clocks, ties: list[ClockTie], own: list[tuple[int, str]], window: int
) -> list[float]:
    """The probability that ticks and the offsets of their clocks add up to rising ones; none if it is 0."""
    each = [ticks_of(offset) for offset in clocks.values()]
    grid = dict(zip(clocks, np.meshgrid(*([tick for tick, _ in some] for some in each)), strict=True))
    weight = np.prod(np.meshgrid(*([float(mass) for _, mass in some] for some in each)), axis=0)
    for tie in ties:
        weight = weight * (abs(grid[tie.before] - grid[tie.after]) <= tie.ticks)
    times = np.stack([tick + grid[name] for tick, name in own])
    holds = (np.diff(times, axis=0) > 0).all(axis=0) & (times[-1] - times[0] < window)
    return [float((weight * holds).sum() / weight.sum())] if holds.any() else []


def found_by_the_engine(
    clocks: Clocks, ties: list[ClockTie], own: list[tuple[int, str]], window: int
) -> list[float]:
    kinds = "ABCDE"[: len(own)]
    events = [
        on(name, clocks, Event(f"e{kind}", kind, tick, tick))
        for kind, (tick, name) in zip(kinds, own, strict=True)
    ]
    pattern = ", ".join(f"{kind} {kind.lower()}" for kind in kinds)
    plan = plan_of(f"PATTERN SEQ({pattern}) WITHIN {window} ticks", tied(clocks, ties))
    confidences: list[float] = match_events(plan, event_table(events)).column("confidence").to_pylist()
    return confidences


offsets = st.sampled_from([((-9, 9, 1.0),), ((-4, 7, 1.0),), ((-8, -1, 0.25), (0, 5, 0.75)), ((-5, 5, 1.0),)])


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_sharp_chains_are_sums_over_offsets(data: st.DataObject) -> None:
    clocks = {name: data.draw(offsets) for name in ("n#1", "n#2", "n#3")}
    clocks["m"] = ((-2, 2, 1.0),)
    ties = [
        ClockTie(before, after, data.draw(st.integers(2, 9)))
        for before, after in (("n#1", "n#2"), ("n#2", "n#3"))
    ]
    stamping = data.draw(st.permutations(["n#1", "n#2", "m", "n#3"]))[: data.draw(st.integers(2, 3))]
    own = [(2 * place, name) for place, name in enumerate(stamping)]
    window = data.draw(st.integers(3, 20))
    expected = by_every_tick(clocks, ties, own, window)
    assert found_by_the_engine(clocks, ties, own, window) == pytest.approx(expected, rel=1e-9)


few = st.sampled_from([((-5, 5, 1.0),), ((-3, 4, 1.0),), ((-4, -1, 0.25), (0, 3, 0.75))])


@settings(deadline=None, max_examples=25)
@given(st.data())
def test_sharp_chains_on_two_segments_of_each_of_two_hosts_are_sums_over_offsets(data: st.DataObject) -> None:
    names = ("m#1", "m#2", "n#1", "n#2")
    clocks = {name: data.draw(few) for name in names}
    apart = {"m": data.draw(st.integers(2, 7)), "n": data.draw(st.integers(2, 7))}
    stamping = data.draw(st.lists(st.sampled_from(names), min_size=2, max_size=5))
    ticks = np.cumsum(data.draw(st.lists(st.integers(0, 3), min_size=len(stamping), max_size=len(stamping))))
    own = list(zip(ticks.tolist(), stamping, strict=True))
    ties = [ClockTie(f"{host}#1", f"{host}#2", most) for host, most in apart.items()]
    window = data.draw(st.integers(4, 16))
    expected = by_every_tick(clocks, ties, own, window)
    assert found_by_the_engine(clocks, ties, own, window) == pytest.approx(expected, rel=1e-9)


@settings(deadline=None, max_examples=25)
@given(st.lists(offsets, min_size=2, max_size=4), st.lists(st.integers(0, 9), min_size=3, max_size=3))
def test_weights_are_the_chances_that_the_ties_of_other_clocks_hold(
    given: list[Offset], apart: list[int]
) -> None:
    names = [f"n#{number}" for number in range(len(given))]
    ties = [ClockTie(names[at], names[at + 1], apart[at] + 4) for at in range(len(given) - 1)]
    clocks = tied(dict(zip(names, given, strict=True)), ties)
    stamped = events_of(event_table([on("n#0", clocks, Event("a", "A", 0, 0))]), clocks).clocks
    assert stamped is not None
    weights = ChainWeights(stamped)
    left: dict[int, Fraction] = {tick: Fraction(1) for tick, _ in ticks_of(given[0])}
    for number in range(1, len(given)):
        before = {tick: mass * left[tick] for tick, mass in ticks_of(given[number - 1])}
        left = {
            tick: sum(
                (mass for each, mass in before.items() if abs(each - tick) <= ties[number - 1].ticks),
                Fraction(0),
            )
            for tick, _ in ticks_of(given[number])
        }
        cells = weights.cells(number, BEFORE)
        assert cells is not None
        first, last = int(stamped.offsets.lower[number]), int(stamped.offsets.upper[number])
        found = weights_at(cells, np.arange(first, last + 1))
        share = found / found.sum()
        wanted = np.array([float(left[tick]) for tick in range(first, last + 1)])
        assert share == pytest.approx(wanted / wanted.sum(), rel=1e-9)
    assert weights.cells(0, BEFORE) is None
    assert weights.cells(len(given) - 1, AFTER) is None
