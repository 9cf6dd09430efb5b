"""Time range and confidence of a batch of bindings, each by the cheapest exact way.

    what ties the events of a match                          measured by
    order and window alone                                   the closed form of chains
    besides, rivals that can reach one gap each              a table per gap: all ticks of narrow
                                                             intervals, few ticks of wide ones
    anything else                                            nested sums (coupled problems)

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.engines.bindings import Bound, Group, single_events, take
from cepctl.engines.chain_confidence import chain_confidence
from cepctl.engines.chain_range import chain_range
from cepctl.engines.constraints import valid_bounds
from cepctl.engines.coupling import Measured, block_group, coupled_matches, spans_of
from cepctl.engines.gap_chains import gap_chains, has_gaps_only
from cepctl.engines.gap_confidence import gap_confidence, narrow
from cepctl.engines.gap_polynomials import wide_gap_confidence
from cepctl.engines.gap_range import gap_range
from cepctl.engines.masses import Masses
from cepctl.engines.rivals import Rivals, certainly_broken
from cepctl.engines.sampling import Sampling
from cepctl.engines.shape import Shape
from cepctl.engines.types import Flags, Indexes, Reals, Ticks


@dataclass(frozen=True)
class Measure:
    """What measuring the matches of one alternative needs.

    `system`: closed constraints over its positive components; `sampling`: how confidences beyond the
    work bound are estimated, None where they are refused.
    """

    shape: Shape
    masses: Masses
    system: Ticks
    window: int | None
    sampling: Sampling | None

    def groups(self, bound: dict[int, Bound]) -> list[Group]:
        """Members of every block."""
        return [block_group([bound[i] for i in block.components]) for block in self.shape.blocks]

    def chains(self, matches: Indexes) -> Measured:
        """Measure matches, shape (n, l), that nothing but order and window decides."""
        lower, upper = self._valid(matches)
        confidence = chain_confidence(self.masses, matches, lower, upper, self.window)
        start, end, happens = chain_range(self.masses, matches, lower, upper, self.window)
        start, end = np.where(happens, start, 1), np.where(happens, end, 0)
        return Measured(confidence, np.zeros(len(matches)), start, end)

    def decided(self, bound: dict[int, Bound], rivals: list[Rivals]) -> Measured:
        """Measure matches that the given rivals can break.

        Raises
        ------
        QueryTooLargeError
            If a match exceeds the bound on the work and there is no sampling.
        """
        groups = self.groups(bound)
        parts = _Parts(len(groups[0].sizes))
        left = ~certainly_broken(rivals, self.masses, spans_of(self.masses, groups))
        if self.shape.only_single:
            alone = left.copy()
            for each in rivals:
                alone[each.row] = False
            rows = np.flatnonzero(alone)
            parts.put(rows, self.chains(_matrix(bound, rows)))
            left &= ~alone
        if has_gaps_only(self.shape) and left.any():
            rows, found = self._with_gaps(bound, rivals, np.flatnonzero(left))
            parts.put(rows, found)
            left[rows] = False
        rows = np.flatnonzero(left)
        if len(rows):
            chosen = self.groups({i: take(each, rows) for i, each in bound.items()})
            reaching = [each.taken(rows) for each in rivals]
            parts.put(rows, coupled_matches(self.shape, self.masses, chosen, reaching, self.sampling))
        return parts.measured()

    def _with_gaps(
        self, bound: dict[int, Bound], rivals: list[Rivals], rows: Indexes
    ) -> tuple[Indexes, Measured]:
        """Measure those of some matches whose rivals tie no gaps together; also says which."""
        matrix = _matrix(bound, rows)
        reaching = [each.taken(rows) for each in rivals]
        usable, chains = gap_chains(self.masses, matrix, *self._valid(matrix), reaching)
        confidence = np.empty(len(chains.event))
        tabulated = narrow(self.masses, chains)
        for way, part in ((gap_confidence, tabulated), (wide_gap_confidence, ~tabulated)):
            chosen = np.flatnonzero(part)
            confidence[chosen] = way(self.masses, chains.taken(chosen), self.window)
        solved = np.flatnonzero(~np.isnan(confidence))
        start, end = gap_range(self.masses, chains.taken(solved), self.window)
        return rows[usable][solved], Measured(confidence[solved], np.zeros(len(start)), start, end)

    def _valid(self, matches: Indexes) -> tuple[Ticks, Ticks]:
        return valid_bounds(self.masses.lower[matches], self.masses.upper[matches], self.system)


class _Parts:
    """Columns of measured matches, filled some rows at a time; impossible until then."""

    def __init__(self, count: int) -> None:
        self.confidence: Reals = np.zeros(count)
        self.error: Reals = np.zeros(count)
        self.start: Ticks = np.ones(count, dtype=np.int64)
        self.end: Ticks = np.zeros(count, dtype=np.int64)

    def put(self, rows: Indexes | Flags, found: Measured) -> None:
        self.confidence[rows], self.error[rows] = found.confidence, found.error
        self.start[rows], self.end[rows] = found.start, found.end

    def measured(self) -> Measured:
        return Measured(self.confidence, self.error, self.start, self.end)


def _matrix(bound: dict[int, Bound], rows: Indexes) -> Indexes:
    """Events of some matches that bind single events, in pattern order, shape (n, l)."""
    return single_events([take(bound[i], rows) for i in sorted(bound)])
