"""Time range and confidence of matches that bind interval events.

For each case of the conditions, the matches of one form (which events are points, what bounds their
lengths) share a system of edges between endpoints.  Edges that hold whatever the ticks are left out, match
by match; the probability of the others is summed, and divided by that of the events' own laws.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import UNBOUNDED_LENGTH, Endpoints
from cepctl.engines.columns.tick_sums import LAST, shifted
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.intervals.conditions import CONSTANT, Case, Edge, Place, without_redundant
from cepctl.engines.intervals.reach import reach
from cepctl.engines.intervals.sums import probability
from cepctl.engines.pattern.difference_constraints import closure

Form: TypeAlias = tuple[tuple[int, int, int], ...]
"""Of each event, whether it lasts (1 or 0), and the bounds of its length."""


@dataclass(frozen=True)
class IntervalMeasure:
    """How matches of one alternative are measured: its cases, and the endpoints of all events."""

    cases: tuple[Case, ...]
    endpoints: Endpoints

    def measured(self, matches: Indexes) -> Measured:
        """Measure matches, shape (n, l).

        Raises
        ------
        QueryTooLargeError
            If a match needs too many products.
        """
        count = len(matches)
        found = Measured(np.zeros(count), np.zeros(count), np.full(count, LAST), np.full(count, -LAST))
        for form, rows in self._forms(matches):
            for case in self.cases:
                self._add(found, matches[rows], rows, case, form)
        never = found.start > found.end
        found.start[never], found.end[never] = 1, 0
        whole = self.endpoints.whole[matches].prod(axis=1)
        return Measured(found.confidence / whole, found.error, found.start, found.end)

    def _forms(self, matches: Indexes) -> list[tuple[Form, Indexes]]:
        """Matches that share, for each event, whether it lasts and the bounds of its length."""
        if not len(matches):
            return []
        ends = self.endpoints
        lasts = (ends.end[matches] != matches).astype(np.int64)
        forms = np.stack([lasts, ends.shortest[matches], ends.longest[matches]], axis=2)
        flat, which = np.unique(forms.reshape(len(matches), -1), axis=0, return_inverse=True)
        which = which.reshape(-1)
        return [
            (tuple(map(tuple, form.reshape(-1, 3).tolist())), np.flatnonzero(which == number))
            for number, form in enumerate(flat)
        ]

    def _add(
        self,
        found: Measured,
        matches: Indexes,
        rows: Indexes,
        case: Case,
        form: Form,
    ) -> None:
        """Add the matches of one form in one case."""
        edges = _edges(case, form)
        system = closure(2 * len(form), edges)
        if (np.diag(system) < 0).any():
            return
        endpoint = np.stack([matches, self.endpoints.end[matches]], axis=2).reshape(len(matches), -1)
        masses = self.endpoints.masses
        allowed = _allowed(masses.lower[endpoint], masses.upper[endpoint], case, form)
        lower, upper = reach(masses, endpoint, *allowed, system)
        for k, (lasts, _, _) in enumerate(form):
            if not lasts:  # its end is its start, which alone stands in the edges
                lower[:, 2 * k + 1], upper[:, 2 * k + 1] = lower[:, 2 * k], upper[:, 2 * k]
        happens = np.flatnonzero((lower <= upper).all(axis=1))
        rows, endpoint = rows[happens], endpoint[happens]
        lower, upper = lower[happens], upper[happens]
        found.start[rows] = np.minimum(found.start[rows], lower.min(axis=1))
        found.end[rows] = np.maximum(found.end[rows], upper.max(axis=1))
        restricted = frozenset(
            _onto_points((place, place, 0), form)[0]
            for each in case
            if CONSTANT in each[:2]
            for place in each[:2]
            if place != CONSTANT
        )
        found.confidence[rows] += self._summed(endpoint, lower, upper, edges, restricted)

    def _summed(
        self,
        endpoint: Indexes,
        lower: Ticks,
        upper: Ticks,
        edges: tuple[Edge, ...],
        restricted: frozenset[Place],
    ) -> Reals:
        """P(all edges) of matches that can happen: for those alike in which edges are open at once."""
        masses = self.endpoints.masses
        open_edges = _open(masses.lower[endpoint], masses.upper[endpoint], edges)
        total = np.zeros(len(endpoint))
        patterns, which = np.unique(open_edges, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(which.reshape(-1) == number)
            chosen = [edge for edge, is_open in zip(edges, pattern, strict=True) if is_open]
            total[rows] = probability(masses, endpoint[rows], lower[rows], upper[rows], chosen, restricted)
        return total


@lru_cache(maxsize=1024)
def _edges(case: Case, form: Form) -> tuple[Edge, ...]:
    """The edges of a case between endpoints; those of the events' own laws among them."""
    own: list[Edge] = []
    for k, (_, shortest, longest) in enumerate(form):
        own += [(2 * k, 2 * k + 1, -shortest)]
        own += [(2 * k + 1, 2 * k, longest)] if longest < UNBOUNDED_LENGTH else []
    between = [_onto_points(each, form) for each in (*case, *own) if CONSTANT not in each[:2]]
    return without_redundant(2 * len(form), between)


def _onto_points(edge: Edge, form: Form) -> Edge:
    """The end of a point is its start."""
    left, right = (place if form[place // 2][0] else place - place % 2 for place in edge[:2])
    return (left, right, edge[2])


def _allowed(lower: Ticks, upper: Ticks, case: Case, form: Form) -> tuple[Ticks, Ticks]:
    """The ticks that comparisons with constants leave to each endpoint."""
    lower, upper = lower.copy(), upper.copy()
    for left, right, bound in case:
        if left == CONSTANT and right == CONSTANT:
            continue
        if right == CONSTANT:
            place, _, _ = _onto_points((left, left, 0), form)
            upper[:, place] = np.minimum(upper[:, place], bound)
        elif left == CONSTANT:
            place, _, _ = _onto_points((right, right, 0), form)
            lower[:, place] = np.maximum(lower[:, place], -bound)
    return lower, upper


def _open(lower: Ticks, upper: Ticks, edges: tuple[Edge, ...]) -> Flags:
    """Which edges some ticks of the masses violate, shape (n, edges)."""
    if not edges:
        return np.zeros((len(lower), 0), dtype=bool)
    return np.stack([upper[:, i] > shifted(lower[:, j], bound) for i, j, bound in edges], axis=1)
