"""One OR-free alternative on one partition of events: from candidates to measured matches.

Runs inside Spark workers: imports NumPy, Numba, Polars and PyArrow only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from cepctl.engines.bindings import Bound, Group, MatchBatch, single_events, take
from cepctl.engines.chain_confidence import chain_confidence
from cepctl.engines.chain_range import chain_range
from cepctl.engines.constraints import closed_system, valid_bounds
from cepctl.engines.coupling import block_group, coupled_matches, spans_of
from cepctl.engines.enumeration import Search, enumerate_bindings
from cepctl.engines.events import Events
from cepctl.engines.kleene import with_groups
from cepctl.engines.predicates import fitting_events
from cepctl.engines.rivals import Rivals, certainly_broken, rivals_of
from cepctl.engines.sampling import Sampling
from cepctl.engines.shape import Shape, shape_of
from cepctl.engines.types import Flags, Indexes, Reals, Ticks
from cepctl.errors import QueryTooLargeError
from cepctl.language.ast import Strategy
from cepctl.plan.evaluation_order import OrderName, evaluation_order
from cepctl.plan.plan import Alternative, Plan

SMALLEST = np.nextafter(0.0, 1.0)
"""Stands for a confidence below the smallest positive float: the match is possible."""


@dataclass(frozen=True)
class MatchOptions:
    """Choices that change no row: order of evaluation, counts it is chosen from, cap on the rows.

    `approximate` is the error allowed to confidences beyond the work bound; None refuses them.
    """

    order: OrderName = "auto"
    type_counts: Mapping[str, int] | None = None
    max_matches: int = 10_000_000
    approximate: float | None = None

    def check_count(self, rows: int) -> None:
        """Raise QueryTooLargeError when there are more rows than allowed."""
        if rows > self.max_matches:
            raise QueryTooLargeError(
                f"the query has more than {self.max_matches:,} matches; narrow it (WITHIN, [attr], tighter "
                "predicates, CONFIDENCE), or raise the cap with --max-matches"
            )


@dataclass(frozen=True)
class PreparedAlternative:
    """An alternative with everything that is fixed before the first event is bound."""

    plan: Plan
    events: Events
    shape: Shape
    search: Search
    options: MatchOptions

    @classmethod
    def of(
        cls, plan: Plan, alternative: Alternative, events: Events, options: MatchOptions
    ) -> PreparedAlternative:
        """Find the candidates of every component and close the constraints."""
        candidates = tuple(fitting_events(events, each) for each in alternative.components)
        system = _system(plan, alternative)
        search = Search(alternative, alternative.positive, system, candidates, plan.partition_by)
        return cls(plan, events, shape_of(plan, alternative), search, options)

    @property
    def alternative(self) -> Alternative:
        """The alternative itself."""
        return self.search.alternative

    @property
    def sampling(self) -> Sampling | None:
        """How confidences beyond the work bound are estimated; None where they are refused."""
        allowed = self.options.approximate
        return None if allowed is None else Sampling(allowed, self.events)

    def matches(self, owned: tuple[int, int] | None) -> Iterator[MatchBatch]:
        """Measured matches, batch by batch; `owned` as in `cepctl.engines.match.match_batches`."""
        order = evaluation_order(self.alternative, self.options.type_counts, self.options.order).components
        columns = tuple(self.search.singles.index(i) for i in order)
        cap = self.options.max_matches
        for rows in enumerate_bindings(self.search, self.events, columns, owned):
            for bound in with_groups(self.search, self.shape, self.events, rows, self.plan, cap):
                yield self._measured(bound, owned)

    def rivals(self, bound: dict[int, Bound]) -> list[Rivals]:
        """Who could break these matches."""
        return rivals_of(
            self.shape,
            self.events,
            self.search.candidates,
            self.plan.partition_by,
            bound,
            spans_of(self.events.masses, self.groups(bound)),
            by_partition=self.plan.strategy is Strategy.PARTITION_CONTIGUITY,
        )

    def groups(self, bound: dict[int, Bound]) -> list[Group]:
        """Members of every block."""
        return [block_group([bound[i] for i in block.components]) for block in self.shape.blocks]

    def _measured(self, bound: dict[int, Bound], owned: tuple[int, int] | None) -> MatchBatch:
        """Time range and confidence of a batch of bindings; what no world returns is dropped."""
        values = tuple(bound[i] for i in self.search.singles)
        count = len(self.groups(bound)[0].sizes)
        confidence, error = np.zeros(count), np.zeros(count)
        start, end = np.ones(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        rivals = self.rivals(bound) if self.shape.rules else []
        alone = np.full(count, self.shape.only_single)
        for each in rivals:
            alone[each.row] = False
        chain = np.flatnonzero(alone)
        if len(chain):
            matrix = single_events([take(bound[i], chain) for i in self.search.singles])
            confidence[chain], start[chain], end[chain] = self._measured_chain(matrix)
        broken = certainly_broken(
            rivals, self.events.masses, spans_of(self.events.masses, self.groups(bound))
        )
        coupled = np.flatnonzero(~alone & ~broken)
        if len(coupled):
            chosen = {i: take(each, coupled) for i, each in bound.items()}
            reachable = [each.taken(coupled) for each in rivals]
            found = coupled_matches(
                self.shape, self.events.masses, self.groups(chosen), reachable, self.sampling
            )
            confidence[coupled], error[coupled] = found.confidence, found.error
            start[coupled], end[coupled] = found.start, found.end
        happens = start <= end
        if owned is not None:
            happens &= _is_owned(self.events, values[0], owned)
        return MatchBatch(values, start, end, np.maximum(confidence, SMALLEST), error).filter(happens)

    def _measured_chain(self, chain: Indexes) -> tuple[Reals, Ticks, Ticks]:
        """Confidence, first and last tick; first after last where no world returns the match."""
        masses, window = self.events.masses, self.plan.window
        lower, upper = valid_bounds(masses.lower[chain], masses.upper[chain], self.search.system)
        confidence = chain_confidence(masses, chain, lower, upper, window)
        start, end, happens = chain_range(masses, chain, lower, upper, window)
        return confidence, np.where(happens, start, 1), np.where(happens, end, 0)


def _system(plan: Plan, alternative: Alternative) -> Ticks:
    """Closed constraints over the positive components; a Kleene group stands as any of its members."""
    block_of = {i: number for number, block in enumerate(alternative.blocks) for i in block}
    positive = alternative.positive
    edges = [
        (positive.index(each.left), positive.index(each.right), each.bound)
        for each in alternative.timings
        if not each.not_equal and each.left in positive and each.right in positive
    ]
    return closed_system([block_of[i] for i in positive], plan.window, edges)


def _is_owned(events: Events, first: Bound, owned: tuple[int, int]) -> Flags:
    """Whether the first component's event, of a group the smallest, has its `lower` in the slice."""
    if isinstance(first, Group):
        lower = np.minimum.reduceat(events.masses.lower[first.members], first.offsets[:-1])
    else:
        lower = events.masses.lower[first]
    return np.asarray((lower >= owned[0]) & (lower <= owned[1]))
