"""Whether some of a few rows hold, as a machine that reads the events that decide them in the order of time.

A row holds when its own events come one after the other, each at a later tick, and no rival lies strictly
inside a gap from which it must be absent: before the first event, between two, or after the last.  A rival at
the tick of an end of its gap is no harm, whichever comes first there; so a rival is remembered until its tick
has ended.

    letter     an event of a row, or all rivals that are absent from the same gaps of the same rows
    gaps       a bit for each gap of a row: bit 0 before its first event, bit l after its last
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Flags, Indexes

MOST_STATES = 4096
"""A machine of more is not made."""

Rows: TypeAlias = tuple[tuple[int, ...], ...]
"""The letters of the events of each row, in its order."""


@dataclass(frozen=True)
class Question:
    """Whether some of `rows` hold; `gaps`: for every letter the gaps of each row from which it is absent.

    The first `own` letters stand for one event each, which rows bind.
    """

    rows: Rows
    gaps: Rows
    own: int


@dataclass(frozen=True)
class QuestionStates:
    """States as numbers, the first one 0; -1 stands for no.

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


@dataclass(frozen=True)
class _State:
    happened: int
    won: bool
    standing: tuple[_Standing, ...]


@lru_cache(maxsize=4096)
def states_of(question: Question) -> QuestionStates | None:
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
        moves.append([number(_read(question, state, letter)) for letter in range(len(question.gaps))])
        rests.append(number(_rested(state)))
    if len(order) > MOST_STATES:
        return None
    happened = np.array([[each.happened >> i & 1 for i in range(question.own)] for each in order], dtype=bool)
    held = [each.won or any(not one.lost for one in each.standing) for each in order]
    shape = (len(order), len(question.gaps))
    return QuestionStates(
        np.array(moves, dtype=np.int64).reshape(shape),
        np.array(rests, dtype=np.int64),
        happened.reshape(len(order), question.own),
        np.array(held) & happened.reshape(len(order), question.own).all(axis=1),
    )


def _read(question: Question, state: _State, letter: int) -> _State | None:
    """The state after one more event, in the same tick; None where no row can hold any more."""
    own = letter < question.own
    if own and state.happened >> letter & 1:
        return None
    happened = state.happened | (1 << letter if own else 0)
    if state.won:
        return _State(happened, True, ())
    standing, won = [], False
    for number, row in enumerate(question.rows):
        at, done = state.standing[number], sum(state.happened >> i & 1 for i in row)
        after = _after(at, row, done, letter, question.gaps[letter][number])
        standing.append(after)
        waits = any(gaps[number] >> len(row) & 1 for gaps in question.gaps)
        won |= not after.lost and letter in row and done + 1 == len(row) and not waits
    if won:
        return _State(happened, True, ())
    return None if all(each.lost for each in standing) else _State(happened, False, tuple(standing))


def _after(at: _Standing, row: tuple[int, ...], done: int, letter: int, gaps: int) -> _Standing:
    if at.lost:
        return at
    if letter in row:
        in_turn = row.index(letter) == done and not at.own_now
        return _Standing(own_now=True) if in_turn else _LOST
    if gaps >> done & 1 and not at.own_now:
        return _Standing(rival_now=True)
    return at


def _rested(state: _State) -> _State | None:
    if state.won:
        return state
    standing = tuple(_LOST if each.lost or each.rival_now else _Standing() for each in state.standing)
    return None if all(each.lost for each in standing) else _State(state.happened, False, standing)
