"""Which rivals can decide a match: those in their region in some world where order and timing hold.

A rival joins the closed system of difference constraints of its match as one more tick x, held by its own
interval and by the ends of its region, t_a + c <= x and x <= t_b + d.  The system stays solvable exactly if

    its interval reaches over each end      upper(x) >= valid_lower(a) + c, lower(x) <= valid_upper(b) + d
    both ends leave room between them       t_b - t_a >= c - d for some ticks of the two

All others are dropped before anything is measured.  So a match is measured in the same way, to the last bit,
wherever it is found: a slice leaves out only events that cannot decide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE, RegionBound
from cepctl.engines.pattern.blocks import Region
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.numeric.arrays import Flags, Indexes, Ticks


def can_lie_in(
    region: Sequence[RegionBound],
    system: Ticks,
    lower: Ticks,
    upper: Ticks,
    row: Indexes,
    first: Ticks,
    last: Ticks,
) -> Flags:
    """Pairs of a match and an event that can lie in a region, shape (p,).

    Parameters
    ----------
    region
        Its ends, between variables of the match.
    system
        Closed system over the m variables.
    lower, upper
        Valid intervals of the variables of n matches, shape (n, m).
    row, first, last
        Of each pair the match, and the interval of the event, shape (p,).

    Examples
    --------
    Between a = [0, 9] and b = [5, 20], at most 4 ticks apart, lies nothing that ends before 2:

    >>> gap = [RegionBound(0, 1, True), RegionBound(1, -1, False)]
    >>> system = np.array([[0, -1], [4, 0]])
    >>> ends = np.array([[1, 5]]), np.array([[9, 13]])
    >>> can_lie_in(gap, system, *ends, np.array([0, 0]), np.array([0, 0]), np.array([1, 2])).tolist()
    [False, True]
    """
    can = np.ones(len(row), dtype=bool)
    for end in region:
        if end.is_lower:
            can &= last >= _tick(end, lower)[row]
        else:
            can &= first <= _tick(end, upper)[row]
    room = np.ones(len(lower), dtype=bool)
    for begin in region:
        for end in region:
            if begin.is_lower and not end.is_lower:
                room &= _tick(begin, lower) <= _tick(end, upper)
                if NO_VARIABLE not in (begin.variable, end.variable):
                    room &= bool(system[end.variable, begin.variable] >= begin.constant - end.constant)
    return can if room.all() else np.asarray(can & room[row])


def _tick(end: RegionBound, ticks: Ticks) -> Ticks:
    """The tick of an end for each match, its variables being at `ticks`."""
    if end.variable == NO_VARIABLE:
        return np.full(len(ticks), end.constant)
    return shifted(ticks[:, end.variable], end.constant)


def deciding_in_chains(
    rivals: Sequence[Rivals], masses: Masses, system: Ticks, lower: Ticks, upper: Ticks
) -> list[Rivals]:
    """Of matches that bind single events, with these valid intervals, the rivals that can decide them."""
    found = []
    for each in rivals:
        first, last = masses.lower[each.event], masses.upper[each.event]
        can = np.zeros(len(each.row), dtype=bool)
        for region in each.rule.regions:
            can |= can_lie_in(_between_events(region), system, lower, upper, each.row, first, last)
        found.append(each if can.all() else replace(each, row=each.row[can], event=each.event[can]))
    return found


def _between_events(region: Region) -> list[RegionBound]:
    """A region where every block is one event."""
    return [
        RegionBound(NO_VARIABLE if end.point is None else end.point.block, end.constant, end.is_lower)
        for end in region
    ]
