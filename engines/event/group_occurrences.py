"""The probability that some match of a key holds: rows of each key as problems, measured together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.bindings import MatchBatch, signatures
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.concurrency import concurrently
from cepctl.engines.confidence.coupled.problem import Problems
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.group_estimates import RowProblems
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.union import joined_batches
from cepctl.engines.occurrence.clauses import Clauses, clauses_of
from cepctl.engines.occurrence.moved_groups import moved_groups
from cepctl.engines.occurrence.occurrence import Occurrences, Weighted, occurrences
from cepctl.engines.occurrence.pair_bounds import Pairs, bounds_by_pairs
from cepctl.engines.rows.order import match_text
from cepctl.plan.plan import Plan

if TYPE_CHECKING:
    from cepctl.engines.clocks.unions import MeasuringClauses

_GROUPS_AT_ONCE = 4096


@dataclass(frozen=True)
class GroupedRows:
    """All matches in one order: by group, in it as match rows stand; arrays of shape (n,).

    `place` says where each stands among the matches as they were found.
    """

    group: Indexes
    place: Indexes
    confidence: Reals
    first: Indexes
    sizes: Indexes

    @property
    def count(self) -> int:
        return len(self.first)


def rows_may_lack_occurrence(plan: Plan, options: MatchOptions) -> bool:
    """Whether a key of which the occurrence is too costly keeps its row: others shall not be lost for it."""
    return bool(plan.group_by) and options.top is None


@dataclass(frozen=True)
class WantedGroups:
    """The matches of some groups, to be measured together."""

    prepared: Sequence[PreparedAlternative]
    found: Sequence[Sequence[MatchBatch]]
    sources: Sequence[tuple[PreparedAlternative, MatchBatch]]
    rows: GroupedRows
    ordered: pl.DataFrame

    def occurrences(self, groups: Indexes) -> tuple[Occurrences, list[Problems]]:
        """The probability that some match of each of these groups holds, and the problems of all of them."""
        number = np.full(self.rows.count, -1)
        number[groups] = np.arange(len(groups))
        if self.prepared[0].intervals is not None:
            return self._of_intervals(number[self.rows.group], len(groups)), []
        members = self.prepared[0].members
        if members is not None:
            chosen = np.flatnonzero(number[self.rows.group] >= 0)
            ((_, batch),) = self.sources
            key = number[self.rows.group[chosen]]
            return members.occurrences(batch.take(self.rows.place[chosen]), key, len(groups)), []
        deciding = self.ordered.get_column("fewest").to_numpy()
        problems, limited = self._problems(np.where(deciding, number[self.rows.group], -1))
        events, options = self.prepared[0].events, self.prepared[0].options
        measuring = self._measuring(events.clocks)
        if events.ties is None:
            return measuring(events, clauses_of(problems, len(groups), limited=limited)), problems
        if events.clocks is None:
            return _given(events, events.ties, problems, len(groups), options, limited=limited), problems
        from cepctl.engines.given.groups import GroupWholes
        from cepctl.engines.given.on_clocks import GivenOnClocks

        wholes = GroupWholes.of(GivenOnClocks.of(events.clocks, events.ties), problems, len(groups))
        return wholes.occurrences(events, problems, measuring, limited=limited), problems

    def _measuring(self, clocks: EventClocks | None) -> MeasuringClauses:
        """How clauses of events are measured that may share clocks."""
        options = self.prepared[0].options
        measuring = partial(_measured, options=options)
        if clocks is None:
            return measuring
        from cepctl.engines.clocks.unions import occurrences_on_clocks

        give_up = options.approximate is not None
        give_up |= rows_may_lack_occurrence(self.prepared[0].plan, options)
        return partial(occurrences_on_clocks, clocks, measuring, give_up=give_up)

    def _of_intervals(self, of_row: Indexes, groups: int) -> Occurrences:
        """The same where matches bind interval events."""
        from cepctl.engines.intervals.search import by_size
        from cepctl.engines.intervals.unions import GroupedMatches, occurrences_of_intervals

        found = []
        for source, batch, group in self._parts(of_row):
            assert source.intervals is not None
            chosen = np.flatnonzero(group >= 0)
            for search, matches, rows in by_size(source.intervals, batch.take(chosen).bound):
                found.append(GroupedMatches(search, matches, group[chosen[rows]]))
        events = self.prepared[0].events
        return occurrences_of_intervals(events, found, groups, self._measuring(events.endpoint_clocks))

    def bounds(self, groups: Indexes) -> tuple[Reals, Reals]:
        """Certain bounds of the occurrence of each of these groups, where no confidence is an estimate."""
        events, options = self.prepared[0].events, self.prepared[0].options
        sizes = self.rows.sizes[groups]
        chosen = np.isin(self.rows.group, groups)
        probability = self.rows.confidence[chosen]
        pairs = Pairs.of(sizes)
        if events.ties is not None or events.clocks is not None:
            return bounds_by_pairs(probability, sizes, pairs, np.full(len(pairs.one), np.nan))
        problems, limited = self._problems(np.where(chosen, np.cumsum(chosen) - 1, -1))
        rows = clauses_of(problems, int(sizes.sum()), limited=limited)
        return bounds_by_pairs(
            probability, sizes, pairs, _measured(events, pairs.clauses(rows), options).probability
        )

    def by_row(self, groups: Indexes) -> RowProblems:
        """What the rows of some groups ask for."""
        chosen = np.isin(self.rows.group, groups)
        problems, _ = self._problems(np.where(chosen, np.cumsum(chosen) - 1, -1))
        return RowProblems(problems, self.rows.sizes[groups], self.rows.confidence[chosen])

    def _problems(self, of_row: Indexes) -> tuple[list[Problems], bool]:
        """The problems of rows by the number of each, -1 for none; and whether some variable is limited."""
        problems: list[Problems] = []
        limited = False
        for source, batch, group in self._parts(of_row):
            chosen = np.flatnonzero(group >= 0)
            bound = dict(zip(source.search.singles, batch.take(chosen).bound, strict=True))
            limited |= any(None in (each.left, each.right) for each in source.shape.timings)
            for each in source.problems(bound):
                problems.append(_of_groups(each, group[chosen][each.match]))
        return problems, limited

    def _parts(self, of_row: Indexes) -> Iterator[tuple[PreparedAlternative, MatchBatch, Indexes]]:
        """The matches of each alternative with the group of each, -1 for none."""
        if len(self.prepared) == 1:
            ((source, batch),) = self.sources
            group = np.empty(len(batch), dtype=np.int64)
            group[self.rows.place] = of_row
            yield source, batch, group
            return
        known = pl.DataFrame({"text": self.ordered.get_column("text"), "group": of_row})
        for source, batches in zip(self.prepared, self.found, strict=True):
            whole = joined_batches(batches)
            if whole is None:
                continue
            texts = match_text(signatures(whole.bound, source.events.names))
            own = pl.DataFrame({"text": texts}).join(known, on="text", how="left", maintain_order="left")
            yield source, whole, own.get_column("group").fill_null(-1).to_numpy()


def _given(
    events: Events,
    ties: EventTies,
    problems: list[Problems],
    groups: int,
    options: MatchOptions,
    *,
    limited: bool,
) -> Occurrences:
    """The same where events are tied: together with what is given, in its share of the worlds."""
    from cepctl.engines.given.groups import GroupComponents

    components = GroupComponents.of(problems, ties)
    tied = [components.ties_of(each, ties) for each in problems]
    clauses = clauses_of(problems, groups, limited=limited, tied=tied)
    found = _measured(events, clauses, options, components.weighted(ties, groups))
    return replace(found, probability=found.probability / components.probability(ties, events.masses, groups))


def _of_groups(problems: Problems, group: Indexes) -> Problems:
    return Problems(problems.structure, group, problems.variables, problems.factors)


def _measured(
    events: Events, clauses: Clauses, options: MatchOptions, weighted: Weighted | None = None
) -> Occurrences:
    """Each group by itself, so that no other changes a bit; of those that are others moved in time one."""
    if weighted is not None:
        return _in_blocks(events, clauses, options, weighted)
    count = len(clauses.problem_offsets) - 1
    first = moved_groups(events, clauses)
    chosen, back = (None, None) if first is None else np.unique(first, return_inverse=True)
    if chosen is None or back is None or len(chosen) == count:
        return _in_blocks(events, clauses, options, Weighted.none(events, count))
    few = _in_blocks(events, clauses.of_groups(chosen), options, Weighted.none(events, len(chosen)))
    return Occurrences(few.probability[back], few.hubs[back], few.rows[back], few.products[back])


def _in_blocks(events: Events, clauses: Clauses, options: MatchOptions, weighted: Weighted) -> Occurrences:
    """All groups, in blocks on all threads."""
    count = len(clauses.problem_offsets) - 1
    blocks = [
        np.arange(begin, min(begin + _GROUPS_AT_ONCE, count)) for begin in range(0, count, _GROUPS_AT_ONCE)
    ]
    parts: list[Callable[[], Iterator[tuple[Indexes, Occurrences]]]] = [
        partial(_block, events, clauses, weighted, block) for block in blocks
    ]
    whole = Occurrences(np.empty(count), *(np.zeros(count, np.int64) for _ in range(3)))
    for groups, found in concurrently(parts, options.threads):
        for into, values in zip(vars(whole).values(), vars(found).values(), strict=True):
            into[groups] = values
    return whole


def _block(
    events: Events, clauses: Clauses, weighted: Weighted, groups: Indexes
) -> Iterator[tuple[Indexes, Occurrences]]:
    yield groups, occurrences(events, clauses.of_groups(groups), weighted.of_groups(groups))
