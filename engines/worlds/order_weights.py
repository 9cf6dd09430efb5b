"""What the judge knows beside the masses: which worlds a clause of GIVEN leaves, what a law makes of each.

Of every combination of events that a clause of GIVEN speaks of, it is asked whether the clause holds.

Under a law of order a world weighs the product over keys of the mean weight of the orders of the key's events
that agree with its ticks: events at different ticks stand as their ticks do, events at one tick in any order.
The weight of an order x1, ..., xn is next(^, x1) next(x1, x2) ... next(xn, $) before(xi, xj)^(1/m) for all
i < j.

m is the larger of two counts: of the events of the key with xj's step that share a tick with xi, and of those
with xi's step that share a tick with xj; xj and xi themselves are always counted, so it is at least 1.  Two
events share a tick if their intervals from `lower` to `upper` overlap, whatever the masses inside them.  Of
an event that lasts its start counts.

Everything is a fraction.  A root that is none is taken to 60 digits.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import TypeAlias, cast

import pyarrow as pa

from cepctl.engines.worlds.expressions import Members, holds
from cepctl.engines.worlds.one_world import Row, Stream, Times, Value
from cepctl.errors import ContradictionError, EventSchemaError, QueryTooLargeError, UnsupportedQueryError
from cepctl.laws.law import BEGIN, END, OrderLaw
from cepctl.plan.plan import Given
from cepctl.schema import NAMES_OF_ENDS, WRITER, WRITTEN_ORDERS

MAX_COMBINATIONS = 1_000_000
Combination: TypeAlias = tuple[int, ...]
MAX_ORDERS = 1_000_000
"""Orders of the events of one key that may agree with the ticks of one world."""
_DIGITS = Context(prec=60)


@dataclass(frozen=True)
class KnownCombinations:
    """All combinations of events that the clauses speak of, each with its clause."""

    combinations: tuple[tuple[Given, Combination], ...]
    of_ends: frozenset[Combination] = frozenset()

    @classmethod
    def of(cls, given: Sequence[Given], stream: Stream) -> KnownCombinations:
        for each in given:
            _require_known(each)
        known = tuple((each, found) for each in given for found in _combinations(each, stream))
        records = (found for each, found in known if each.text in WRITTEN_ORDERS)
        of_ends = (found for found in records if re.search(NAMES_OF_ENDS, str(stream.rows[found[0]][WRITER])))
        return cls(known, frozenset(of_ends))

    def holds(self, ticks: Times) -> bool:
        """Whether a world contradicts none of them."""
        return all(
            _in_written_order(ticks, *found, of_ends=found in self.of_ends)
            if clause.text in WRITTEN_ORDERS
            else _holds(clause, [ticks[e] for e in found], [ticks.ends[e] for e in found])
            for clause, found in self.combinations
        )


def _require_known(given: Given) -> None:
    """Raise UnsupportedQueryError where a clause says more than is asked here."""
    asked = given.alternative
    if asked.timings or asked.choices or any(each.negated or each.kleene for each in asked.components):
        raise UnsupportedQueryError(f"the worlds engine does not know all of GIVEN {given.text}")


def constrained_rows(given: Sequence[Given], stream: Stream) -> set[int]:
    """The events that some clause speaks of."""
    return {e for each in given for found in _combinations(each, stream) for e in found}


def no_world_remains(given: Sequence[Given]) -> ContradictionError:
    """What is said where the clauses leave no world."""
    clauses = " and ".join(f"GIVEN {each.text}" for each in given)
    return ContradictionError(
        f"no possible world satisfies {clauses}: the intervals of some events contradict it; --engine event "
        "names them"
    )


def _holds(given: Given, starts: Sequence[int], ends: Sequence[int]) -> bool:
    ordered = len(given.alternative.blocks) > 1
    in_order = all(a < b for a, b in zip(ends, starts[1:], strict=False)) if ordered else True
    return in_order and (given.window is None or max(ends) - min(starts) < given.window)


def _in_written_order(ticks: Times, first: int, second: int, *, of_ends: bool) -> bool:
    """Records are written as things begin, whenever these end; or as they end."""
    return ticks.ends[first] < ticks.ends[second] if of_ends else ticks[first] < ticks[second]


def _combinations(given: Given, stream: Stream) -> Iterator[Combination]:
    components = given.alternative.components
    for number, found in enumerate(permutations(range(len(stream)), len(components))):
        if number >= MAX_COMBINATIONS:
            raise QueryTooLargeError(
                f"GIVEN {given.text} has more than {MAX_COMBINATIONS:,} combinations of events to try in the "
                "worlds engine; use --engine event or fewer events"
            )
        if _fits(given, stream, found):
            yield found


def _fits(given: Given, stream: Stream, found: Combination) -> bool:
    components = given.alternative.components
    rows = [stream.rows[e] for e in found]
    if any(
        each.event_types and row["event_type"] not in each.event_types
        for each, row in zip(components, rows, strict=True)
    ):
        return False
    members: Members = {each.variable: (row,) for each, row in zip(components, rows, strict=True)}
    conditions = [condition for each in components for condition in each.filters]
    conditions += [link.expression for link in given.alternative.links]
    return all(holds(condition, members) for condition in conditions)


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
