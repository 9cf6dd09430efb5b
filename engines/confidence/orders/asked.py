"""What rows ask of the events of their keys, as columns.

Questions that are alike in how their events follow each other have one machine; of which events they speak,
and with which letter, is a column for all of them.

    name here      meaning
    mark           a tick at which a window ends: of an event of a row, and so many ticks from it
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TypeAlias

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import distinct_rows, renumbered
from cepctl.engines.confidence.orders.questions import (
    OUTSIDE,
    Letter,
    OrderQuestion,
    Plans,
    QuestionStates,
    states_of,
)
from cepctl.engines.confidence.orders.sweep import Machine
from cepctl.numeric.arrays import Flags, Indexes

_MOST_ANCHORS = 3
_Anchors: TypeAlias = Mapping[int, set[int]]
"""By number of an event of rows that is held: where time is cut from its tick."""
_Mark: TypeAlias = tuple[int, int]


@dataclass(frozen=True)
class LawRows:
    """n rows: `events` in order, shape (n, l), and of each rival, by row, from which gaps it must be absent.

    `gaps`: a bit for each, bit 0 before the first event, bit l after the last.
    """

    events: Indexes
    row: Indexes
    rival: Indexes
    gaps: Indexes

    @classmethod
    def plain(cls, events: Indexes) -> LawRows:
        """Rows without rivals."""
        none = np.zeros(0, dtype=np.int64)
        return cls(events, none, none, none)

    @classmethod
    def joined(cls, parts: Sequence[LawRows]) -> LawRows:
        """The rows of all parts."""
        before = np.cumsum([0, *(len(each) for each in parts)])
        return cls(
            np.concatenate([each.events for each in parts]),
            np.concatenate([each.row + count for each, count in zip(parts, before[:-1], strict=True)]),
            np.concatenate([each.rival for each in parts]),
            np.concatenate([each.gaps for each in parts]),
        )

    def __len__(self) -> int:
        return len(self.events)

    def take(self, rows: Indexes) -> LawRows:
        """Some of them, each once."""
        kept, number = renumbered(self.row, rows)
        return LawRows(self.events[rows], number, self.rival[kept], self.gaps[kept])

    def cut(self, sizes: Indexes) -> Iterator[LawRows]:
        """The rows in parts of these sizes, one after the other."""
        ends = np.cumsum(sizes)
        order = np.argsort(self.row, kind="stable")
        row, rival, gaps = self.row[order], self.rival[order], self.gaps[order]
        first, last = (np.searchsorted(row, each) for each in (ends - sizes, ends))
        for begin, end, own, after in zip(ends - sizes, ends, first, last, strict=True):
            yield LawRows(self.events[begin:end], row[own:after] - begin, rival[own:after], gaps[own:after])

    @property
    def spoken_of(self) -> tuple[Indexes, Indexes]:
        """Every row and event of which it says something."""
        row = np.repeat(np.arange(len(self)), self.events.shape[1])
        return np.concatenate([row, self.row]), np.concatenate([self.events.reshape(-1), self.rival])


@dataclass(frozen=True)
class Asked:
    """Questions with one machine.

    `question`, `event`, `letter`: which question speaks of which event, and as which letter; `plan`: which
    events each question holds, by number of a plan in `plans`.
    """

    question: Indexes
    event: Indexes
    letter: Indexes
    machine: Machine
    plan: Indexes
    plans: Plans

    def __len__(self) -> int:
        return len(self.plan)


def asked_each(masses: Masses, rows: LawRows, window: int) -> Asked | None:
    """Whether each row holds, a question for each; None where its machine has too many states.

    `window` in ticks, 0 for none.
    """
    length = rows.events.shape[1]
    gaps, which = np.unique(rows.gaps, return_inverse=True)
    letters: list[Letter] = [(place, (0,)) for place in range(length)]
    letters += [(-1, (each,)) for each in gaps.tolist()]
    span, after, before = _limits(masses, rows, window)
    plan = np.where(after | before, after + 2 * before, span)
    first, last = {0: {0, window}}, {length - 1: {0, 1 - window}}
    both = {0: {0, window, 1 - window}} if length == 1 else first | last
    machine = _machine(
        (tuple(range(length)),), tuple(letters), _marks([both] if window else [], window), window
    )
    if machine is None:
        return None
    plans = _plans([{}, first, last, both] if window else [{}], window)
    question, event = rows.spoken_of
    own = np.tile(np.arange(length), len(rows))
    return Asked(
        question, event, np.concatenate([own, length + which]), machine, plan.astype(np.int64), plans
    )


def asked_of_any(masses: Masses, rows: LawRows, window: int) -> Asked | None:
    """Whether some of the rows hold, one question; None where that is too much work."""
    own = np.unique(rows.events)
    structure = np.searchsorted(own, rows.events)
    events = np.union1d(own, rows.rival)
    gaps = np.zeros((len(events), len(rows)), dtype=np.int64)
    np.bitwise_or.at(gaps, (np.searchsorted(events, rows.rival), rows.row), rows.gaps)
    number = np.full(len(events), -1)
    number[np.searchsorted(events, own)] = np.arange(len(own))
    meanings = np.column_stack([number, gaps])
    distinct, letter = distinct_rows(meanings)
    anchors = _anchors(structure, *_limits(masses, rows, window), window)
    if len(anchors) > _MOST_ANCHORS:
        return None
    letters: list[Letter] = [(each[0], tuple(each[1:])) for each in meanings[distinct].tolist()]
    order = tuple(map(tuple, structure.tolist()))
    machine = _machine(order, tuple(letters), _marks([anchors], window), window)
    if machine is None:
        return None
    none = np.zeros(len(events), dtype=np.int64)
    return Asked(none, events, letter.reshape(-1), machine, none[:1], _plans([anchors], window))


def nothing_asked(count: int) -> Asked:
    """Questions whose answer is always yes."""
    none = np.zeros(0, dtype=np.int64)
    machine = _machine((), (), (), 0)
    assert machine is not None
    return Asked(none, none, none, machine, np.zeros(count, dtype=np.int64), _plans([{}], 0))


def _limits(masses: Masses, rows: LawRows, window: int) -> tuple[Flags, Flags, Flags]:
    """Which ends of its window decide each row: that of its span, of what comes after it, of what before."""
    span, after, before = np.zeros((3, len(rows)), dtype=bool)
    if window:
        first, last = masses.lower[rows.events[:, 0]], masses.upper[rows.events[:, -1]]
        span = (last - first >= window) & (rows.events.shape[1] > 1)
        waits = (rows.gaps >> rows.events.shape[1] & 1 > 0) & (
            masses.upper[rows.rival] >= first[rows.row] + window
        )
        earlier = (rows.gaps & 1 > 0) & (masses.lower[rows.rival] <= last[rows.row] - window)
        after[rows.row[waits]] = True
        before[rows.row[earlier]] = True
    return span, after, before


def _anchors(rows: Indexes, span: Flags, after: Flags, before: Flags, window: int) -> _Anchors:
    """The events of rows whose ticks are held, as few as possible, and where time is cut from there."""
    found: dict[int, set[int]] = {}
    spans = []
    for number, (first, last) in enumerate(zip(rows[:, 0].tolist(), rows[:, -1].tolist(), strict=True)):
        if after[number]:
            found.setdefault(first, {0}).add(window)
        if before[number]:
            found.setdefault(last, {0}).add(1 - window)
        if span[number] and not (after[number] or before[number]):
            spans.append((first, last))
    common = Counter(event for ends in spans for event in set(ends))
    for first, last in spans:
        if window in found.get(first, ()) or 1 - window in found.get(last, ()):
            continue
        at_last = common[last] > common[first]
        found.setdefault(last if at_last else first, {0}).add(1 - window if at_last else window)
    return found


def _marks(anchors: Iterable[_Anchors], window: int) -> tuple[_Mark, ...]:
    held = ((own, each) for one in anchors for own, offsets in one.items() for each in offsets)
    return tuple(sorted({mark for mark in held if _is_end(mark[1], window)}))


def _plans(anchors: Sequence[_Anchors], window: int) -> Plans:
    """Each of some ways to choose anchors as a plan."""
    marks = _marks(anchors, window)
    starts, own, first_offset, first_change = [0], [], [0], [0]
    offsets: list[int] = []
    bits: list[int] = []
    changes: list[int] = []
    for one in anchors:
        held = [(event, sorted(each)) for event, each in one.items()]
        for number, (event, each) in enumerate(held):
            own.append(event)
            offsets += each
            bits += [marks.index((event, offset)) if _is_end(offset, window) else -1 for offset in each]
            changes += _changes(each, [other for _, other in held[number + 1 :]])
            first_offset.append(len(offsets))
            first_change.append(len(changes))
        starts.append(len(own))
    columns = (starts, own, first_offset, offsets, bits, first_change, changes)
    return Plans(*(np.array(each, dtype=np.int64) for each in columns))


def _is_end(offset: int, window: int) -> bool:
    """Whether a window ends so far from its first or last event."""
    return offset != 0 or window == 1


def _changes(offsets: Sequence[int], others: Sequence[Sequence[int]]) -> list[int]:
    """Distances from a cut at which what is summed may change, where other anchors are held then."""
    if not others:
        return []
    between = {0, 1, *(each for every in others for each in every)}
    steps = {0}
    for _ in others:
        steps = {step + i - j for step in steps for i in between for j in between}
    return sorted({offset + step for offset in (*offsets, 1) for step in steps})


@lru_cache(maxsize=1024)
def _machine(
    rows: tuple[tuple[int, ...], ...], letters: tuple[Letter, ...], marks: tuple[_Mark, ...], window: int
) -> Machine | None:
    """The machine of whether some of these rows hold, None where it has too many states."""
    said: dict[Letter, int] = {}
    read = np.full((len(letters), 1 << len(marks)), -1, dtype=np.int64)
    for (number, letter), status in product(enumerate(letters), range(1 << len(marks))):
        ended = [mark for bit, mark in enumerate(marks) if status >> bit & 1]
        own, gaps = _at_ends(letter, rows, ended, window)
        if own >= 0 or any(gaps):
            read[number, status] = said.setdefault((own, gaps), len(said))
    owns = len({event for row in rows for event in row})
    states = states_of(OrderQuestion(rows, tuple(said), owns))
    if states is None:
        return None
    own_of = np.array([own for own, _ in letters], dtype=np.int64)
    hopes = _hopes(states, read, marks)
    return Machine(own_of, read, states.moves, states.rests, states.happened, states.accepted, hopes)


def _hopes(states: QuestionStates, read: Indexes, marks: Sequence[_Mark]) -> Flags:
    """From which states, in pieces of which status, one can still come to where the answer is yes."""
    count = read.shape[1]
    found = np.zeros((len(states.rests), count), dtype=bool)
    for status in range(count):
        later = [each for each in range(count) if _follows(each, status, marks)]
        letters = np.unique(read[:, later])
        paths = np.column_stack([states.rests, states.moves[:, letters[letters >= 0]]])
        hopes, before = states.accepted, np.zeros_like(states.accepted)
        while (hopes != before).any():
            before, hopes = hopes, hopes | (hopes[paths] & (paths >= 0)).any(axis=1)
        found[:, status] = hopes
    return found


def _follows(later: int, status: int, marks: Sequence[_Mark]) -> bool:
    """Whether a status may be that of a later piece: ends after an event come, those before one go."""
    gone = sum(1 << bit for bit, (_, offset) in enumerate(marks) if offset <= 0)
    return (status ^ gone) & ~(later ^ gone) == 0


def _at_ends(
    letter: Letter, rows: tuple[tuple[int, ...], ...], ended: Sequence[_Mark], window: int
) -> Letter:
    """What a letter means beyond some ends of windows: rivals there are no harm, events of the row no use."""
    own, meaning = letter
    gaps = list(meaning)
    for number, row in enumerate(rows):
        for event, offset in ended:
            after = event == row[0] and offset == window
            before = event == row[-1] and offset == 1 - window
            if (after or before) and own in row:
                gaps[number] |= OUTSIDE
            if after:
                gaps[number] &= ~(1 << len(row))
            if before:
                gaps[number] &= ~1
    return own, tuple(gaps)
