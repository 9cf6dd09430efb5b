"""Confidence and time range of matches whose events are tied: P(match and what is given) / P(what is given).

Only the components that a problem touches count: of all others the probability cancels.  The first and the
last event that a match shows are variables of its problems: to cut these to a span of ticks cuts all of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.clauses import Clauses, Tied, with_present
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.confidence.given.counted import counted_of
from cepctl.engines.confidence.given.groups import GroupComponents
from cepctl.engines.confidence.given.known_order import contradict_order, without_known_order
from cepctl.engines.confidence.given.parts_of_units import by_units
from cepctl.engines.confidence.given.work import too_many_together
from cepctl.engines.confidence.occurrence.rows import Rows
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Reals, Ticks


@dataclass(frozen=True)
class GivenRows(Rows):
    """Rows in the worlds that are left; `width` events of each are shown or compared.

    `affordable`: how many products one may take that is estimated where they do not suffice; None where it is
    refused.
    """

    ties: EventTies
    affordable: int | None
    width: int

    @classmethod
    def beside(
        cls, ties: EventTies, affordable: int | None, masses: Masses, problems: Problems, *besides: Tied
    ) -> GivenRows:
        """Each problem as a row of its own, which asks for nothing that the order of records decides."""
        clauses = without_known_order(Rows.of(masses, problems, *besides).clauses, ties, masses)
        return cls(masses, clauses, ties, affordable, problems.variables.event.shape[1])

    def probability(self) -> Reals:
        """As of points."""
        impossible = contradict_order(self.clauses)
        found: Reals = np.where(impossible, 0.0, 1.0)
        # What the order decides alone asks for nothing, or for what no world has.
        open_still = np.flatnonzero((np.diff(self.clauses.clause_offsets) > 0) & ~impossible)
        if len(open_still):
            clauses = self.clauses.of_groups(open_still)
            found[open_still] = open_confidences(self.masses, self.ties, clauses, self.affordable)
        return found

    def ends(self, first: Indexes, last: Indexes) -> tuple[Ticks, Ticks]:
        """As of points; the rest of a series can always be in order, so that it changes no range."""
        problem, event = self.clauses.events()
        every = np.arange(self.clauses.groups)
        shown = np.concatenate([problem, every, every]), np.concatenate([event, first, last])
        known = GroupComponents.touching(*shown, self.ties, self.masses, scaled=False).tied(every)
        try:
            return Rows(self.masses, with_present(self.clauses, known)).ends(first, last)
        except QueryTooLargeError:
            raise too_many_together(self.width) from None

    def refusal(self, problems: Problems, row: int) -> QueryTooLargeError:
        """That what is tied to a row takes too many products."""
        return too_many_together(self.width)


def open_confidences(masses: Masses, ties: EventTies, clauses: Clauses, affordable: int | None) -> Reals:
    """The probability of each group, of one problem, that asks for something, in the worlds that remain."""
    found, rest = by_units(clauses, ties, masses)
    summed = np.flatnonzero(np.diff(rest.clause_offsets) > 0)
    if len(summed):
        found[summed] *= _summed(masses, ties, rest.of_groups(summed), affordable)
    return found


def _summed(masses: Masses, ties: EventTies, clauses: Clauses, affordable: int | None) -> Reals:
    """The probability of each group by sums over ticks."""
    counted, count = counted_of(clauses, ties), clauses.groups
    components = GroupComponents.of(counted.clauses, ties, masses)
    tied = Rows(masses, with_present(counted.clauses, components.tied(np.arange(count))))
    weighted = components.weighted(ties, count)._replace(counted=counted.records)
    return tied.under(weighted, affordable) / components.probability(ties, masses, count)
