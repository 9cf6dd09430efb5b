"""Records of units that need no ticks of their own: what is asked of them says how many lie before others.

Records of a unit that are asked the same of events of other units are *counted*: rivals of a writer, or a
single event of one.  Between those of their unit that are not, one event stands for all of them
(`occurrence.counted_records`).  Of what is compared with each other one side is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.columns.ties import EventTies, SeriesMasses
from cepctl.engines.confidence.coupled.problem import NO_EVENT, Clauses, Part, gathered, present
from cepctl.engines.confidence.given.series import series_of
from cepctl.engines.confidence.given.units import MOST_OF_UNIT
from cepctl.engines.confidence.occurrence.counted_records import CountedRecords
from cepctl.numeric.arrays import Flags, Indexes

MOST_COUNTED = MOST_OF_UNIT
"""Records of a unit that is counted."""


@dataclass(frozen=True)
class Counted:
    """Clauses of groups of one problem each, some of which ask of events that stand for records.

    `records`: what these stand for, by group.
    """

    clauses: Clauses
    records: CountedRecords


@dataclass(frozen=True)
class _AskedOfRecords:
    """What clauses ask of a record of a unit, shape (k,); `asks` is equal where that is the same.

    `record`: its event; `others`, shape (k, 2): the events that it is compared with.
    """

    clause: Indexes
    problem: Indexes
    unit: Indexes
    rank: Indexes
    record: Indexes
    asks: Indexes
    others: Indexes

    def taken(self, which: Indexes | Flags) -> _AskedOfRecords:
        return _AskedOfRecords(*(each[which] for each in vars(self).values()))


def counted_of(clauses: Clauses, ties: EventTies) -> Counted:
    """Let an event stand for all records, between two others of their unit, that can be counted."""
    series = series_of(ties)
    left, right = (_units(series, ties, event) for event in (clauses.left, clauses.right))
    asked = _asked(clauses, ties, left, right)
    node = _nodes(asked)
    asked = asked.taken(_chosen(asked, node, _only_so(clauses, asked, node)))
    kept = np.ones(len(clauses.absent), dtype=bool)
    kept[asked.clause] = False
    rest = clauses.taken(np.flatnonzero(kept))
    apart = _StretchRanks.of(asked, rest, ties)
    stretch = _numbered(asked.problem, asked.unit, apart.before)
    first, each = _first(stretch), _first(stretch, asked.rank)
    stands = _standing_for(series, ties, asked, first)
    records = CountedRecords(
        np.searchsorted(asked.problem[first], np.arange(clauses.groups + 1)).astype(np.int64), stands,
        apart.hidden[first], apart.events(ties, asked.unit, apart.before)[first],
        apart.events(ties, asked.unit, apart.after)[first],
        np.searchsorted(stretch[each], np.arange(len(first) + 1)).astype(np.int64),
        asked.rank[each] - apart.before[each] - 1,
    )  # fmt: skip
    once = _first(stretch, asked.asks)
    standing = clauses.taken(asked.clause[once])
    own, instead = (np.repeat(each, standing.sizes) for each in (asked.unit[once], stands[stretch[once]]))
    left, right = (
        np.where((event != NO_EVENT) & (ties.component[np.maximum(event, 0)] == own), instead, event)
        for event in (standing.left, standing.right)
    )
    asks = replace(standing, left=left, right=right)
    after, before = np.flatnonzero(records.before != NO_EVENT), np.flatnonzero(records.after != NO_EVENT)
    lies = present(
        asked.problem[first][np.concatenate([after, before])],
        np.concatenate([records.before[after], stands[before]]),
        np.concatenate([stands[after], records.after[before]]),
        np.full(len(after) + len(before), -1),
    )
    return Counted(gathered([rest, asks, lies], clauses.group_of_problems, clauses.groups), records)


@dataclass(frozen=True)
class _StretchRanks:
    """Of counted records the ranks of the others of their unit before and after them, shape (k,).

    `before` is -1, and `after` the size of the unit, for none; `hidden`: how many records lie between.
    """

    before: Indexes
    after: Indexes
    hidden: Indexes

    @classmethod
    def of(cls, asked: _AskedOfRecords, rest: Part, ties: EventTies) -> _StretchRanks:
        """`rest`: the clauses that speak of no counted records; what these are compared with has ticks."""
        problem = np.concatenate(
            [np.tile(np.repeat(rest.problem, rest.sizes), 2), np.repeat(asked.problem, 2)]
        )
        event = np.concatenate([rest.left, rest.right, asked.others.reshape(-1)])
        some = np.flatnonzero((event != NO_EVENT) & (ties.component[np.maximum(event, 0)] >= 0))
        pair = _numbered(
            np.concatenate([asked.problem, problem[some]]),
            np.concatenate([asked.unit, ties.component[event[some]]]),
        )
        size = int(ties.sizes.max(initial=0)) + 2
        placed = np.unique(pair[len(asked.unit) :] * size + ties.rank[event[some]])
        own = pair[: len(asked.unit)]
        at = np.searchsorted(placed, own * size + asked.rank)
        bounded = np.concatenate([[-1], placed, [np.iinfo(np.int64).max]])
        before = np.where(bounded[at] // size == own, bounded[at] % size, -1)
        records = ties.sizes[asked.unit]
        after = np.where(bounded[at + 1] // size == own, bounded[at + 1] % size, records)
        return cls(before, after, after - before - 1)

    def events(self, ties: EventTies, unit: Indexes, rank: Indexes) -> Indexes:
        """The events of some ranks, NO_EVENT for none."""
        inside = (rank >= 0) & (rank < ties.sizes[unit])
        event = ties.members[ties.member_offsets[unit] + np.where(inside, rank, 0)]
        return np.where(inside, event, NO_EVENT)


def _numbered(*columns: Indexes) -> Indexes:
    """One number for equal rows, from 0 on in their order."""
    return distinct_rows(np.stack(columns, axis=1)).which


def _first(*columns: Indexes) -> Indexes:
    """Where each of the rows that differ stands first."""
    return distinct_rows(np.stack(columns, axis=1)).first


def _units(series: SeriesMasses, ties: EventTies, event: Indexes) -> Indexes:
    """The unit of each event, -1 for none that can be counted."""
    component = np.where(event == NO_EVENT, -1, ties.component[np.maximum(event, 0)])
    records = series.units.records[np.maximum(component, 0)]
    fit = (component >= 0) & (records > 0) & (records <= MOST_COUNTED)
    found: Indexes = np.where(fit, component, -1)
    return found


def _standing_for(series: SeriesMasses, ties: EventTies, asked: _AskedOfRecords, which: Indexes) -> Indexes:
    """The event that stands for a record and those beside it: the same, wherever its unit is."""
    record = ties.members[ties.member_offsets[asked.unit[which]] + asked.rank[which]]
    found: Indexes = len(series.place) + 3 * len(series.ratio) + series.unit_place[record]
    return found


def _asked(clauses: Clauses, ties: EventTies, left: Indexes, right: Indexes) -> _AskedOfRecords:
    """Clauses of one or two differences, all of which compare one record of a unit with others."""
    sizes = np.diff(clauses.difference_offsets)
    few = np.flatnonzero((sizes == 1) | (sizes == 2))
    one = clauses.difference_offsets[few]
    two = one + sizes[few] - 1
    event, unit = (clauses.left, clauses.right), (left, right)
    parts = []
    for side in (0, 1):
        record, own = event[side][one], unit[side][one]
        again = np.where(clauses.left[two] == record, 0, 1)
        same = np.where(again == 0, clauses.left[two], clauses.right[two]) == record
        other = event[1 - side][one], np.where(again == 0, clauses.right[two], clauses.left[two])
        others = unit[1 - side][one], np.where(again == 0, right[two], left[two])
        some = np.flatnonzero((own >= 0) & same & (others[0] != own) & (others[1] != own))
        kind = clauses.absent[few] * 4 + side * 2 + again
        asks = _numbered(*(each[some] for each in (kind, *other, clauses.bound[one], clauses.bound[two])))
        record, beside = record[some], np.stack([each[some] for each in other], axis=1)
        problem, rank = clauses.problem_of_clauses[few[some]], ties.rank[record]
        parts.append(_AskedOfRecords(few[some], problem, own[some], rank, record, 2 * asks + side, beside))
    return _AskedOfRecords(
        *(np.concatenate(each) for each in zip(*(vars(part).values() for part in parts), strict=True))
    )


def _nodes(asked: _AskedOfRecords) -> Indexes:
    """One number for records of a problem and a unit that are asked the same."""
    record = _numbered(asked.problem, asked.unit, asked.rank)
    order = np.lexsort((asked.asks, record))
    count = int(record.max(initial=-1)) + 1
    sizes = np.bincount(record, minlength=count)
    begin = np.cumsum(sizes) - sizes
    same: Indexes = sizes.copy()
    for place in range(int(sizes.max(initial=0))):
        at = np.minimum(begin + place, len(order) - 1)
        same = _numbered(same, np.where(place < sizes, asked.asks[order[at]], -1))
    return _numbered(asked.problem, asked.unit, same[record])


def _only_so(clauses: Clauses, asked: _AskedOfRecords, node: Indexes) -> Flags:
    """Nodes whose records nothing else is asked of."""
    count = int(node.max(initial=-1)) + 1
    event = np.concatenate([clauses.left, clauses.right])
    clause = np.tile(clauses.clause_of_differences, 2)
    spoken = _first(clause, event)
    record, problem = asked.record, clauses.problem_of_clauses
    number = _numbered(
        np.concatenate([asked.problem, problem[clause[spoken]]]), np.concatenate([record, event[spoken]])
    )
    own, others = number[: len(record)], number[len(record) :]
    times = np.bincount(others, minlength=int(number.max(initial=-1)) + 1)
    found = np.ones(count, dtype=bool)
    found[node[np.bincount(own, minlength=len(times))[own] != times[own]]] = False
    return found


def _chosen(asked: _AskedOfRecords, node: Indexes, possible: Flags) -> Flags:
    """What is asked of nodes that are counted: none is compared with another, nor of one unit with it.

    Those of many records, and of few comparisons, are taken first.
    """
    count = len(possible)
    one, other = _compared(asked, node)
    edges = np.flatnonzero(possible[one] & possible[other])
    one, other = one[edges], other[edges]
    records = np.bincount(node[_first(node, asked.record)], minlength=count)
    order = np.empty(count, dtype=np.int64)
    order[np.lexsort((np.arange(count), np.bincount(one, minlength=count), -records))] = np.arange(count)
    chosen, left = np.zeros(count, dtype=bool), possible.copy()
    while left.any():
        least = np.full(count, count)
        both = left[one] & left[other]
        np.minimum.at(least, one[both], order[other[both]])
        won = left & (order < least)
        chosen |= won
        left &= ~won
        left[other[won[one]]] = False
    return chosen[node]


def _compared(asked: _AskedOfRecords, node: Indexes) -> tuple[Indexes, Indexes]:
    """Pairs of nodes that exclude each other, both ways round, each once."""
    record = pl.DataFrame({"problem": asked.problem, "event": asked.record, "node": node}).unique()
    with_others = pl.DataFrame(
        {"problem": np.repeat(asked.problem, 2), "event": asked.others.reshape(-1), "one": np.repeat(node, 2)}
    ).unique()
    compared = with_others.join(record, on=["problem", "event"]).select("one", other="node")
    units = pl.DataFrame({"problem": asked.problem, "unit": asked.unit, "node": node}).unique()
    together = units.join(units, on=["problem", "unit"]).select(one="node", other="node_right")
    pairs = pl.concat([compared, compared.select(one="other", other="one"), together])
    pairs = pairs.filter(pl.col("one") != pl.col("other")).unique().sort("one", "other")
    return pairs.get_column("one").to_numpy(), pairs.get_column("other").to_numpy()
