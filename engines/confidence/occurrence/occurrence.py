"""The probability that some row of a group holds, for many groups: the one way into this room.

clauses      what rows ask of ticks, in one form                              `coupled.problem`
settled      of one group, without what the intervals or others decide        `settled`
parts        that share no event: 1 - product of (1 - P)                      `separators`
links        what hidden events of a writer weigh                             `counted_records`
counted      records of a unit as one event                                   `counted_records`
separators   given their ticks the other events are independent               `separators`
trees        of one problem: which events are placed, and what falls apart    `separator_trees`
cuts         where the sum over a separator changes its polynomial            `separator_nodes`
sums         over separators, and over states of problems inside them         `union_sums`
implied      problems that another one makes needless on the way               `asked`
rows         problems each by itself, and when they happen                    `rows`, `ends`
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.events import Events
from cepctl.engines.columns.laws import Laws
from cepctl.engines.confidence.coupled.problem import Clauses, owned
from cepctl.engines.confidence.occurrence.counted_records import (
    NO_LINKS,
    CountedRecords,
    Links,
    counted_in,
    counted_of_groups,
    nothing_counted,
    placed_links,
)
from cepctl.engines.confidence.occurrence.separator_trees import one_after_the_other, separator_tree
from cepctl.engines.confidence.occurrence.separators import (
    MOST_SEPARATORS,
    MOST_TOGETHER,
    in_blocks,
    part_numbers,
    part_of,
    problems_by_part,
    separators_of,
    words_for,
    words_of,
)
from cepctl.engines.confidence.occurrence.settled import settled
from cepctl.engines.confidence.occurrence.union_sums import union_probability
from cepctl.engines.confidence.work import UNIONS, most_products
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes, Reals

WORK_BOUND = most_products(UNIONS)
"""Products that a part of a group may take."""

_SEPARATORS, _PROBLEMS, _WORK = range(3)


@dataclass(frozen=True)
class Occurrences:
    """Per group the probability that some row holds, NaN where it is too costly; shape (g,).

    `separators`, `rows` and `products`, shape (g,), are those of the part that was too costly: -1 separators
    for more than MOST_SEPARATORS.
    """

    probability: Reals
    separators: Indexes
    rows: Indexes
    products: Indexes

    def why(self, group: int) -> str:
        """Why a group is too costly, in words."""
        rows, separators = int(self.rows[group]), int(self.separators[group])
        if rows > MOST_TOGETHER:
            return f"{rows:,} rows share events, where at most {MOST_TOGETHER:,} are taken together"
        if separators < 0:
            return f"its {rows:,} rows have more than {MOST_SEPARATORS} events in common (separators)"
        common = f"{separators:,} events in common (separators)"
        return f"{rows:,} rows with {common} need more than {WORK_BOUND:,} products"


class Weighted(NamedTuple):
    """Events of groups that others stand for, with weights; group i owns offsets[i] to offsets[i + 1] - 1.

    `buckets`: the masses of all events and of those that stand for some; `event` becomes `instead`.  Group i
    owns the links between events from link_offsets[i] on.
    """

    buckets: Laws
    offsets: Indexes
    event: Indexes
    instead: Indexes
    link_offsets: Indexes
    links: Links
    counted: CountedRecords

    @classmethod
    def none(cls, laws: Laws, groups: int) -> Weighted:
        """No event of so many groups has weights."""
        nothing = np.zeros(0, dtype=np.int64)
        none = np.zeros(groups + 1, np.int64)
        return cls(laws, none, nothing, nothing.copy(), none.copy(), NO_LINKS, nothing_counted(groups))

    def of_groups(self, groups: Indexes) -> Weighted:
        """Those of some groups."""
        chosen, offsets = owned(self.offsets, groups)
        linked, link_offsets = owned(self.link_offsets, groups)
        links = Links(*(each[linked] for each in self.links))
        return Weighted(
            self.buckets,
            offsets,
            self.event[chosen],
            self.instead[chosen],
            link_offsets,
            links,
            counted_of_groups(self.counted, groups),
        )


def occurrences(
    events: Events, clauses: Clauses, weighted: Weighted | None = None, shares: int = 1
) -> Occurrences:
    """Measure the groups whose rows ask for these clauses; so many have equal `shares` in the work of one."""
    weighted = weighted or Weighted.none(events.masses.laws, clauses.groups)
    return occurrences_by_rank(events.id_rank - 1, clauses, weighted, WORK_BOUND // shares)


def occurrences_by_rank(
    rank: Indexes, clauses: Clauses, weighted: Weighted, work_bound: int, *, all_or_none: bool = False
) -> Occurrences:
    """The occurrences of events in an order of their own, from 0 on: equally good separators fall by it.

    `all_or_none`: behind a group that is too costly, none is measured.
    """
    count = clauses.groups
    probability, figures = np.empty(count), np.zeros((count, 3), dtype=np.int64)
    if count:
        row_of_rank = np.empty(len(rank), dtype=np.int64)
        row_of_rank[rank] = np.arange(len(rank))
        _measure(clauses, rank, row_of_rank, weighted, (work_bound, all_or_none), probability, figures)
    return Occurrences(probability, figures[:, _SEPARATORS], figures[:, _PROBLEMS], figures[:, _WORK])


@kernel
def _measure(clauses, rank, row_of_rank, weighted, bounds, probability, figures):
    buckets = weighted.buckets
    work_bound, all_or_none = bounds
    for group in range(len(probability)):
        own = settled(clauses, group, rank, row_of_rank, buckets.lower, buckets.upper)
        links = placed_links(
            weighted.links, weighted.link_offsets[group], weighted.link_offsets[group + 1], own.event
        )
        counted = counted_in(weighted.counted, group, own.event)
        for i in range(weighted.offsets[group], weighted.offsets[group + 1]):
            for e in range(len(own.event)):
                if own.event[e] == weighted.event[i]:
                    own.event[e] = weighted.instead[i]
        probability[group] = _union(own, links, counted, buckets, work_bound, figures[group])
        if all_or_none and np.isnan(probability[group]):
            probability[group:] = np.nan
            return


@inner
def _union(own, links, counted, buckets, work_bound, figures):
    """1 - product of (1 - P) over the independent parts."""
    problems = len(own.problem_offsets) - 1
    if problems == 0:
        return 0.0
    if own.problem_offsets[1] == 0:
        return 1.0
    number, parts = part_numbers(own, np.arange(problems), np.zeros(len(own.event), np.bool_))
    offsets, problem = problems_by_part(number, parts)
    for which in range(parts):
        figures[_PROBLEMS] = offsets[which + 1] - offsets[which]
        if figures[_PROBLEMS] > MOST_TOGETHER:
            return np.nan
    total = 0.0
    numbers, place = np.zeros(len(own.absent), np.int64), np.full(len(own.event), -1)
    for which in range(parts):
        some = problem[offsets[which] : offsets[which + 1]]
        sizes = np.array([0, len(some)])
        part, block = part_of(own, links, counted, some, sizes, numbers, place)
        figures[_PROBLEMS] = part.problems
        if part.problems == 1:
            tree = separator_tree(part, buckets)
        else:
            covered, separators = separators_of(part, buckets)
            if not covered:
                figures[_SEPARATORS] = -1
                return np.nan
            tree = one_after_the_other(separators)
        figures[_SEPARATORS] = len(tree.separators)
        if words_for(len(some)) > 1:
            some, sizes = in_blocks(own, some, part, tree.separators)
            part, block = part_of(own, links, counted, some, sizes, numbers, place)
        words = words_of(block, sizes)
        found, figures[_WORK] = union_probability(part, words, tree, buckets, work_bound)
        if np.isnan(found):
            return found
        # Not 1 - product of (1 - P), which is 0 where P is small.
        total += found * (1.0 - total)
    return total
