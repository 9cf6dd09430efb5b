"""What must not happen as a whole, `!SEQ(X x, Y y)` and `!AND(X x, Y y)`: parts that exclude each other.

Either no x lies in the gap to which some y could belong, or a first one does, and none of its y behind it (in
`!AND`: beside it).  The first x is bound as an event that the match does not show, and each part is measured
like any other match.  Where the y of a later x are not all among those of the first, that x must be absent,
too, or is the next one that counts: every part has a chain of such x.  Of several at one tick the one with
the smaller id is the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, Group, count_of, take, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    Region,
    RegionEnd,
    Shape,
    Together,
    ends_of_gap,
)
from cepctl.engines.pattern.difference_constraints import system_between
from cepctl.engines.pattern.hidden_blocks import HiddenBlock, with_hidden
from cepctl.engines.pattern.rivals import Rivals, rivals_of, spans_of
from cepctl.engines.search.search import Search
from cepctl.engines.solve.batch import Batch
from cepctl.errors import QueryTooLargeError, UnsupportedQueryError
from cepctl.plan.plan import Plan, Timing

ROWS_AT_ONCE = 512
MOST_PARTS = 4_000_000
"""Pairs of a part and an event that may be in it, of so many matches."""


class Source(Protocol):
    """The alternative that matches are of."""

    @property
    def plan(self) -> Plan:
        """The plan that it is a reading of."""
        ...

    @property
    def events(self) -> Events:
        """The events, which it is one partition of."""
        ...

    @property
    def shape(self) -> Shape:
        """What is bound, and what must be absent, as a whole, too."""
        ...

    @property
    def search(self) -> Search:
        """Which events fit its components."""
        ...

    @property
    def measure(self) -> Measure:
        """How its matches are measured."""
        ...


@dataclass(frozen=True)
class Part:
    """Matches, each with events that it does not show; the match of each."""

    batch: Batch
    row: Indexes


@dataclass(frozen=True)
class AbsentParts:
    """The parts of matches of an alternative, in whose shape something is absent as a whole.

    `asked` is how its matches are measured.
    """

    source: Source
    asked: Measure

    def parts(self, bound: dict[int, Bindings], rivals: list[Rivals]) -> Iterator[Part]:
        """All parts, some matches after the other."""
        count = count_of(bound.values())
        for begin in range(0, count, ROWS_AT_ONCE):
            rows = np.arange(begin, min(begin + ROWS_AT_ONCE, count))
            own = take_matches(bound, rows)
            block = _Block(self, own, [each.taken(rows) for each in rivals], len(rows))
            for part in block.parts():
                yield replace(part, row=part.row + begin)

    @property
    def together(self) -> Together:
        """What must not happen."""
        return self.source.shape.together[0]

    @cached_property
    def region(self) -> Region:
        """Where it must not happen."""
        return ends_of_gap(self.source.shape, self.together.gap)

    @property
    def first_hidden(self) -> int:
        """The number of the first hidden component: behind those of the block before the gap."""
        gap = self.together.gap
        return max(self.source.shape.blocks[gap - 1].components) + 1 if gap else 0

    def hides(self, part: Part) -> bool:
        """Whether a part has hidden events."""
        return len(part.batch.measure.shape.blocks) > len(self.source.shape.blocks)

    @property
    def at_edge(self) -> bool:
        """Whether hidden events may be the first or the last ones."""
        return self.together.gap in (0, len(self.source.shape.blocks))

    def fitting(self, bound: dict[int, Bindings], component: int) -> tuple[Indexes, Indexes]:
        """Pairs (match, event): events that fit a part beside what is bound, and can lie in the gap."""
        source = self.source
        shape = replace(source.shape, rules=(AbsenceRule(component, (self.region,)),), together=())
        spans = spans_of(source.events.masses, source.measure.groups(bound))
        keys = source.search.candidates, source.plan.partition_by
        (found,) = rivals_of(shape, source.events, *keys, bound, spans)
        order = np.lexsort((source.events.id_rank[found.event], found.row))
        return found.row[order], found.event[order]

    def measure(self, hidden: HiddenBlock, timings: tuple[Timing, ...]) -> Measure:
        """How parts with hidden events are measured."""
        own = replace(self.source.shape, together=())
        shape = with_hidden(own, hidden, timings) if hidden.count else own
        blocks = [each.components for each in shape.blocks]
        variables = sorted(i for block in blocks for i in block)
        system = system_between(variables, blocks, shape.timings, shape.window)
        return replace(self.asked, shape=shape, system=system, sampling=None, sifted=False)


@dataclass(frozen=True)
class _Pairs:
    """Events that may be the x of some matches, in the order of matches and ids, and the y of each."""

    row: Indexes
    event: Indexes
    partners: Group


@dataclass(frozen=True)
class _Chains:
    """Parts of matches: `row` is the match of each, `pairs` the chain of its x, shape (n, m).

    `absent`: for the place before each x of the chain, and for that behind the last one, pairs of a part and
    an event that would be an x that counts there.
    """

    row: Indexes
    pairs: Indexes
    absent: tuple[tuple[Indexes, Indexes], ...] = ()

    def taken(self, parts: Indexes) -> _Chains:
        """Some of the parts, which may repeat."""
        absent = []
        for part, event in self.absent:
            at, found = _joined(part, parts, len(self.row))
            absent.append((at, event[found]))
        return _Chains(self.row[parts], self.pairs[parts], tuple(absent))


def _joined(owner: Indexes, wanted: Indexes, count: int) -> tuple[Indexes, Indexes]:
    """For each wanted owner the entries that it has: the place of the owner in `wanted`, and the entry."""
    entries = Group.of_owners(count, owner, np.arange(len(owner))).take(wanted)
    return entries.owner, entries.members


@dataclass(frozen=True)
class _Block:
    """Some matches, the parts of which are found together."""

    of: AbsentParts
    bound: dict[int, Bindings]
    rivals: list[Rivals]
    count: int

    def parts(self) -> Iterator[Part]:
        """The parts without any x, then those with one, with two and so on."""
        chains = _Chains(np.arange(self.count), np.zeros((self.count, 0), dtype=np.int64))
        spent = 0
        while len(chains.row):
            part, pair = self._candidates(chains)
            spent += len(part)
            _require_few(spent)
            counts = self._counts(chains, part, pair)
            part, pair = part[counts], pair[counts]
            event = self._pairs.event[pair]
            whole = replace(chains, absent=(*chains.absent, (part, event)))
            yield from self._measurable(whole)
            fresh = ~self._is_taken(chains, part, event)
            longer = whole.taken(part[fresh])
            chains = replace(longer, pairs=np.column_stack([longer.pairs, pair[fresh]]))

    @cached_property
    def _pairs(self) -> _Pairs:
        """Those x alone of which some y may make the whole."""
        x, y = self.of.together.parts
        row, event = self.of.fitting(self.bound, x)
        beside = take_matches(self.bound, row) | {x: event}
        pair, partner = self.of.fitting(beside, y) if len(row) else (row, event)
        if self.of.together.in_order:
            masses = self.of.source.events.masses
            later = masses.upper[partner] > masses.lower[event[pair]]
            pair, partner = pair[later], partner[later]
        _require_few(len(pair))
        some = np.unique(pair)
        partners = Group.of_owners(len(row), pair, partner).take(some)
        return _Pairs(row[some], event[some], partners)

    def _candidates(self, chains: _Chains) -> tuple[Indexes, Indexes]:
        """Pairs of a part and an x of its match that is not in its chain."""
        part, pair = _joined(self._pairs.row, chains.row, self.count)
        fresh = (chains.pairs[part] != pair[:, None]).all(axis=1)
        return part[fresh], pair[fresh]

    def _counts(self, chains: _Chains, part: Indexes, pair: Indexes) -> Flags:
        """Whether an x behind the chain has a y that is not absent anyway."""
        partners = self._pairs.partners.take(pair)
        owner, event = partners.owner, partners.members
        new = ~self._is_taken(chains, part[owner], event) & ~self._in_chain(chains, part[owner], event)
        if self.of.together.in_order and chains.pairs.shape[1]:
            masses = self.of.source.events.masses
            latest = masses.lower[self._pairs.event[chains.pairs]].max(axis=1)
            new &= masses.upper[event] > latest[part[owner]]
        return np.asarray(np.bincount(owner[new], minlength=len(part)) > 0)

    def _is_taken(self, chains: _Chains, part: Indexes, event: Indexes) -> Flags:
        """Whether an event is absent behind the chain of a part, as the y of one of its x."""
        size = len(self.of.source.events)
        found = np.zeros(len(part), dtype=bool)
        for pairs in chains.pairs.T:
            partners = self._pairs.partners.take(pairs)
            found |= np.isin(part * size + event, partners.owner * size + partners.members)
        return found if self.of.together.in_order else found | self._takes(chains, part, event)

    def _takes(self, chains: _Chains, part: Indexes, event: Indexes) -> Flags:
        """Whether an event is an x of which one in the chain of a part is a y."""
        found = np.zeros(len(part), dtype=bool)
        for own, other in self._absent_beside(chains):
            size = len(self.of.source.events)
            found |= np.isin(part * size + event, own * size + other)
        return found

    def _absent_beside(self, chains: _Chains) -> Iterator[tuple[Indexes, Indexes]]:
        """Pairs of a part and an x whose y is in the chain: in any order that is the whole."""
        part, pair = self._candidates(chains)
        partners = self._pairs.partners.take(pair)
        whole = self._in_chain(chains, part[partners.owner], partners.members)
        found = np.unique(partners.owner[whole])
        yield part[found], self._pairs.event[pair[found]]

    def _in_chain(self, chains: _Chains, part: Indexes, event: Indexes) -> Flags:
        return np.asarray((self._pairs.event[chains.pairs[part]] == event[:, None]).any(axis=1))

    def _measurable(self, chains: _Chains) -> Iterator[Part]:
        """The parts, those together whose hidden events are tied alike."""
        rank = self.of.source.events.id_rank[self._pairs.event[chains.pairs]]
        # Of two at one tick the one with the smaller id comes first.
        may_share = rank[:, :-1] < rank[:, 1:]
        for pattern in np.unique(may_share, axis=0) if chains.pairs.shape[1] > 1 else [may_share[:0]]:
            alike = (may_share == pattern).all(axis=1) if len(pattern) else np.ones(len(rank), dtype=bool)
            yield from self._alike(chains.taken(np.flatnonzero(alike)), [bool(each) for each in pattern])

    def _alike(self, chains: _Chains, may_share: Sequence[bool]) -> Iterator[Part]:
        depth = chains.pairs.shape[1]
        hidden = HiddenBlock(self.of.together.gap, self.of.first_hidden, depth)
        possible = self._free_of_rivals(chains, hidden)
        if not possible.all():
            chains = chains.taken(np.flatnonzero(possible))
        if not len(chains.row):
            return
        first = hidden.component
        timings = tuple(
            Timing(first + i, first + i + 1, 0 if shares else -1) for i, shares in enumerate(may_share)
        )
        measure = self.of.measure(hidden, timings)
        bound = {hidden.number(i): take(each, chains.row) for i, each in self.bound.items()}
        bound |= {first + i: self._pairs.event[pairs] for i, pairs in enumerate(chains.pairs.T)}
        rivals = [
            *self._of_rules(chains, hidden),
            *self._before(chains, hidden),
            *self._whole(chains, hidden),
        ]
        yield from _by_ties(Batch(measure, bound, rivals), chains.row)

    def _of_rules(self, chains: _Chains, hidden: HiddenBlock) -> Iterator[Rivals]:
        for each in self.rivals:
            part, found = _joined(each.row, chains.row, self.count)
            # Those of the chain are in no region of the rule, or the part was left out.
            other = ~self._in_chain(chains, part, each.event[found])
            yield Rivals(hidden.rule(each.rule), part[other], each.event[found][other])

    def _free_of_rivals(self, chains: _Chains, hidden: HiddenBlock) -> Flags:
        """Whether no event of the chain is one that may not lie in the gap anyway."""
        free = np.ones(len(chains.row), dtype=bool)
        for each in self.rivals if hidden.count else ():
            part, found = _joined(each.row, chains.row, self.count)
            hit = part[self._in_chain(chains, part, each.event[found])]
            for region in each.rule.regions if len(hit) else ():
                holds = hidden.holds(region, self.of.source.shape)
                if holds is None or each.rule.spared:
                    raise UnsupportedQueryError(_TIMED)
                free[hit] &= not holds
        return free

    def _before(self, chains: _Chains, hidden: HiddenBlock) -> Iterator[Rivals]:
        """Each x that counts is absent before the first of the chain, between them and behind the last."""
        rank = self.of.source.events.id_rank
        chain, gap = self._pairs.event[chains.pairs], hidden.region(self.of.region)
        for place, (every, events) in enumerate(chains.absent):
            other = ~self._in_chain(chains, every, events)
            part, event = every[other], events[other]
            none = np.zeros(len(part), dtype=bool)
            early, late = none, none
            if place > 0:
                before = chain[part, place - 1]
                early = (rank[event] > rank[before]) & self._may_share_tick(event, before)
            if place < hidden.count:
                behind = chain[part, place]
                late = (rank[event] < rank[behind]) & self._may_share_tick(event, behind)
            for from_tick, to_tick in ((False, False), (False, True), (True, False), (True, True)):
                here = (early == from_tick) & (late == to_tick)
                lower = [end for end in gap if end.is_lower]
                upper = [end for end in gap if not end.is_lower]
                if place > 0:
                    lower = [RegionEnd(hidden.point(place - 1), 0 if from_tick else 1, True)]
                if place < hidden.count:
                    upper = [RegionEnd(hidden.point(place), 0 if to_tick else -1, False)]
                rule = AbsenceRule(None, ((*lower, *upper),))
                yield Rivals(rule, part[here], event[here])

    def _may_share_tick(self, one: Indexes, other: Indexes) -> Flags:
        masses = self.of.source.events.masses
        return np.asarray(
            (masses.lower[one] <= masses.upper[other]) & (masses.lower[other] <= masses.upper[one])
        )

    def _whole(self, chains: _Chains, hidden: HiddenBlock) -> Iterator[Rivals]:
        """Each y of the chain is absent behind its x, or in the whole gap where nothing orders them."""
        gap = hidden.region(self.of.region)
        behind = [end for end in gap if not end.is_lower]
        for place, pairs in enumerate(chains.pairs.T):
            region = gap
            if self.of.together.in_order:
                region = (RegionEnd(hidden.point(place), 1, True), *behind)
            partners = self._pairs.partners.take(pairs)
            other = ~self._in_chain(chains, partners.owner, partners.members)
            yield Rivals(AbsenceRule(None, (region,)), partners.owner[other], partners.members[other])
        if hidden.count and not self.of.together.in_order:
            for part, event in self._absent_beside(chains):
                yield Rivals(AbsenceRule(None, (gap,)), part, event)


def _by_ties(batch: Batch, row: Indexes) -> Iterator[Part]:
    """Those apart of which an event may be at the tick of a hidden one and counts as before or behind it.

    Rules of the others speak of whole gaps, so that they are measured as other absences are.
    """
    tied = np.zeros(len(batch), dtype=bool)
    apart = [
        any(end.constant == 0 for region in each.rule.regions for end in region) for each in batch.rivals
    ]
    for each, is_apart in zip(batch.rivals, apart, strict=True):
        if is_apart:
            tied[each.row] = True
    for some, with_ties in ((~tied, False), (tied, True)):
        rows = np.flatnonzero(some)
        if not len(rows):
            continue
        part = batch.taken(rows)
        kept = [each for each, is_apart in zip(part.rivals, apart, strict=True) if with_ties or not is_apart]
        shape = replace(part.measure.shape, rules=tuple(dict.fromkeys(each.rule for each in kept)))
        yield Part(replace(part, measure=replace(part.measure, shape=shape), rivals=kept), row[rows])


_TIMED = (
    "not supported yet: !SEQ or !AND beside a negation with a condition on its time, where one event fits "
    "both; --engine worlds runs it"
)


def _require_few(pairs: int) -> None:
    if pairs > MOST_PARTS:
        raise QueryTooLargeError(
            f"what !SEQ or !AND leaves of {ROWS_AT_ONCE:,} matches takes more than {MOST_PARTS:,} pairs of "
            "events; narrow it (WITHIN, [attr], predicates on its events)"
        )
