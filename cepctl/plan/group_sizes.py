"""How many members a Kleene group may have, where its numbers are all that is asked of it as a whole."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cepctl.language.ast import Aggregate, Binary, Constant, Expression
from cepctl.plan.plan import Alternative, Scope

_MIRRORED = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<"}


@dataclass(frozen=True)
class CountedSets:
    """The Kleene component whose sets are counted, and how many members they have: from `least` to `most`."""

    component: int
    least: int = 1
    most: int | None = None


def sizes_asked(alternative: Alternative, group: int) -> CountedSets | None:
    """The number of members that conditions on whole groups ask for; None where they ask something else."""
    found: CountedSets | None = CountedSets(group)
    for link in alternative.links:
        if link.scope is Scope.GROUP:
            found = None if found is None else _narrowed(found, link.expression)
    return found


def _narrowed(sets: CountedSets, condition: Expression) -> CountedSets | None:
    """The sets that also have as many members as a condition asks for; None where it asks something else."""
    if isinstance(condition, Binary) and condition.operator == "AND":
        first = _narrowed(sets, condition.left)
        return None if first is None else _narrowed(first, condition.right)
    asked = _asked(condition)
    if asked is None:
        return None
    operator, number = asked
    least, most = sets.least, sets.most
    if operator in (">", ">=", "="):
        least = max(least, number + (operator == ">"))
    if operator in ("<", "<=", "="):
        limit = number - (operator == "<")
        most = limit if most is None else min(most, limit)
    return replace(sets, least=least, most=most)


def _asked(condition: Expression) -> tuple[str, int] | None:
    """The operator and the whole number of `count(b[]) >= 3`, or of `3 <= count(b[])`."""
    if not isinstance(condition, Binary) or condition.operator not in _MIRRORED:
        return None
    operator, left, right = str(condition.operator), condition.left, condition.right
    if isinstance(left, Constant):
        operator, left, right = _MIRRORED[operator], right, left
    if not (isinstance(left, Aggregate) and left.function == "count" and left.name is None):
        return None
    if left.before or not isinstance(right, Constant) or type(right.value) is not int:
        return None
    return operator, right.value
