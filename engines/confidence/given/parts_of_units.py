"""Of problems the parts that records of units decide alone, and that need no sum of their own.

One whose records are all of one unit asks nothing of ticks but which comes first: how records of writers
interleave is counted (`units`), with one difference of ticks beside, also to a record of another unit
(`one_distance`).  One that asks for one difference between two units, and for nothing else, is
measured with all others of these (`one_distance`).  All leave the problem; what is left is
summed as ever.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.columns.ties import EventTies, connected
from cepctl.engines.confidence.coupled.problem import NO_EVENT, Clauses, gathered, owned
from cepctl.engines.confidence.given.one_distance import (
    OneDistance,
    UnitPairs,
    apart_as_asked,
    distance_probability,
    pair_probability,
)
from cepctl.engines.confidence.given.series import series_of
from cepctl.engines.confidence.given.units import MOST_OF_UNIT, Interleaved, interleaved_as_asked
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

MOST_MEETINGS = 64
"""Records that may be on the tick of another."""
MOST_OF_TWO, MOST_OF_MORE = 100_000_000, 2_000_000
"""Steps on the lattice of two writers, and of more: beyond these a sum over ticks takes less."""
MOST_KEPT, MOST_BETWEEN = 4_000_000, 1_000_000_000
"""Numbers of paths of one lattice that are kept at once, and that are counted between two of its records."""
FEW_RECORDS = 4
"""Records of two units that a sum over ticks takes as quickly: it rounds less."""
_OF_TWO_RECORDS = 2
"""Differences between the two records of a row that say which is first, and how far apart they are."""
_NEVER = 1e-30
"""What so many meetings add to a probability is less."""


@dataclass(frozen=True)
class _Placed:
    """Where events stand in their units; all of one shape.

    `unit`: its number, that of an event by itself is one of its own; `records`: how many it has, 0 where they
    are not evenly on its `ticks` from `begin` on.
    """

    unit: Indexes
    rank: Indexes
    records: Indexes
    begin: Ticks
    ticks: Ticks

    @classmethod
    def of(cls, event: Indexes, ties: EventTies, masses: Masses) -> _Placed:
        known = np.maximum(event, 0)
        component = ties.component[known]
        tied, units = component >= 0, series_of(ties).units
        of = np.maximum(component, 0)
        alone = (np.diff(masses.starts)[known] == 1) & ~tied
        lower, upper = masses.lower[known], masses.upper[known]
        records = np.where(tied, units.records[of], alone)
        return cls(
            np.where(tied, component, len(units.records) + known),
            np.where(tied, ties.rank[known], 0),
            np.where((event == NO_EVENT) | (records > MOST_OF_UNIT), 0, records),
            np.where(tied, units.begin[of], lower),
            np.where(tied, units.records[of] + units.spare[of], upper - lower + 1),
        )


@dataclass(frozen=True)
class _Parts:
    """Parts of problems that share no unit: `of_clauses`, shape (k,), and `of_units`, shape (u,).

    `left`, `right`, shape (d,): the units of the events of each difference, numbered for each problem;
    `records`: how many a unit has.
    """

    of_clauses: Indexes
    of_units: Indexes
    left: Indexes
    right: Indexes
    records: Indexes

    @classmethod
    def of(cls, clauses: Clauses, left: _Placed, right: _Placed, apart: Flags | None = None) -> _Parts:
        """The parts of problems; clauses that are `apart` join nothing."""
        one, other = (
            np.where(event == NO_EVENT, beside.unit, own.unit)
            for event, own, beside in ((clauses.left, left, right), (clauses.right, right, left))
        )
        problem = np.tile(clauses.problem_of_differences, 2)
        units = distinct_rows(np.stack([problem, np.concatenate([one, other])], axis=1))
        one, other = np.split(units.which, 2)
        first = one[clauses.difference_offsets[:-1]]
        of_clause = first[clauses.clause_of_differences]
        joins = slice(None) if apart is None else ~apart[clauses.clause_of_differences]
        ends = np.concatenate([one[joins], one[joins]]), np.concatenate([other[joins], of_clause[joins]])
        label = connected(len(units.first), *ends)
        part = np.unique(label, return_inverse=True)[1].reshape(-1)
        records = np.concatenate([left.records, right.records])[units.first]
        return cls(part[first], part, one, other, records)

    @property
    def count(self) -> int:
        """How many parts there are."""
        return int(self.of_units.max(initial=-1)) + 1

    def by_records(self) -> tuple[Indexes, Indexes]:
        """The units of each part, that of most records first, and where each part begins among them."""
        unit = np.lexsort((-self.records, self.of_units))
        return unit, np.searchsorted(self.of_units[unit], np.arange(self.count + 1))

    def writers(self) -> Indexes:
        """The place of each unit among those of its part; shape (u,)."""
        unit, begins = self.by_records()
        found = np.empty(len(unit), dtype=np.int64)
        found[unit] = np.arange(len(unit)) - begins[self.of_units[unit]]
        return found

    def cells(self) -> Reals:
        """How many cells the lattice of each part has."""
        return np.exp(self.sums(np.log1p(self.records)))

    def sums(self, values: Reals | Indexes) -> Reals:
        """The sum of values of units for each part."""
        return np.bincount(self.of_units, weights=values, minlength=self.count).astype(np.float64)


def by_units(clauses: Clauses, ties: EventTies, masses: Masses) -> tuple[Reals, Clauses]:
    """The probability of what units alone decide, of each group of one problem; and all other clauses."""
    left, right = (_Placed.of(event, ties, masses) for event in (clauses.left, clauses.right))
    parts = _Parts.of(clauses, left, right)
    single = _single(clauses, left, right, parts)
    record = _records(clauses)
    fit = _fit(clauses, left, right) & (record != NO_EVENT)
    interleaved = np.ones(parts.count, dtype=bool)
    interleaved[parts.of_clauses[~fit]] = False
    ticks = np.ones(parts.count, dtype=np.int64)
    ticks[parts.of_units[parts.left]] = left.ticks
    meetings = _meetings(parts, ticks)
    interleaved &= _cheap(parts, ticks, meetings) & ~single
    product, problem = np.ones(clauses.groups), np.empty(parts.count, dtype=np.int64)
    problem[parts.of_clauses] = clauses.problem_of_clauses
    if single.any():
        clause = np.flatnonzero(single[parts.of_clauses])
        at, whose = clauses.difference_offsets[clause], clauses.problem_of_clauses[clause]
        same = left.unit[at] == right.unit[at]
        np.multiply.at(product, whose[same], _of_distances(left, right, clauses.bound, at[same]))
        np.multiply.at(product, whose[~same], _of_pairs(left, right, clauses.bound, at[~same]))
    if interleaved.any():
        part = np.flatnonzero(interleaved)
        asked = _asked(clauses, record, (left, right), parts, part, ticks[part], meetings[part])
        np.multiply.at(product, problem[part], interleaved_as_asked(asked))
    beside = _besides_order(clauses, parts, (left, right), fit) & ~(single | interleaved)[parts.of_clauses]
    apart = np.zeros(parts.count, dtype=bool)
    if beside.any():
        whose, probability = _with_one_distance(clauses, record, (left, right), beside)
        np.multiply.at(product, clauses.problem_of_clauses[whose], probability)
        apart[parts.of_clauses[whose]] = True
    kept = np.flatnonzero(~(single | interleaved | apart)[parts.of_clauses])
    if len(kept) == len(clauses.absent):
        return product, clauses
    return product, gathered([clauses.taken(kept)], clauses.group_of_problems, clauses.groups)


def _single(clauses: Clauses, left: _Placed, right: _Placed, parts: _Parts) -> Flags:
    """Parts that ask for one difference between two records, of units that are not too small."""
    found = np.bincount(parts.of_clauses, np.diff(clauses.difference_offsets), parts.count) == 1
    placed = (left.records > 0) & (right.records > 0) & (left.records + right.records > FEW_RECORDS)
    found[parts.of_clauses[clauses.absent]] = False
    found[parts.of_clauses[clauses.clause_of_differences[~placed]]] = False
    return np.asarray(found)


def _of_distances(left: _Placed, right: _Placed, bound: Ticks, at: Indexes) -> Reals:
    """The probability of some differences between records of one unit, by the distance of their places."""
    apart = left.rank[at] - right.rank[at]
    # A record that stands before the other may have to be farther from it.
    some = np.where(apart > 0, bound[at], -bound[at] - 1)
    asked = np.stack([left.records[at], left.ticks[at], np.abs(apart), some, apart < 0], axis=1)
    first, which = distinct_rows(asked)
    records, ticks, places, some, farther = asked[first].T.copy()
    found: Reals = distance_probability(records, ticks, places, some, farther)
    return found[which]


def _of_pairs(left: _Placed, right: _Placed, bound: Ticks, at: Indexes) -> Reals:
    """The probability of some differences: those of two units together, units of one size in turn."""
    both = np.stack([left.unit[at], right.unit[at], bound[at]], axis=1)
    first, which = distinct_rows(both)
    unit = at[first]
    records, begin, ticks = (
        np.stack([getattr(left, name)[unit], getattr(right, name)[unit]], axis=1)
        for name in ("records", "begin", "ticks")
    )
    shift = begin[:, 0] - bound[unit] - begin[:, 1]
    by_size = np.lexsort((shift, ticks[:, 1], ticks[:, 0], records.sum(axis=1)))
    place = np.empty(len(unit), dtype=np.int64)
    place[by_size] = np.arange(len(unit))
    order = np.argsort(place[which], kind="stable")
    offsets = np.searchsorted(place[which][order], np.arange(len(unit) + 1)).astype(np.int64)
    pairs = UnitPairs(
        begin[by_size], ticks[by_size], records[by_size], bound[unit][by_size], offsets,
        left.rank[at[order]], right.rank[at[order]],
    )  # fmt: skip
    found = np.empty(len(at))
    found[order] = pair_probability(pairs)
    return found


def _records(clauses: Clauses) -> Indexes:
    """The event of each clause that all its differences speak of, NO_EVENT where there is none."""
    of, sizes = clauses.clause_of_differences, np.diff(clauses.difference_offsets)
    found = np.full(len(sizes), NO_EVENT)
    for event in (clauses.right, clauses.left):
        one = event[clauses.difference_offsets[:-1]]
        spoken = (clauses.left == one[of]) | (clauses.right == one[of])
        common = np.bincount(of[spoken], minlength=len(sizes)) == sizes
        found[common] = one[common]
    return found


def _fit(clauses: Clauses, left: _Placed, right: _Placed) -> Flags:
    """Clauses that ask only which of two records of different writers, of one unit of time, comes first."""
    fit = (left.records > 0) & (right.records > 0) & (left.unit != right.unit)
    fit &= (left.begin == right.begin) & (left.ticks == right.ticks)
    fit &= (clauses.bound == 0) | (clauses.bound == -1)
    found: Flags = np.bincount(clauses.clause_of_differences[~fit], minlength=len(clauses.absent)) == 0
    return found


def _meetings(parts: _Parts, ticks: Ticks) -> Indexes:
    """How many records of each part may be on the tick of another; MOST_MEETINGS for more.

    On average at most `pairs` / `ticks` are, and k at once at most as often as that to the power of k / k!.
    """
    records, most = parts.sums(parts.records), np.zeros(parts.count, dtype=np.int64)
    np.maximum.at(most, parts.of_units, parts.records)
    average = (records**2 - parts.sums(parts.records**2)) / (2.0 * ticks)
    found, share = np.zeros(parts.count, dtype=np.int64), np.ones(parts.count)
    for count in range(1, MOST_MEETINGS + 1):
        found[share > _NEVER] = count
        share *= average / count
    others: Indexes = records.astype(np.int64) - most
    return np.minimum(found, others)


def _cheap(parts: _Parts, ticks: Ticks, meetings: Indexes) -> Flags:
    """Parts of few steps on the lattice, whose records have room side by side."""
    writers = np.bincount(parts.of_units, minlength=parts.count)
    steps = parts.cells() * 2.0**writers * (meetings + 1)
    found: Flags = (steps <= np.where(writers == 2, MOST_OF_TWO, MOST_OF_MORE)) & (meetings < MOST_MEETINGS)
    return found & (parts.sums(parts.records) <= ticks)


def _besides_order(clauses: Clauses, parts: _Parts, placed: tuple[_Placed, _Placed], fit: Flags) -> Flags:
    """The clause of one difference that stands in some parts beside others that ask for order alone."""
    left, right = placed
    one = ~clauses.absent & (np.diff(clauses.difference_offsets) == 1)
    at = clauses.difference_offsets[:-1]
    one &= (left.records[at] > 0) & (right.records[at] > 0)
    one &= left.records[at] + right.records[at] > FEW_RECORDS
    others = np.bincount(parts.of_clauses[~fit], minlength=parts.count)
    found: Flags = one & ~fit & (others == 1)[parts.of_clauses]
    return found


def _with_one_distance(
    clauses: Clauses, record: Indexes, placed: tuple[_Placed, _Placed], beside: Flags
) -> tuple[Indexes, Reals]:
    """The clauses of one difference that are cheap enough, and how probable the parts are that have them."""
    left, right = placed
    parts = _Parts.of(clauses, left, right, beside)
    ticks = np.ones(parts.count, dtype=np.int64)
    for of_records, units in ((left, parts.left), (right, parts.right)):
        ticks[parts.of_units[units]] = of_records.ticks
    meetings = _meetings(parts, ticks)
    clause = np.flatnonzero(beside)
    at = clauses.difference_offsets[clause]
    units = np.stack([parts.left[at], parts.right[at]], axis=1)
    sides = parts.of_units[units]
    kept = parts.cells() * (meetings + 1)
    cheap = _cheap(parts, ticks, meetings) & (kept <= MOST_KEPT)
    # Between records of one unit paths are counted from each cell where the first of them is taken.
    begins = np.max(parts.cells()[sides] / (1.0 + parts.records[units]), axis=1)
    of_one_unit = sides[:, 0] == sides[:, 1]
    between = np.where(of_one_unit, begins * kept[sides[:, 0]], 0.0)
    taken = cheap[sides].all(axis=1) & (between <= MOST_BETWEEN)
    # Where nothing else is asked of them than which is first, a sum over the ticks of the two takes less.
    differences = np.bincount(parts.of_clauses, np.diff(clauses.difference_offsets), parts.count)
    taken &= ~of_one_unit | (differences[sides[:, 0]] > _OF_TWO_RECORDS)
    if not taken.any():
        return clause[taken], np.zeros(0)
    clause, at, units, sides = clause[taken], at[taken], units[taken], sides[taken]
    part = np.unique(sides)
    asked = _asked(clauses, record, placed, parts, part, ticks[part], meetings[part], ~beside)
    first, rank = (
        np.stack([getattr(left, name)[at], getattr(right, name)[at]], axis=1) for name in ("begin", "rank")
    )
    distance = OneDistance(
        clauses.bound[at], np.searchsorted(part, sides), parts.writers()[units], rank, first
    )  # fmt: skip
    order = np.lexsort((first[:, 0] - first[:, 1], parts.sums(parts.records)[sides].sum(axis=1)))
    found = np.empty(len(clause))
    found[order] = apart_as_asked(asked, OneDistance(*(each[order] for each in distance)))
    return clause, found


def _asked(
    clauses: Clauses,
    record: Indexes,
    placed: tuple[_Placed, _Placed],
    parts: _Parts,
    part: Indexes,
    ticks: Ticks,
    meetings: Indexes,
    some: Flags | None = None,
) -> Interleaved:
    """What `some` clauses of some parts, ascending, ask; without it, all of them."""
    left, right = placed
    unit, begins, writer = *parts.by_records(), parts.writers()
    of_parts, offsets = owned(begins, part)
    records = parts.records[unit[of_parts]]
    record_offsets = np.concatenate([[0], np.cumsum(records)])
    first = clauses.difference_offsets[:-1]
    on_left = clauses.left[first] == record
    question = np.searchsorted(part, parts.of_clauses)
    own = offsets[question] + writer[np.where(on_left, parts.left[first], parts.right[first])]
    number = record_offsets[np.minimum(own, len(records))] + np.where(
        on_left, left.rank[first], right.rank[first]
    )
    chosen = np.isin(parts.of_clauses, part)
    clause = np.flatnonzero(chosen if some is None else chosen & some)
    clause = clause[np.argsort(number[clause], kind="stable")]
    clause_offsets = np.searchsorted(number[clause], np.arange(record_offsets[-1] + 1)).astype(np.int64)
    at, difference_offsets = owned(clauses.difference_offsets, clause)
    of_left = clauses.left[at] == record[clauses.clause_of_differences[at]]
    return Interleaved(
        offsets, ticks, meetings, records, record_offsets, clause_offsets, clauses.absent[clause],
        difference_offsets,
        writer[np.where(of_left, parts.right[at], parts.left[at])],
        np.where(of_left, right.rank[at], left.rank[at]), np.where(of_left, 1, -1), clauses.bound[at],
    )  # fmt: skip
