"""One alternative with its conditions separated, so that each can be checked, or dropped, by itself.

    condition    how it is kept                                    what dropping it gives
    filter       of one component                                  more candidates
    key          `[attr]`, or an equality of two components        fewer key parts in each join
    link         any other predicate between components            one predicate less per join
    order        t_i - t_j <= -1 between blocks                    wider ranges in each join
    window       t_i - t_j <= W - 1 between all                    wider ranges
    timing       t_i - t_j <= c from WHERE                         wider ranges

One member stands for its Kleene group here: any part of a possible group passes these conditions too, so
where no single member passes, no group does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from typing import Literal, TypeAlias

import numpy as np

from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import fitting_events
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, closure
from cepctl.engines.pattern.offset_bounds import possible_on_clocks
from cepctl.engines.search.search import Search
from cepctl.language.ast import Expression
from cepctl.language.printer import duration_text, expression_to_text
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Alternative, Equality, Link, Plan, Timing
from cepctl.plan.summary import with_one_member

Kind: TypeAlias = Literal[
    "type",
    "filter",
    "key",
    "link",
    "order",
    "window",
    "timing",
    "absence",
    "group",
    "twice",
    "clocks",
    "given",
]


@dataclass(frozen=True)
class Condition:
    """Something a query demands, in the words of the query."""

    kind: Kind
    text: str


@dataclass(frozen=True)
class TimeDemand:
    """One demand on times: constraints (i, j, c) over columns, t_i - t_j <= c, that stand or fall together.

    `loosened` says whether it can be dropped on its own; order between blocks that are not neighbours
    follows from the order of those between.
    """

    condition: Condition
    edges: tuple[tuple[int, int, int], ...]
    loosened: bool = True

    def wider(self, ticks: int) -> TimeDemand:
        """A demand that allows this many ticks more."""
        edges = tuple((i, j, min(c + ticks, UNBOUNDED)) for i, j, c in self.edges)
        return replace(self, edges=edges)


@dataclass(frozen=True)
class Conditions:
    """One alternative, its groups as single members, with the events that fit each component.

    Column c of partial matches is bound to component columns[c].
    """

    alternative: Alternative
    partition_by: tuple[str, ...]
    differences: tuple[TimeDemand, ...]
    candidates: tuple[Indexes, ...]

    @classmethod
    def of(cls, plan: Plan, alternative: Alternative, events: Events) -> Conditions:
        """Take an alternative apart."""
        differences = differences_of(plan, alternative)
        for i, component in enumerate(alternative.components):
            if component.kleene:
                alternative = with_one_member(alternative, i)
        candidates = tuple(fitting_events(events, each) for each in alternative.components)
        return cls(alternative, plan.partition_by, differences, candidates)

    @property
    def columns(self) -> tuple[int, ...]:
        """The positive components, in pattern order."""
        return self.alternative.positive

    @cached_property
    def system(self) -> Ticks:
        """All demands on times, closed; shape (columns, columns)."""
        return self.system_of(self.differences)

    @cached_property
    def search(self) -> Search:
        """These conditions as the enumeration takes them."""
        return Search(self.alternative, self.columns, self.system, self.candidates, self.partition_by)

    def system_of(self, differences: tuple[TimeDemand, ...]) -> Ticks:
        """Some demands on times, closed."""
        return closure(len(self.columns), [edge for each in differences for edge in each.edges])

    def held(self, asked: Sequence[TimeDemand], rows: Indexes) -> Flags | None:
        """Which partial matches can hold these demands; None where a join has told all that there is."""
        return None

    def on_clocks(self, clocks: EventClocks, rows: Indexes) -> Flags:
        """Which partial matches, shape (n, columns), hold all demands with one offset for each clock."""
        size = rows.shape[1]
        return possible_on_clocks(clocks, np.ascontiguousarray(self.system[:size, :size]), rows)

    def without_filter(self, component: int, candidates: Indexes) -> Conditions:
        """The conditions where a component takes these events."""
        taken = list(self.candidates)
        taken[component] = candidates
        return replace(self, candidates=tuple(taken))

    def without_key(self, attribute: str) -> Conditions:
        """The conditions without one `[attr]`."""
        return replace(self, partition_by=tuple(name for name in self.partition_by if name != attribute))

    def without_link(self, link: Link) -> Conditions:
        """The conditions without a predicate between components, and without its join key."""
        links = tuple(each for each in self.alternative.links if each is not link)
        text = expression_to_text(link.expression)
        equalities = tuple(
            each for each in self.alternative.equalities if text not in equality_texts(self.alternative, each)
        )
        return replace(self, alternative=replace(self.alternative, links=links, equalities=equalities))

    def with_differences(self, old: TimeDemand, new: TimeDemand | None) -> Conditions:
        """The conditions with one demand on times replaced, or dropped."""
        kept = tuple(each for each in self.differences if each is not old)
        return replace(self, differences=kept if new is None else (*kept, new))


def differences_of(plan: Plan, alternative: Alternative) -> tuple[TimeDemand, ...]:
    """The demands of an alternative on the times of its positive components, one by one.

    Without constraints against constants and `<>`, which measuring checks.
    """
    positive = alternative.positive
    column = {i: at for at, i in enumerate(positive)}
    found = []
    for condition, pairs, loosened in orders(alternative):
        edges = tuple((column[i], column[j], -1) for i, j in pairs)
        found.append(TimeDemand(condition, edges, loosened))
    if plan.window is not None and len(positive) > 1:
        within = tuple((i, j, plan.window - 1) for i, j in permutations(range(len(positive)), 2))
        found.append(TimeDemand(window_condition(plan), within))
    for timing in alternative.timings:
        if not timing.not_equal and timing.left in column and timing.right in column:
            edge = (column[timing.left], column[timing.right], timing.bound)
            found.append(TimeDemand(Condition("timing", timing_text(alternative, timing)), (edge,)))
    return tuple(found)


def orders(alternative: Alternative) -> Iterator[tuple[Condition, list[tuple[int, int]], bool]]:
    """The order of every two blocks: which components come before which, and whether it can be dropped."""
    blocks = alternative.positive_blocks
    for k, before in enumerate(blocks):
        for distance, after in enumerate(blocks[k + 1 :]):
            text = f"{_names(alternative, before)} before {_names(alternative, after)}"
            yield Condition("order", text), list(product(before, after)), distance == 0


def window_condition(plan: Plan) -> Condition:
    """The window as the query has it."""
    within = plan.query.within
    text = f"WITHIN {plan.window} ticks" if within is None else f"WITHIN {duration_text(within)}"
    return Condition("window", text)


def timing_text(alternative: Alternative, timing: Timing) -> str:
    """A timing constraint in ticks."""
    sides = ((timing.left, timing.left_end), (timing.right, timing.right_end))
    left, right = (
        None if side is None else f"{alternative.components[side].variable}.{'end' if end else 'time'}"
        for side, end in sides
    )
    sign, bound = ("<>" if timing.not_equal else "<="), timing.bound
    if left is None:
        return f"{right} {'<>' if timing.not_equal else '>='} tick {-bound}"
    return f"{left} {sign} tick {bound}" if right is None else f"{left} - {right} {sign} {bound} ticks"


def equality_texts(alternative: Alternative, equality: Equality) -> tuple[str, str]:
    """How WHERE may have spelt an equality."""
    left = f"{alternative.components[equality.left].variable}.{equality.left_attribute}"
    right = f"{alternative.components[equality.right].variable}.{equality.right_attribute}"
    return f"{left} = {right}", f"{right} = {left}"


def filter_condition(expression: Expression) -> Condition:
    """A predicate on one component."""
    return Condition("filter", expression_to_text(expression))


def link_condition(link: Link) -> Condition:
    """A predicate between components."""
    return Condition("link", expression_to_text(link.expression))


def key_condition(attribute: str) -> Condition:
    """An attribute that all components share."""
    return Condition("key", f"[{attribute}]")


def _names(alternative: Alternative, block: tuple[int, ...]) -> str:
    return " and ".join(alternative.components[i].variable for i in block)
