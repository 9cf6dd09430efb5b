"""What a known order leaves of clauses, matches and rivals: of two records of one writer it tells the first.

A record that stands g places after another lies at least g ticks later.  So some differences hold in every
world that is left, or in none, and of rivals that must all be before or after a tick only the nearest counts:
the others lie beyond it.  A rival that was written before a gap or after it never lies there, and one between
records of its own always: the order settles most of what a file by itself is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import NO_EVENT, Clauses, Part, gathered, present
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.pattern.blocks import Region, RegionEnd, Rivals, Shape
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Ticks


def without_known_order(clauses: Clauses, ties: EventTies, masses: Masses) -> Clauses:
    """What intervals and the order of series leave open, and of clauses that imply each other one."""
    if not ties.in_order.any():
        return clauses
    return _nearest(_open_still(clauses, ties, masses), ties)


def without_implied_rows(clauses: Clauses, ties: EventTies) -> Clauses:
    """Without problems that ask for one difference, where another of the group holds whenever it does.

    t_x <= t_y + c holds with that of a later x, or of an earlier y.
    """
    alone = np.flatnonzero(np.diff(clauses.clause_offsets) == 1)
    clause = clauses.clause_offsets[alone]
    fit = ~clauses.absent[clause] & (np.diff(clauses.difference_offsets)[clause] == 1)
    problem, at = alone[fit], clauses.difference_offsets[clause[fit]]
    left, right = (_in_order(event[at], ties) for event in (clauses.left, clauses.right))
    keys = clauses.group_of_problems[problem], left[0], right[0], clauses.bound[at]
    order = np.lexsort((-right[1], left[1], *keys))
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = ~np.logical_and.reduce([np.diff(each[order]) == 0 for each in keys])
    rank, run = right[1][order], np.cumsum(fresh)
    # The latest y so far of the same: a running maximum, which each of these begins anew.
    above = run * (int(rank.max(initial=0)) + 2) + rank
    implied = np.zeros(len(order), dtype=bool)
    implied[1:] = np.maximum.accumulate(above)[:-1] >= above[1:]
    kept = np.ones(len(clauses.clause_offsets) - 1, dtype=bool)
    kept[problem[order[implied]]] = False
    offsets = np.concatenate([[0], np.cumsum(kept)])[clauses.problem_offsets]
    return clauses.of_problems(np.flatnonzero(kept), offsets)


def _in_order(event: Indexes, ties: EventTies) -> tuple[Indexes, Indexes]:
    """The order that each event is of, one of its own for those of none; and its place there."""
    component = np.where(event == NO_EVENT, -1, ties.component[np.maximum(event, 0)])
    ordered = (component >= 0) & ties.in_order[np.maximum(component, 0)]
    number = np.where(ordered, component, len(ties.in_order) + 1 + event)
    return number, np.where(ordered, ties.rank[np.maximum(event, 0)], 0)


def contradict_order(clauses: Clauses) -> Flags:
    """Which problems are said to have no world, because they contradict the order."""
    never = (clauses.bound == -UNBOUNDED) & (clauses.right == NO_EVENT)
    found = np.zeros(len(clauses.clause_offsets) - 1, dtype=bool)
    found[clauses.problem_of_differences[never]] = True
    return found


def _open_still(clauses: Clauses, ties: EventTies, masses: Masses) -> Clauses:
    """Without differences that the order decides; what contradicts it asks for one that no world has."""
    left, right, bound = clauses.left, clauses.right, clauses.bound
    apart, known = places_between(ties, left, right)
    (left_least, left_most), (right_least, right_most) = (_ends(masses, event) for event in (left, right))
    always = (known & (apart > 0) & (bound >= -apart)) | (left_most - right_least <= bound)
    never = (known & (apart < 0) & (bound < -apart)) | (left_least - right_most > bound)
    if not (always | never).any():
        return clauses
    of, absent = clauses.clause_of_differences, clauses.absent
    count, sizes = len(absent), np.diff(clauses.difference_offsets)
    held = np.bincount(of[always], minlength=count)
    gone = np.where(absent, np.bincount(of[never], minlength=count) > 0, held == sizes)
    failed = np.where(absent, held == sizes, np.bincount(of[never], minlength=count) > 0)
    impossible = np.zeros(len(clauses.clause_offsets) - 1, dtype=bool)
    impossible[clauses.problem_of_clauses[failed]] = True
    gone |= impossible[clauses.problem_of_clauses]
    kept = ~gone[of] & ~(always & absent[of])
    clause = np.flatnonzero(~gone)
    at, place = np.flatnonzero(kept), np.cumsum(~gone) - 1
    left_over = np.bincount(place[of[at]], minlength=len(clause))
    # An absent clause of one difference is the present one of its contrary.
    turned = absent[clause] & (left_over == 1) & (sizes[clause] > 1)
    swapped = turned[place[of[at]]]
    return gathered(
        [
            Part(
                clauses.problem_of_clauses[clause],
                absent[clause] & ~turned,
                left_over,
                np.where(swapped, right[at], left[at]),
                np.where(swapped, left[at], right[at]),
                np.where(swapped, -bound[at] - 1, bound[at]),
            ),
            _never(clauses, failed, np.flatnonzero(impossible)),
        ],
        clauses.group_of_problems,
        clauses.groups,
    )


def _ends(masses: Masses, event: Indexes) -> tuple[Ticks, Ticks]:
    """The first and the last tick of events, 0 for none."""
    none, row = event == NO_EVENT, np.maximum(event, 0)
    return np.where(none, 0, masses.lower[row]), np.where(none, 0, masses.upper[row])


def _never(clauses: Clauses, failed: Flags, problems: Indexes) -> Part:
    """What no world satisfies, of each of some problems: an event of a failed clause is before all time."""
    clause = np.flatnonzero(failed)
    owner, first = np.unique(clauses.problem_of_clauses[clause], return_index=True)
    event = clauses.left[clauses.difference_offsets[clause[first[np.searchsorted(owner, problems)]]]]
    count = len(problems)
    return present(problems, event, np.full(count, NO_EVENT), np.full(count, -UNBOUNDED))


def places_between(ties: EventTies, left: Indexes, right: Indexes) -> tuple[Indexes, Flags]:
    """How many places the right event of each pair stands after the left one, if both are of one order."""
    both = (left != NO_EVENT) & (right != NO_EVENT)
    one, other = np.where(both, left, 0), np.where(both, right, 0)
    component = ties.component[one]
    known = both & (component >= 0) & (component == ties.component[other])
    known &= ties.in_order[np.maximum(component, 0)]
    return ties.rank[other] - ties.rank[one], known


def _nearest(clauses: Clauses, ties: EventTies) -> Clauses:
    """Of present clauses that ask the same of several of one order, that of the one which implies the others.

    t_x <= t_y + c of the last x, and of the first y.
    """
    kept = np.ones(len(clauses.absent), dtype=bool)
    for side, other, last in ((clauses.left, clauses.right, True), (clauses.right, clauses.left, False)):
        some = np.flatnonzero(~clauses.absent & kept)
        at = clauses.difference_offsets[some]
        event = side[at]
        component = np.where(event == NO_EVENT, -1, ties.component[np.maximum(event, 0)])
        of_order = np.flatnonzero((component >= 0) & ties.in_order[np.maximum(component, 0)])
        some, at, event, component = some[of_order], at[of_order], event[of_order], component[of_order]
        rank = ties.rank[event] if last else -ties.rank[event]
        keys = clauses.problem_of_clauses[some], component, other[at], clauses.bound[at]
        order = np.lexsort((-rank, *keys))
        again = np.zeros(len(order), dtype=bool)
        if len(order):
            again[1:] = np.logical_and.reduce([np.diff(each[order]) == 0 for each in keys])
        kept[some[order[again]]] = False
    if kept.all():
        return clauses
    part = clauses.taken(np.flatnonzero(kept))
    return gathered([part], clauses.group_of_problems, clauses.groups)


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
