"""What is read of a group without order while it still takes members, under next match.

Of its maximum, its minimum and its members one by one single members say who fits what follows.
"""

from __future__ import annotations

from dataclasses import replace

from cepctl.language.ast import COMPARISONS, Aggregate, Attribute, Binary, EventTime, Expression
from cepctl.language.traversal import rewrite, walk
from cepctl.plan.consistency import Consistency, consistency
from cepctl.plan.plan import Alternative, Link

_EXTREMES = ("max", "min")


def extreme_of(link: Link) -> Aggregate | None:
    """The maximum or minimum that a condition reads, if any."""
    return next((each for each in walk(link.expression) if isinstance(each, Aggregate)), None)


def lets_one(link: Link) -> bool:
    """Whether a condition on an extreme holds as soon as one member makes it hold."""
    return _consistency(link) is Consistency.TRUE


def _consistency(link: Link) -> Consistency:
    """How a condition on an extreme of a group develops while that grows; nothing else that it reads does."""
    aggregate = extreme_of(link)
    group = "" if aggregate is None else aggregate.variable

    def still(leaf: Expression) -> Expression:
        if isinstance(leaf, Attribute | EventTime) and leaf.variable != group:
            return replace(leaf, member=None)
        return leaf

    return consistency(rewrite(link.expression, still))


def read_while_they_take(alternative: Alternative) -> set[tuple[int, int]]:
    """Pairs of a group without order and a component behind it that may take then and reads it."""
    return {
        (group, link.decides)
        for link in alternative.links
        for group in link.components
        if alternative.components[group].is_set
        and link.decides in alternative.right_behind(group)
        and not alternative.components[link.decides].negated
    }


def are_read_simply(alternative: Alternative) -> bool:
    """Whether each set that is read while it takes is read one by one, and by single events."""
    return all(
        not alternative.components[link.decides].kleene and asks_one(link)
        for link in alternative.links
        if any((group, link.decides) in read_while_they_take(alternative) for group in link.components)
    )


def asks_one(link: Link) -> bool:
    """Whether each member alone says what a condition makes of it."""
    leaves = [each for each in walk(link.expression) if isinstance(each, Aggregate | Attribute | EventTime)]
    aggregates = [each for each in leaves if isinstance(each, Aggregate)]
    if not aggregates:
        return True
    (aggregate, *others) = aggregates
    read_one_by_one = any(
        isinstance(each, Attribute | EventTime) and each.variable == aggregate.variable for each in leaves
    )
    is_comparison = isinstance(link.expression, Binary) and link.expression.operator in COMPARISONS
    return (
        is_comparison
        and not others
        and not read_one_by_one
        and aggregate.function in _EXTREMES
        and _consistency(link) in (Consistency.TRUE, Consistency.FALSE)
    )
