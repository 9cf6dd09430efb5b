"""Which groups between the same neighbours never match in one world, so that their probabilities add up.

Where the events left out decide a group, few groups of one row are possible together:

    sets      a world has one group between two neighbours: all that fits there
    runs      two runs take the same events up to a tick, and at it each another one: both events have this
              tick, so that neither is taken by the other run
    chains    the same under contiguity; where a group ends a pattern, one may also begin another

Groups that begin a pattern begin at any of their members; nothing is said of them.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes
from cepctl.plan.plan import Alternative, Plan

_MOST_COMPARED = 1 << 12
"""Groups of one row that are compared with each other."""


def classes_of(
    plan: Plan, shown: Alternative, group: int, row: Indexes, members: Group, masses: Masses
) -> Indexes:
    """A number for each match, different where two of a row exclude each other; shape (n,).

    `shown`: the alternative as rows show it; `group`: its component; `members`: those of each match.
    """
    alone = np.zeros(len(row), dtype=np.int64)
    if not plan.strategy.whole_groups or shown.positive[0] == group:
        return alone
    trailing = shown.positive[-1] == group
    ordered = shown.components[group].ordered
    if not ordered and trailing and plan.strategy.asks_all:
        return alone
    order = np.argsort(row, kind="stable")
    sorted_members = members.take(order)
    offsets = np.searchsorted(row[order], np.arange(int(row.max(initial=-1)) + 2))
    label = np.arange(len(row))
    _join(
        *(offsets, sorted_members.offsets, sorted_members.members, masses.lower, masses.upper),
        *(ordered, trailing, _MOST_COMPARED, label),
    )
    found = np.empty_like(label)
    found[order] = label
    return found


@kernel
def _join(offsets, begins, members, lower, upper, ordered, trailing, most, label):
    """Give those of a row one label that may match together, and those that these may match with."""
    for row in range(len(offsets) - 1):
        start, stop = offsets[row], offsets[row + 1]
        if stop - start > most:
            label[start:stop] = start
            continue
        for one in range(start, stop):
            for other in range(one + 1, stop):
                mine, theirs = _root(label, one), _root(label, other)
                if mine != theirs and _together(one, other, begins, members, lower, upper, ordered, trailing):
                    label[max(mine, theirs)] = min(mine, theirs)
        for one in range(start, stop):
            label[one] = _root(label, one)


@inner
def _root(label, at):
    while label[at] != at:
        at = label[at]
    return at


@inner
def _together(one, other, begins, members, lower, upper, ordered, trailing):
    """Whether some world may have both groups."""
    size, length = begins[one + 1] - begins[one], begins[other + 1] - begins[other]
    place = 0
    while place < min(size, length) and members[begins[one] + place] == members[begins[other] + place]:
        place += 1
    if place == min(size, length):
        return size == length or (ordered and trailing)
    if not ordered:
        return False
    mine, theirs = members[begins[one] + place], members[begins[other] + place]
    if lower[mine] > upper[theirs] or lower[theirs] > upper[mine]:
        return False
    tied = True
    for at in range(begins[one], begins[one + 1]):
        tied &= members[at] != theirs
    for at in range(begins[other], begins[other + 1]):
        tied &= members[at] != mine
    return tied
