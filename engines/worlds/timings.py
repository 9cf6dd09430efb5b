"""Timing constraints of a match in one possible world: differences of ticks, each held to its bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cepctl.plan.plan import MemberTiming, Timing

if TYPE_CHECKING:
    from cepctl.engines.worlds.bound_events import Bound, Ticks


def timing_holds(timing: Timing, ticks: Ticks, bound: Bound, repeated: Sequence[Sequence[int]] = ()) -> bool:
    """`t(left) - t(right) <= bound`, or `!=`, for each member of either side; None is the tick 0.

    Two components that are `repeated` together are compared within each repetition.
    """
    lefts, rights = (ticks.ends if end else ticks for end in (timing.left_end, timing.right_end))
    left = [0] if timing.left is None else [lefts[e] for e in bound[timing.left]]
    right = [0] if timing.right is None else [rights[e] for e in bound[timing.right]]
    if isinstance(timing, MemberTiming):
        left, right = _of_member(left, timing.left_member), _of_member(right, timing.right_member)
        in_turn = False
    else:
        in_turn = any({timing.left, timing.right} <= {*each} for each in repeated)
    gaps = [a - b for i, a in enumerate(left) for j, b in enumerate(right) if i == j or not in_turn]
    return all(gap != timing.bound if timing.not_equal else gap <= timing.bound for gap in gaps)


def _of_member(ticks: list[int], which: str | None) -> list[int]:
    """Of the ticks of a group in order that of its first or last member, or all of them."""
    return {None: ticks, "first": ticks[:1], "last": ticks[-1:]}[which]


def named(cases: Sequence[Sequence[Timing]]) -> set[int | None]:
    """The components that a choice between cases speaks of."""
    return {side for case in cases for timing in case for side in (timing.left, timing.right)}
