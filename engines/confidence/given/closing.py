"""What GIVEN leaves to events and to the offsets of clocks: differences, followed until nothing changes.

An interval becomes empty, or differences go round in a circle that asks for ever more, exactly where no
world satisfies them: the earliest tick of each event, its mass and those of the others regarded, is a
world, since the earlier of two worlds, event by event, is one. Then the events on the way there are named.
The masses of events are cut to what is left.

An event of a clock is its own tick plus the offset, so own ticks and offsets are what is independent. Of
two events of one clock the own parts tell the order; what is known of others may narrow an offset by
itself, and then the mass of the offset is cut, as that of an event without a clock is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cepctl.engines.columns.clocks import NO_CLOCK, NO_TIE, EventClocks
from cepctl.engines.columns.endpoints import cut_masses
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import connected, distinct, runs_of
from cepctl.engines.confidence.coupled.problem import owned
from cepctl.engines.confidence.given.edges import NO_CLAUSE, Differences, contradicted
from cepctl.errors import ContradictionError
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Given


def cut(masses: Masses, lower: Ticks, upper: Ticks) -> Masses:
    """Masses within these ends, renormalised."""
    if (lower <= masses.lower).all() and (upper >= masses.upper).all():
        return masses
    return cut_masses(masses, np.arange(len(lower)), lower, upper)[0]


def _same_clock(found: Differences, clocks: EventClocks) -> Flags:
    return np.asarray(clocks.clock[found.left] == clocks.clock[found.right])


def open_still(found: Differences, events: Events) -> Differences:
    """Without those that hold wherever events are: of two on one clock the own parts tell the order."""
    together = _same_clock(found, events.stamps)
    implied = np.where(together, found.implied(events.stamps.own), found.implied(events.masses))
    return found.taken(np.flatnonzero(~implied))


def refuse_impossible(given: Sequence[Given], found: Differences, events: Events) -> None:
    """Raise ContradictionError where own parts of one clock's events contradict what is given."""
    clocks = events.stamps
    own = clocks.own
    never = _same_clock(found, clocks) & (own.lower[found.left] - own.upper[found.right] > found.bound)
    for first in np.flatnonzero(never)[:1].tolist():
        clauses = [given[int(found.clause[first])]]
        raise contradicted(clauses, [int(found.left[first]), int(found.right[first])], events)


def events_left(given: Sequence[Given], found: Differences, events: Events) -> Events:
    """The events with the masses, and the clocks with the offsets, that are left.

    Raises
    ------
    ContradictionError
        If no world is left; names the clauses and the events.
    """
    count, clocks = len(events), events.stamps
    own = clocks.own
    tied = distinct(np.concatenate([found.left, found.right]), count)
    tied = tied[clocks.clock[tied] != NO_CLOCK]
    offset = count + clocks.clock[tied]
    after = np.flatnonzero(clocks.tie != NO_TIE)
    apart, later, before = clocks.tie[after], count + after, count + after - 1
    nothing = np.full(2 * len(tied) + 2 * len(after), NO_CLAUSE)
    whole = Differences(
        np.concatenate([found.left, tied, offset, later, before]),
        np.concatenate([found.right, offset, tied, before, later]),
        np.concatenate([found.bound, own.upper[tied], -own.lower[tied], apart, apart]),
        np.concatenate([found.clause, nothing]),
    )
    # Offsets follow the events.
    lower, upper = intervals_left(given, whole, events, clocks.envelopes.followed_by(clocks.offsets))
    stamped = clocks.clock != NO_CLOCK
    stamps = replace(
        clocks,
        own=cut(
            own, np.where(stamped, own.lower, lower[:count]), np.where(stamped, own.upper, upper[:count])
        ),
        offsets=cut(clocks.offsets, lower[count:], upper[count:]),
    )
    return replace(events, masses=stamps.envelopes, clocks=events.clocks and stamps)


_NONE = -1
_LAST = np.iinfo(np.int64).max


def intervals_left(
    given: Sequence[Given], found: Differences, events: Events, masses: Masses
) -> tuple[Ticks, Ticks]:
    """The first and the last tick that each event may have, shape (n,).

    `masses` are those of the events, and of what else the differences are between: these have no clause.

    Raises
    ------
    ContradictionError
        If no world is left; names the clauses and the events.
    """
    try:
        return _followed(given, found, events, masses, _along_paths(found, masses))
    except ContradictionError:
        # Step by step it is known by which differences each end was reached.
        return _followed(given, found, events, masses, (masses.lower.copy(), masses.upper.copy()))


def _followed(
    given: Sequence[Given], found: Differences, events: Events, masses: Masses, known: tuple[Ticks, Ticks]
) -> tuple[Ticks, Ticks]:
    """The ends that follow from those that are `known` already, round by round."""
    count = len(masses.lower)
    ends = _ClosedEnds(*known, *(np.full(count, _NONE) for _ in "ab"))
    if _are_left(ends, found) and not any(len(each) for each in _onto_mass(masses, ends)):
        return known
    sides = _Sides.of(found, count)
    most = int(np.bincount(connected(count, found.left, found.right)).max(initial=0)) + 1
    from_left, from_right = distinct(found.left, count), distinct(found.right, count)
    while len(from_left) or len(from_right):
        for _ in range(most):
            from_left = _raised(ends, found, sides, from_left)
            from_right = _lowered(ends, found, sides, from_right)
            changed = np.concatenate([from_left, from_right])
            empty = changed[ends.lower[changed] > ends.upper[changed]]
            if len(empty):
                raise _traced(given, found, ends, events, int(empty[0]))
            if not len(changed):
                break
        else:
            raise _traced(given, found, ends, events, int(changed[0]))
        from_left, from_right = _onto_mass(masses, ends)
        changed = np.concatenate([from_left, from_right])
        empty = changed[ends.lower[changed] > ends.upper[changed]]
        if len(empty):
            raise _traced(given, found, ends, events, int(empty[0]))
    return ends.lower, ends.upper


def _are_left(ends: _ClosedEnds, found: Differences) -> bool:
    """Whether no difference moves an end any further."""
    left, right, bound = found.left, found.right, found.bound
    moves = (ends.lower[left] - bound > ends.lower[right]) | (ends.upper[right] + bound < ends.upper[left])
    return not (moves.any() or (ends.lower > ends.upper).any())


def _along_paths(found: Differences, masses: Masses) -> tuple[Ticks, Ticks]:
    """Ends of intervals where differences make paths of many events, as the records of a writer do.

    All of a path whose differences stand one after the other is followed at once: what is left is the same,
    and found in fewer rounds.
    """
    lower, upper, count = masses.lower.copy(), masses.upper.copy(), len(masses.lower)
    times = [np.bincount(side, minlength=count) for side in (found.left, found.right)]
    simple = (times[0][found.left] == 1) & (times[1][found.right] == 1)
    left, right, bound = (each[simple] for each in (found.left, found.right, found.bound))
    if not len(left):
        return lower, upper
    begins = np.flatnonzero(runs_of(left, right)[1] == 1)
    # Before the events that follow stands the one that each run begins with.
    event, apart = np.insert(right, begins, left[begins]), np.cumsum(np.insert(-bound, begins, 0))
    run = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(left))) + 1)
    behind = apart - apart[begins + np.arange(len(begins))][run]
    path = pl.DataFrame({"run": run, "behind": behind, "lower": lower[event], "upper": upper[event]})
    path = path.select(
        low=(pl.col("lower") - pl.col("behind")).cum_max().over("run") + pl.col("behind"),
        high=(pl.col("upper") - pl.col("behind")).cum_min(reverse=True).over("run") + pl.col("behind"),
    )
    np.maximum.at(lower, event, path.get_column("low").to_numpy())
    np.minimum.at(upper, event, path.get_column("high").to_numpy())
    if (lower > upper).any():
        # No difference moves ends that have crossed: only on the way there is it seen.
        return masses.lower.copy(), masses.upper.copy()
    return lower, upper


@dataclass(frozen=True)
class _ClosedEnds:
    """Ends so far, and by which difference each was reached."""

    lower: Ticks
    upper: Ticks
    lower_by: Indexes
    upper_by: Indexes


@dataclass(frozen=True)
class _Sides:
    """The differences by their left and by their right event, as nested offsets."""

    by_left: Indexes
    left_offsets: Indexes
    by_right: Indexes
    right_offsets: Indexes

    @classmethod
    def of(cls, found: Differences, count: int) -> _Sides:
        by_left, by_right = (np.argsort(each, kind="stable") for each in (found.left, found.right))
        ends = np.arange(count + 1)
        return cls(
            by_left,
            np.searchsorted(found.left[by_left], ends),
            by_right,
            np.searchsorted(found.right[by_right], ends),
        )


def _raised(ends: _ClosedEnds, found: Differences, sides: _Sides, events: Indexes) -> Indexes:
    """Follow differences from events whose interval begins later now; returns where that made a change."""
    edge = sides.by_left[owned(sides.left_offsets, events)[0]]
    reached, tick = found.right[edge], ends.lower[found.left[edge]] - found.bound[edge]
    better = np.flatnonzero(tick > ends.lower[reached])
    edge, reached, tick = edge[better], reached[better], tick[better]
    np.maximum.at(ends.lower, reached, tick)
    best = tick == ends.lower[reached]
    ends.lower_by[reached[best]] = edge[best]
    return distinct(reached, len(ends.lower))


def _lowered(ends: _ClosedEnds, found: Differences, sides: _Sides, events: Indexes) -> Indexes:
    """The ends that follow where the interval of events ends earlier now."""
    edge = sides.by_right[owned(sides.right_offsets, events)[0]]
    reached, tick = found.left[edge], ends.upper[found.right[edge]] + found.bound[edge]
    better = np.flatnonzero(tick < ends.upper[reached])
    edge, reached, tick = edge[better], reached[better], tick[better]
    np.minimum.at(ends.upper, reached, tick)
    best = tick == ends.upper[reached]
    ends.upper_by[reached[best]] = edge[best]
    return distinct(reached, len(ends.lower))


def _onto_mass(masses: Masses, ends: _ClosedEnds) -> tuple[Indexes, Indexes]:
    """Move ends that lie in holes of a histogram to the next tick with mass; returns whose begin and end."""
    none = np.zeros(0, dtype=np.int64)
    if masses.uniform:
        return none, none
    owner = np.repeat(np.arange(len(masses.lower)), np.diff(masses.starts))
    lo, hi = np.maximum(masses.lo, ends.lower[owner]), np.minimum(masses.hi, ends.upper[owner])
    left = lo <= hi
    first, last = np.full(len(masses.lower), _LAST), np.full(len(masses.lower), -_LAST)
    np.minimum.at(first, owner[left], lo[left])
    np.maximum.at(last, owner[left], hi[left])
    later, earlier = np.flatnonzero(first > ends.lower), np.flatnonzero(last < ends.upper)
    ends.lower[later], ends.upper[earlier] = first[later], last[earlier]
    return later, earlier


def _traced(
    given: Sequence[Given], found: Differences, ends: _ClosedEnds, events: Events, event: int
) -> Exception:
    """The way back from an event without room, or round a circle."""
    rows, edges = [event], []
    for by, side in ((ends.lower_by, found.left), (ends.upper_by, found.right)):
        seen, at = {event}, event
        while by[at] != _NONE:
            edges.append(int(by[at]))
            at = int(side[by[at]])
            rows.append(at)
            if at in seen:
                break
            seen.add(at)
    clauses = [given[int(found.clause[edge])] for edge in edges if found.clause[edge] != NO_CLAUSE]
    return contradicted(clauses, [row for row in rows if row < len(events)], events)
