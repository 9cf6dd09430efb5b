"""What must not happen as a whole in a gap, and what is left of it once some of its events have happened.

A whole is one way to choose distinct events for all of its parts, each fitting beside those before it; a rest
is what a whole still lacks.  In `!SEQ` its first event comes next, in `!AND` any of them.  Wholes that lack
the same events have one rest, so that of two ways to begin the second one adds nothing.

Of parts that no condition ties to each other first events tell: either no x lies in the gap, or a first one
does, but no y behind it, or a first y does as well, but no z behind that; and so on.  Where nothing orders
the parts, "behind" is anywhere in the gap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.event.hidden_events import (
    OF_GAP,
    Absences,
    HiddenEvents,
    entries_of,
    may_share_tick,
    require_few,
    with_another,
)
from cepctl.engines.pattern.blocks import Together
from cepctl.numeric.arrays import Flags, Indexes

Fitting = Callable[[Together, dict[int, Bindings], int], tuple[Indexes, Indexes]]
"""Pairs (match, event): events that fit a part beside what is bound, and can lie in the gap."""


@dataclass(frozen=True)
class RestSteps:
    """How one of its events, a candidate, turns a rest into another one; shape (s,)."""

    rest: Indexes
    candidate: Indexes
    next: Indexes


@dataclass(frozen=True)
class Rests:
    """The rests of some matches, and the events in them: the candidates, numbered match by match.

    `of_match`, `candidates_of`, `steps_of`: rests, candidates and steps of each match.
    `event`: that of each candidate.  `members`: the candidates in each rest.  `whole`: whether nothing of it
    has happened yet; `in_order`: whether its events follow each other.
    """

    of_match: Group
    candidates_of: Group
    steps_of: Group
    event: Indexes
    members: Group
    whole: Flags
    in_order: Flags
    steps: RestSteps

    @classmethod
    def of(
        cls,
        togethers: Sequence[Together],
        events: Events,
        fitting: Fitting,
        bound: dict[int, Bindings],
        count: int,
    ) -> Rests:
        """Those of all that must not happen in one gap of so many matches."""
        levels = [
            level
            for each in togethers
            for level in _levels(*_wholes(events, each, fitting, bound, count), in_order=each.in_order)
        ]
        row = np.concatenate([level.row for level in levels])
        begins = np.cumsum([0, *(len(level.row) for level in levels)])[:-1]
        sizes = np.concatenate([np.full(len(level.row), level.events.shape[1]) for level in levels])
        key = np.repeat(row, sizes) * len(events)
        key += np.concatenate([level.events.reshape(-1) for level in levels])
        known, candidate = np.unique(key, return_inverse=True)
        rest = np.concatenate([level.rest + begin for level, begin in zip(levels, begins, strict=True)])
        after = [level.next + begin + len(level.row) for level, begin in zip(levels, begins, strict=True)]
        taken = row[rest] * len(events) + np.concatenate([level.event for level in levels])
        # By the matches.
        order = np.argsort(row, kind="stable")
        number = np.empty(len(row), dtype=np.int64)
        number[order] = np.arange(len(row))
        return cls(
            _numbers_of(row[order], count),
            _numbers_of(known // len(events), count),
            _numbers_of(row[rest], count),
            known % len(events),
            Group.of_owners(len(row), np.repeat(number, sizes), candidate),
            np.concatenate([np.full(len(level.row), level.whole) for level in levels])[order],
            np.concatenate([np.full(len(level.row), level.in_order) for level in levels])[order],
            RestSteps(number[rest], np.searchsorted(known, taken), number[np.concatenate(after)]),
        )


def _numbers_of(row: Indexes, count: int) -> Group:
    """What belongs to each of so many matches, by its number."""
    return Group.of_owners(count, row, np.arange(len(row)))


@dataclass(frozen=True)
class _RestLevel:
    """Rests of one size: the match of each, shape (n,), and its events, shape (n, size).

    `rest`, `event`, `next`: the steps from them, to rests of the next level.
    """

    row: Indexes
    events: Indexes
    rest: Indexes
    event: Indexes
    next: Indexes
    whole: bool
    in_order: bool


def _levels(row: Indexes, events: Indexes, *, in_order: bool) -> Iterator[_RestLevel]:
    """Wholes, and what they may lack, down to one event."""
    whole, count = True, events.shape[1]
    for size in range(count, 0, -1):
        none = np.zeros(0, dtype=np.int64)
        if size == 1:
            yield _RestLevel(row, events, none, none, none, whole, in_order)
            return
        taken = range(1 if in_order else size)
        rest = np.tile(np.arange(len(row)), len(taken))
        event = np.concatenate([events[:, place] for place in taken])
        left = np.concatenate([np.column_stack([row, np.delete(events, place, axis=1)]) for place in taken])
        first, after = distinct_rows(left)
        yield _RestLevel(row, events, rest, event, after, whole, in_order)
        row, events, whole = left[first, 0], left[first, 1:], False


def _wholes(
    events: Events, together: Together, fitting: Fitting, bound: dict[int, Bindings], count: int
) -> tuple[Indexes, Indexes]:
    """The match of each whole, shape (w,), and its events, shape (w, parts); of `!AND` each once."""
    masses = events.masses
    row, chosen = np.arange(count), np.zeros((count, 0), dtype=np.int64)
    earliest = np.full(count, np.iinfo(np.int64).min)
    for place, part in enumerate(together.parts):
        beside = take_matches(bound, row) | dict(zip(together.parts[:place], chosen.T, strict=True))
        at, event = fitting(together, beside, part) if len(row) else (row, row)
        new = (chosen[at] != event[:, None]).all(axis=1)
        if together.in_order:
            new &= masses.upper[event] > earliest[at]
        at, event = at[new], event[new]
        require_few(len(at))
        row, chosen = row[at], np.column_stack([chosen[at], event])
        earliest = np.maximum(earliest[at] + 1, masses.lower[event])
    if not together.in_order:
        chosen = np.sort(chosen, axis=1)
        first = distinct_rows(np.column_stack([row, chosen])).first
        row, chosen = row[first], chosen[first]
    return row, chosen


@dataclass(frozen=True)
class FirstParts:
    """Some matches, and which events fit each part of what must not happen: pairs (match, event)."""

    events: Events
    in_order: bool
    found: Sequence[tuple[Indexes, Indexes]]
    count: int

    @classmethod
    def of(
        cls, together: Together, events: Events, fitting: Fitting, bound: dict[int, Bindings], count: int
    ) -> FirstParts | None:
        """None where an event fits two parts that nothing orders."""
        found = [fitting(together, bound, part) for part in together.parts]
        if not together.in_order:
            pairs = np.concatenate([np.unique(row * len(events) + event) for row, event in found])
            if len(np.unique(pairs)) < len(pairs):
                return None
        return cls(events, together.in_order, found, count)

    def parts(self) -> Iterator[HiddenEvents]:
        """The parts without any x, then those with one and without y, and so on."""
        row, hidden = np.arange(self.count), np.zeros((self.count, 0), dtype=np.int64)
        absent: list[Absences] = []
        spent = 0
        for own_row, own_event in self._completed():
            part, at = entries_of(own_row, row, self.count)
            event = own_event[at]
            if self.in_order and hidden.shape[1]:
                masses = self.events.masses
                later = masses.upper[event] > masses.lower[hidden[part, -1]]
                later &= (hidden[part] != event[:, None]).all(axis=1)
                part, event = part[later], event[later]
            spent += len(part)
            require_few(spent)
            absent.append(Absences(part, event, hidden.shape[1] - 1 if self.in_order else OF_GAP))
            yield self._hidden(row, hidden, absent)
            absent = [each.taken(part, len(row)) for each in absent]
            row, hidden = row[part], with_another(hidden, part, event)

    def _completed(self) -> Iterator[tuple[Indexes, Indexes]]:
        """Those of each part behind which the others may follow."""
        never = np.iinfo(np.int64).min
        latest = np.full(self.count, np.iinfo(np.int64).max)
        kept, masses = list[tuple[Indexes, Indexes]](), self.events.masses
        for every, fitting in reversed(self.found):
            before = masses.lower[fitting] < latest[every]
            row, event = every[before], fitting[before]
            kept.append((row, event))
            behind = np.full(self.count, never)
            np.maximum.at(behind, row, masses.upper[event])
            latest = behind if self.in_order else np.where(behind > never, latest, never)
        return reversed(kept)

    def _hidden(self, row: Indexes, hidden: Indexes, absent: Sequence[Absences]) -> HiddenEvents:
        """Each hidden event is the first of its part: of several at one tick the one with the smaller id."""
        count = hidden.shape[1]
        firsts = [
            replace(each, before=place, at_last=self._comes_first(each.event, hidden[each.part, place]))
            for place, each in enumerate(absent[:count])
        ]
        order = (False,) * max(count - 1, 0) if self.in_order else None
        return HiddenEvents(row, hidden, (*firsts, *absent[count:]), order)

    def _comes_first(self, event: Indexes, hidden: Indexes) -> Flags:
        """Whether events that share the tick of hidden ones come before them."""
        rank = self.events.id_rank
        return np.asarray((rank[event] < rank[hidden]) & may_share_tick(self.events.masses, event, hidden))
