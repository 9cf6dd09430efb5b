"""Groups of matches of events that share clocks, of which something is given.

Some row of a group holds and all that is given of the wholes that it touches does: that is a union of rows,
each of which asks for all ties of these wholes, too.  Divided by the probability of the wholes it is the
occurrence.  Both are unions of events on clocks: of a whole alone it is one row that asks for its ties.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.clocks.unions import MeasuringClauses, occurrences_on_clocks
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.given.at_offsets import TiesOf
from cepctl.engines.given.on_clocks import GivenOnClocks
from cepctl.engines.occurrence.clauses import Clauses, Tied, clauses_of
from cepctl.engines.occurrence.occurrence import Occurrences


@dataclass(frozen=True)
class GroupWholes:
    """Pairs of a group and a whole that its rows touch, by group; and the ties of the wholes of each."""

    known: GivenOnClocks
    groups: int
    group: Indexes
    whole: Indexes
    ties: TiesOf

    @classmethod
    def of(cls, known: GivenOnClocks, problems: Sequence[Problems], groups: int) -> GroupWholes:
        """`match` of the problems is their group.

        Raises
        ------
        QueryTooLargeError
            If a group needs more tied events than can be summed together.
        """
        named = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        for each in problems:
            width = each.variables.event.shape[1]
            named.append((np.repeat(each.match, width), each.variables.event.reshape(-1)))
            named.append((np.repeat(each.match, np.diff(each.factors.offsets)), each.factors.event))
        group, whole = known.wholes_of(*(np.concatenate(each) for each in zip(*named, strict=True)))
        return cls(known, groups, group, whole, known.ties_of(groups, group, whole))

    def tied(self, problems: Problems) -> Tied:
        """What each problem asks for besides: all ties of its group."""
        begin = np.searchsorted(self.ties.match, problems.match)
        sizes = np.searchsorted(self.ties.match, problems.match, side="right") - begin
        ends = np.cumsum(sizes)
        at = np.arange(int(ends[-1]) if len(ends) else 0) + np.repeat(begin - ends + sizes, sizes)
        problem = np.repeat(np.arange(len(sizes)), sizes)
        return problem, self.ties.left[at], self.ties.right[at], self.ties.bound[at]

    def occurrences(
        self,
        id_rank: Indexes,
        problems: Sequence[Problems],
        measuring: MeasuringClauses,
        *,
        limited: bool,
        give_up: bool,
    ) -> Occurrences:
        """The occurrence of each group, in the worlds that satisfy what is given; as `occurrences_on_clocks`.

        `limited`: whether some variable of the problems has a constant limit of its own.

        Raises
        ------
        QueryTooLargeError
            If a group needs its measure at too many offsets, unless `give_up`.
        """
        clocks = self.known.clocks
        rows = clauses_of(problems, self.groups, limited=limited, tied=[self.tied(each) for each in problems])
        both = occurrences_on_clocks(clocks, id_rank, rows, measuring, give_up=give_up)
        wholes, of = np.unique(self.whole, return_inverse=True)
        alone = occurrences_on_clocks(clocks, id_rank, self._alone(wholes), measuring, give_up=give_up)
        given = np.ones(self.groups)
        np.multiply.at(given, self.group, alone.probability[of.reshape(-1)])
        return replace(both, probability=both.probability / given)

    def _alone(self, wholes: Indexes) -> Clauses:
        """Each whole as a group of one row, which asks for its ties and nothing else."""
        ties = self.known.ties_of(len(wholes), np.arange(len(wholes)), wholes)
        count = len(ties.left)
        return Clauses(
            np.arange(len(wholes) + 1),
            np.searchsorted(ties.match, np.arange(len(wholes) + 1)).astype(np.int64),
            np.zeros(count, dtype=bool),
            np.arange(count + 1),
            ties.left,
            ties.right,
            ties.bound,
        )
