"""Whether some of a few rows hold, as a machine that reads the events that decide them in the order of time.

A row holds when its own events come one after the other, each at a later tick and inside its window, and no
rival lies strictly inside a gap from which it must be absent: before the first event, between two, or after
the last.  A rival at the tick of an end of its gap is no harm, whichever comes first there; so a rival is
remembered until its tick has ended.

    letter     an event of rows, or all rivals that mean the same to every row: the number of the event, -1
               for rivals, and what it means to each row, a bit for each gap from which it must be absent
    gaps       bit 0 is before the first event of a row, bit l after its last; OUTSIDE: not in its window
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from cepctl.numeric.arrays import Flags, Indexes

MOST_STATES = 4096
"""A machine of more is not made."""
OUTSIDE = 1 << 62
"""An event of the row is where the row's window does not reach."""

Letter: TypeAlias = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class OrderQuestion:
    """Whether some of `rows` hold: of each the numbers of its events, of which there are `own` in all."""

    rows: tuple[tuple[int, ...], ...]
    letters: tuple[Letter, ...]
    own: int


@dataclass(frozen=True)
class QuestionStates:
    """States as numbers, the first one 0, in an order that letters do not change; -1 stands for no.

    `moves`, shape (A, letters); `rests`, shape (A,): what remains when a tick ends.  `happened`,
    shape (A, own): which events of rows have happened.  `accepted`, shape (A,).
    """

    moves: Indexes
    rests: Indexes
    happened: Flags
    accepted: Flags


@dataclass(frozen=True, order=True)
class _Standing:
    """How one row stands: whether this tick holds an event of it, and a rival in its present gap."""

    lost: bool = False
    own_now: bool = False
    rival_now: bool = False


_LOST = _Standing(lost=True)


@dataclass(frozen=True, order=True)
class _State:
    happened: int
    won: bool
    standing: tuple[_Standing, ...]


@lru_cache(maxsize=4096)
def states_of(question: OrderQuestion) -> QuestionStates | None:
    """All states that can be reached; None where these are too many."""
    first = _State(0, not question.rows, tuple(_Standing() for _ in question.rows))
    numbers, order = {first: 0}, [first]
    moves: list[list[int]] = []
    rests: list[int] = []

    def number(state: _State | None) -> int:
        if state is None:
            return -1
        if state not in numbers:
            numbers[state] = len(order)
            order.append(state)
        return numbers[state]

    while len(moves) < len(order) <= MOST_STATES:
        state = order[len(moves)]
        moves.append([number(_read(question, state, letter)) for letter in question.letters])
        rests.append(number(_rested(state)))
    if len(order) > MOST_STATES:
        return None
    places = sorted(range(len(order)), key=order.__getitem__)
    rank = np.append(np.argsort(places), -1)
    states = [order[place] for place in places]
    happened = np.array(
        [[each.happened >> i & 1 for i in range(question.own)] for each in states], dtype=bool
    )
    happened = happened.reshape(len(states), question.own)
    held = np.array([each.won or any(not one.lost for one in each.standing) for each in states])
    return QuestionStates(
        rank[np.array(moves, dtype=np.int64).reshape(len(states), len(question.letters))[places]],
        rank[np.array(rests, dtype=np.int64)[places]],
        happened,
        held & happened.all(axis=1),
    )


def _read(question: OrderQuestion, state: _State, letter: Letter) -> _State | None:
    """The state after one more event, in the same tick; None where no row can hold any more."""
    own, meaning = letter
    if own >= 0 and state.happened >> own & 1:
        return None
    happened = state.happened | (1 << own if own >= 0 else 0)
    if state.won:
        return _State(happened, True, ())
    standing = []
    for number, row in enumerate(question.rows):
        done = sum(state.happened >> i & 1 for i in row)
        after = _after(state.standing[number], row, done, own, meaning[number])
        last = not after.lost and own in row and done + 1 == len(row)
        if last and not any(gaps[number] >> len(row) & 1 for _, gaps in question.letters):
            return _State(happened, True, ())
        standing.append(after)
    return None if all(each.lost for each in standing) else _State(happened, False, tuple(standing))


def _after(at: _Standing, row: tuple[int, ...], done: int, own: int, gaps: int) -> _Standing:
    if at.lost:
        return at
    if own in row:
        in_turn = row.index(own) == done and not at.own_now and not gaps & OUTSIDE
        return _Standing(own_now=True) if in_turn else _LOST
    if gaps >> done & 1 and not at.own_now:
        return _Standing(rival_now=True)
    return at


def _rested(state: _State) -> _State | None:
    if state.won:
        return state
    standing = tuple(_LOST if each.lost or each.rival_now else _Standing() for each in state.standing)
    return None if all(each.lost for each in standing) else _State(state.happened, False, standing)
