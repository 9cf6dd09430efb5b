"""The tables of one question: kinds of events over pieces of time, what their keys end with, and the sum.

Events of one step and mass that the question does not tell apart are one kind.  What a kind's factors are
after others that have happened is known in part before the pass begins: where those are over, the factor
belongs to the mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.order_laws.key_orders import Cluster
from cepctl.engines.order_laws.pieces import Pieces
from cepctl.engines.order_laws.questions import Question, QuestionStates, states_of
from cepctl.engines.order_laws.sweep import Keys, Kinds, Machine, sweep

NOTHING_ASKED = Question((), (), 0)


@dataclass(frozen=True)
class Members:
    """E kinds of events that are summed together.

    `counts`, shape (E,): how many events of each.  `key`, `code`, shape (E,): number of the cluster in
    `clusters`, -1 for none, and code of the step.  `own`, shape (E,): letter of the event of a row that it is,
    -1 for none.
    """

    clusters: tuple[Cluster, ...]
    counts: Indexes
    key: Indexes
    code: Indexes
    own: Indexes

    def pairs(self, each: Reals) -> Reals:
        """Factor of the second of two kinds after the first, 1 where they are in one order; `each`: masses."""
        happens = each > 0.0
        first = happens.argmax(axis=1)
        last = happens.shape[1] - 1 - happens[:, ::-1].argmax(axis=1)
        open_order = (first[:, None] <= last) & (first <= last[:, None])
        shared = (happens.astype(np.float64) @ happens.T) > 0.0
        pairs = np.ones((len(self.counts), len(self.counts)))
        for number, cluster in enumerate(self.clusters):
            (own,) = np.nonzero(self.key == number)
            code = self.code[own]
            alike = (code[:, None] == code) * self.counts[own]
            # How many events of the second's step share a tick with the first.
            repeats = shared[np.ix_(own, own)] @ alike.T
            habit = np.maximum(np.maximum(repeats, repeats.T), 1)
            factor = cluster.factors.before[np.ix_(code, code)] ** (1.0 / habit)
            pairs[np.ix_(own, own)] = np.where(open_order[np.ix_(own, own)], factor, 1.0)
        return pairs


@dataclass(frozen=True)
class Table:
    """Kinds over pieces of time, placed in some ways, and what is asked of them.

    `pairs` as `Members.pairs` gives them; `letter`, shape (E, P): what the question reads, -1 for nothing.
    """

    members: Members
    pieces: Pieces
    pairs: Reals
    letter: Indexes
    question: Question
    states: QuestionStates

    def summed(self) -> tuple[float, int]:
        """The weights of all orders with the answer yes, as a number and an exponent of 2."""
        pieces, members = self.pieces, self.members
        happens = pieces.each > 0.0
        if not happens.any(axis=1).all():
            return 0.0, 0
        keys, after, follows = self._ends
        first = happens.argmax(axis=1)
        last = happens.shape[1] - 1 - happens[:, ::-1].argmax(axis=1)
        logs = np.log(self.pairs)
        over = (last[:, None] < np.arange(happens.shape[1])) & (members.own < 0)[:, None]
        lengths = pieces.lengths
        masses = pieces.each * np.exp(logs.T @ (over * members.counts[:, None]))
        every = masses[None, :, :] * lengths[:, None, :]
        kinds = Kinds(
            members.counts, first, last, members.own >= 0, members.key, after, follows, self.pairs, self.letter
        )
        states = self.states
        rows = np.flatnonzero(members.own >= 0)
        gates = np.exp(states.happened[:, members.own[rows]] @ logs[rows])
        machine = Machine(states.moves, states.rests, gates, states.accepted)
        found, exponents = np.empty(len(lengths)), np.empty(len(lengths), dtype=np.int64)
        sweep(kinds, machine, keys, self._ticked(happens), lengths, every, found, exponents)
        return scaled_sum(found * pieces.weight, exponents)

    def _ticked(self, happens: Flags) -> Flags:
        """Where the question tells the ticks of a piece apart: two events that it reads, one of them its own."""
        read = happens & (self.letter >= 0)
        several = (read * self.members.counts[:, None]).sum(axis=0) > 1
        return np.asarray(several & (read & (self.members.own >= 0)[:, None]).any(axis=0))

    @cached_property
    def _ends(self) -> tuple[Keys, Indexes, Reals]:
        """What keys may end with; what they do after each kind, and the factor of each kind after that."""
        members = self.members
        sizes, closes = [1], [np.ones(1)]
        after = np.zeros(len(members.counts), dtype=np.int64)
        tables: list[tuple[Indexes, Reals]] = []
        begin, stride = 0, 1
        for number, cluster in enumerate(members.clusters):
            own = np.flatnonzero(members.key == number)
            codes = np.array([cluster.begin, *members.code[own]])
            columns = np.array([*members.code[own], cluster.end])
            alike, of_code = np.unique(
                cluster.factors.following[np.ix_(codes, columns)], axis=0, return_inverse=True
            )
            of_code = of_code.reshape(-1)
            after[own] = of_code[1:]
            tables.append((own, alike[:, :-1].T))
            begin += int(of_code[0]) * stride
            stride *= len(alike)
            sizes.append(len(alike))
            closes.append(alike[:, -1])
        size = np.array(sizes[1:] or [1], dtype=np.int64)
        strides = np.concatenate([[1], np.cumprod(size)[:-1]]).astype(np.int64)
        follows = np.ones((len(members.counts), int(size.max())))
        for own, table in tables:
            follows[own, : table.shape[1]] = table
        close = np.ones(1)
        for each in closes[1:]:
            close = (each[:, None] * close).reshape(-1)
        return Keys(size, strides, begin, close), after, follows


def scaled_sum(found: Reals, exponents: Indexes) -> tuple[float, int]:
    """The sum of numbers times powers of two, as one of each.

    Examples
    --------
    >>> scaled_sum(np.array([1.5, 1.0]), np.array([2000, 2001]))
    (1.75, 2001)
    """
    most = int(exponents[found != 0.0].max(initial=-(1 << 62)))
    if most == -(1 << 62):
        return 0.0, 0
    return float((found * 2.0 ** np.maximum(exponents - most, -2000.0)).sum()), most


def joined_members(clusters: Sequence[Cluster], events: Indexes, told: Indexes, own: Indexes, each: Reals) -> tuple[Members, Indexes]:
    """Kinds of some events, and the number of each event's kind; `told` tells apart what the question does.

    `events` are those of the clusters, and others.  `own` as in `Members`, `each` the masses, of events.
    """
    key, code = np.full((2, len(events)), -1, dtype=np.int64)
    for number, cluster in enumerate(clusters):
        place = np.searchsorted(events, np.sort(cluster.events))
        order = np.argsort(cluster.events)
        key[place], code[place] = number, cluster.codes[order]
    rows = np.column_stack([key, code, told, np.where(own >= 0, own, -1), each])
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    number = number.reshape(-1)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    number, first = rank[number], first[order]
    counts = np.bincount(number)
    return Members(tuple(clusters), counts, key[first], code[first], own[first]), number


def total(clusters: Sequence[Cluster], events: Indexes, pieces: Pieces) -> tuple[float, int]:
    """The weights of all orders of some events, whatever happens."""
    none = np.full(len(events), -1, dtype=np.int64)
    members, number = joined_members(clusters, events, none, none, pieces.each)
    each = pieces.each[np.unique(number, return_index=True)[1]]
    states = states_of(NOTHING_ASKED)
    assert states is not None
    table = Table(
        members, Pieces(pieces.cut, each, pieces.weight), members.pairs(each), np.full(each.shape, -1), NOTHING_ASKED, states
    )
    return table.summed()
