"""Groups whose order is that of one value, each member before the next: `b[i].v > b[i-1].v` and the like.

b[i].v > b[i-1].v, b[i].v > max(b[1..i-1].v)      rising
b[i].v < b[i-1].v, b[i].v < min(b[1..i-1].v)      falling
>=, <=                                            the same, equal values allowed
"""

from __future__ import annotations

from dataclasses import dataclass

from cepctl.language.ast import Aggregate, Attribute, Binary, Expression
from cepctl.plan.plan import Alternative, Scope

_MIRRORED = {"<": ">", "<=": ">=", ">=": "<=", ">": "<"}


@dataclass(frozen=True)
class RisingValues:
    """Members come in the order of an attribute.

    `over_nulls`: the largest or least value so far is compared, which leaves out those that have none.
    """

    attribute: str
    falling: bool
    equal: bool
    over_nulls: bool


def rising_values(alternative: Alternative) -> RisingValues | None:
    """The value in whose order the members of the one group are; None where something else orders them."""
    orders = [link.expression for link in alternative.links if link.scope is Scope.ORDER]
    return _rising(orders[0]) if len(orders) == 1 else None


def _rising(condition: Expression) -> RisingValues | None:
    if not isinstance(condition, Binary) or condition.operator not in _MIRRORED:
        return None
    operator, own, other = str(condition.operator), condition.left, condition.right
    if not (isinstance(own, Attribute) and own.member == "each"):
        operator, own, other = _MIRRORED[operator], other, own
    if not (isinstance(own, Attribute) and own.member == "each"):
        return None
    falling, equal = operator[0] == "<", operator.endswith("=")
    if isinstance(other, Attribute) and (other.member, other.back, other.name) == ("previous", 1, own.name):
        return RisingValues(own.name, falling, equal, over_nulls=False)
    extreme = "min" if falling else "max"
    if isinstance(other, Aggregate) and (other.function, other.name) == (extreme, own.name):
        return (
            RisingValues(own.name, falling, equal, over_nulls=True)
            if other.before and not other.own
            else None
        )
    return None
