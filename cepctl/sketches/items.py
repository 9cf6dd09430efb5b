"""Items: spans or listed events of one component, and where those of one can meet those of another."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cepctl.numeric.arrays import Flags, Hashes, Indexes, Numbers, Reals, Ticks

_RANK_BITS = np.uint64(32)


@dataclass(frozen=True)
class Items:
    """n items as columns, shape (n,): the `events` that each holds of a component lie in [lower, upper].

    `place` is the number of a span, or, of a listed event, `-1 - r` with r its row among those that were
    read; `group` is the number of the row group.

    `key` tells apart the values that all components share; 0 where they share none.  Items of several keys
    that were one have the same `origin`, and hold its events all together; `likely` is how many of them each
    holds if values are spread evenly over types.
    """

    place: Indexes
    group: Indexes
    lower: Ticks
    upper: Ticks
    events: Numbers
    key: Hashes
    likely: Reals
    origin: Indexes

    def __len__(self) -> int:
        return len(self.lower)

    def where(self, chosen: Flags | Indexes) -> Items:
        """Some of them, or some of them several times."""
        return Items(*(getattr(self, each.name)[chosen] for each in fields(self)))

    def joined(self, others: Items) -> Items:
        """These and others."""
        return Items(
            *(np.concatenate([getattr(self, each.name), getattr(others, each.name)]) for each in fields(self))
        )

    @cached_property
    def meetings(self) -> Meetings:
        """What finds those that touch stretches of time."""
        return Meetings.of(self)


@dataclass(frozen=True)
class Meetings:
    """Items in two orders, by key and `lower` and by key and `upper`, searched by ranks of ticks."""

    ticks: Ticks
    begun: Hashes
    ended: Hashes
    begun_events: Numbers
    ended_events: Numbers
    begun_likely: Reals
    ended_likely: Reals
    first_lower: Ticks
    latest_end: Hashes
    last_upper: Ticks
    earliest_begin: Hashes

    @classmethod
    def of(cls, items: Items) -> Meetings:
        """Sort items for searches."""
        ticks = np.unique(np.concatenate([items.lower, items.upper]))
        keys = items.key << _RANK_BITS
        begun = keys | np.searchsorted(ticks, items.lower).astype(np.uint64)
        ended = keys | np.searchsorted(ticks, items.upper).astype(np.uint64)
        by_begin, by_end = np.argsort(begun, kind="stable"), np.argsort(ended, kind="stable")
        return cls(
            ticks,
            begun[by_begin],
            ended[by_end],
            np.concatenate([[0], np.cumsum(items.events[by_begin])]),
            np.concatenate([[0], np.cumsum(items.events[by_end])]),
            np.concatenate([[0.0], np.cumsum(items.likely[by_begin])]),
            np.concatenate([[0.0], np.cumsum(items.likely[by_end])]),
            items.lower[by_begin],
            np.maximum.accumulate(ended[by_begin]),
            items.upper[by_end],
            np.minimum.accumulate(begun[by_end][::-1])[::-1],
        )

    def events(self, key: Hashes, first: Ticks, last: Ticks) -> Numbers:
        """How many events of a key the items hold that touch [first, last], shape as these."""
        until, since = self._until(key, last), self._since(key, first)
        begun = self.begun_events[np.searchsorted(self.begun, until)]
        ended = self.ended_events[np.searchsorted(self.ended, since)]
        return np.asarray(np.maximum(begun - ended, 0))

    def likely(self, key: Hashes, first: Ticks, last: Ticks) -> Reals:
        """About how many of these events there are."""
        begun = self.begun_likely[np.searchsorted(self.begun, self._until(key, last))]
        ended = self.ended_likely[np.searchsorted(self.ended, self._since(key, first))]
        return np.asarray(np.maximum(begun - ended, 0.0))

    def first(self, key: Hashes, first: Ticks) -> Ticks:
        """The smallest `lower` of the items that do not end before `first`; there must be one."""
        at = np.searchsorted(self.latest_end, self._since(key, first))
        return np.asarray(self.first_lower[np.minimum(at, len(self.first_lower) - 1)])

    def last(self, key: Hashes, last: Ticks) -> Ticks:
        """The largest `upper` of the items that do not begin after `last`; there must be one."""
        at = np.searchsorted(self.earliest_begin, self._until(key, last)) - 1
        return np.asarray(self.last_upper[np.maximum(at, 0)])

    def _until(self, key: Hashes, last: Ticks) -> NDArray[np.uint64]:
        """Before this stands what begins at `last` or before."""
        return (key << _RANK_BITS) | np.searchsorted(self.ticks, last, "right").astype(np.uint64)

    def _since(self, key: Hashes, first: Ticks) -> NDArray[np.uint64]:
        """Before this stands what ends before `first`."""
        return (key << _RANK_BITS) | np.searchsorted(self.ticks, first, "left").astype(np.uint64)


EARLIEST, LATEST = -(2**62), 2**62
_MOST = 2**62 - 1


def moved(ticks: Ticks, by: int) -> Ticks:
    """Ticks within 62 bits moved by a number of ticks; by more than 62 bits is as far as 62 bits go."""
    return ticks + max(-_MOST, min(_MOST, by))


def first_tick_of(lower: Ticks, bound: int | None) -> Ticks:
    """The first tick of another event where `t - other <= bound`; None: any."""
    if bound is None or bound > _MOST:
        return np.full(len(lower), EARLIEST)
    return moved(lower, -bound)


def last_tick_of(upper: Ticks, bound: int | None) -> Ticks:
    """The last tick of another event where `other - t <= bound`; None: any."""
    if bound is None or bound > _MOST:
        return np.full(len(upper), LATEST)
    return moved(upper, bound)
