"""The judge of laws of order: how much a world weighs, summed over all orders that agree with its ticks.

A world weighs the product over keys of the mean weight of the orders of the key's events that agree with its
ticks: events at different ticks stand as their ticks do, events at one tick in any order.  The weight of an
order x1, ..., xn is next(^, x1) next(x1, x2) ... next(xn, $) before(xi, xj)^(1/m) for all i < j.

m is the larger of two counts: of the events of the key with xj's step that share a tick with xi, and of those
with xi's step that share a tick with xj; xj and xi themselves are always counted, so it is at least 1.  Two
events share a tick if their intervals from `lower` to `upper` overlap, whatever the masses inside them.  Of
an event that lasts its start counts.

Everything is a fraction.  A root that is none is taken to 60 digits.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import cast

import pyarrow as pa

from cepctl.engines.worlds.stream import Row, Times, Value
from cepctl.errors import EventSchemaError, QueryTooLargeError
from cepctl.laws.law import BEGIN, END, OrderLaw

MAX_ORDERS = 1_000_000
"""Orders of the events of one key that may agree with the ticks of one world."""
_DIGITS = Context(prec=60)


@dataclass(frozen=True)
class KeyUnderLaw:
    """The events of one key, by their places among the ticks of a world, and the law that they are under.

    `known`: weights by how the events' ticks are ordered, with ties.
    """

    law: OrderLaw
    events: tuple[int, ...]
    rows: tuple[Row, ...]
    known: dict[tuple[int, ...], Fraction] = field(default_factory=dict)

    def weight(self, ticks: Times) -> Fraction:
        """The mean weight of the orders that agree with these ticks."""
        own = [ticks[e] for e in self.events]
        places = sorted(set(own))
        pattern = tuple(places.index(tick) for tick in own)
        if pattern not in self.known:
            self.known[pattern] = self._mean(pattern)
        return self.known[pattern]

    def _mean(self, pattern: Sequence[int]) -> Fraction:
        tied = [[i for i, place in enumerate(pattern) if place == each] for each in range(max(pattern) + 1)]
        count = math.prod(math.factorial(len(each)) for each in tied)
        if count > MAX_ORDERS:
            raise QueryTooLargeError(
                f"{count:,} orders of the events of {self.law.by} = {self.rows[0][self.law.by]} agree with "
                f"one possible world, the worlds engine sums at most {MAX_ORDERS:,}; use --engine event, "
                "fewer events, or --no-laws"
            )
        orders = product(*(permutations(each) for each in tied))
        return (
            sum((self._of_order([i for each in order for i in each]) for order in orders), Fraction(0))
            / count
        )

    def _of_order(self, order: Sequence[int]) -> Fraction:
        steps = [BEGIN, *(step_of(self.rows[i], self.law) for i in order), END]
        found = math.prod(
            (Fraction(self.law.following.get(each, 1)) for each in pairwise(steps)), start=Fraction(1)
        )
        for place, one in enumerate(order):
            for other in order[place + 1 :]:
                found *= self._before(one, other)
        return found

    def _before(self, one: int, other: int) -> Fraction:
        steps = step_of(self.rows[one], self.law), step_of(self.rows[other], self.law)
        factor = self.law.before.get(steps)
        if factor is None:
            return Fraction(1)
        return root(factor, max(self._sharing(one, other), self._sharing(other, one)))

    def _sharing(self, one: int, other: int) -> int:
        """How many events of the step of `other` share a tick with `one`; `other` itself is counted."""
        step = step_of(self.rows[other], self.law)
        alike = (i for i, row in enumerate(self.rows) if step_of(row, self.law) == step)
        return sum(i == other or _overlap(self.rows[one], self.rows[i]) for i in alike)


def keys_under_laws(laws: Sequence[OrderLaw], rows: Sequence[Row]) -> tuple[KeyUnderLaw, ...]:
    """The keys that the events of a stream have under its laws.

    Raises
    ------
    EventSchemaError
        If an event is under two laws, or has a step that means the begin or the end of a key.
    """
    found: dict[tuple[str, Value], list[int]] = defaultdict(list)
    for e, row in enumerate(rows):
        of = [law for law in laws if row.get(law.by) is not None]
        if len(of) > 1:
            raise EventSchemaError(
                f"event '{row['event_id']}' has a {of[0].by} and a {of[1].by}, and is under the laws of "
                "order of both; leave one of the laws out"
            )
        for law in of:
            if step_of(row, law) in (BEGIN, END):
                raise EventSchemaError(
                    f"event '{row['event_id']}' has the step '{step_of(row, law)}', by which a law of order "
                    "means the begin or the end of a key; rename it, or name other attributes as step"
                )
            found[law.by, row[law.by]].append(e)
    by = {law.by: law for law in laws}
    return tuple(
        KeyUnderLaw(by[name], tuple(events), tuple(rows[e] for e in events))
        for (name, _), events in found.items()
    )


def under_the_laws_of(
    laws: Sequence[OrderLaw], rows: Sequence[Row], kept: Iterable[int], clocks: Mapping[str, object]
) -> set[int]:
    """The events `kept`, and all that a law, or a clock that stamped several keys, compares with them."""
    found, new = set[int](), set(kept)
    while new:
        found |= new
        keys = {each for e in found for each in _keys(laws, rows[e])}
        stamped = {rows[e].get("clock") for e in found} - {None} if clocks else set()
        new = {
            e
            for e, row in enumerate(rows)
            if any(each in keys for each in _keys(laws, row))
            or (row.get("clock") in stamped and any(_keys(laws, row)))
        } - found
    return found


def _keys(laws: Sequence[OrderLaw], row: Row) -> Iterator[tuple[str, Value]]:
    for law in laws:
        if row.get(law.by) is not None:
            yield law.by, row[law.by]


def step_of(row: Row, law: OrderLaw) -> str:
    """The texts of the attributes of a step, joined by `+`; a null is empty."""
    return "+".join(_text(row.get(name)) for name in law.step)


def _text(value: Value) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else cast(str, pa.scalar(value).cast(pa.string()).as_py())


def _overlap(one: Row, other: Row) -> bool:
    lower, upper = ((cast(int, one[end]), cast(int, other[end])) for end in ("lower", "upper"))
    return max(lower) <= min(upper)


def root(factor: float, m: int) -> Fraction:
    """factor^(1/m), exact where it is a fraction of few digits.

    Examples
    --------
    >>> root(4.0, 2), root(0.125, 3)
    (Fraction(2, 1), Fraction(1, 2))
    """
    exact = Fraction(factor)
    if m == 1:
        return exact
    whole = _DIGITS.divide(Decimal(exact.numerator), Decimal(exact.denominator))
    found = Fraction(_DIGITS.power(whole, _DIGITS.divide(Decimal(1), Decimal(m))))
    near = found.limit_denominator(1 << 60)
    return near if near**m == exact else found
