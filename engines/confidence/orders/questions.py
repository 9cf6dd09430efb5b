"""What a few rows ask of the orders of events, as a machine, and the few ways to hold events at single ticks.

The machine reads the events that decide the rows in the order of time.  A row holds when its own events come
one after the other, each at a later tick and inside its window, and no rival lies strictly inside a gap from
which it must be absent: before the first event, between two, or after the last.  A rival at the tick of an
end of its gap is no harm, whichever comes first there; so a rival is remembered until its tick has ended.

    letter     an event of rows, or all rivals that mean the same to every row: the number of the event, -1
               for rivals, and what it means to each row, a bit for each gap from which it must be absent
    gaps       bit 0 is before the first event of a row, bit l after its last; OUTSIDE: not in its window

An event of a row that is held is an anchor: time is cut where what is asked changes with its tick.  While
that tick moves inside a stretch of time that no cut enters, every piece that it cuts is longer or shorter by
as much, and all sums are polynomials in the tick, of no higher degree than it cuts events.  Gauss nodes stand
for the ticks (`cepctl.engines.confidence.gauss_nodes`), so that few ways stand for all.  They are no whole
ticks, so cuts are as they are at the begin of the stretch, and how far those that move have come.  Where
two events are held, the first sum is over sums, of whole ticks (`cepctl.engines.confidence.quadrature`).

    offsets        where time is cut from the tick of an anchor, beside that tick; 0 is among them
    changes        other distances from a cut at which what is summed may change, where it is a sum itself
    bits           the bit of a piece's status that an offset decides, -1 for none
    mark           the number of the cut, in the order of cuts, that is at an offset of an anchor
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from cepctl.engines.columns.tick_masses import density_at
from cepctl.engines.confidence.gauss_nodes import holds_polynomials, place_real, real_count
from cepctl.engines.confidence.quadrature import node_count, place_nodes
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Flags, Indexes, Ticks

MOST_STATES = 4096
"""A machine of more is not made."""
OUTSIDE = 1 << 62
"""An event of the row is where the row's window does not reach."""
Letter: TypeAlias = tuple[int, tuple[int, ...]]
_MOST_CUTS = 1 << 24


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


class Plans(NamedTuple):
    """Which events of rows are held, by plan: the anchors of plan i are from starts[i] on.

    `own`: the number of each, `offsets` from `first_offset` on, with their `bits`, and `changes`.
    """

    starts: Indexes
    own: Indexes
    first_offset: Indexes
    offsets: Ticks
    bits: Indexes
    first_change: Indexes
    changes: Ticks


class Ways(NamedTuple):
    """n ways to hold some anchors.

    `cut`, shape (n, P + 1): ticks where time is cut, in order; twice the same for a piece of no ticks.
    Those that move, `moves`, are `shift` ticks later, shape (n,).  `mark`, shape (n, offsets of the plan).
    `last`, shape (n,): the last cut that holding an event has made.  `weight`, shape (n,).
    """

    cut: np.ndarray
    moves: np.ndarray
    mark: np.ndarray
    last: np.ndarray
    shift: np.ndarray
    weight: np.ndarray


@inner
def _room(ways, cuts, marks):
    return Ways(
        np.zeros((ways, cuts), dtype=np.int64), np.zeros((ways, cuts), dtype=np.bool_),
        np.zeros((ways, marks), dtype=np.int64), np.zeros(ways, dtype=np.int64),
        np.zeros(ways), np.ones(ways),
    )  # fmt: skip


@inner
def ways_of(buckets, problem, plans, plan):
    """All ways to hold the anchors of a plan; none where they are too many."""
    first, end = plans.starts[plan], plans.starts[plan + 1]
    marks = plans.first_offset[end] - plans.first_offset[first]
    ways = _room(1, len(problem.cut), marks)
    ways.cut[0] = problem.cut
    for anchor in range(first, end):
        offsets = plans.offsets[plans.first_offset[anchor] : plans.first_offset[anchor + 1]]
        changes = plans.changes[plans.first_change[anchor] : plans.first_change[anchor + 1]]
        at_zero = np.empty(anchor + 1 - first, dtype=np.int64)
        held = np.empty(anchor + 1 - first, dtype=np.int64)
        for each in range(first, anchor + 1):
            held[each - first] = problem.rows[plans.own[each]]
            for i in range(plans.first_offset[each], plans.first_offset[each + 1]):
                if plans.offsets[i] == 0:
                    at_zero[each - first] = i - plans.first_offset[first]
        begin = plans.first_offset[anchor] - plans.first_offset[first]
        count = _hold(buckets, problem, ways, held, at_zero, offsets, changes, begin, _room(0, 0, 0), False)
        width = ways.cut.shape[1] + len(offsets) + 1
        if count * width > _MOST_CUTS:
            return _room(0, 0, 0)
        found = _room(count, width, marks)
        _hold(buckets, problem, ways, held, at_zero, offsets, changes, begin, found, True)
        ways = found
    return ways


@inner
def _hold(buckets, problem, ways, held, at_zero, offsets, changes, first_mark, found, fills):
    """Fill the ways to hold one more anchor, the last of `held`; how many they are."""
    event, at, nested = problem.event[held[-1]], 0, len(changes) > 0
    for way in range(len(ways.weight)):
        cut = ways.cut[way]
        for piece in range(len(cut) - 1):
            density = density_at(buckets, event, cut[piece]) if cut[piece] < cut[piece + 1] else 0.0
            if density == 0.0:
                continue
            bounds = _bounds(cut, cut[piece], cut[piece + 1], offsets, changes)
            for i in range(len(bounds) - 1):
                begin, ticks = bounds[i], bounds[i + 1] - bounds[i]
                degree = _degree(buckets, problem, cut, ways.mark[way], held, at_zero, offsets, nested, begin)
                count = _node_count(ticks, degree, nested)
                if fills:
                    shifts, weights = _nodes(ticks, degree, nested)
                    for node in range(count):
                        found.weight[at + node] = ways.weight[way] * density * weights[node]
                        tick = begin
                        if nested:
                            tick += np.int64(shifts[node])
                        else:
                            found.shift[at + node] = shifts[node]
                        found.mark[at + node] = ways.mark[way]
                        found.last[at + node] = ways.last[way]
                        _put(cut, tick, offsets, first_mark, not nested, found, at + node)
                at += count
    return at


@inner
def _takes_whole_ticks(ticks, degree, nested):
    return nested or not holds_polynomials(ticks, real_count(degree))


@inner
def _node_count(ticks, degree, nested):
    if _takes_whole_ticks(ticks, degree, nested):
        return node_count(ticks, degree)
    return real_count(degree)


@inner
def _nodes(ticks, degree, nested):
    """How far from the begin of a stretch an anchor is held, and what each of these places counts."""
    count = _node_count(ticks, degree, nested)
    shifts, weights = np.empty(count), np.empty(count)
    if _takes_whole_ticks(ticks, degree, nested):
        nodes = np.empty(count, dtype=np.int64)
        place_nodes(ticks, degree, nodes, weights)
        for i in range(count):
            shifts[i] = nodes[i]
    else:
        place_real(1.0 * ticks, degree, shifts, weights)
    return shifts, weights


@inner
def _bounds(cut, first, end, offsets, changes):
    """The stretches of a piece in which an anchor moves and no cut meets another."""
    points = np.empty(2 + len(cut) * (len(offsets) + len(changes)), dtype=np.int64)
    points[0], points[1], count = first, end, 2
    for i in range(len(offsets) + len(changes)):
        offset = offsets[i] if i < len(offsets) else changes[i - len(offsets)]
        for tick in cut:
            if first < tick - offset < end:
                points[count] = tick - offset
                count += 1
    return np.unique(points[:count])


@inner
def _degree(buckets, problem, cut, marks, held, at_zero, offsets, nested, begin):
    """A bound of the degree of what is summed: how many other events happen in pieces that move."""
    degree = 1 if nested else 0
    for k in range(len(problem.event)):
        moves = nested
        for offset in offsets:
            place = np.searchsorted(cut, begin + offset, side="right") - 1
            if 0 <= place < len(cut) - 1 and not moves:
                moves = density_at(buckets, problem.event[k], cut[place]) > 0.0
                for b in range(len(held) - 1):
                    if held[b] == k:
                        moves = cut[place] == cut[marks[at_zero[b]]]
        if moves and k != held[-1]:
            degree += problem.members[k]
    return degree


@inner
def _put(cut, tick, offsets, first_mark, moves, found, way):
    """The cuts with those that holding a tick makes, none beyond the first and the last."""
    count = len(cut)
    own = found.cut[way]
    own[:count] = cut
    for i in range(-1, len(offsets)):
        at = tick + 1 if i < 0 else tick + offsets[i]
        inside = cut[0] <= at < cut[-1]
        at, place = min(max(at, cut[0]), cut[-1]), count
        # Where it moves it comes after a cut with which it begins.
        while place > 0 and own[place - 1] > at:
            own[place], found.moves[way, place] = own[place - 1], found.moves[way, place - 1]
            place -= 1
        own[place], found.moves[way, place] = at, moves and inside
        for mark in range(first_mark if i < 0 else first_mark + i):
            found.mark[way, mark] += found.mark[way, mark] >= place
        if found.last[way] >= place:
            found.last[way] += 1
        elif inside:
            found.last[way] = place
        if i >= 0:
            found.mark[way, first_mark + i] = place
        count += 1
