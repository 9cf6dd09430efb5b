"""What may be read of a group without order while it still takes members, under next match.

Its maximum, its minimum and its members one by one: then single members say who fits what follows.
"""

from __future__ import annotations

from collections.abc import Iterator

from cepctl.language.ast import COMPARISONS, Aggregate, Attribute, Binary, EventTime
from cepctl.language.traversal import walk
from cepctl.plan.consistency import Consistency, consistency
from cepctl.plan.plan import Alternative, Link

_EXTREMES = ("max", "min")


def extreme_of(link: Link) -> Aggregate | None:
    """The maximum or minimum that a condition reads, if any."""
    return next((each for each in walk(link.expression) if isinstance(each, Aggregate)), None)


def lets_one(link: Link) -> bool:
    """Whether a condition on an extreme holds as soon as one member makes it hold."""
    return consistency(link.expression) is Consistency.TRUE


def sets_without_order(alternative: Alternative) -> Iterator[str]:
    """Variables of groups without order beside groups in order, or read in more than extremes and members."""
    kleene = [i for i in alternative.positive if alternative.components[i].kleene]
    ordered = alternative.passes_over or any(alternative.components[i].ordered for i in kleene)
    for i in kleene:
        if not alternative.components[i].ordered and (ordered or not _is_read_simply(alternative, i)):
            yield alternative.components[i].variable


def _is_read_simply(alternative: Alternative, group: int) -> bool:
    order = alternative.positive
    later = [link for link in alternative.links if group in link.components and link.decides > group]
    later = [link for link in later if not alternative.components[link.decides].negated]
    behind = next((i for i in order if i > group), None)
    return all(
        not alternative.components[link.decides].kleene and (link.decides != behind or _asks_one(link))
        for link in later
    )


def _asks_one(link: Link) -> bool:
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
        and consistency(link.expression) in (Consistency.TRUE, Consistency.FALSE)
    )
