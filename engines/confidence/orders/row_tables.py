"""The tables of one question: kinds of events over pieces of time, what their keys end with, and the sum.

Events of one step and mass that the question does not tell apart are one kind.  What a kind's factors are
after others that have happened is known in part before the pass begins: where those are over, the factor
belongs to the mass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.orders.key_orders import Cluster
from cepctl.engines.confidence.orders.pieces import Pieces, pieces_of
from cepctl.engines.confidence.orders.questions import NOTHING_ASKED, QuestionStates, states_of
from cepctl.engines.confidence.orders.sweep import Keys, Kinds, Machine, sweep
from cepctl.engines.confidence.work import NARROW, ORDERS, most_products, too_costly
from cepctl.errors import QueryTooLargeError


class TooManyStepsError(QueryTooLargeError):
    """An answer takes more steps than it may."""


class Budget:
    """What one answer may take, in steps of the pass."""

    def __init__(self) -> None:
        self._left = float(most_products(ORDERS))

    def spend(self, steps: float) -> None:
        """Raise TooManyStepsError when there were too many."""
        self._left -= steps
        if self._left < 0:
            raise self.exceeded()

    def exceeded(self) -> TooManyStepsError:
        """What is raised then."""
        problem = too_costly(
            "a confidence",
            ORDERS,
            f"{most_products(ORDERS):,} steps",
            "too many events of its keys may happen in any order",
            NARROW,
            "leave the law out (--no-laws leaves out that of the dataset)",
        )
        return TooManyStepsError(str(problem))


@dataclass(frozen=True)
class Members:
    """E kinds of events that are summed together.

    `counts`, shape (E,): how many events of each.  `key`, `code`, shape (E,): number of the cluster in
    `clusters`, -1 for none, and code of the step.  `own`, shape (E,): number of the event of a row that it
    is, -1 for none.
    """

    clusters: tuple[Cluster, ...]
    counts: Indexes
    key: Indexes
    code: Indexes
    own: Indexes

    def pairs(self, each: Reals) -> Reals:
        """Factor of the second of two kinds after the first, 1 where their order is certain."""
        happens = each > 0.0
        first = happens.argmax(axis=1)
        last = happens.shape[1] - 1 - happens[:, ::-1].argmax(axis=1)
        open_order = (first[:, None] <= last) & (first <= last[:, None])
        pairs = np.ones((len(self.counts), len(self.counts)))
        for number, cluster in enumerate(self.clusters):
            (own,) = np.nonzero(self.key == number)
            code = self.code[own]
            alike = (code[:, None] == code) * self.counts[own]
            # How many events of the second's step can share a tick with the first.
            repeats = open_order[np.ix_(own, own)] @ alike.T
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
    states: QuestionStates

    def summed(self, budget: Budget) -> tuple[float, int]:
        """The weights of all orders with the answer yes, as a number and an exponent of 2.

        Raises
        ------
        QueryTooLargeError
            If that takes more steps than are left.
        """
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
            members.counts,
            first,
            last,
            members.own >= 0,
            members.key,
            after,
            follows,
            self.pairs,
            self.letter,
        )
        states = self.states
        rows = np.flatnonzero(members.own >= 0)
        gates = np.exp(states.happened[:, members.own[rows]] @ logs[rows])
        machine = Machine(states.moves, states.rests, gates, states.accepted)
        ticked = self._ticked(happens)
        budget.spend(len(lengths) * self._steps(happens, ticked, len(keys.close)))
        found, exponents = np.empty(len(lengths)), np.empty(len(lengths), dtype=np.int64)
        sweep(kinds, machine, keys, ticked, lengths, every, found, exponents)
        return scaled_sum(found * pieces.weight, exponents)

    def _steps(self, happens: Flags, ticked: Flags, combinations: int) -> float:
        """About how many steps one way takes."""
        counts = self.members.counts * (self.members.own < 0)
        sets = np.exp(np.log1p(counts) @ alive_in(happens))
        placed = self.members.counts @ happens
        passes = np.where(ticked, placed * (placed + 1) / 2, placed)
        return float((sets * passes * happens.sum(axis=0)).sum()) * combinations * len(self.states.rests)

    def _ticked(self, happens: Flags) -> Flags:
        """Where ticks are told apart: the question reads two events there, one of them of a row."""
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


def joined_members(
    clusters: Sequence[Cluster], events: Indexes, told: Indexes, own: Indexes, each: Reals
) -> tuple[Members, Indexes]:
    """Kinds of some events, and the place of the first of each; `told` tells apart what the question does.

    `events` are those of the clusters, and others.  `own` as in `Members`, `each` the masses, of events.
    """
    key, code = (np.full(len(events), -1, dtype=np.int64) for _ in range(2))
    for number, cluster in enumerate(clusters):
        place = np.searchsorted(events, np.sort(cluster.events))
        order = np.argsort(cluster.events)
        key[place], code[place] = number, cluster.codes[order]
    rows = np.column_stack([key, code, told, np.where(own >= 0, own, -1), each])
    _, places, kind = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(places)
    counts, first = np.bincount(kind.reshape(-1))[order], places[order]
    return Members(tuple(clusters), counts, key[first], code[first], own[first]), first


def total(cluster: Cluster, masses: Masses) -> tuple[float, int]:
    """The weights of all orders of a cluster, whatever happens, as a number and an exponent of 2."""
    events = np.sort(cluster.events)
    pieces = pieces_of(masses, events)
    none = np.full(len(events), -1, dtype=np.int64)
    members, first = joined_members((cluster,), events, none, none, pieces.each)
    pieces = replace(pieces, each=pieces.each[first])
    states = states_of(NOTHING_ASKED)
    assert states is not None
    nothing = np.full(pieces.each.shape, -1, dtype=np.int64)
    return Table(members, pieces, members.pairs(pieces.each), nothing, states).summed(Budget())


def alive_in(happens: Flags) -> Flags:
    """In which pieces each kind may have happened and may still happen, or happens."""
    begun = np.logical_or.accumulate(happens, axis=1)
    left = np.logical_or.accumulate(happens[:, ::-1], axis=1)[:, ::-1]
    return np.asarray(begun & left)
