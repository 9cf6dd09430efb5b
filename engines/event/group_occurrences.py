"""The probability that some match of a key holds: rows of each key as problems, measured together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl

from cepctl.engines.columns.bindings import MatchBatch, joined_batches, signatures
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.concurrency import concurrently
from cepctl.engines.confidence.coupled.problem import Clauses, Problems, Tied, clauses_of
from cepctl.engines.confidence.occurrence.group_estimates import (
    SHARES,
    RowPairs,
    RowProblems,
    bounds_by_pairs,
)
from cepctl.engines.confidence.occurrence.occurrence import Occurrences, Weighted, occurrences
from cepctl.engines.confidence.occurrence.settled import moved_groups
from cepctl.engines.confidence.work import COUNTS, ORDERS, UNIONS, Guarantee, Method
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.order import match_text
from cepctl.engines.solve.batch import Batch, Form
from cepctl.engines.solve.stated import StatedMethod, form_of, stated
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.plan.counted_sets import counted_sets
from cepctl.plan.plan import Plan

if TYPE_CHECKING:
    from cepctl.engines.confidence.clocks.unions import MeasuringClauses

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
    """The matches of some groups, to be measured together; `whole`: all matches of some keys."""

    prepared: Sequence[PreparedAlternative]
    found: Sequence[Sequence[MatchBatch]]
    sources: Sequence[tuple[PreparedAlternative, MatchBatch]]
    rows: GroupedRows
    ordered: pl.DataFrame
    whole: bool = False

    @classmethod
    def of_rows(cls, prepared: Sequence[PreparedAlternative], parts: Sequence[MatchBatch]) -> WantedGroups:
        """Each row that all of some alternatives give is a group by itself."""
        row, first = np.arange(len(parts[0])), prepared[0]
        texts = match_text(signatures(first.folded(parts[0]).bound, first.events.names))
        ordered = pl.DataFrame({"text": texts, "fewest": np.ones(len(row), dtype=bool)})
        rows = GroupedRows(row, row, parts[0].confidence, row, np.ones(len(row), dtype=np.int64))
        return cls(prepared, [[part] for part in parts], [], rows, ordered)

    def occurrences(self, groups: Indexes) -> AskedKeys:
        """The probability that some match of each of these groups holds, by the first method for them."""
        number = np.full(self.rows.count, -1)
        number[groups] = np.arange(len(groups))
        keys = AskedKeys(self, len(groups), number[self.rows.group])
        form = self.prepared[0].form
        method = next(each for each in KEY_METHODS if each.takes(form))
        return replace(keys, found=method.measure(keys))

    def bounds(self, groups: Indexes) -> tuple[Reals, Reals]:
        """Certain bounds of the occurrence of each of these groups, where no confidence is an estimate."""
        source = self.prepared[0]
        sizes = self.rows.sizes[groups]
        chosen = np.isin(self.rows.group, groups)
        probability = self.rows.confidence[chosen]
        pairs = RowPairs.of(sizes)
        if not source.form.independent:
            return bounds_by_pairs(probability, sizes, pairs, np.full(len(pairs.one), np.nan))
        problems, limited = self.problems(np.where(chosen, np.cumsum(chosen) - 1, -1))
        rows = clauses_of(problems, int(sizes.sum()), limited=limited)
        return bounds_by_pairs(
            probability,
            sizes,
            pairs,
            measured_clauses(source, source.events, pairs.clauses(rows), shares=SHARES).probability,
        )

    def by_row(self, groups: Indexes) -> RowProblems:
        """What the rows of some groups ask for."""
        chosen = np.isin(self.rows.group, groups)
        problems, _ = self.problems(np.where(chosen, np.cumsum(chosen) - 1, -1))
        return RowProblems(problems, self.rows.sizes[groups], self.rows.confidence[chosen])

    def problems(self, of_row: Indexes, *, whole: bool = False) -> tuple[list[Problems], bool]:
        """The problems of rows by the number of each, -1 for none; and whether some variable is limited.

        `whole`: the numbers are of keys, and only whether a key has a match is asked.
        """
        problems: list[Problems] = []
        limited = False
        for source, batch, group in self.parts(of_row):
            chosen = np.flatnonzero(group >= 0)
            bound = dict(zip(source.search.singles, batch.take(chosen).bound, strict=True))
            timings = (*source.shape.timings, *source.shape.member_timings)
            limited |= any(None in (each.left, each.right) for each in timings)
            # A hidden event may have to stay out of what begins or ends at a tick.
            limited |= bool(source.shape.together) and source.shape.knows_constants
            for each in source.union_problems(bound, whole=whole):
                problems.append(_of_groups(each, group[chosen][each.match]))
        return problems, limited

    def parts(self, of_row: Indexes) -> Iterator[tuple[PreparedAlternative, MatchBatch, Indexes]]:
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
            texts = match_text(signatures(source.folded(whole).bound, source.events.names))
            own = pl.DataFrame({"text": texts}).join(known, on="text", how="left", maintain_order="left")
            yield source, whole, own.get_column("group").fill_null(-1).to_numpy()


@dataclass(frozen=True)
class AskedKeys:
    """Keys whose occurrence is asked for: their number, and that of the key of each row, -1 for none."""

    wanted: WantedGroups
    count: int
    of_row: Indexes
    found: Occurrences | None = None

    @property
    def source(self) -> PreparedAlternative:
        """The first alternative, whose events all of them bind."""
        return self.wanted.prepared[0]

    @property
    def none(self) -> Batch:
        """A batch of no match of it, which knows clocks and what is given."""
        return Batch(self.source.measure, {}, [])

    @cached_property
    def problems(self) -> list[Problems]:
        """The problems of all rows that decide; `match` is the number of a key."""
        return self._problems[0]

    @cached_property
    def _problems(self) -> tuple[list[Problems], bool]:
        deciding = self.wanted.ordered.get_column("fewest").to_numpy()
        return self.wanted.problems(np.where(deciding, self.of_row, -1), whole=self.wanted.whole)

    def clauses(self, tied: Sequence[Tied] = ()) -> Clauses:
        """These problems as clauses, with what is `tied` to the events of each."""
        return clauses_of(self.problems, self.count, limited=self._problems[1], tied=tied)

    def measuring(self, clocks: EventClocks | None) -> MeasuringClauses:
        """How clauses of events are measured that may share clocks."""
        measuring, options = partial(measured_clauses, self.source), self.source.options
        if clocks is None:
            return measuring
        from cepctl.engines.confidence.clocks.unions import OF_KEYS, occurrences_on_clocks

        give_up = options.approximate is not None or rows_may_lack_occurrence(self.source.plan, options)
        return partial(occurrences_on_clocks, clocks, measuring, refusing=None if give_up else OF_KEYS)


def _of_intervals(keys: AskedKeys) -> Occurrences:
    """Rows that bind interval events: clauses between starts and ends."""
    from cepctl.engines.confidence.intervals.rows import occurrences_of_intervals, with_rivals
    from cepctl.engines.confidence.intervals.search import measures_by_size

    found = []
    for source, batch, group in keys.wanted.parts(keys.of_row):
        chosen = np.flatnonzero(group >= 0)
        for measure, matches, rows in measures_by_size(source.lasting, batch.take(chosen).bound):
            found.append(with_rivals(measure, matches, group[chosen[rows]]))
    events = keys.source.events
    return occurrences_of_intervals(events, found, keys.count, keys.measuring(events.endpoint_clocks))


def _of_counted_members(keys: AskedKeys) -> Occurrences:
    """Rows that stand for all sets of members between some neighbours."""
    chosen, members = np.flatnonzero(keys.of_row >= 0), keys.source.members
    assert members is not None
    ((_, batch),) = keys.wanted.sources
    return members.occurrences(batch.take(keys.wanted.rows.place[chosen]), keys.of_row[chosen], keys.count)


def _given_at_offsets(keys: AskedKeys) -> Occurrences:
    """Rows beside what is given of events that share clocks."""
    from cepctl.engines.confidence.given.groups import GroupWholes
    from cepctl.engines.confidence.given.on_clocks import GivenOnClocks

    clocks = keys.none.clocks
    wholes = GroupWholes.of(GivenOnClocks.of(clocks, keys.none.ties), keys.problems, keys.count)
    measuring = partial(keys.measuring(clocks), keys.source.events)
    return wholes.occurrences(keys.problems, measuring, limited=keys._problems[1])


def _given(keys: AskedKeys) -> Occurrences:
    """Rows together with what is given of their events, in its share of the worlds."""
    from cepctl.engines.confidence.given.confidences import tied_occurrences

    source = keys.source
    measuring = partial(measured_clauses, source, source.events)
    return tied_occurrences(keys.clauses(), keys.none.ties, source.events.masses, measuring)


def _of_points(keys: AskedKeys) -> Occurrences:
    """Rows of points, at the offsets of their clocks if they share some."""
    events = keys.source.events
    return keys.measuring(events.clocks)(events, keys.clauses())


def _under_laws(keys: AskedKeys) -> Occurrences:
    """Rows of events whose orders a law weighs."""
    from cepctl.engines.event.ordered_keys import occurrences_under_laws

    found, silent = occurrences_under_laws(keys.source, keys.wanted.parts(keys.of_row), keys.count)
    if silent.any():
        those = replace(keys, of_row=np.where(silent[keys.of_row], keys.of_row, -1))
        found = np.where(silent, _of_points(those).probability, found)
    figures = (np.zeros(keys.count, np.int64) for _ in range(3))
    return _OccurrencesUnderLaws(found, *figures)


class _OccurrencesUnderLaws(Occurrences):
    def why(self, group: int) -> str:
        return "too many events of its keys may happen in any order under the law"


KeyMethod: TypeAlias = Method[Form, [AskedKeys], Occurrences]
"""One way to find the probability that a key has a match at all."""
EXACT = Guarantee.EXACT

# fmt: off
KEY_METHODS: tuple[KeyMethod, ...] = (
    Method(ORDERS, lambda form: form.under_law,
           EXACT, _under_laws, "a law weighs the orders of the events of its keys"),
    Method("union of sums over starts and ends", lambda form: form.lasting,
           EXACT, _of_intervals, "rows bind interval events, or ask for ends"),
    Method(COUNTS, lambda form: form.counted,
           EXACT, _of_counted_members, "rows are sets of a group, whose members can be counted"),
    Method("union at few offsets of clocks, beside what is given", lambda form: form.tied and form.clocked,
           EXACT, _given_at_offsets, "events share clocks, and GIVEN ties some"),
    Method("union beside what is given", lambda form: form.tied,
           EXACT, _given, "GIVEN ties events to each other"),
    Method("union at few offsets of clocks", lambda form: form.clocked,
           EXACT, _of_points, "events share clocks"),
    Method(UNIONS, lambda form: form.independent,
           EXACT, _of_points, "rows of a key share events"),
)
# fmt: on
"""In the order in which they are asked: the first that takes the keys of a form measures all of them."""


def key_methods_of(plan: Plan) -> list[StatedMethod]:
    """Those by which the keys of GROUP BY may be measured; none of a query without."""
    if plan.group_by is None:
        return []
    form, counted = form_of(plan, plan.alternatives[0]), counted_sets(plan) is not None
    forms = (replace(form, counted=counted and not form.lasting), form)
    methods = dict.fromkeys(next(each for each in KEY_METHODS if each.takes(one)) for one in forms)
    return [stated(each) for each in methods]


def _of_groups(problems: Problems, group: Indexes) -> Problems:
    return Problems(problems.structure, group, problems.variables, problems.factors)


def measured_clauses(
    source: PreparedAlternative,
    events: Events,
    clauses: Clauses,
    weighted: Weighted | None = None,
    shares: int = 1,
) -> Occurrences:
    """Each group by itself, so that no other changes a bit; of those that are others moved in time one.

    Each takes as much of the work that one occurrence may take as if so many had equal `shares` in it.
    """
    options = source.options
    if weighted is not None:
        return _in_blocks(events, clauses, options, weighted, shares)
    count = len(clauses.problem_offsets) - 1
    first = moved_groups(events, clauses)
    chosen, back = (None, None) if first is None else np.unique(first, return_inverse=True)
    if chosen is None or back is None or len(chosen) == count:
        return _in_blocks(events, clauses, options, Weighted.none(events.masses.laws, count), shares)
    none = Weighted.none(events.masses.laws, len(chosen))
    few = _in_blocks(events, clauses.of_groups(chosen), options, none, shares)
    return Occurrences(few.probability[back], few.separators[back], few.rows[back], few.products[back])


def _in_blocks(
    events: Events, clauses: Clauses, options: MatchOptions, weighted: Weighted, shares: int
) -> Occurrences:
    """All groups, in blocks on all threads."""
    count = len(clauses.problem_offsets) - 1
    blocks = [
        np.arange(begin, min(begin + _GROUPS_AT_ONCE, count)) for begin in range(0, count, _GROUPS_AT_ONCE)
    ]
    parts: list[Callable[[], Iterator[tuple[Indexes, Occurrences]]]] = [
        partial(_block, events, clauses, weighted, shares, block) for block in blocks
    ]
    whole = Occurrences(np.empty(count), *(np.zeros(count, np.int64) for _ in range(3)))
    for groups, found in concurrently(parts, options.threads):
        for into, values in zip(vars(whole).values(), vars(found).values(), strict=True):
            into[groups] = values
    return whole


def _block(
    events: Events, clauses: Clauses, weighted: Weighted, shares: int, groups: Indexes
) -> Iterator[tuple[Indexes, Occurrences]]:
    yield groups, occurrences(events, clauses.of_groups(groups), weighted.of_groups(groups), shares)
