"""One row for all groups between the same neighbours: `--kleene summary`, without listing the groups.

A world has a match with these neighbours iff some event that fits lies between them, and every set of
those that do is a match.  So two readings of the pattern without groups say everything:

    with one member    P(x is in a match) is the confidence of the match (neighbours, x), a chain;
                       the first and last ticks of these matches are those of all of them
    with nothing       P(at least one) = P(neighbours) - P(neighbours, and nothing between them)

Where members are so improbable that the difference would lose digits, P(at least one) is a sum of positive
terms instead: the members in a fixed order, x is between and none of those before x is.  Predicates that
read the member before (`b[i-1]`) are not checked for the first one, and how many members there may be is at
least one: both change the number of groups alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, signatures, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.predicates import return_columns
from cepctl.engines.confidence.measured import Measured, Total
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.member_numbers import RowsOfMembers
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.preparing import prepared_alternative
from cepctl.engines.pattern.blocks import RegionEnd, Rivals
from cepctl.engines.rows.order import encoded_ids
from cepctl.engines.search.kleene.candidates import group_candidates
from cepctl.engines.search.search import enumeration_parts
from cepctl.engines.search.threshold import Threshold
from cepctl.numeric.arrays import Flags, Indexes, Reals
from cepctl.numeric.precision import SMALLEST
from cepctl.plan.evaluation_order import evaluation_order
from cepctl.plan.plan import Alternative, ReturnColumn
from cepctl.plan.summary import kleene_components, owning_component, with_nothing, with_one_member

PLACE_OF_GROUP = "*"
"""Stands in a signature where the groups differ."""


@dataclass(frozen=True)
class SummaryBatch:
    """n rows: the neighbours with P(at least one match), and what may lie between them.

    `members` has the events of each row in the order of their ids, `probability` P(it is in a match),
    of shape (members,); `counts` the number of signatures per row.
    """

    matches: MatchBatch
    members: Group
    probability: Reals
    counts: list[int]

    def take(self, rows: Indexes) -> SummaryBatch:
        """Some of the rows, in the order of `rows`, ascending."""
        chosen = np.zeros(len(self.counts), dtype=bool)
        chosen[rows] = True
        counts = [self.counts[i] for i in rows.tolist()]
        probability = self.probability[chosen[self.members.owner]]
        return SummaryBatch(self.matches.take(rows), self.members.take(rows), probability, counts)

    def columns(
        self, events: Events, alternative: Alternative, returns: tuple[ReturnColumn, ...]
    ) -> Mapping[str, object]:
        """The columns of the rows; `alternative` is that of the pattern."""
        (group,) = kleene_components(alternative)
        return {
            "signature": _signature(events, alternative, group, self.matches),
            "start": self.matches.start,
            "end": self.matches.end,
            "confidence": self.matches.confidence,
            "members": _members_text(events.ids, self.members, self.probability),
            # Python refuses to write an int of more than 4,300 digits; a Decimal of them it writes.
            "count": pa.array([str(Decimal(each)) for each in self.counts], pa.string()),
            **return_columns(events, with_nothing(alternative, group), returns, self.matches),
        }


def reaching(matches: MatchBatch, options: MatchOptions, threshold: Threshold) -> Indexes:
    """The rows that are wanted; one that is left out takes no place among the best."""
    kept = options.kept.among(matches)
    return np.flatnonzero(threshold.reached(np.where(kept, matches.confidence, -1.0), matches.start))


def _signature(events: Events, alternative: Alternative, group: int, matches: MatchBatch) -> pa.Array:
    names = events.names
    bound: list[Bindings] = list(matches.bound)
    bound.insert(alternative.positive.index(group), np.full(len(matches), len(names)))
    return signatures(bound, pa.concat_arrays([names, pa.array([PLACE_OF_GROUP], names.type)]))


def _members_text(ids: pl.Series, members: Group, probability: Reals) -> pa.Array:
    """`id:probability` of every member, joined by a blank; ids encoded as in `match`."""
    names = pl.from_arrow(encoded_ids(ids.gather(members.members).to_arrow().cast(pa.string())))
    assert isinstance(names, pl.Series)
    frame = pl.DataFrame({"owner": members.owner, "id": names, "probability": probability})
    written = pl.concat_str("id", pl.col("probability").cast(pl.String), separator=":")
    """`id:probability` of every member, joined by a blank; ids encoded as in `match`."""
    names = pl.from_arrow(encoded_ids(ids.gather(members.members).to_arrow().cast(pa.string())))
    assert isinstance(names, pl.Series)
    frame = pl.DataFrame({"owner": members.owner, "id": names, "probability": probability})
    written = pl.concat_str("id", pl.col("probability").cast(pl.String), separator=":")
    rows = frame.with_columns(written=written).group_by("owner", maintain_order=True)
    text = rows.agg(pl.col("written").str.join(" ")).get_column("written")
    return text.to_arrow().cast(pa.string())


_ROWS_AT_ONCE = 1 << 12
_SAFE_SHARE = 1e-3
"""A difference below this share of what it is taken from loses more than three digits."""


@dataclass(frozen=True)
class Summary:
    """The readings of a pattern with a Kleene group from which its summary is made."""

    groups: PreparedAlternative
    one_member: PreparedAlternative
    nothing: PreparedAlternative
    neighbours: PreparedAlternative
    group: int
    uneven: Flags

    @classmethod
    def of(cls, prepared: PreparedAlternative) -> Summary:
        """Prepare the readings; the plan must pass `cepctl.plan.summary.require_summary`."""
        plan, events, options = prepared.plan, prepared.events, prepared.options
        (group,) = kleene_components(prepared.alternative)
        one_member = prepared_alternative(plan, with_one_member(prepared.alternative, group), events, options)
        nothing = prepared_alternative(plan, with_nothing(prepared.alternative, group), events, options)
        rules = tuple(rule for rule in nothing.shape.rules if rule.component != group)
        neighbours = replace(nothing, shape=replace(nothing.shape, rules=rules))
        return cls(prepared, one_member, nothing, neighbours, group, events.masses.has_hole)

    def parts(
        self, owned: tuple[int, int] | None, threshold: Threshold
    ) -> list[Callable[[], Iterator[SummaryBatch]]]:
        """Independent parts of the rows whose confidence reaches the threshold.

        `owned` keeps rows whose first neighbour has its `lower` between two ticks, both included.
        """
        search, options = self.groups.search, self.groups.options
        order = evaluation_order(search.alternative, options.type_counts, options.order).components
        columns = tuple(search.singles.index(i) for i in order)
        parts = enumeration_parts(search, self.groups.events, columns, owned)
        return [partial(self._batches, part, owned, threshold) for part in parts]

    def _batches(
        self, bindings: Callable[[], Iterator[Indexes]], owned: tuple[int, int] | None, threshold: Threshold
    ) -> Iterator[SummaryBatch]:
        search = self.groups.search
        owner = search.singles.index(owning_component(search.alternative, "summary"))
        for found in bindings():
            rows = found
            if owned is not None:
                lower = self.groups.events.masses.lower[rows[:, owner]]
                rows = rows[(lower >= owned[0]) & (lower <= owned[1])]
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                yield self._summarised(rows[start : start + _ROWS_AT_ONCE], threshold)

    def _summarised(self, rows: Indexes, threshold: Threshold) -> SummaryBatch:
        together = self.neighbours.judged(self._bound(rows))
        keep = together.possible & threshold.in_reach(together.confidence)
        rows, present = rows[keep], together.confidence[keep]
        row, event = group_candidates(
            self.groups.search, self.groups.shape, self.groups.events, rows, self._bound(rows), self.group
        )
        taken = take_matches(self._bound(rows), row)
        alone = self.one_member.judged(taken | {self.group: event})
        happens = np.flatnonzero(alone.possible)
        row, event, alone = row[happens], event[happens], alone.taken(happens)
        alone = replace(alone, confidence=np.maximum(alone.confidence, SMALLEST))
        kept, row = np.unique(row, return_inverse=True)
        members = Group(np.searchsorted(row, np.arange(len(kept) + 1)), event)
        matches = self._matches(rows[kept], members, present[kept], alone)
        return self._reaching(rows[kept], members, matches, alone.confidence, threshold)

    def _reaching(
        self, rows: Indexes, members: Group, matches: MatchBatch, probability: Reals, threshold: Threshold
    ) -> SummaryBatch:
        at = reaching(matches, self.groups.options, threshold)
        chosen = np.zeros(len(rows), dtype=bool)
        chosen[at] = True
        probability = probability[chosen[members.owner]]
        rows, members = rows[at], members.take(at)
        return SummaryBatch(matches.take(at), members, probability, self._counts(rows, members))

    def _bound(self, rows: Indexes) -> dict[int, Bindings]:
        """The neighbours of each row, by component."""
        singles = self.groups.search.singles
        return {i: rows[:, column] for column, i in enumerate(singles) if i != self.group}

    def _matches(self, rows: Indexes, members: Group, present: Reals, alone: Measured) -> MatchBatch:
        """Range and P(at least one) of rows that have a possible member each."""
        bound = self._bound(rows)
        values = tuple(bound[i] for i in self.neighbours.search.singles)
        begin = members.offsets[:-1]
        most = np.add.reduceat(alone.confidence, begin)
        confidence = np.maximum.reduceat(alone.confidence, begin)
        several = np.flatnonzero(members.sizes > 1)
        if len(several):
            empty = self.nothing.judged(take_matches(bound, several))
            absent = np.where(empty.possible, empty.confidence, 0.0)
            some = present[several] - absent
            unsafe = np.flatnonzero(some < _SAFE_SHARE * present[several])
            if len(unsafe):
                at = several[unsafe]
                some[unsafe] = self._first_present(take_matches(bound, at), members.take(at))
            confidence[several] = np.clip(some, confidence[several], np.minimum(most[several], 1.0))
        total = Total(len(rows))
        total.widen(members.owner, alone.start, alone.end)
        return MatchBatch(values, total.start, total.end, confidence)

    def _first_present(self, bound: dict[int, Bindings], members: Group) -> Reals:
        """P(at least one member), as the sum of P(x is between, none of the members before x is)."""
        pairs: dict[int, Bindings] = take_matches(bound, members.owner)
        pairs[self.group] = Group(np.arange(len(members.members) + 1), members.members)
        position = np.arange(len(members.members)) - members.offsets[:-1][members.owner]
        later = np.repeat(np.arange(len(position)), position)
        number = np.arange(len(later)) - np.repeat(np.cumsum(position) - position, position)
        earlier = members.members[members.offsets[:-1][members.owner[later]] + number]
        rivals = self.groups.rivals(pairs)
        for rule in self.nothing.shape.rules:
            if rule.component == self.group:
                moved = tuple(tuple(self._moved(end) for end in region) for region in rule.regions)
                rivals.append(Rivals(replace(rule, regions=moved), later, earlier))
        found = self.groups.decided(pairs, rivals)
        terms = np.where(found.possible, found.confidence, 0.0)
        total = np.zeros(len(members.sizes))
        np.add.at(total, members.owner, terms)
        return total

    def _moved(self, end: RegionEnd) -> RegionEnd:
        """The end of a region, its block numbered as where the group has a block of its own."""
        if end.point is None:
            return end
        component = self.nothing.shape.blocks[end.point.block].components[0]
        block = self.groups.shape.block_of(component)
        return replace(end, point=replace(end.point, block=block))

    # --- counting --------------------------------------------------------------------------

    def _counts(self, rows: Indexes, members: Group) -> list[int]:
        """Signatures per row: by a table or in closed form where intervals decide, else by listing them."""
        alternative = self.groups.alternative
        listed = np.full(len(rows), bool(self.neighbours.shape.rules))
        listed |= any(each.not_equal for each in alternative.timings)
        singles = [rows[:, column] for _, column in self._columns()]
        listed |= np.any([self.uneven[each] for each in singles], axis=0)
        listed[members.owner[self.uneven[members.members]]] = True
        counts: list[int | None] = [None] * len(rows)
        at = np.flatnonzero(~listed)
        if len(at):
            of = RowsOfMembers(self.one_member, self.group, rows[at], members.take(at))
            for i, count in zip(at.tolist(), of.counts(), strict=True):
                counts[i] = count
        at = np.array([i for i, count in enumerate(counts) if count is None], dtype=np.int64)
        if len(at):
            for i, count in zip(at.tolist(), self._counts_by_listing(rows[at]), strict=True):
                counts[i] = count
        return [0 if each is None else each for each in counts]

    def _columns(self) -> list[tuple[int, int]]:
        """Neighbours: component and column."""
        return [(i, c) for c, i in enumerate(self.groups.search.singles) if i != self.group]

    def _counts_by_listing(self, rows: Indexes) -> list[int]:
        """Raises QueryTooLargeError where there are more groups than `max_matches`."""
        columns = self._columns()
        # Every group counts, also one that is too improbable to be a row itself.
        groups = replace(self.groups, search=replace(self.groups.search, push_down=None))
        names = [str(i) for i, _ in columns]
        wanted = pl.DataFrame({str(i): rows[:, column] for i, column in columns})
        found = [wanted.clear().with_columns(count=pl.lit(0, pl.Int64))]
        for bound in groups.with_groups(rows):
            happens = groups.judged(bound).possible
            frame = pl.DataFrame({str(i): bound[i] for i, _ in columns}).filter(happens)
            found.append(frame.group_by(names).agg(count=pl.len().cast(pl.Int64)))
        totals = pl.concat(found).group_by(names).agg(pl.col("count").sum())
        joined = wanted.join(totals, on=names, how="left", maintain_order="left")
        return [int(each) for each in joined.get_column("count").fill_null(0)]
