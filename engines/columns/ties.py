"""Ties: what GIVEN says of pairs of events and their intervals do not imply, so that they are dependent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from threading import Lock

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.laws import Laws
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

NO_COMPONENT = -1


@dataclass(frozen=True)
class SeriesMasses:
    """What series leave to their events.

    Of n events m stand in series, at `place`, shape (n,), -1 for all others.  Event n + p of the laws is the
    one at place p, given all before it; event n + m + p the same given all after it, n + 2 m + p given both.
    `ratio`, shape (m,): the probability that an event follows as it must, where all before it do; `meeting`:
    that what is before an event and what is after it meet, where each holds by itself.

    Of the u events of `units` that are summed, at `unit_place`, shape (n,), -1 for all others, event
    n + 3 m + q is the one at place q wherever its unit is; each of the next u as well, weighed by what comes
    before it, then by what comes after it, then by both, which is its law.
    """

    laws: Laws
    place: Indexes
    ratio: Reals
    meeting: Reals
    units: Units
    unit_place: Indexes


@dataclass(frozen=True)
class Units:
    """What the components of some ties are as units, shape (components,).

    `records`: how many each has, 0 of those that are none; `begin`: the first tick; `spare`: how many ticks
    no record takes.
    """

    records: Indexes
    begin: Ticks
    spare: Ticks

    def are(self, components: Indexes) -> Flags:
        """Which of some components are units."""
        return np.asarray(self.records[components] > 0)


class SeriesLater:
    """What series leave to their events, found when it is first asked for: many matches need no sums."""

    def __init__(self, find: Callable[[], SeriesMasses]) -> None:
        self._find, self._found, self._lock = find, list[SeriesMasses](), Lock()

    def found(self) -> SeriesMasses:
        """What series leave, once for all threads."""
        with self._lock:
            if not self._found:
                self._found.append(self._find())
        return self._found[0]


@dataclass(frozen=True)
class Ties:
    """Differences `t_left - t_right <= bound`, and the components of events that they make.

    `left`, `right`, `bound`, shape (k,), stand by component: those of component c from tie_offsets[c] to
    tie_offsets[c + 1].  `component`, shape (n,), is that of each event, NO_COMPONENT where tied to none;
    `members` from member_offsets[c] on are its events, and `rank` says where an event stands there.
    `probability`: that all ties of a component hold, NaN as long as it is not known.
    """

    left: Indexes
    right: Indexes
    bound: Ticks
    tie_offsets: Indexes
    component: Indexes
    rank: Indexes
    members: Indexes
    member_offsets: Indexes
    probability: Reals

    @property
    def sizes(self) -> Indexes:
        """Number of events of each component."""
        return np.diff(self.member_offsets)


@dataclass(frozen=True)
class EventTies(Ties):
    """Ties between events, by row number.

    `serial`: whether each component's events are tied to the next alone, and come before it; these stand in
    that order, and `series` says what is given of their events by those before and after.
    """

    serial: Flags
    series: SeriesLater | None = None

    @cached_property
    def in_order(self) -> Flags:
        """Which components are series each of whose events comes after the one before it."""
        found = self.serial.copy()
        found[self.component[self.left[self.bound != -1]]] = False
        return found

    def touches(self, event: Indexes) -> Flags:
        """Which events are tied."""
        return np.asarray(self.component[event] >= 0)


def event_ties(count: int, left: Indexes, right: Indexes, bound: Ticks) -> EventTies:
    """Ties between some of `count` events."""
    label = connected(count, left, right)
    tied = distinct(np.concatenate([left, right]), count)
    number = numbered(label, tied)
    component = np.full(count, NO_COMPONENT)
    component[tied] = number[label[tied]]
    serial = _are_series(component, int(number.max(initial=NO_COMPONENT)) + 1, left, right)
    follows = _places(count, serial[component[left]], left, right)
    members = tied[np.lexsort((follows[tied], component[tied]))]
    ties = ties_of(left, right, bound, (left, right), component, members)
    return EventTies(**vars(ties), serial=serial)


def numbered(label: Indexes, tied: Indexes) -> Indexes:
    """The number of each component that has tied events, where its label points; NO_COMPONENT elsewhere.

    The label of a component is the smallest of what it connects.
    """
    roots = distinct(label[tied], len(label))
    number = np.full(len(label), NO_COMPONENT)
    number[roots] = np.arange(len(roots))
    return number


def ties_of(
    left: Indexes,
    right: Indexes,
    bound: Ticks,
    events: tuple[Indexes, Indexes],
    component: Indexes,
    members: Indexes,
) -> Ties:
    """Ties by component, as `members` stand; `events` are those of `left` and of `right`."""
    components = np.arange(int(component.max(initial=NO_COMPONENT)) + 2)
    member_offsets = np.searchsorted(component[members], components).astype(np.int64)
    rank = np.full(len(component), -1)
    rank[members] = np.arange(len(members)) - member_offsets[component[members]]
    of_tie = component[events[0]]
    order = np.lexsort((rank[events[1]], rank[events[0]], of_tie))
    tie_offsets = np.searchsorted(of_tie[order], components).astype(np.int64)
    return Ties(
        left[order],
        right[order],
        bound[order],
        tie_offsets,
        component,
        rank,
        members,
        member_offsets,
        probability=np.full(len(components) - 1, np.nan),
    )


def _are_series(component: Indexes, count: int, left: Indexes, right: Indexes) -> Flags:
    """Which of `count` components are a series: one tie fewer than events, one each way at most."""
    serial = np.bincount(component[left], minlength=count) + 1 == np.bincount(
        component[component >= 0], minlength=count
    )
    for side in (left, right):
        times = np.bincount(side, minlength=len(component))
        serial[component[np.flatnonzero(times > 1)]] = False
    return np.asarray(serial)


def _places(count: int, serial: Flags, left: Indexes, right: Indexes) -> Indexes:
    """How many events of its series come before each event, 0 for those of none; shape (count,).

    Each step looks twice as far back.
    """
    back, place = np.arange(count), np.zeros(count, dtype=np.int64)
    back[right[serial]], place[right[serial]] = runs_of(left[serial], right[serial])
    while True:
        farther = back[back]
        if (farther == back).all():
            return place
        place += place[back]
        back = farther


def runs_of(left: Indexes, right: Indexes) -> tuple[Indexes, Indexes]:
    """Of pairs the first event of the run in which each follows the one before it, and its place there.

    So stand the pairs of neighbours that a writer's records make.

    Examples
    --------
    >>> first, place = runs_of(np.array([4, 7, 2]), np.array([7, 5, 3]))
    >>> first.tolist(), place.tolist()
    ([4, 4, 2], [1, 2, 1])
    """
    fresh = np.ones(len(left), dtype=bool)
    fresh[1:] = left[1:] != right[:-1]
    begin = np.flatnonzero(fresh)[np.cumsum(fresh) - 1]
    return left[begin], np.arange(len(left)) - begin + 1


def distinct(rows: Indexes, count: int) -> Indexes:
    """Those of `count` row numbers that occur, ascending; the same as `np.unique`, and quicker for many."""
    if 16 * len(rows) < count:
        return np.unique(rows)
    occurs = np.zeros(count, dtype=bool)
    occurs[rows] = True
    found: Indexes = np.flatnonzero(occurs)
    return found


def connected(count: int, left: Indexes, right: Indexes) -> Indexes:
    """For each of `count` events the smallest one that pairs connect it to, shape (count,)."""
    label = np.arange(count)
    # All of a run is connected: most of what there is to find is found at once.
    first = runs_of(left, right)[0]
    for side in (left, right):
        np.minimum.at(label, first, side)
    for side in (left, right):
        np.minimum.at(label, side, label[first])
    while True:
        smaller = np.minimum(label[left], label[right])
        found = label.copy()
        for side in (left, right):
            np.minimum.at(found, side, smaller)
            np.minimum.at(found, label[side], smaller)
        while not (found[found] == found).all():
            found = found[found]
        if (found == label).all():
            return label
        label = found


@dataclass(frozen=True)
class EndpointTies(Ties):
    """Ties between endpoints.

    `of_clock`: the component of all events of a clock, shape (clocks,), NO_COMPONENT where there is none.
    """

    of_clock: Indexes


def endpoint_ties(
    endpoints: Endpoints, left: Indexes, right: Indexes, bound: Ticks, clocks: EventClocks
) -> EndpointTies:
    """The ties between some endpoints; `clocks` are those of the endpoints.

    What is given of events of several clocks tells of their offsets, so that it connects these, too.
    """
    count, owner = len(endpoints), endpoints.owner
    one, other = _through_clocks(owner[left], owner[right], clocks.clock[:count], clocks.chain)
    label = connected(count + len(clocks.offsets.lower), one, other)
    tied = distinct(np.concatenate([owner[left], owner[right]]), count)
    number = numbered(label, tied)
    component = np.full(count, NO_COMPONENT)
    component[tied] = number[label[tied]]
    members = tied[np.argsort(component[tied], kind="stable")]
    ties = ties_of(left, right, bound, (owner[left], owner[right]), component, members)
    return EndpointTies(**vars(ties), of_clock=number[label[count + clocks.chain]])


def _through_clocks(one: Indexes, other: Indexes, clock: Indexes, chain: Indexes) -> tuple[Indexes, Indexes]:
    """Pairs of events with those of an event and its clock, unless all that are connected have one clock.

    `chain`: of all clocks; those that are tied count as one.
    """
    count = len(clock)
    label = connected(count, one, other)
    tied = distinct(np.concatenate([one, other]), count)
    moves = np.zeros(count, dtype=bool)
    moves[label[tied[clock[tied] != clock[label[tied]]]]] = True
    through = tied[moves[label[tied]] & (clock[tied] != NO_CLOCK)]
    return np.concatenate([one, through]), np.concatenate([other, count + chain[clock[through]]])
