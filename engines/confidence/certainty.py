"""Matches whose order, window and timing hold in every world, told by the ends of intervals alone.

Where no rival can decide them either, their confidence is 1, and no sum of rounded masses has to say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.engines.pattern.rivals import BlockSpans, spans_of
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Timing


def certainly_in_order(shape: Shape, masses: Masses, groups: Sequence[Group]) -> Flags:
    """Which matches have their blocks in order, in the window and as timing wants, in all worlds.

    `groups` gives the members of every block; shape (n,).
    """
    spans = spans_of(masses, groups)
    certain = np.ones(len(spans.first_lower), dtype=bool)
    for before, after in pairwise(range(len(groups))):
        certain &= spans.last_upper[:, before] < spans.first_lower[:, after]
    if shape.window is not None:
        if len(groups) == 1:
            certain[_spread_beyond(masses, groups[0], shape.window - 1)] = False
        else:
            earliest, latest = spans.first_lower.min(axis=1), spans.last_upper.max(axis=1)
            certain &= latest <= shifted(earliest, shape.window - 1)
    for block, group in zip(shape.blocks, groups, strict=True):
        if block.kind is BlockKind.SEQUENCE:
            upper, lower = masses.upper[group.members[:-1]], masses.lower[group.members[1:]]
            owner = group.owner
            certain[owner[1:][(upper >= lower) & (owner[1:] == owner[:-1])]] = False
    if shape.member_timings or shape.outside:
        certain[:] = False  # as far as is looked here
    for timing in shape.timings:
        certain &= _certainly_timed(shape, masses, groups, spans, timing)
    return certain


def always_in_one_order(masses: Masses, groups: Sequence[Group]) -> Flags:
    """Which matches have all of their events in one order, whichever that is, in all worlds; shape (n,)."""
    owner = np.concatenate([group.owner for group in groups])
    event = np.concatenate([group.members for group in groups])
    order = np.lexsort((masses.upper[event], masses.lower[event], owner))
    owner, lower, upper = owner[order], masses.lower[event[order]], masses.upper[event[order]]
    found = np.ones(len(groups[0].offsets) - 1, dtype=bool)
    meet = (upper[:-1] >= lower[1:]) & (lower[:-1] < upper[1:])
    found[owner[1:][meet & (owner[1:] == owner[:-1])]] = False
    return found


def _spread_beyond(masses: Masses, group: Group, most: int) -> Indexes:
    """Owners of members that two of them can be farther apart than `most`, in either order.

    The ends of one member's interval say nothing of how far it is from others.
    """
    owner, upper = group.owner, masses.upper[group.members]
    order = np.lexsort((upper, owner))
    last = order[group.offsets[1:] - 1]
    before = order[np.maximum(group.offsets[1:] - 2, group.offsets[:-1])]
    latest_other = upper[last][owner]
    latest_other[last] = upper[before]
    limit = shifted(masses.lower[group.members], most)
    return np.asarray(owner[(latest_other > limit) & (group.sizes[owner] > 1)])


def _certainly_timed(
    shape: Shape, masses: Masses, groups: Sequence[Group], spans: BlockSpans, timing: Timing
) -> Flags:
    left_lower, left_upper = _side(shape, masses, groups, spans, timing.left)
    right_lower, right_upper = _side(shape, masses, groups, spans, timing.right)
    if not timing.not_equal:
        return np.asarray(left_upper <= shifted(right_lower, timing.bound))
    apart = left_upper < shifted(right_lower, timing.bound)
    return np.asarray(apart | (left_lower > shifted(right_upper, timing.bound)))


def _side(
    shape: Shape, masses: Masses, groups: Sequence[Group], spans: BlockSpans, component: int | None
) -> tuple[Ticks, Ticks]:
    """Earliest and latest tick of what a component binds; 0 for none."""
    if component is None:
        nothing = np.zeros(len(spans.first_lower), dtype=np.int64)
        return nothing, nothing
    number = shape.block_of(component)
    components = shape.blocks[number].components
    if len(components) == 1:
        return spans.first_lower[:, number], spans.last_upper[:, number]
    event = groups[number].members[groups[number].offsets[:-1] + components.index(component)]
    return masses.lower[event], masses.upper[event]
