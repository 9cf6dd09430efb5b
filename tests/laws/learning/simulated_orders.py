"""Logs of keys whose events happened in orders that were drawn by a law."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations

import numpy as np
import pyarrow as pa

UNIT = 100
"""Events of one key share a unit of so many ticks."""


def weight(order: Sequence[str], factors: Mapping[tuple[str, str, str], float]) -> float:
    """Of an order of steps, each of which is there once."""
    following = math.prod(factors.get(("next", x, y), 1.0) for x, y in pairwise(("^", *order, "$")))
    return following * math.prod(
        factors.get(("before", x, y), 1.0) for i, x in enumerate(order) for y in order[i + 1 :]
    )


def probability_before(
    one: str, other: str, steps: str, factors: Mapping[tuple[str, str, str], float]
) -> float:
    """How often one step comes before another under these factors."""
    weights = {order: weight(order, factors) for order in permutations(steps)}
    above = math.fsum(w for order, w in weights.items() if order.index(one) < order.index(other))
    return above / math.fsum(weights.values())


def simulated(
    count: int, steps: str, factors: Mapping[tuple[str, str, str], float], seed: int = 1
) -> pa.Table:
    """A log of so many keys, each with one event of each step within a unit of ticks."""
    random = np.random.default_rng(seed)
    orders = list(permutations(steps))
    weights = np.array([weight(order, factors) for order in orders])
    drawn = random.choice(len(orders), count, p=weights / weights.sum())
    ticks = np.sort(random.permuted(np.tile(np.arange(UNIT), (count, 1)), axis=1)[:, : len(steps)], axis=1)
    ticks += UNIT * np.arange(count)[:, None]
    return pa.table(
        {
            "event_type": [step for number in drawn for step in orders[number]],
            "case": [f"case {key:04}" for key in range(count) for _ in steps],
            "lower": ticks.ravel(),
            "upper": ticks.ravel(),
        }
    )
