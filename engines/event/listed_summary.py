"""`--kleene summary` by listing the groups: rows of all matches with the same neighbours.

Where the presence of single members does not say which groups match, all groups are found, as for GROUP BY.
A row is as probable as the union of its matches, a member as the union of those that hold it.  Where nothing
but presence decides, a match with one member more adds nothing to a union; where other events decide, matches
exclude each other (`member_numbers`).

    name here   meaning
    match       one group between its neighbours, as some alternative finds it
    row         all matches with the same neighbours
    asked       a row, or a member of a row: what the probability of a union is asked for
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from cepctl.engines.columns.bindings import Group, MatchBatch, joined_batches
from cepctl.engines.columns.events import INDEPENDENT
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.confidence.coupled.problem import clauses_of
from cepctl.engines.confidence.measured import Total
from cepctl.engines.confidence.occurrence.separators import MOST_TOGETHER
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.group_occurrences import measured_clauses
from cepctl.engines.event.kleene_summary import SummaryBatch
from cepctl.engines.event.member_numbers import classes_of
from cepctl.engines.event.taker_rows import TakerRows
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Flags, Indexes, Reals
from cepctl.plan.plan import Plan
from cepctl.plan.summary import kleene_components, listing_reasons, owning_component

FEW_TOGETHER = 16
"""The union of so many matches is told sooner than by takers, unless it is too costly."""


@dataclass(frozen=True)
class _ListedMatches:
    """All matches of one alternative: what it binds, and the same as rows show it."""

    source: PreparedAlternative
    batch: MatchBatch
    neighbours: Indexes
    members: Group


@dataclass(frozen=True)
class ListedSummary:
    """The matches of all alternatives, one after the other: the row of each, and its members."""

    found: tuple[_ListedMatches, ...]

    @classmethod
    def of(
        cls,
        prepared: Sequence[PreparedAlternative],
        found: Sequence[Sequence[MatchBatch]],
        owned: tuple[int, int] | None,
    ) -> ListedSummary:
        """`owned` keeps rows whose first neighbour has its `lower` between two ticks, both included.

        `found` is shorter than `prepared` where the matches of the last alternatives are not known yet.
        """
        parts = [
            _of_alternative(source, batch, owned)
            for source, batches in zip(prepared, found, strict=False)
            if (batch := joined_batches(batches)) is not None
        ]
        return cls(tuple(each for each in parts if len(each.batch)))

    def rows(self) -> Iterator[SummaryBatch]:
        """The rows, as one batch.

        Raises
        ------
        QueryTooLargeError
            If the matches of a row share too much for the probability of their union to be computed.
        """
        if self.found:
            yield self._rows()

    def require_few(self) -> None:
        """Refuse what more matches can only make larger, before they are listed.

        Raises
        ------
        QueryTooLargeError
            As `rows` does, if more matches of a row share events by now than can be taken together.
        """
        if not self.found:
            return
        _, part = distinct_rows(np.stack([self._row, self._classes], axis=1))
        certain = np.zeros(int(part.max()) + 1, dtype=bool)
        certain[part[self._confidence >= 1.0]] = True
        sizes = np.where(certain, 0, np.bincount(part))
        largest = int(np.argmax(sizes))
        if sizes[largest] > MOST_TOGETHER and self._takers is None:
            own = np.flatnonzero(part == largest)
            self._measured(own, np.zeros(len(own), dtype=np.int64), 1)

    def _rows(self) -> SummaryBatch:
        row, members = self._row, self._members
        source, count = self.found[0].source, len(self._neighbours)
        total = Total(count)
        for each, own in zip(self.found, self._rows_of_each, strict=True):
            total.widen(own, each.batch.start, each.batch.end)
        rank = source.events.id_rank
        pairs = np.stack([row[members.owner], rank[members.members], members.members], axis=1)
        distinct, pair = distinct_rows(pairs)
        held = pairs[distinct]
        of_row = np.searchsorted(held[:, 0], np.arange(count + 1))
        smallest, member = self._deciding
        match = np.concatenate([np.flatnonzero(smallest), members.owner[member]])
        asked = np.concatenate([row[smallest], count + pair[member]])
        whose = np.concatenate([np.arange(count), held[:, 0]])
        many = np.bincount(row, minlength=count) > FEW_TOGETHER
        probability, known = self._by_takers(of_row, held[:, 2], np.flatnonzero(many))
        rest = ~known[asked]
        unions = self._unions(match[rest], asked[rest], count + len(held), refused=self._takers is None)
        costly = np.unique(whose[~known & np.isnan(unions)])
        if len(costly):
            by_takers, measured = self._by_takers(of_row, held[:, 2], costly)
            rest &= np.isin(whose[asked], costly) & ~measured[asked]
            self._unions(match[rest], asked[rest], count + len(held))
            unions = np.where(measured, by_takers, unions)
        probability = np.where(known, probability, unions)
        matches = MatchBatch(tuple(self._neighbours.T), total.start, total.end, probability[:count])
        return SummaryBatch(matches, Group(of_row, held[:, 2]), probability[count:], self._counts)

    @cached_property
    def _takers(self) -> TakerRows | None:
        """What says how probable rows are without their unions; None where nothing does."""
        source = self.found[0].source
        if source.options.approximate is not None or source.events.depends != INDEPENDENT:
            return None
        return TakerRows.of(source.plan, source.events)

    def _by_takers(self, of_row: Indexes, members: Indexes, rows: Indexes) -> tuple[Reals, Flags]:
        """The probabilities of all rows, then of their members, and whether takers say them: of `rows` alone.

        The members of each row lie between two of `of_row`.
        """
        count = len(self._neighbours)
        found, known = np.zeros(count + len(members)), np.zeros(count + len(members), dtype=bool)
        for row in rows.tolist() if self._takers is not None else ():
            assert self._takers is not None
            own = slice(of_row[row], of_row[row + 1])
            before, behind = self._neighbours[row].tolist()
            sums = self._takers.probabilities(before, behind, members[own])
            if sums is not None:
                known[row] = known[count:][own] = True
                found[row], found[count:][own] = sums
        return np.clip(found, 0.0, 1.0), known

    @cached_property
    def _numbered(self) -> tuple[Indexes, Indexes]:
        whole = np.concatenate([each.neighbours for each in self.found])
        distinct, row = distinct_rows(whole)
        return whole[distinct], row

    @property
    def _neighbours(self) -> Indexes:
        """The events around the group in each row, shape (rows, l)."""
        return self._numbered[0]

    @property
    def _row(self) -> Indexes:
        """The row of each match."""
        return self._numbered[1]

    @cached_property
    def _members(self) -> Group:
        sizes = np.concatenate([each.members.sizes for each in self.found])
        members = np.concatenate([each.members.members for each in self.found])
        return Group(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), members)

    @property
    def _counts(self) -> list[int]:
        """How many signatures each row stands for; several alternatives may give one."""
        row = self._row
        if len(self.found) > 1:
            texts = pl.DataFrame({"match": self._members.owner, "event": self._members.members})
            frame = texts.group_by("match").agg(pl.col("event").cast(pl.String).str.join("+"))
            row = (
                frame.with_columns(row=row[frame["match"].to_numpy()])
                .unique(["row", "event"])["row"]
                .to_numpy()
            )
        counts: list[int] = np.bincount(row, minlength=len(self._neighbours)).tolist()
        return counts

    @property
    def _deciding(self) -> tuple[Flags, Flags]:
        """The matches that decide about their row, and the members of matches about which these decide."""
        members, row = self._members, self._row
        if len(self.found) > 1 or not _decided_by_presence(self.found[0].source):
            return np.ones(len(row), dtype=bool), np.ones(len(members.members), dtype=bool)
        without = members_without(row, members)
        more = np.bincount(members.owner[without], minlength=len(row))
        # Without another member than this one it is still a match.
        return more == 0, more[members.owner] - without == 0

    @property
    def _rows_of_each(self) -> list[Indexes]:
        """The row of each match, by alternative."""
        ends = np.cumsum([len(each.batch) for each in self.found])
        return np.split(self._row, ends[:-1])

    @cached_property
    def _confidence(self) -> Reals:
        return np.concatenate([each.batch.confidence for each in self.found])

    # --- probabilities of unions -----------------------------------------------------------

    def _unions(self, match: Indexes, asked: Indexes, count: int, *, refused: bool = True) -> Reals:
        """The probability that some match holds of those that each of `count` unions is asked of.

        `match`, `asked`: pairs of a match and a union, shape (n,).  What is too costly is `refused`, or NaN.
        """
        least, most = _bounds(self._confidence[match], asked, count)
        # What excludes each other adds up.
        first, part = distinct_rows(np.stack([asked, self._classes[match]], axis=1))
        of_part = self._parts(match, part, len(first), refused=refused)
        return np.clip(np.bincount(asked[first], of_part, count), least, most)

    @property
    def _classes(self) -> Indexes:
        """A number for each match, different where two of a row exclude each other."""
        source = self.found[0].source
        shown = source.shown
        (group,) = kleene_components(shown)
        return classes_of(source.plan, shown, group, self._row, self._members, source.events.masses)

    def _parts(self, match: Indexes, asked: Indexes, count: int, *, refused: bool) -> Reals:
        """What `_unions` says, of unions of matches that may hold together."""
        least, most = _bounds(self._confidence[match], asked, count)
        sizes = np.bincount(asked, minlength=count)
        found, same = least.copy(), _first_alike(match, asked, count)
        chosen = np.flatnonzero((sizes > 1) & (least < 1.0) & (same == np.arange(count)))
        chosen = chosen[np.argsort(-sizes[chosen], kind="stable")]
        # The largest says whether all can be computed, before the others take their time.
        for some in (chosen[:1], chosen[1:]):
            number = np.full(count, -1)
            number[some] = np.arange(len(some))
            wanted = number[asked] >= 0
            found[some] = self._measured(match[wanted], number[asked[wanted]], len(some), refused=refused)
        return np.clip(found[same], least, most)

    def _measured(self, match: Indexes, union: Indexes, count: int, *, refused: bool = True) -> Reals:
        """What is said of unions of several matches that are not certain."""
        if not count:
            return np.zeros(0)
        problems, limited, begin = [], False, 0
        for each in self.found:
            own = np.flatnonzero((match >= begin) & (match < begin + len(each.batch)))
            chosen, begin = match[own] - begin, begin + len(each.batch)
            if not len(own):
                continue
            source, batch = each.source, each.batch.take(chosen)
            timings = (*source.shape.timings, *source.shape.member_timings)
            limited |= any(None in (timing.left, timing.right) for timing in timings)
            bound = dict(zip(source.search.singles, batch.bound, strict=True))
            problems += [replace(some, match=union[own[some.match]]) for some in source.union_problems(bound)]
        source = self.found[0].source
        found = measured_clauses(source, source.events, clauses_of(problems, count, limited=limited))
        costly = np.flatnonzero(np.isnan(found.probability))
        if refused and len(costly):
            raise QueryTooLargeError(
                "how probable it is that one of a row matches cannot be computed: "
                f"{found.why(int(costly[0]))}; narrow the query (WITHIN, [attr], tighter predicates), or ask "
                "for the groups one by one with --kleene groups"
            )
        return found.probability


def _bounds(confidence: Reals, asked: Indexes, count: int) -> tuple[Reals, Reals]:
    """The largest confidence of each union of matches, and their sum, up to 1; shape (count,)."""
    least = np.zeros(count)
    np.maximum.at(least, asked, confidence)
    return least, np.minimum(np.bincount(asked, confidence, count), 1.0)


def _decided_by_presence(source: PreparedAlternative) -> bool:
    shape = source.shape
    return not (shape.rules or shape.together or shape.member_timings)


def members_without(row: Indexes, members: Group) -> Flags:
    """Whether the match of each member, without it, is a match of the same row, too.

    Groups are compared by two numbers of 64 bits each, drawn at random for each event, in their order.

    Examples
    --------
    >>> found = Group(np.array([0, 1, 3, 4]), np.array([5, 5, 8, 9]))
    >>> members_without(np.array([0, 0, 0]), found).tolist()
    [False, False, True, False]
    """
    owner = members.owner
    place = np.arange(len(owner)) - members.offsets[:-1][owner]
    drawn = np.random.default_rng(0)
    whole, less = [row.astype(np.uint64)], [row[owner].astype(np.uint64)]
    for _ in range(2):
        of_event = drawn.integers(1 << 63, size=int(members.members.max(initial=0)) + 1, dtype=np.uint64)
        factor = 2 * int(drawn.integers(1 << 62)) + 1
        powers = np.cumprod(np.full(int(members.sizes.max(initial=0)) + 1, factor, dtype=np.uint64))
        term = of_event[members.members] * powers[place]
        upto = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(term)])
        total = upto[members.offsets[1:]] - upto[members.offsets[:-1]]
        behind = upto[members.offsets[1:]][owner] - upto[1:]
        whole.append(total)
        less.append(total[owner] - term - behind + behind * np.uint64(pow(factor, -1, 1 << 64)))
    names = [str(i) for i in range(len(whole))]
    known = pl.DataFrame(dict(zip(names, whole, strict=True))).unique().with_columns(known=True)
    asked = pl.DataFrame(dict(zip(names, less, strict=True)))
    found = asked.join(known, on=names, how="left", maintain_order="left").get_column("known")
    return found.is_not_null().to_numpy()


def _of_alternative(
    source: PreparedAlternative, batch: MatchBatch, owned: tuple[int, int] | None
) -> _ListedMatches:
    folded, shown = source.folded(batch), source.shown
    bound = dict(zip(shown.positive, folded.bound, strict=True))
    (group,) = kleene_components(shown)
    members = bound.pop(group)
    neighbours: list[Indexes] = [each for each in bound.values() if not isinstance(each, Group)]
    assert isinstance(members, Group)
    rows = np.stack(neighbours, axis=1) if neighbours else np.zeros((len(batch), 0), dtype=np.int64)
    if owned is None or not neighbours:
        return _ListedMatches(source, batch, rows, members)
    lower = source.events.stated_lower[rows[:, list(bound).index(owning_component(shown, "summary"))]]
    kept = np.flatnonzero((lower >= owned[0]) & (lower <= owned[1]))
    return _ListedMatches(source, batch.take(kept), rows[kept], members.take(kept))


def _first_alike(match: Indexes, asked: Indexes, count: int) -> Indexes:
    """Of the unions that are asked of the same matches the first, for each; shape (count,)."""
    order = np.lexsort((match, asked))
    frame = pl.DataFrame({"asked": asked[order], "match": match[order]})
    sets = frame.group_by("asked", maintain_order=True).agg(pl.col("match").cast(pl.String).str.join(" "))
    first = sets.with_columns(first=pl.col("asked").first().over("match"))
    found = np.arange(count)
    found[first["asked"].to_numpy()] = first["first"].to_numpy()
    return found


@contextmanager
def refused_as_listing(plan: Plan) -> Iterator[None]:
    """What is too large is said to be listed, and why it is."""
    try:
        yield
    except QueryTooLargeError as error:
        raise QueryTooLargeError(
            f"--kleene summary lists the groups of this query, for {listing_reasons(plan)[0]}: {error}"
        ) from error
