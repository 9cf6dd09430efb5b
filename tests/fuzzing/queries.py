"""A random case as a value: what can be printed as a query and events, and made smaller part by part."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TypeAlias

import pyarrow as pa

from cepctl.clocks.ties import Clocks, chains_of
from cepctl.laws.law import OrderLaw
from cepctl.plan.plan import Plan
from cepctl.schema import WRITER
from tests.plans import Event, event_table, on, plan_of
from tests.random_patterns import Part


@dataclass(frozen=True)
class Group:
    """SEQ, AND, ISEQ or OR of others, `SEQ+` of repeated components, or `!SEQ` or `!AND` of negated ones."""

    word: str
    members: tuple[Pattern, ...]

    def __str__(self) -> str:
        members = ", ".join(map(str, self.members))
        if self.word == "SEQ+":
            return f"SEQ({members})+"
        # What must not happen as a whole has one sign for all of its parts.
        return f"{self.word}({members.replace('!', '') if self.word.startswith('!') else members})"


Pattern: TypeAlias = Part | Group


@dataclass(frozen=True)
class Query:
    """One query; `conditions`, `keys` ([k, g]), `returns` and `given` in the order in which they are written.

    `group_by` is None without that clause, and () where it is of the whole input.
    """

    pattern: Pattern
    strategy: str
    conditions: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    within: int | None = None
    returns: tuple[str, ...] = ()
    group_by: tuple[str, ...] | None = None
    given: tuple[str, ...] = ()

    def __str__(self) -> str:
        asked = [*self.conditions, *([f"[{', '.join(self.keys)}]"] if self.keys else [])]
        clauses = [
            f"PATTERN {self.pattern}",
            *([f"WHERE {' AND '.join(asked)}"] if asked else []),
            f"STRATEGY {self.strategy}",
            *([f"WITHIN {self.within} ticks"] if self.within is not None else []),
            *([f"GROUP BY {', '.join(self.group_by) or '()'}"] if self.group_by is not None else []),
            *([f"RETURN {', '.join(self.returns)}"] if self.returns else []),
            *(f"GIVEN {each}" for each in self.given),
        ]
        return " ".join(clauses)

    def with_pattern(self, pattern: Pattern) -> Query:
        """The query with another pattern, without what names a variable that is gone or has changed."""
        before = {part.variable: part.kleene for part in parts_of(self.pattern)}
        after = {part.variable: part.kleene for part in parts_of(pattern)}
        gone = {name for name, kleene in before.items() if after.get(name) != kleene}

        def kept(texts: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(text for text in texts if not gone & set(re.findall(r"\w+", text)))

        return replace(
            self,
            pattern=pattern,
            conditions=kept(self.conditions),
            returns=kept(self.returns),
            group_by=None if self.group_by is None else kept(self.group_by),
        )


@dataclass(frozen=True)
class Case:
    """A query, events given as their own parts, the offsets of the clocks that stamped them, and a check.

    `laws` weigh the orders of the events of keys.  `check` is what is compared beside the rows of the judge,
    by its name in `tests.fuzzing.constructs`; `setting`, in [0, 1), says with which threshold, in which
    slices and so on.
    """

    query: Query
    events: tuple[Event, ...]
    clocks: Clocks = field(default_factory=dict)
    laws: tuple[OrderLaw, ...] = ()
    check: str = ""
    setting: float = 0.0

    @property
    def plan(self) -> Plan:
        """What is asked of the events, by the laws."""
        asked = plan_of(str(self.query), self.used_clocks, lasting=self.lasting, in_units=self.in_units)
        return replace(asked, laws=self.laws)

    @property
    def table(self) -> pa.Table:
        """The events as both engines get them."""
        return event_table(self.stamped, written=WRITER in str(self.query))

    @property
    def stamped(self) -> tuple[Event, ...]:
        """The events as a file has them: those that a clock stamped at all their possible ticks."""
        return tuple(
            event if event.clock is None else on(event.clock, self.clocks, event) for event in self.events
        )

    @property
    def used_clocks(self) -> Clocks:
        """The clocks that stamped some event, and those that are tied to them."""
        return chains_of(self.clocks, {event.clock for event in self.events if event.clock is not None})

    @property
    def in_units(self) -> bool:
        """Whether events of a writer overlap in time only where they have the same interval."""
        written = [(each.writer, each.lower, each.upper) for each in self.events if each.writer is not None]
        return bool(written) and all(
            one == other or one[0] != other[0] or one[2] < other[1] or other[2] < one[1]
            for one, other in combinations(written, 2)
        )

    @property
    def lasting(self) -> bool:
        """Whether some event has an end."""
        return any(event.end_lower is not None for event in self.events)


def parts_of(pattern: Pattern) -> list[Part]:
    """The components, in the order in which they are written."""
    if isinstance(pattern, Part):
        return [pattern]
    return [part for member in pattern.members for part in parts_of(member)]


def groups_of(pattern: Pattern) -> Iterator[Group]:
    """The pattern's groups, the outermost first."""
    if isinstance(pattern, Group):
        yield pattern
        for member in pattern.members:
            yield from groups_of(member)
