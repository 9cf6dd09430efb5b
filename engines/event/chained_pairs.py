"""What must not happen as a pair, `!SEQ(X x, Y y)` and `!AND(X x, Y y)`: its x one after the other.

Either no x lies in the gap to which some y could belong, or a first one does, and none of its y behind it (in
`!AND`: beside it).  Where the y of a later x are not all among those of the first, that x must be absent,
too, or is the next one that counts: every part has a chain of such x.  Of several at one tick the one with
the smaller id is the first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings, Group, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.event.hidden_events import (
    Absences,
    HiddenEvents,
    entries_of,
    first_of,
    require_few,
    with_another,
)
from cepctl.engines.pattern.blocks import Together

Fitting = Callable[[dict[int, Bindings], int], tuple[Indexes, Indexes]]
"""Pairs (match, event): events that fit a part beside what is bound, and can lie in the gap."""


@dataclass(frozen=True)
class _Pairs:
    """Events that may be the x of some matches, in the order of matches and ids, and the y of each."""

    row: Indexes
    event: Indexes
    partners: Group


@dataclass(frozen=True)
class _Chains:
    """Parts of matches: `row` is the match of each, `pairs` the chain of its x, shape (n, m).

    `absent`: for the place before each x of the chain pairs of a part and an event that would be an x that
    counts there.
    """

    row: Indexes
    pairs: Indexes
    absent: tuple[Absences, ...] = ()


@dataclass(frozen=True)
class ChainedPairs:
    """Some matches, and the pairs that must not happen in their gap."""

    events: Events
    together: Together
    fitting: Fitting
    bound: dict[int, Bindings]
    count: int

    def parts(self) -> Iterator[HiddenEvents]:
        """The parts without any x, then those with one, with two and so on."""
        chains = _Chains(np.arange(self.count), np.zeros((self.count, 0), dtype=np.int64))
        spent = 0
        while len(chains.row):
            part, pair = self._candidates(chains)
            spent += len(part)
            require_few(spent)
            counts = self._counts(chains, part, pair)
            part, pair = part[counts], pair[counts]
            event = self._pairs.event[pair]
            yield self._hidden(chains, Absences(part, event))
            fresh = ~self._is_taken(chains, part, event)
            longer = tuple(each.taken(part[fresh], len(chains.row)) for each in chains.absent)
            last = Absences(part, event).taken(part[fresh], len(chains.row))
            chains = _Chains(
                chains.row[part[fresh]], with_another(chains.pairs, part[fresh], pair[fresh]), (*longer, last)
            )

    @cached_property
    def _pairs(self) -> _Pairs:
        """Those x alone of which some y may make the whole."""
        x, y = self.together.parts
        row, event = self.fitting(self.bound, x)
        beside = take_matches(self.bound, row) | {x: event}
        pair, partner = self.fitting(beside, y) if len(row) else (row, event)
        if self.together.in_order:
            masses = self.events.masses
            later = masses.upper[partner] > masses.lower[event[pair]]
            pair, partner = pair[later], partner[later]
        require_few(len(pair))
        some = np.unique(pair)
        partners = Group.of_owners(len(row), pair, partner).take(some)
        return _Pairs(row[some], event[some], partners)

    def _candidates(self, chains: _Chains) -> tuple[Indexes, Indexes]:
        """Pairs of a part and an x of its match that is not in its chain."""
        part, pair = entries_of(self._pairs.row, chains.row, self.count)
        fresh = (chains.pairs[part] != pair[:, None]).all(axis=1)
        return part[fresh], pair[fresh]

    def _counts(self, chains: _Chains, part: Indexes, pair: Indexes) -> Flags:
        """Whether an x behind the chain has a y that is not absent anyway."""
        partners = self._pairs.partners.take(pair)
        owner, event = partners.owner, partners.members
        new = ~self._is_taken(chains, part[owner], event) & ~self._in_chain(chains, part[owner], event)
        if self.together.in_order and chains.pairs.shape[1]:
            masses = self.events.masses
            latest = masses.lower[self._pairs.event[chains.pairs]].max(axis=1)
            new &= masses.upper[event] > latest[part[owner]]
        return np.asarray(np.bincount(owner[new], minlength=len(part)) > 0)

    def _is_taken(self, chains: _Chains, part: Indexes, event: Indexes) -> Flags:
        """Whether an event is absent behind the chain of a part, as the y of one of its x."""
        size = len(self.events)
        found = np.zeros(len(part), dtype=bool)
        for pairs in chains.pairs.T:
            partners = self._pairs.partners.take(pairs)
            found |= np.isin(part * size + event, partners.owner * size + partners.members)
        if self.together.in_order:
            return found
        beside = self._absent_beside(chains)
        return found | np.isin(part * size + event, beside.part * size + beside.event)

    def _absent_beside(self, chains: _Chains) -> Absences:
        """Each x whose y is in the chain: in any order that is the whole."""
        part, pair = self._candidates(chains)
        partners = self._pairs.partners.take(pair)
        whole = self._in_chain(chains, part[partners.owner], partners.members)
        found = np.unique(partners.owner[whole])
        return Absences(part[found], self._pairs.event[pair[found]])

    def _in_chain(self, chains: _Chains, part: Indexes, event: Indexes) -> Flags:
        return np.asarray((self._pairs.event[chains.pairs[part]] == event[:, None]).any(axis=1))

    def _hidden(self, chains: _Chains, behind: Absences) -> HiddenEvents:
        events = self._pairs.event[chains.pairs]
        rank = self.events.id_rank[events]
        absent = [
            *first_of(self.events, events, (*chains.absent, behind), "of one kind"),
            *self._whole(chains, events),
        ]
        # Of two at one tick the one with the smaller id comes first.
        return HiddenEvents(chains.row, events, tuple(absent), rank[:, :-1] < rank[:, 1:])

    def _whole(self, chains: _Chains, events: Indexes) -> Iterator[Absences]:
        """Each y of the chain is absent behind its x, or in the whole gap where nothing orders them."""
        for place, pairs in enumerate(chains.pairs.T):
            partners = self._pairs.partners.take(pairs)
            if self.together.in_order:
                yield Absences(partners.owner, partners.members, after=place)
            else:
                yield Absences(partners.owner, partners.members)
        if events.shape[1] and not self.together.in_order:
            yield self._absent_beside(chains)
