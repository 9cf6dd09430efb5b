"""What must not happen as a whole, in one possible world: `!SEQ(X x, Y y)` and `!AND(X x, Y y)`.

The parts are distinct events that the match does not bind, all in its gap.  Each fits given all that the
match binds and the parts before it; those of `!SEQ` follow each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cepctl.plan.plan import Scope

if TYPE_CHECKING:
    from cepctl.engines.worlds.bound_events import Bound, Edge, Ticks
    from cepctl.engines.worlds.combinations import Bindable


def happens(
    search: Bindable, ticks: Ticks, bound: Bound, block: tuple[int, ...], gap: tuple[Edge, Edge]
) -> bool:
    """Whether some events make up the whole between both ends, excluded, of a gap."""
    return _rest_happens(search, ticks, bound, block, *gap, in_order=block in search.alternative.sequences)


def _rest_happens(
    search: Bindable,
    ticks: Ticks,
    whole: Bound,
    rest: Sequence[int],
    lo: Edge,
    hi: Edge,
    *,
    in_order: bool,
) -> bool:
    """`whole`: what is bound, the parts before these among it."""
    if not rest:
        return True
    used, part = {e for group in whole.values() for e in group}, rest[0]
    for e in search.fitting(part, whole):
        longer = {**whole, part: (e,)}
        if (
            e not in used
            and lo < ticks[e]
            and ticks.ends[e] < hi
            and search.links_hold(part, longer, (Scope.ORDER, Scope.GROUP))
        ):
            after = ticks.ends[e] if in_order else lo
            if _rest_happens(search, ticks, longer, rest[1:], after, hi, in_order=in_order):
                return True
    return False
