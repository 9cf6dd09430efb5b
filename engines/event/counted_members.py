"""GROUP BY over a Kleene group: what is known of all sets between some neighbours, as one row.

The members that may be there or not are counted together with those that are there in every world: how many
there are decides whether there is a match, and how many are expected.  No set is listed.

Where one clock stamped all events that can be in a match, its offset moves them together: they are counted by
their own parts, and only the range of their ticks knows of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import comb, inf

import numpy as np
import pyarrow as pa

from cepctl.engines.columns.bindings import Bindings, CountedRows, Group, MatchBatch
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import partition_codes
from cepctl.engines.columns.laws import Laws
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.confidence.occurrence.member_counts import MemberCounts, Sizes, member_counts
from cepctl.engines.confidence.occurrence.occurrence import Occurrences
from cepctl.engines.confidence.occurrence.room_unions import GroupPlaces, RoomKeys, Rooms, united_rooms
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.counted_sets import possible_members
from cepctl.engines.event.raw_time_counts import judgements
from cepctl.engines.event.raw_times import CertainTimes
from cepctl.engines.search.search import Search
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.numeric.precision import SMALLEST
from cepctl.plan.group_sizes import CountedSets

_ROWS_AT_ONCE = 1 << 12
_NO_MOST = np.iinfo(np.int64).max
_NO_EVENT = -1
_MOST_BITS = 1023
"""A whole number of more bits is too large for a float."""


@dataclass(frozen=True)
class CountedMembers:
    """A Kleene group among single events, none of them tied or limited by constants.

    `source` has them by their own parts; `stamps` are the clocks of all events.
    """

    source: PreparedAlternative
    sets: CountedSets
    places: GroupPlaces
    buckets: Laws
    stamps: EventClocks

    @classmethod
    def of(cls, source: PreparedAlternative, sets: CountedSets) -> CountedMembers | None:
        """None where something else than order and a window ties members and neighbours to each other."""
        events, search = source.events, source.search
        if source.shape.rules or search.alternative.timings:
            return None
        tied = any(bool(events.is_tied(each).any()) for each in search.candidates)
        if tied or (events.depends.given and events.depends.on_clocks):
            return None
        if events.clocks is not None:
            if not _one_clock_each(search, events, events.clocks):
                return None
            source = replace(source, events=replace(events, masses=events.clocks.own, clocks=None))
        column = search.singles.index(sets.component)
        others = np.delete(np.arange(len(search.singles)), column)
        system = search.system
        places = GroupPlaces(
            np.ascontiguousarray(system[np.ix_(others, others)]),
            np.ascontiguousarray(system[column, others]),
            np.ascontiguousarray(system[others, column]),
        )
        masses = source.events.masses
        if not places.apart and masses.has_hole.any():
            return None
        return cls(source, sets, places, masses.laws, events.stamps)

    def matches(self, rows: Indexes) -> Iterator[MatchBatch]:
        """One row for the matches of each binding of neighbours that has some.

        `rows`: as `cepctl.engines.search.search.enumeration_parts` yields them, shape (n, l).  Where
        the members are too costly to count, what they decide is NaN.
        """
        if self.sets.most is not None and self.sets.most < self._least:
            return
        for begin in range(0, len(rows), _ROWS_AT_ONCE):
            part = rows[begin : begin + _ROWS_AT_ONCE]
            rooms = self._rooms(part)
            enough = np.flatnonzero(np.diff(rooms.offsets) >= self._least)
            if len(enough) < len(part):
                rooms = self._rooms(part[enough])
            found = member_counts(self.buckets, self.places, rooms, self._sizes(rooms))
            happens = np.flatnonzero(found.matches > 0.0)
            if len(happens):
                yield self._batch(rooms, found, happens)

    def occurrences(self, matches: MatchBatch, key: Indexes, count: int) -> Occurrences:
        """The probability that one of the matches of each key holds; `key`, ascending, is that of each."""
        rooms = self._rooms(self._rows(matches))
        assert matches.counted is not None
        certain = np.add.reduceat(rooms.certain.astype(np.int64), rooms.offsets[:-1])
        keys = RoomKeys(
            np.searchsorted(key, np.arange(count + 1)).astype(np.int64),
            matches.counted.some,
            (self._least - certain).astype(np.int64),
        )
        rank = self.source.events.id_rank.astype(np.int64)
        probability, largest = united_rooms(self.buckets, self.places, rooms, keys, rank)
        return Occurrences(probability, rooms.singles.shape[1] * largest, largest, np.zeros(count, np.int64))

    def found_at_raw_times(self, times: CertainTimes, matches: MatchBatch) -> pa.Array:
        """Whether raw times alone find some match of each row; null where they judge none."""
        rooms = self._rooms(self._rows(matches))
        owner = np.repeat(np.arange(len(matches)), np.diff(rooms.offsets))
        alone = Group(np.arange(len(rooms.member) + 1), rooms.member)
        neighbours = dict(zip(self._others, rooms.singles.T, strict=True))
        bound: dict[int, Bindings] = {i: each[owner] for i, each in neighbours.items()}
        bound[self.sets.component] = alone
        pairs = tuple(bound[i] for i in self.source.search.singles)
        judged = times.judgeable(pairs)
        found = times.found(pairs) & judged
        enough = [np.bincount(owner, each, len(matches)) >= self._least for each in (found, judged)]
        return judgements(enough[0], enough[1])

    @property
    def _least(self) -> int:
        return max(self.sets.least, 1)

    @property
    def _others(self) -> list[int]:
        return [i for i in self.source.search.singles if i != self.sets.component]

    def _rows(self, matches: MatchBatch) -> Indexes:
        """The neighbours of matches, in the form in which they were found."""
        columns = [
            np.full(len(matches), _NO_EVENT) if isinstance(each, Group) else each for each in matches.bound
        ]
        return np.stack(columns, axis=1)

    def _rooms(self, rows: Indexes) -> Rooms:
        search = self.source.search
        row, event, certain = possible_members(self.source, self.sets.component, rows)
        others = [search.singles.index(i) for i in self._others]
        offsets = np.searchsorted(row, np.arange(len(rows) + 1))
        return Rooms(
            np.ascontiguousarray(rows[:, others], dtype=np.int64), offsets.astype(np.int64), event, certain
        )

    def _sizes(self, rooms: Rooms) -> Sizes:
        largest = int(np.diff(rooms.offsets).max(initial=0))
        most = self.sets.most
        sets, with_one = _numbers_of_sets(self._least, most, largest)
        return Sizes(self._least, _NO_MOST if most is None else most, sets, with_one)

    def _batch(self, rooms: Rooms, found: MemberCounts, rows: Indexes) -> MatchBatch:
        chosen = _chosen(rooms, found.chosen).take(rows)
        neighbours = dict(zip(self._others, rooms.singles[rows].T, strict=True))
        bound = neighbours | {self.sets.component: chosen}
        confidence = np.maximum(found.confidence[rows], SMALLEST)
        earlier, later = self._offsets(rooms.singles[rows, 0])
        counted = CountedRows(
            found.matches[rows],
            np.maximum(found.expected[rows], SMALLEST),
            np.fmax(found.some[rows], confidence),
            found.first[rows] + earlier,
            np.ones(len(rows), dtype=bool),
        )
        values = tuple(bound[i] for i in self.source.search.singles)
        return MatchBatch(
            values, found.start[rows] + earlier, found.end[rows] + later, confidence, None, counted
        )

    def _offsets(self, event: Indexes) -> tuple[Ticks, Ticks]:
        """The first and the last offset of the clock of each event, 0 where it has none."""
        clock, (least, most) = self.stamps.clock[event], self.stamps.extremes
        return least[clock], most[clock]


def _one_clock_each(search: Search, events: Events, clocks: EventClocks) -> bool:
    """Whether all events that may be in one match share a clock, or have none: those of one `[attr]`."""
    event = np.unique(np.concatenate(search.candidates))
    key = partition_codes(search.partition_by, events)[event]
    pairs = np.stack([key, clocks.clock[event]], axis=1)[key >= 0]
    return len(np.unique(pairs[:, 0])) == len(distinct_rows(pairs).first)


def _chosen(rooms: Rooms, chosen: Flags) -> Group:
    ends = np.concatenate([[0], np.cumsum(chosen)])
    return Group(ends[rooms.offsets].astype(np.int64), rooms.member[chosen])


def _numbers_of_sets(least: int, most: int | None, largest: int) -> tuple[Reals, Reals]:
    """How many sets of `least` to `most` there are of n members; and of n and one more, which is in each.

    Examples
    --------
    >>> [each.tolist() for each in _numbers_of_sets(2, None, 3)]
    [[0.0, 0.0, 1.0, 4.0], [0.0, 1.0, 3.0, 7.0]]
    """
    sets, with_one = np.empty(largest + 1), np.empty(largest + 1)
    number = 0
    for n in range(largest + 1):
        # With one more each set has a member less to choose.
        own = number + comb(n, least - 1) - (0 if most is None else comb(n, most))
        sets[n], with_one[n] = (
            float(each) if each.bit_length() <= _MOST_BITS else inf for each in (number, own)
        )
        number += own
    return sets, with_one
