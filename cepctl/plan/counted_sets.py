"""Kleene groups of which GROUP BY counts the sets instead of listing them: which queries have them.

Under any match every set of the events between its neighbours is a match, if it has as many members as
`count(b[])` asks for.  A member that lies there in every world changes neither the probability of a set nor
whether there is one: how many sets it makes is counted.

    asked of a group                          its sets are
    nothing, conditions on single members     counted
    count(b[]) <, <=, =, >=, > a number       counted
    any other aggregate, an order of members  listed
    negation beside it, several groups, OR    listed
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from cepctl.language.ast import Aggregate, Binary, Constant, Expression
from cepctl.plan.plan import Alternative, Plan, Scope
from cepctl.plan.summary import kleene_components, listing_reasons, summary_refusals

_MIRRORED = {"<": ">", "<=": ">=", "=": "=", ">=": "<=", ">": "<"}


@dataclass(frozen=True)
class CountedSets:
    """The Kleene component whose sets are counted, and how many members they have: from `least` to `most`."""

    component: int
    least: int = 1
    most: int | None = None


def counted_sets(plan: Plan) -> CountedSets | None:
    """What is counted; None where groups are listed, or there are none."""
    if plan.group_by is None or len(plan.alternatives) != 1:
        return None
    alternative = plan.alternatives[0]
    groups = kleene_components(alternative)
    if len(groups) != 1 or alternative.reads_ends or alternative.components[groups[0]].ordered:
        return None
    sizes = [link for link in alternative.links if link.scope is Scope.GROUP]
    others = tuple(link for link in alternative.links if link.scope is not Scope.GROUP)
    bare = replace(plan, alternatives=(replace(alternative, links=others),), returns=())
    if summary_refusals(bare) or listing_reasons(bare) or not _alone_in_its_place(alternative, groups[0]):
        return None
    found: CountedSets | None = CountedSets(groups[0])
    for link in sizes:
        found = None if found is None else _narrowed(found, link.expression)
    return found


def _alone_in_its_place(alternative: Alternative, group: int) -> bool:
    """Whether each member is compared with single events, and with nothing else."""
    unequal = any(each.not_equal and group in (each.left, each.right) for each in alternative.timings)
    return (group,) in alternative.blocks and not unequal


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
