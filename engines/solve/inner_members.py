"""Members of a set that are never its first nor its last: they decide nothing, and are left out of the sums.

A set meets what is around it with its first and its last member.  A member that certainly comes after one and
before another of its set adds a variable and no condition, so that a set of 500 costs what its ends cost.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.blocks import BlockKind
from cepctl.engines.solve.batch import Batch


def without_inner_members(batch: Batch) -> Batch:
    """The batch with sets of members that may be first or last; who could break them is found before."""
    shape = batch.measure.shape
    bound = dict(batch.bound)
    for block in shape.blocks:
        (component, *others) = block.components
        group = bound.get(component)
        if others or block.kind is not BlockKind.SET or not isinstance(group, Group):
            continue
        if any(component in (each.left, each.right) for each in shape.alternative.timings):
            continue
        bound[component] = _ends_of(group, batch.measure.masses)
    return replace(batch, bound=bound)


def _ends_of(group: Group, masses: Masses) -> Group:
    if group.sizes.max(initial=0) < 3:
        return group
    lower, upper, begin = masses.lower[group.members], masses.upper[group.members], group.offsets[:-1]
    first, last = np.minimum.reduceat(upper, begin), np.maximum.reduceat(lower, begin)
    inner = (lower > first[group.owner]) & (upper < last[group.owner])
    if not inner.any():
        return group
    kept = np.bincount(group.owner[~inner], minlength=len(begin))
    return Group(np.concatenate([[0], np.cumsum(kept)]).astype(np.int64), group.members[~inner])
