"""The orders that are known of events: those of the user, and those that datasets keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cepctl.errors import UsageError

if TYPE_CHECKING:
    from cepctl.plan.event_schema import EventSchema
    from cepctl.plan.plan import Given


def orders_of(texts: Sequence[str], schema: EventSchema) -> tuple[Given, ...]:
    """The clauses that say an order: those of the user, and of the datasets.

    Raises
    ------
    UsageError
        If there are none, or one of the user's says no order.
    """
    from cepctl.plan.given import is_order, stated

    asked = [stated(text, schema, schema.time_unit) for text in dict.fromkeys(texts)]
    for each in asked:
        if not is_order(each):
            raise UsageError(f"--given {each.text} says no order, which SEQ does")
    # The order of a writer's own records says nothing of two clocks.
    given = schema.without_order().given
    kept = [stated(text, schema, schema.time_unit) for text in given if text not in texts]
    orders = (*asked, *filter(is_order, kept))
    if not orders:
        raise UsageError(
            "nothing says which events come before others; say it, such as "
            "--given 'SEQ(Send a, Receive b) IF a.id = b.id', or by [[given]] in the model of the dataset"
        )
    return orders
