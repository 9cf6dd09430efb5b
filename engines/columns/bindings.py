"""What a batch of matches binds: one event, or a group of events, per positive component."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks


@dataclass(frozen=True)
class Group:
    """A Kleene group per match: match i owns members[offsets[i]:offsets[i + 1]]."""

    offsets: Indexes
    members: Indexes

    @property
    def sizes(self) -> Indexes:
        """Number of members per match, shape (n,)."""
        return np.diff(self.offsets)

    @property
    def owner(self) -> Indexes:
        """For every member the match it belongs to."""
        return np.repeat(np.arange(len(self.offsets) - 1), self.sizes)

    def take(self, rows: Indexes) -> Group:
        """The groups of some matches, in the order of `rows`."""
        return self.of_sizes(self.sizes[rows], self.offsets[rows], self.members)

    @classmethod
    def of_owners(cls, count: int, owner: Indexes, events: Indexes) -> Group:
        """The events of each of so many owners, in the order in which they stand.

        Examples
        --------
        >>> found = Group.of_owners(3, np.array([2, 0, 2]), np.array([7, 8, 9]))
        >>> found.offsets.tolist(), found.members.tolist()
        ([0, 1, 1, 3], [8, 7, 9])
        """
        order = np.argsort(owner, kind="stable")
        return cls(np.searchsorted(owner[order], np.arange(count + 1)), events[order])

    @classmethod
    def of_sizes(cls, sizes: Indexes, begin: Indexes, events: Indexes) -> Group:
        """Groups of so many events each, which stand one after the other from `begin` on."""
        row, place = places_in_runs(sizes)
        return cls(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), events[begin[row] + place])

    @classmethod
    def joined(cls, groups: Sequence[Group]) -> Group:
        """The groups of some matches, and then those of others."""
        sizes = np.concatenate([each.sizes for each in groups])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return cls(offsets, np.concatenate([each.members for each in groups]))


Bindings: TypeAlias = Indexes | Group
"""What one component binds, per match: one event, shape (n,), or a group."""


@dataclass(frozen=True)
class CountedRows:
    """What rows that stand for many matches say of them; shape (n,).

    `matches`: how many; `expected`: the sum of their confidences; `some`: the probability that one of them
    holds.  `first`: the first tick of the best of them.  `fewest`: whether no other row has the same matches
    with fewer members, so that it alone says whether there is one.
    """

    matches: Reals
    expected: Reals
    some: Reals
    first: Ticks
    fewest: Flags

    def take(self, rows: Indexes) -> CountedRows:
        """Those of some rows."""
        return CountedRows(*(each[rows] for each in vars(self).values()))


@dataclass(frozen=True)
class MatchBatch:
    """n collapsed matches of one alternative.

    `bound` has one entry per positive component, in pattern order; `start`, `end`, `confidence` and
    `error` have shape (n,).  `error` bounds the error of each confidence; None: all are exact.
    `counted`, under GROUP BY, where a row stands for several matches that are as probable.
    """

    bound: tuple[Bindings, ...]
    start: Ticks
    end: Ticks
    confidence: Reals
    error: Reals | None = None
    counted: CountedRows | None = None

    def __len__(self) -> int:
        return len(self.start)

    def filter(self, keep: Flags) -> MatchBatch:
        """The matches for which `keep` is true."""
        return self.take(np.flatnonzero(keep))

    def take(self, rows: Indexes) -> MatchBatch:
        """The matches of some rows, in the order of `rows`."""
        bound = tuple(take(each, rows) for each in self.bound)
        error = None if self.error is None else self.error[rows]
        counted = None if self.counted is None else self.counted.take(rows)
        return MatchBatch(bound, self.start[rows], self.end[rows], self.confidence[rows], error, counted)

    @property
    def errors(self) -> Reals:
        """Error of each confidence, 0 where it is exact."""
        return np.zeros(len(self)) if self.error is None else self.error


def joined_batches(batches: Sequence[MatchBatch]) -> MatchBatch | None:
    """Several batches of matches of one alternative as one; None where there is no match."""
    batches = [each for each in batches if len(each)]
    if not batches:
        return None
    bound = tuple(_joined([each.bound[i] for each in batches]) for i in range(len(batches[0].bound)))
    return MatchBatch(
        bound,
        np.concatenate([each.start for each in batches]),
        np.concatenate([each.end for each in batches]),
        np.concatenate([each.confidence for each in batches]),
        np.concatenate([each.errors for each in batches]),
        _counted([each.counted for each in batches if each.counted is not None]),
    )


def _counted(parts: Sequence[CountedRows]) -> CountedRows | None:
    if not parts:
        return None
    columns = zip(*(vars(each).values() for each in parts), strict=True)
    return CountedRows(*(np.concatenate(each) for each in columns))


def _joined(parts: Sequence[Bindings]) -> Bindings:
    if isinstance(parts[0], Group):
        return Group.joined([each for each in parts if isinstance(each, Group)])
    return np.concatenate([each for each in parts if not isinstance(each, Group)])


def events_in(bound: Bindings) -> Indexes:
    """The events that all matches together bind there."""
    return bound.members if isinstance(bound, Group) else bound


def members_of(bound: Bindings) -> int:
    """How many events all matches together bind there."""
    return len(events_in(bound))


def least_of(bound: Bindings, values: Ticks) -> Ticks:
    """The value of each bound event, of a group the smallest."""
    if isinstance(bound, Group):
        least: Ticks = np.minimum.reduceat(values[bound.members], bound.offsets[:-1])
        return least
    return values[bound]


def take(bound: Bindings, rows: Indexes) -> Bindings:
    """Select matches from one component's bindings."""
    return bound.take(rows) if isinstance(bound, Group) else bound[rows]


def take_matches(bound: Mapping[int, Bindings], rows: Indexes) -> dict[int, Bindings]:
    """Select matches from the bindings of all components."""
    return {i: take(each, rows) for i, each in bound.items()}


def count_of(bound: Iterable[Bindings]) -> int:
    """How many matches these are the bindings of."""
    some = next(iter(bound))
    return len(some.sizes) if isinstance(some, Group) else len(some)


def flattened(bound: Mapping[int, Bindings]) -> tuple[Indexes, Indexes, dict[int, Bindings]]:
    """Every event that matches bind, by component: its row, the event, and the bindings by their numbers.

    Examples
    --------
    >>> group = Group(np.array([0, 2, 3]), np.array([4, 5, 9]))
    >>> row, event, numbered = flattened({0: np.array([7, 8]), 2: group})
    >>> row.tolist(), event.tolist(), numbered[2].members.tolist()
    ([0, 1, 0, 0, 1], [7, 8, 4, 5, 9], [2, 3, 4])
    """
    numbered: dict[int, Bindings] = {}
    rows, events, begin = [], [], 0
    for component, each in bound.items():
        rows.append(each.owner if isinstance(each, Group) else np.arange(len(each)))
        events.append(events_in(each))
        number = np.arange(begin, begin + len(events[-1]))
        numbered[component] = Group(each.offsets, number) if isinstance(each, Group) else number
        begin += len(number)
    return np.concatenate(rows), np.concatenate(events), numbered


def places_of(
    row: Indexes, event: Indexes, other_row: Indexes, other_event: Indexes, missing: Indexes
) -> Indexes:
    """Where each of other (row, event) pairs stands among some pairs; `missing` for one that does not.

    Examples
    --------
    >>> row, event = np.array([0, 0, 1]), np.array([7, 4, 7])
    >>> places_of(row, event, np.array([1, 1]), np.array([7, 4]), np.array([8, 9])).tolist()
    [2, 9]
    """
    width = max(event.max(initial=-1), other_event.max(initial=-1)) + 1
    pairs, wanted = row * width + event, other_row * width + other_event
    order = np.argsort(pairs, kind="stable")
    at = np.minimum(np.searchsorted(pairs, wanted, sorter=order), max(len(pairs) - 1, 0))
    if not len(pairs):
        return missing
    place = order[at]
    found: Indexes = np.where(pairs[place] == wanted, place, missing)
    return found


def single_events(bound: Sequence[Bindings]) -> Indexes:
    """Bindings of components that bind one event each, as a matrix of shape (n, components)."""
    return np.stack([each for each in bound if not isinstance(each, Group)], axis=1)


def block_group(bound: Sequence[Bindings]) -> Group:
    """The members of a block: those of one component after those of the other, in pattern order."""
    if len(bound) == 1 and isinstance(bound[0], Group):
        return bound[0]
    if any(isinstance(each, Group) for each in bound):
        owner, events = (np.concatenate(part) for part in zip(*map(_owned, bound), strict=True))
        return Group.of_owners(int(owner.max(initial=-1)) + 1, owner, events)
    members = single_events(bound)
    offsets = np.arange(0, members.size + 1, max(members.shape[1], 1), dtype=np.int64)
    return Group(offsets, members.reshape(-1))


def _owned(bound: Bindings) -> tuple[Indexes, Indexes]:
    """The events that one component binds, each with its match."""
    if isinstance(bound, Group):
        return bound.owner, bound.members
    return np.arange(len(bound)), bound


class Names(Protocol):
    """Ids of events by their row numbers, such as an array of texts."""

    def take(self, rows: pa.Array, /) -> pa.Array:
        """The ids of some events."""
        ...


def signatures(bound: Sequence[Bindings], ids: Names) -> pa.Array:
    """Signatures of a batch: list<list<string>>, one inner list per positive component."""
    if any(isinstance(each, Group) for each in bound):
        inner, events = listed(bound)
    else:
        events = single_events(bound).reshape(-1)
        inner = np.arange(len(events) + 1, dtype=np.int32)
    names = ids.take(pa.array(events)).cast(pa.string())
    lists = pa.ListArray.from_arrays(pa.array(inner, pa.int32()), names)
    outer = np.arange(0, len(lists) + 1, len(bound), dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(outer), lists)


def listed(bound: Sequence[Bindings]) -> tuple[Indexes, Indexes]:
    """Where what each component of each match binds begins, and the events, match after match."""
    sizes = np.stack(
        [each.sizes if isinstance(each, Group) else np.ones(len(each), dtype=np.int64) for each in bound],
        axis=1,
    )
    inner = np.concatenate([[0], np.cumsum(sizes)])
    begins = inner[:-1].reshape(sizes.shape)
    events = np.empty(inner[-1], dtype=np.int64)
    for position, each in enumerate(bound):
        if isinstance(each, Group):
            row, place = places_in_runs(each.sizes)
            events[begins[:, position][row] + place] = each.members
        else:
            events[begins[:, position]] = each
    return inner, events


@dataclass(frozen=True)
class TickSpans:
    """From `first` to `last`, both included, shape (n,); FIRST and LAST stand for no end."""

    first: Ticks
    last: Ticks

    @classmethod
    def up_to(cls, last: Ticks) -> TickSpans:
        """Spans that begin nowhere."""
        return cls(np.full(len(last), FIRST), last)

    @classmethod
    def starting_at(cls, first: Ticks) -> TickSpans:
        """Spans that end nowhere."""
        return cls(first, np.full(len(first), LAST))

    def take(self, rows: Indexes) -> TickSpans:
        """Those of some rows."""
        return TickSpans(self.first[rows], self.last[rows])

    def but_for(self, free: Flags) -> TickSpans:
        """The spans, but some without ends."""
        return TickSpans(np.where(free, FIRST, self.first), np.where(free, LAST, self.last))

    def followed_by_everywhere(self, count: int) -> TickSpans:
        """And then so many spans without ends."""
        first, last = np.full(count, FIRST), np.full(count, LAST)
        return TickSpans(np.concatenate([self.first, first]), np.concatenate([self.last, last]))

    @property
    def cuts(self) -> tuple[Indexes, Ticks]:
        """Where masses are cut: rows, and the first tick inside of a span or after it.

        Examples
        --------
        >>> TickSpans.up_to(np.array([7, 9])).cuts
        (array([0, 1]), array([ 8, 10]))
        """
        begins, ends = np.flatnonzero(self.first > FIRST), np.flatnonzero(self.last < LAST)
        return np.concatenate([begins, ends]), np.concatenate([self.first[begins], self.last[ends] + 1])
