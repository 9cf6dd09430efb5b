"""When the sampled worlds that return a row have decided it, where its confidence is an estimate.

The worlds are those that the confidence comes from: a match draws the same ones each time it is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.bindings import MatchBatch
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.joint_matches import bound_by
from cepctl.schema import LATEST_TICK


@dataclass(frozen=True)
class SampledDecisions:
    """Matches of the first of some alternatives, of which one has to hold."""

    sources: Sequence[PreparedAlternative]
    matches: MatchBatch

    def decided(self, rows: Indexes, tick: Ticks) -> Reals:
        """The share of worlds that return these rows, ascending, and have decided them by a tick."""
        sampling = self.sources[0].measure.sampling
        assert sampling is not None
        groups = self.sources[0].measure.groups(bound_by(self.sources[0], self.matches))
        match, share = sampling.probabilities(groups, list(self._by(rows, tick)))
        found = np.zeros(len(rows))
        found[np.searchsorted(rows, match)] = share
        return found

    def _by(self, rows: Indexes, tick: Ticks) -> Iterator[Problems]:
        """The problems of some rows; what a world has not decided by the tick does not hold in it."""
        for source, problems in self._problems:
            at = np.minimum(np.searchsorted(rows, problems.match), len(rows) - 1)
            chosen = np.flatnonzero(rows[at] == problems.match)
            if not len(chosen):
                continue
            some, by = problems.taken(chosen), tick[at[chosen]]
            upper, last = some.variables.upper.copy(), -1
            if source.alternative.decided_by_window(source.plan.strategy):
                assert source.plan.window is not None
                by = np.where(by >= LATEST_TICK, by, shifted(by, 1 - source.plan.window))
                last = 0
            upper[:, last] = np.minimum(upper[:, last], by)
            yield replace(some, variables=some.variables._replace(upper=upper))

    @cached_property
    def _problems(self) -> list[tuple[PreparedAlternative, Problems]]:
        return [
            (source, problems)
            for source in self.sources
            for problems in source.problems(bound_by(source, self.matches))
        ]
