"""The components that coupled problems touch, and the problems that touch components alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.given.components import Pieces


@dataclass(frozen=True)
class Touched:
    """Pairs of a problem and a component that it touches, in the order of problems: shape (t,).

    The components of one problem are numbered as its variables, and then its factors, meet them: `slot`.
    `pieces` says which part of each component is needed.
    """

    problem: Indexes
    pieces: Pieces
    slot: Indexes

    def of(self, problems: Indexes) -> Indexes:
        """The pairs of problems that touch equally many, shape (n, slots)."""
        begin = np.searchsorted(self.problem, problems)
        end = np.searchsorted(self.problem, problems, side="right")
        pairs: Indexes = begin[:, None] + np.arange(int((end - begin)[0]))
        return pairs


def touched(problems: Problems, ties: EventTies) -> Touched:
    """Which components the problems touch."""
    count, width = problems.variables.event.shape
    factors = problems.factors
    owner = np.repeat(np.arange(count), np.diff(factors.offsets))
    problem = np.concatenate([np.repeat(np.arange(count), width), owner])
    place = np.concatenate([np.tile(np.arange(width), count), width + np.arange(len(owner))])
    event = np.concatenate([problems.variables.event.reshape(-1), factors.event])
    tied = np.flatnonzero(ties.touches(event))
    problem, place, event = problem[tied], place[tied], event[tied]
    component, rank = ties.component[event], ties.rank[event]
    order = np.lexsort((place, component, problem))
    problem, component, place, rank = problem[order], component[order], place[order], rank[order]
    fresh = np.ones(len(problem), dtype=bool)
    fresh[1:] = (np.diff(problem) != 0) | (np.diff(component) != 0)
    begin = np.flatnonzero(fresh)
    if not len(begin):
        none = np.zeros(0, dtype=np.int64)
        return Touched(none, Pieces(none, none, none), none)
    first, last = np.minimum.reduceat(rank, begin), np.maximum.reduceat(rank, begin)
    problem, component, place = problem[begin], component[begin], place[begin]
    order = np.lexsort((place, problem))
    problem = problem[order]
    pieces = Pieces.between(ties, component, first, last).taken(order)
    slot = np.arange(len(problem)) - np.searchsorted(problem, problem)
    return Touched(problem, pieces, slot)
