"""Which worlds what is given leaves: of every combination of events that a clause speaks of it is asked."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TypeAlias

from cepctl.engines.worlds.expressions import Members, holds
from cepctl.engines.worlds.stream import Stream, Times
from cepctl.errors import ContradictionError, QueryTooLargeError, UnsupportedQueryError
from cepctl.plan.plan import Given
from cepctl.schema import NAMES_OF_ENDS, WRITER, WRITTEN_ORDERS

MAX_COMBINATIONS = 1_000_000

Combination: TypeAlias = tuple[int, ...]


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
