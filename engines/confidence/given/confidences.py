"""Matches and keys whose events are tied: P(match and what is given) / P(what is given).

Only the components that a problem touches count: of all others the probability cancels.  The first and the
last event that a match shows are variables of its problems: to cut these to a span of ticks cuts all of it.

Keys are measured part by part, those of one row as a row.  What the order of records decides leaves
the rows first: a row that holds in every world settles its key, and of rows that imply each other one is
enough.  Parts of a key that share no ties are independent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.columns.ties import EventTies, connected
from cepctl.engines.confidence.coupled.problem import Clauses, Problems, Tied, with_present
from cepctl.engines.confidence.given.counted import counted_of
from cepctl.engines.confidence.given.groups import GroupComponents
from cepctl.engines.confidence.given.known_order import (
    contradict_order,
    without_implied_rows,
    without_known_order,
)
from cepctl.engines.confidence.given.parts_of_units import by_units
from cepctl.engines.confidence.given.work import too_many_together
from cepctl.engines.confidence.occurrence.occurrence import WORK_BOUND, Occurrences, Weighted
from cepctl.engines.confidence.occurrence.rows import Rows
from cepctl.engines.confidence.occurrence.separators import MOST_TOGETHER
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks


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


MeasuringUnions: TypeAlias = Callable[[Clauses, Weighted], Occurrences]
MOST_DIFFERENCES = 20_000_000
"""What the rows of a part may ask for together, where each asks for all its ties: a gigabyte."""


def tied_occurrences(
    clauses: Clauses, ties: EventTies, masses: Masses, measuring: MeasuringUnions
) -> Occurrences:
    """The probability that some row of each group holds, in the worlds that remain.

    `measuring`: how groups whose rows ask for all their ties are measured.
    """
    count = clauses.groups
    clauses = without_known_order(clauses, ties, masses)
    certain = np.zeros(count, dtype=bool)
    certain[clauses.group_of_problems[np.diff(clauses.clause_offsets) == 0]] = True
    clauses = _of(clauses, ~contradict_order(clauses) & ~certain[clauses.group_of_problems])
    clauses = without_implied_rows(clauses, ties)
    part = _parts(clauses, ties)
    order = np.argsort(part, kind="stable")
    sizes = np.bincount(part)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    apart = clauses.of_problems(order, offsets)
    found = _of_parts(apart, sizes, ties, masses, measuring)
    group = clauses.group_of_problems[order[offsets[:-1]]]
    return _together(found, group, certain)


def _of(clauses: Clauses, kept: Flags) -> Clauses:
    """Some of the problems."""
    offsets = np.concatenate([[0], np.cumsum(kept)])[clauses.problem_offsets]
    return clauses.of_problems(np.flatnonzero(kept), offsets)


def _parts(clauses: Clauses, ties: EventTies) -> Indexes:
    """The part of each problem, numbered through all groups: problems of two share no tied events."""
    problem, event = clauses.events()
    component = ties.component[event]
    node = np.where(component >= 0, component, len(ties.in_order) + event)
    group = clauses.group_of_problems
    shared = distinct_rows(np.stack([group[problem], node], axis=1))
    count = len(group)
    label = connected(count + len(shared.first), problem, count + shared.which)
    return np.unique(label[:count], return_inverse=True)[1].reshape(-1)


def _of_parts(
    clauses: Clauses, sizes: Indexes, ties: EventTies, masses: Masses, measuring: MeasuringUnions
) -> Occurrences:
    """Those of one row as rows, and the others as unions; what asks for too much is not measured."""
    probability, figures = np.full(len(sizes), np.nan), np.zeros((3, len(sizes)), dtype=np.int64)
    figures[1] = sizes
    alone, several = np.flatnonzero(sizes == 1), np.flatnonzero(sizes > 1)
    if len(alone):
        rows = clauses.of_groups(alone)
        probability[alone] = open_confidences(masses, ties, rows, WORK_BOUND)
        figures[0, alone] = np.bincount(rows.events()[0], minlength=len(alone))
    if len(several):
        groups = clauses.of_groups(several)
        components = GroupComponents.of(groups, ties, masses)
        tied = np.bincount(components.group, np.diff(components.needed.tie_offsets), len(several))
        fit = (sizes[several] <= MOST_TOGETHER) | (tied * sizes[several] <= MOST_DIFFERENCES)
        if not fit.all():
            several = several[fit]
            groups = clauses.of_groups(several)
            components = GroupComponents.of(groups, ties, masses)
    if len(several):
        asked = with_present(groups, components.tied(groups.group_of_problems))
        found = measuring(asked, components.weighted(ties, len(several)))
        share = components.probability(ties, masses, len(several))
        probability[several] = found.probability / share
        figures[:, several] = found.separators, found.rows, found.products
    return Occurrences(probability, *figures)


def _together(found: Occurrences, group: Indexes, certain: Flags) -> Occurrences:
    """Of groups the probability that some part of theirs holds; the figures of a part that is too costly."""
    count = len(certain)
    none = np.zeros(count, np.longdouble)
    with np.errstate(divide="ignore"):
        np.add.at(none, group, np.log1p(-np.minimum(found.probability, 1.0).astype(np.longdouble)))
    probability = np.where(certain, 1.0, -np.expm1(none).astype(np.float64))
    figures = np.zeros((3, count), dtype=np.int64)
    costly = np.flatnonzero(np.isnan(found.probability))
    figures[:, group[costly]] = (
        found.separators[costly], found.rows[costly], found.products[costly],
    )  # fmt: skip
    return Occurrences(probability, *figures)
