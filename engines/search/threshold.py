"""CONFIDENCE and --top-k pushed into the search: partial matches that cannot reach the threshold die early.

A match needs its events in order and inside the window, whatever else it needs: rivals, negations,
groups and timing constraints only take worlds away.  So the probability of a chain of some of its events, in
closed form, is an upper bound of its confidence, and every event more can only lower it.

    name here   in ZDI10, section 7 (future work)
    least       the threshold of confidence; with --top-k it rises to the k-th best so far
    chain       the events of a partial match, one for each block in time order
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.chain.closed_form import chain_confidence
from cepctl.engines.pattern.difference_constraints import UNBOUNDED, valid_bounds
from cepctl.engines.rows.order import rounded
from cepctl.engines.search.shape_ranges import RangesOfPairs
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.numeric.precision import CONFIDENCE_SLACK
from cepctl.plan.plan import Alternative

_RELATIVE_ERROR = 1e-9
"""Generous bound on the error of what is measured; keeps what lies on the threshold."""


class Threshold:
    """What a confidence must reach to be a row; shared by the threads that look for rows.

    Examples
    --------
    >>> threshold = Threshold(0.0, top=2)
    >>> threshold.reached(np.array([0.5, 0.2, 0.9]), np.array([3, 1, 2])).tolist()
    [True, False, True]
    >>> round(threshold.least, 6)
    0.5
    """

    def __init__(self, least: float, top: int | None = None) -> None:
        self._least = least
        self._top = top
        self._best: Reals = np.zeros(0)
        self._worst_kept: tuple[float, int] | None = None
        self._lock = Lock()

    @property
    def decides(self) -> bool:
        """Whether some match may fail to be a row."""
        return self._least > 0.0 or self._top is not None

    @property
    def rises(self) -> bool:
        """Whether rows that are found leave less room for others."""
        return self._top is not None

    @property
    def least(self) -> float:
        """The smallest confidence that can still be a row."""
        return self._least

    def rise(self, confidence: float, start: int) -> None:
        """As many rows as are wanted are at least as good as this one in the order of the output."""
        self._worst_kept = (float(rounded(np.array([confidence]))[0]), start)

    def in_reach(self, bounds: Reals) -> Flags:
        """Which upper bounds of confidences leave room for one that reaches the threshold."""
        return np.asarray(bounds * (1.0 + _RELATIVE_ERROR) >= self._least)

    def reached(self, confidence: Reals, start: Ticks) -> Flags:
        """Which of some new rows reach the threshold, after it has risen with them; shape (n,)."""
        if self._top is not None:
            with self._lock:
                best = np.concatenate([self._best, confidence[confidence >= self._least]])
                if len(best) >= self._top:
                    best = np.partition(best, len(best) - self._top)[len(best) - self._top :]
                    self._least = max(self._least, float(best.min()) - CONFIDENCE_SLACK)
                self._best = best
        reached = confidence >= self._least
        if (worst := self._worst_kept) is not None:
            ranked = rounded(confidence)
            reached &= (ranked > worst[0]) | ((ranked == worst[0]) & (start <= worst[1]))
        return np.asarray(reached)


@dataclass(frozen=True)
class PushDown:
    """A threshold, and what the search of one alternative must know to apply it to partial matches.

    `complete`: whether rows that bind all single events are worth a look as well, because measuring
    them costs more than the bound.  `ranges`: how far apart the events of AND may be.  `clock`, shape (n,):
    who stamped each event, where they share clocks; `masses` are own parts then, which bound what one clock
    stamped, and nothing bounds the rest.
    """

    threshold: Threshold
    masses: Masses
    complete: bool
    ranges: tuple[RangesOfPairs, ...] = ()
    clock: Indexes | None = None

    def kept(
        self, alternative: Alternative, singles: Sequence[int], system: Ticks, rows: Indexes,
        columns: Sequence[int],
    ) -> Indexes:  # fmt: skip
        """The rows whose events in `columns` can be part of a match that reaches the threshold."""
        if self.threshold.least <= 0.0:
            return rows
        for each in self.ranges:
            if each.column_a in columns and each.column_b in columns:
                rows = each.kept(self.masses, rows)
        chain = chain_columns(alternative, singles, columns)
        if len(chain) < 2:
            return rows
        reaching = self.threshold.in_reach(self._bounds(rows[:, chain], system[np.ix_(chain, chain)]))
        return rows if reaching.all() else rows[reaching]

    def _bounds(self, chain: Indexes, system: Ticks) -> Reals:
        if self.clock is None:
            return upper_bounds(self.masses, chain, system)
        stamped = self.clock[chain]
        together = np.flatnonzero((stamped == stamped[:, :1]).all(axis=1))
        bounds = np.ones(len(chain))
        bounds[together] = upper_bounds(self.masses, chain[together], system)
        return bounds


def chain_columns(alternative: Alternative, singles: Sequence[int], columns: Sequence[int]) -> list[int]:
    """Of the bound columns one for each block, in time order: what certainly is a chain."""
    place = {component: number for number, block in enumerate(alternative.blocks) for component in block}
    chosen: dict[int, int] = {}
    for column in sorted(columns):
        chosen.setdefault(place[singles[column]], column)
    return [chosen[block] for block in sorted(chosen)]


def upper_bounds(masses: Masses, chain: Indexes, system: Ticks) -> Reals:
    """P(the events are in order, and as close as the whole match needs them), shape (n,).

    `chain` has shape (n, m), one event per column in time order; `system` is the part of the closed
    system of the whole pattern for these columns, so that it knows the room that others need.
    """
    # Columns that were picked lie in the order of columns: kernels would be compiled for that, too.
    chain = np.ascontiguousarray(chain)
    lower, upper = valid_bounds(masses.lower[chain], masses.upper[chain], system)
    span = int(system[-1, 0])
    bounds = chain_confidence(masses, chain, lower, upper, span + 1 if 0 <= span < UNBOUNDED else None)
    bounds[(lower > upper).any(axis=1)] = 0.0
    return bounds
