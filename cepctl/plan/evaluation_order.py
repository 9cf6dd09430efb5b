"""In which order an engine binds the components of a pattern, and why (ZDI10, section 5).

    name here      in ZDI10
    sort           query order after sorting
    any-state      any component may start; each next one is tied to what is bound
    selectivity    the component with the fewest events first

All orders give the same matches; they differ in how many partial matches live in between.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from cepctl.plan.plan import Alternative

OrderName = Literal["auto", "sort", "any-state", "selectivity"]
ORDERS: tuple[OrderName, ...] = ("auto", "sort", "any-state", "selectivity")

_WORTHWHILE = 4
"""How many times rarer than the first component another one must be to start with it instead."""


@dataclass(frozen=True)
class EvaluationOrder:
    """Indexes of the positive components that bind one event each, in the order of binding."""

    name: OrderName
    components: tuple[int, ...]
    reason: str


def estimated_count(alternative: Alternative, component: int, counts: Mapping[str, int] | None) -> int | None:
    """How many events at most fit a component, from the counts per event type; None if unknown."""
    if counts is None:
        return None
    types = alternative.components[component].event_types
    return sum(counts.get(name, 0) for name in set(types)) if types else sum(counts.values())


def evaluation_order(
    alternative: Alternative, counts: Mapping[str, int] | None, wanted: OrderName = "auto"
) -> EvaluationOrder:
    """Choose the order of binding; Kleene groups follow when their neighbours are bound.

    Examples
    --------
    >>> from cepctl.language.parser import parse
    >>> from cepctl.plan.analyze import analyze
    >>> plan = analyze(parse("PATTERN SEQ(Common a, Rare b)"))
    >>> evaluation_order(plan.alternatives[0], {"Common": 900, "Rare": 2}).components
    (1, 0)
    """
    singles = tuple(i for i in alternative.positive if not alternative.components[i].kleene)
    if wanted == "sort":
        return EvaluationOrder("sort", singles, "the order of the query, as asked")
    if counts is None or len(singles) < 2:
        if wanted == "auto":
            unknown = "the counts per event type are not known"
            why = unknown if counts is None else "there is nothing to choose"
            return EvaluationOrder("sort", singles, f"the order of the query: {why}")
        order = _tied_order(alternative, singles, dict.fromkeys(singles, 0))
        return EvaluationOrder(wanted, order, "as asked, without counts per event type")
    sizes = {i: estimated_count(alternative, i, counts) or 0 for i in singles}
    name = alternative.components[min(singles, key=lambda i: sizes[i])].variable
    least, first = min(sizes.values()), sizes[singles[0]]
    if wanted == "auto" and first < _WORTHWHILE * max(least, 1):
        reason = f"the order of the query: its first component has {first:,} events, the rarest {least:,}"
        return EvaluationOrder("sort", singles, reason)
    if wanted == "selectivity":
        order = tuple(sorted(singles, key=lambda i: (sizes[i], i)))
        return EvaluationOrder(
            "selectivity", order, f"from the rarest component on: {name} has {least:,} events"
        )
    order = _tied_order(alternative, singles, sizes)
    chosen: OrderName = "any-state" if wanted == "any-state" else "selectivity"
    return EvaluationOrder(
        chosen, order, f"{name} has the fewest events ({least:,}); then the components tied to bound ones"
    )


def order_of_runs(alternative: Alternative) -> EvaluationOrder:
    """The only order where what a component takes depends on all that was taken before."""
    reason = "the order of the query: each component takes by what was taken before"
    return EvaluationOrder("sort", alternative.positive, reason)


def _tied_order(
    alternative: Alternative, singles: tuple[int, ...], sizes: Mapping[int, int]
) -> tuple[int, ...]:
    """The rarest first, then always the component with most ties to those bound, the rarest of these."""
    left, order = set(singles), list[int]()
    while left:
        following = min(left, key=lambda i: (-_ties(alternative, i, order), sizes[i], i))
        order.append(following)
        left.remove(following)
    return tuple(order)


def _ties(alternative: Alternative, component: int, bound: list[int]) -> int:
    """Join keys to bound components count double, being a neighbour in time counts once."""
    keys = sum(
        {each.left, each.right} <= {component, *bound} and component in (each.left, each.right)
        for each in alternative.equalities
    )
    neighbours = sum(abs(component - other) == 1 for other in bound)
    return 2 * keys + neighbours
