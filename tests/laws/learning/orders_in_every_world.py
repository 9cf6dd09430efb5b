"""ln P of the true ticks of keys under a law, by every world and every order: an oracle that shares no code.

A world's weight is the mean over the orders that agree with its ticks of the product of the factors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, permutations, product
from typing import NamedTuple


class Told(NamedTuple):
    """An event: step, first and last tick, and the true one."""

    step: str
    lower: int
    upper: int
    tick: int


Factors = Mapping[tuple[str, str, str], float]
"""("next" or "before", step, other step) -> factor; 1 where it is missing."""


def log_likelihood(key: Sequence[Told], factors: Factors) -> float:
    """Ln of the weight of the true world over the mean weight of all worlds."""
    worlds = [_weight(key, ticks, factors) for ticks in product(*(range(e.lower, e.upper + 1) for e in key))]
    return math.log(_weight(key, [e.tick for e in key], factors) / (math.fsum(worlds) / len(worlds)))


def earlier(key: Sequence[Told], one: int, other: int, factors: Factors) -> float:
    """The probability that one event's tick is before another's."""
    above = below = 0.0
    for ticks in product(*(range(e.lower, e.upper + 1) for e in key)):
        weight = _weight(key, ticks, factors)
        below += weight
        above += weight * (ticks[one] < ticks[other])
    return above / below


def _weight(key: Sequence[Told], ticks: Sequence[int], factors: Factors) -> float:
    orders = list(_orders(ticks))
    return math.fsum(_of_order(key, order, factors) for order in orders) / len(orders)


def _orders(ticks: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for order in permutations(range(len(ticks))):
        if all(ticks[i] <= ticks[j] for i, j in pairwise(order)):
            yield order


def _of_order(key: Sequence[Told], order: Sequence[int], factors: Factors) -> float:
    steps = ["^", *(key[i].step for i in order), "$"]
    weight = math.prod(factors.get(("next", x, y), 1.0) for x, y in pairwise(steps))
    for place, i in enumerate(order):
        for j in order[place + 1 :]:
            factor = factors.get(("before", key[i].step, key[j].step), 1.0)
            weight *= factor ** (1.0 / _habit(key, i, j))
    return weight


def _habit(key: Sequence[Told], i: int, j: int) -> int:
    def sharing(one: int, step: str) -> int:
        return sum(e.step == step and e.lower <= key[one].upper and key[one].lower <= e.upper for e in key)

    return max(sharing(i, key[j].step), sharing(j, key[i].step), 1)
