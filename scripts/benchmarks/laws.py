"""Keys under a law of order: all pairs of many events of one day, long keys with few alive; and rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
from measuring import timed
from results import Goal, Row, Setup, check_close, check_equal

from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.orders.asked import LawRows
from cepctl.engines.confidence.orders.key_orders import key_orders
from cepctl.engines.confidence.orders.under_laws import LawfulOrders
from cepctl.engines.kernels.stages import only
from cepctl.engines.order_laws.keys import Factors, Keys
from cepctl.engines.order_laws.table import LawAnswers, measure_keys
from cepctl.laws.choices import MOST_SETS_ALIVE
from cepctl.laws.law import OrderLaw

SEED = 20
DAY = 86_400
LARGE = (
    # events of one day, milliseconds of processor time that are aimed at
    (12, 20.0),
    (16, 1_000.0),
)


def laws(setup: Setup) -> Iterator[Row]:
    """Every pair of a key under a law that has a factor for everything; compiling is not part of it."""
    with only("compiled"):
        yield from _rows(setup)


def _rows(setup: Setup) -> Iterator[Row]:
    for count, most in LARGE:
        step = np.arange(count)
        keys = _keys(np.zeros(count, dtype=np.int64), DAY, np.array([0, count]), step)
        yield _pairs(setup, f"{count} events of one day, 2^{count} sets", keys, count, most)
    steps = np.random.default_rng(SEED).integers(0, 20, 40)
    keys = _keys(np.arange(40) * 10, 40, np.array([0, 40]), steps)
    yield _pairs(setup, "40 events, 4 alive", keys, 20, 2.0)
    staggered = _keys(np.arange(12) * 1_000, 60_000, np.array([0, 12]), np.arange(12))
    yield _pairs(setup, "12 events, one a second, each of a minute", staggered, 12, 150.0)
    yield _expected(setup)
    for width in (50, 50_000):
        for window in (None, width // 2):
            yield _single_rows(setup, width, window)


def _keys(lower: np.ndarray, ticks: int, starts: np.ndarray, step: np.ndarray) -> Keys:
    """Uniform events of so many ticks each."""
    upper = lower + ticks - 1
    density = np.full(len(lower), 1 / ticks)
    return Keys(Masses(lower, upper, np.arange(len(lower) + 1), lower, upper, density), starts, step)


def _law(steps: int) -> Factors:
    random = np.random.default_rng(SEED)
    return Factors(
        np.exp(random.normal(size=(steps + 1, steps + 1))), np.exp(random.normal(size=(steps, steps)))
    )


def _pairs(setup: Setup, case: str, keys: Keys, steps: int, most: float) -> Row:
    factors = _law(steps)
    timing, found = timed(setup, lambda: measure_keys(keys, factors, pairs=True))
    assert found.pairs is not None
    _check_steps(keys, factors)
    plain = measure_keys(
        keys, Factors(np.ones_like(factors.following), np.ones_like(factors.before)), pairs=True
    )
    assert plain.pairs is not None
    for value in plain.pairs.in_order[plain.pairs.first == 0]:
        if keys.masses.lower[0] == keys.masses.lower[-1]:
            check_close("order without a law", value, 0.5)
    return Row(
        f"all pairs of {case}", timing, len(found.pairs.first), "pairs", ratio=timing.cpu_seconds * 1e3,
        against="milliseconds of processor time", goal=Goal("at most", most), checked="steps expected",
    )  # fmt: skip


def _expected(setup: Setup) -> Row:
    """What a fit asks for in each of its steps."""
    count = 200 if setup.quick else 2_000
    random = np.random.default_rng(SEED)
    keys = _keys(
        np.tile(np.arange(20) * 10, count),
        40,
        np.arange(0, 20 * count + 1, 20),
        random.integers(0, 20, 20 * count),
    )
    factors = _law(20)
    timing, found = timed(setup, lambda: measure_keys(keys, factors, expected=True))
    check_equal("keys measured", int(np.isfinite(found.log_z).sum()), count)
    _check_steps(keys, factors)
    return Row(
        "ln Z and its gradient, keys of 20 events, 4 alive", timing, count, "keys",
        ratio=timing.cpu_seconds * 1e3 / count, against="milliseconds of processor time for each key",
        checked="steps expected",
    )  # fmt: skip


def _single_rows(setup: Setup, width: int, window: int | None) -> Row:
    """Whether the first event of a key is before the second: no key has the steps of another in its order."""
    count = 100 if setup.quick else 400
    random = np.random.default_rng(SEED)
    step = random.permuted(np.tile(np.arange(8), (count, 1)), axis=1).reshape(-1)
    starts = np.arange(0, 8 * count + 1, 8)
    keys = _keys(np.repeat(np.arange(count) * 2 * width, 8), width, starts, step)
    steps = [f"s{i}" for i in range(8)]
    law = OrderLaw("key", ("step",), _drawn(random, steps), _drawn(random, steps))
    frame = pl.DataFrame({"event_id": np.arange(8 * count), "key": keys.key, "step": np.array(steps)[step]})
    rows = LawRows.plain(np.column_stack([starts[:-1], starts[:-1] + 1]))

    def measured() -> np.ndarray:
        orders = key_orders((law,), frame, keys.masses)
        assert orders is not None
        return LawfulOrders(orders, MOST_SETS_ALIVE, "refuse").probabilities(rows, window)

    timing, found = timed(setup, measured)
    pairs = measure_keys(keys, Factors.of_law(law, steps), pairs=True).pairs
    assert pairs is not None
    one = (pairs.first % 8 == 0) & (pairs.second % 8 == 1)
    other = (pairs.first % 8 == 1) & (pairs.second % 8 == 0)
    apart = np.concatenate([pairs.earlier[one], pairs.later[other]])
    whole = apart[np.argsort(np.concatenate([pairs.first[one], pairs.second[other]]))]
    for value, most in zip(found, whole, strict=True):
        if window is None:
            check_close("order of two events of a key", value, most, relative=1e-9)
        else:
            check_equal("a window leaves less", bool(0 < value < most), True)
    return Row(
        f"rows of keys with 8 alive, {width:,} ticks wide{'' if window is None else ', WITHIN half of that'}",
        timing, count, "rows", ratio=timing.cpu_seconds * 1e6 / count,
        against="microseconds of processor time for each row",
        goal=None if window else Goal("at most", 1_000.0), checked="orders of all pairs",
    )  # fmt: skip


def _drawn(random: np.random.Generator, steps: list[str]) -> dict[tuple[str, str], float]:
    return {(one, other): float(np.exp(random.normal())) for one in steps for other in steps}


def _check_steps(keys: Keys, factors: Factors) -> None:
    """Each event comes once after something, and once before something."""
    measured: LawAnswers = measure_keys(keys, factors, expected=True)
    assert measured.following is not None
    occurs = np.bincount(keys.step, minlength=factors.steps)
    for axis in (0, 1):
        sums = measured.following[0].sum(axis=axis)
        for step, times in enumerate([*occurs, keys.count]):
            check_close("steps expected", float(sums[step]), float(times), relative=1e-9)
