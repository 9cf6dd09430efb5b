"""Matches of single events that the order of records settles: all that a file by itself leaves of most.

Records of one writer happen in their order, so that a rival which was written before a gap or after it never
lies there, and one between records of its own always.  A match whose events are in order for certain, within
their window, and that no rival can break, is in every world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.given.known_order import places_between
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.pattern.blocks import Region, RegionEnd, Shape
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.numeric.arrays import Flags, Indexes


def rivals_left(rivals: Sequence[Rivals], events: Indexes, ties: EventTies, masses: Masses) -> list[Rivals]:
    """Those that lie in a region of their rule in some world, as far as each end of it says.

    `events`: those of the blocks of each match, shape (n, blocks).
    """
    found = []
    for each in rivals:
        away = np.full(len(each.row), bool(each.rule.regions))
        for region in each.rule.regions:
            away &= _outside(region, each, events, ties, masses)
        kept = np.flatnonzero(~away)
        found.append(replace(each, row=each.row[kept], event=each.event[kept]))
    return found


def _outside(region: Region, rivals: Rivals, events: Indexes, ties: EventTies, masses: Masses) -> Flags:
    """Which rivals are on the far side of an end of a region in every world."""
    found = np.zeros(len(rivals.row), dtype=bool)
    for end in region:
        if end.point is None:
            continue
        point = events[rivals.row, end.point.block]
        apart, known = places_between(ties, point, rivals.event)
        if end.is_lower:
            found |= known & (apart < min(end.constant, 0))
            found |= masses.upper[rivals.event] - masses.lower[point] < end.constant
        else:
            found |= known & (apart > max(end.constant, 0))
            found |= masses.lower[rivals.event] - masses.upper[point] > end.constant
    return found


def broken_by_order(rivals: Sequence[Rivals], events: Indexes, ties: EventTies, masses: Masses) -> Flags:
    """The matches that some rival breaks in every world, shape (n,)."""
    found = np.zeros(len(events), dtype=bool)
    for each in rivals:
        for region in () if each.rule.spared else each.rule.regions:
            inside = np.ones(len(each.row), dtype=bool)
            for end in region:
                inside &= _reaches(end, each, events, ties, masses)
            found[each.row[inside]] = True
    return found


def _reaches(end: RegionEnd, rivals: Rivals, events: Indexes, ties: EventTies, masses: Masses) -> Flags:
    """Which rivals are on the near side of an end of a region in every world."""
    lower, upper = masses.lower[rivals.event], masses.upper[rivals.event]
    if end.point is None:
        return lower >= end.constant if end.is_lower else upper <= end.constant
    point = events[rivals.row, end.point.block]
    apart, known = places_between(ties, point, rivals.event)
    found: Flags
    if end.is_lower:
        found = (known & (apart >= max(end.constant, 1))) | (lower - masses.upper[point] >= end.constant)
    else:
        found = (known & (apart <= min(end.constant, -1))) | (upper - masses.lower[point] <= end.constant)
    return found


def settled_by_order(
    shape: Shape, rivals: Sequence[Rivals], events: Indexes, ties: EventTies, masses: Masses
) -> tuple[Indexes, Measured]:
    """The matches that are in every world, and that; `rivals` are those that are left."""
    before, after = events[:, :-1], events[:, 1:]
    apart, known = places_between(ties, before, after)
    in_order = (known & (apart > 0)) | (masses.upper[before] < masses.lower[after])
    certain: Flags = np.all(in_order, axis=1)
    start, end = masses.lower[events[:, 0]], masses.upper[events[:, -1]]
    if shape.window is not None:
        certain &= end - start < shape.window
    for each in rivals:
        certain[each.row] = False
    some = np.flatnonzero(certain)
    every = np.ones(len(some), dtype=bool)
    return some, Measured.exact(np.ones(len(some)), start[some], end[some], every)
