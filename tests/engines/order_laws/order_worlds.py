"""A key under a law of order by enumeration, in rational arithmetic: every world, and every order of it.

Nothing here is shared with the engines.  Factors of `before` are twelfth powers, so that the m-th root of one
is rational for m up to 4.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import groupby, pairwise, permutations, product
from math import factorial, prod
from typing import TypeVar

K = TypeVar("K")

ROOT = 12
"""Of a factor of `before` it is the ROOT-th root that is stated."""


@dataclass(frozen=True)
class Stamped:
    """An event: its step, and its mass in parts (first tick, last tick, probability of the part)."""

    step: str
    parts: tuple[tuple[int, int, Fraction], ...]

    @property
    def ticks(self) -> dict[int, Fraction]:
        """The probability of each tick that it can have."""
        return {
            tick: mass / (last - first + 1)
            for first, last, mass in self.parts
            for tick in range(first, last + 1)
        }

    def shares_tick(self, other: Stamped) -> bool:
        """Whether both intervals have a tick."""
        return self.parts[0][0] <= other.parts[-1][1] and other.parts[0][0] <= self.parts[-1][1]


@dataclass(frozen=True)
class Habits:
    """A law: factors of what is next, and the roots of the factors of what comes before."""

    following: dict[tuple[str, str], Fraction] = field(default_factory=dict)
    before_roots: dict[tuple[str, str], Fraction] = field(default_factory=dict)

    def weight(self, events: tuple[Stamped, ...], order: tuple[int, ...]) -> Fraction:
        """The weight of an order of a key."""
        steps = ["^", *(events[i].step for i in order), "$"]
        next_to = prod(self.following.get(pair, Fraction(1)) for pair in pairwise(steps))
        pairs = [(order[i], order[j]) for i in range(len(order)) for j in range(i + 1, len(order))]
        return Fraction(next_to) * prod(self.pair(events, i, j) for i, j in pairs)

    def pair(self, events: tuple[Stamped, ...], i: int, j: int) -> Fraction:
        """The factor of one event before another."""
        root = self.before_roots.get((events[i].step, events[j].step), Fraction(1))
        times, rest = divmod(ROOT, sharing(events, i, j))
        assert rest == 0
        return root**times

    def certain(self, events: tuple[Stamped, ...]) -> Fraction:
        """The factors that all orders have: of pairs that share no tick, and of pairs of one step."""
        found = Fraction(1)
        for i, one in enumerate(events):
            for j, other in enumerate(events):
                ordered = not one.shares_tick(other) and one.parts[0][0] < other.parts[0][0]
                if ordered or (i < j and one.shares_tick(other) and one.step == other.step):
                    found *= self.pair(events, i, j)
        return found


def sharing(events: tuple[Stamped, ...], i: int, j: int) -> int:
    """m: by how many events of its step, that share a tick with the other one, a pair is one of several."""

    def of_step(event: Stamped, step: str) -> int:
        return sum(each.step == step and each.shares_tick(event) for each in events)

    return max(1, of_step(events[i], events[j].step), of_step(events[j], events[i].step))


def agreeing(ticks: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All orders of a world: events at one tick in any order."""
    by_tick = sorted(range(len(ticks)), key=ticks.__getitem__)
    ties = [tuple(tie) for _, tie in groupby(by_tick, ticks.__getitem__)]
    for chosen in product(*(permutations(tie) for tie in ties)):
        yield tuple(event for tie in chosen for event in tie)


@dataclass(frozen=True)
class Sums:
    """Sums over the worlds of a key: the mean weight, and of what the mean is taken under the law."""

    z: Fraction
    following: dict[tuple[str, str], Fraction]
    before: dict[tuple[str, str], Fraction]
    in_order: dict[tuple[int, int], Fraction]
    earlier: dict[tuple[int, int], Fraction]


def enumerated(events: tuple[Stamped, ...], habits: Habits) -> Sums:
    """Sum over every world of a key."""
    z = Fraction(0)
    following: dict[tuple[str, str], Fraction] = {}
    before: dict[tuple[str, str], Fraction] = {}
    in_order: dict[tuple[int, int], Fraction] = {}
    earlier: dict[tuple[int, int], Fraction] = {}

    def add(sums: dict[K, Fraction], key: K, value: Fraction) -> None:
        sums[key] = sums.get(key, Fraction(0)) + value

    weights: dict[tuple[int, ...], Fraction] = {}
    for world in product(*(each.ticks.items() for each in events)):
        ticks = tuple(tick for tick, _ in world)
        orders = list(agreeing(ticks))
        mass = prod(mass for _, mass in world) / Fraction(len(orders))
        assert len(orders) == prod(factorial(ticks.count(tick)) for tick in set(ticks))
        for order in orders:
            if order not in weights:
                weights[order] = habits.weight(events, order)
            weight = mass * weights[order]
            z += weight
            steps = ["^", *(events[i].step for i in order), "$"]
            for pair in pairwise(steps):
                add(following, pair, weight)
            for place, i in enumerate(order):
                for j in order[place + 1 :]:
                    add(in_order, (i, j), weight)
                    if ticks[i] < ticks[j]:
                        add(earlier, (i, j), weight)
                    if events[i].shares_tick(events[j]) and events[i].step != events[j].step:
                        add(before, (events[i].step, events[j].step), weight / sharing(events, i, j))

    def shares(sums: dict[K, Fraction]) -> dict[K, Fraction]:
        return {key: value / z for key, value in sums.items()}

    certain = habits.certain(events)
    return Sums(z / certain, shares(following), shares(before), shares(in_order), shares(earlier))
