"""What must not happen as a whole in a gap, one event after the other: those that count are hidden.

An event counts where it turns an awaited rest into one that was not awaited yet (`awaited_rests`).  A part is
a chain of events, each the first that counts after the one before it.  Where but one event is lacking, that
one is absent from then on.  Of several at one tick the one with the smaller id comes first; in `!SEQ` none of
them follows another.

    slot       0                    1                   2                       ...
    ticks      before the first     that of the first   between the first       and so on
               tick of the chain    tick                and the second tick
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.events import Events
from cepctl.engines.event.awaited_rests import Rests
from cepctl.engines.event.hidden_events import (
    OF_GAP,
    Absences,
    HiddenEvents,
    may_share_tick,
    require_few,
    with_another,
)
from cepctl.numeric.arrays import Flags, Indexes, Ticks


@dataclass(frozen=True)
class _HiddenChains:
    """n chains of hidden candidates: `row` is the match of each, `hidden` has shape (n, m).

    `tied`: which of them are at the tick of the one before; all chains are alike.  `awaited`, for each chain
    and rest: whether it is awaited; `soon`: whether it is from the next tick on.  `absent`, for each chain
    and candidate, by slot: whether the candidate is absent there.  `earliest`, `latest`: where the last tick
    can be.
    """

    row: Indexes
    hidden: Indexes
    tied: tuple[bool, ...]
    awaited: Flags
    soon: Flags
    absent: Flags
    earliest: Ticks
    latest: Ticks


@dataclass(frozen=True)
class _Moment:
    """What is so from some tick on.

    `forbidden`, `counts`, for each chain and candidate: whether it would make a whole, or be the next one.
    `open`, for each chain and step: whether it turns an awaited rest of which all may still happen.
    """

    forbidden: Flags
    counts: Flags
    open: Flags

    @property
    def absent(self) -> Flags:
        """What must be absent up to the next one of a chain."""
        return self.forbidden | self.counts


@dataclass(frozen=True)
class ScannedParts:
    """Some matches, the rests of their gap, and the parts that are left."""

    events: Events
    rests: Rests

    def parts(self) -> Iterator[HiddenEvents]:
        """The part without hidden events, and those with ever more."""
        count = len(self.rests.of_match.sizes)
        row, long_ago = np.arange(count), np.full(count, np.iinfo(np.int64).min)
        whole = self.rests.whole[self.rests.of_match.members]
        absent = np.zeros((len(self.rests.event), 0), dtype=bool)
        hidden = np.zeros((count, 0), dtype=np.int64)
        yield from self._from(
            _HiddenChains(row, hidden, (), whole, np.zeros_like(whole), absent, long_ago, long_ago)
        )

    def _from(self, chains: _HiddenChains) -> Iterator[HiddenEvents]:
        """The parts of these chains, and of all that are longer."""
        if not len(chains.row):
            return
        candidates = self.rests.candidates_of.take(chains.row)
        require_few(len(candidates.members))
        later = self._moment(chains, candidates, 1)
        absent = chains.absent.copy()
        if chains.tied:
            now, rank = self._moment(chains, candidates, 0), self.events.id_rank
            behind = rank[self.rests.event[candidates.members]] > rank[self._last(chains)][candidates.owner]
            absent[:, -1] |= now.absent & behind
        absent = np.column_stack([absent, later.absent])
        yield self._hidden(chains, candidates, absent)
        yield from self._from(self._followed(replace(chains, absent=absent), candidates, later))
        if chains.tied:
            yield from self._from(self._joined(chains, candidates, now, behind))

    def _last(self, chains: _HiddenChains) -> Indexes:
        return self.rests.event[chains.hidden[:, -1]]

    def _moment(self, chains: _HiddenChains, candidates: Group, after: int) -> _Moment:
        """What is so at the last tick of each chain, or after it."""
        of, rests, upper = self.rests, self.rests.of_match.take(chains.row), self.events.masses.upper
        known = chains.awaited | chains.soon
        in_force = known if after else chains.awaited
        begin = candidates.offsets[:-1] - of.candidates_of.offsets[chains.row]
        forbidden = np.zeros(len(candidates.members), dtype=bool)
        single = np.flatnonzero(in_force & (of.members.sizes[rests.members] == 1))
        forbidden[begin[rests.owner[single]] + of.members.take(rests.members[single]).members] = True
        gone = forbidden | (upper[of.event[candidates.members]] < chains.earliest[candidates.owner] + after)
        for each in chains.hidden.T:
            gone[begin + each] = True
        members = of.members.take(rests.members)
        lost = gone[begin[rests.owner[members.owner]] + members.members]
        may_happen = np.bincount(members.owner[lost], minlength=len(rests.members)) == 0
        steps = of.steps_of.take(chains.row)
        at = rests.offsets[:-1] - of.of_match.offsets[chains.row]
        turned, left = (at[steps.owner] + each[steps.members] for each in (of.steps.rest, of.steps.next))
        is_open = (in_force & may_happen)[turned]
        counts = np.zeros_like(forbidden)
        new = np.flatnonzero(is_open & ~known[left])
        counts[begin[steps.owner[new]] + of.steps.candidate[steps.members[new]]] = True
        return _Moment(forbidden, counts, is_open)

    def _followed(self, chains: _HiddenChains, candidates: Group, later: _Moment) -> _HiddenChains:
        """Each chain with each candidate that counts after its last tick."""
        chosen = np.flatnonzero(later.counts)
        chain, taken = candidates.owner[chosen], candidates.members[chosen]
        copied, before = self._copied(candidates, chain, taken)
        at_tick = later.forbidden[copied] | (later.counts[copied] & before)
        known = replace(chains, awaited=chains.awaited | chains.soon, soon=np.zeros_like(chains.soon))
        awaited, soon = self._turned(known, later, chain, taken)
        event = self.rests.event[taken]
        return _HiddenChains(
            chains.row[chain], with_another(chains.hidden, chain, taken), (*chains.tied, False), awaited,
            soon, np.column_stack([chains.absent[copied], at_tick]),
            np.maximum(chains.earliest[chain] + 1, self.events.masses.lower[event]),
            self.events.masses.upper[event],
        )  # fmt: skip

    def _joined(self, chains: _HiddenChains, candidates: Group, now: _Moment, behind: Flags) -> _HiddenChains:
        """Each chain with each candidate that counts at its last tick, `behind` its last one."""
        masses, event = self.events.masses, self.rests.event[candidates.members]
        meets = masses.lower[event] <= chains.latest[candidates.owner]
        chosen = np.flatnonzero(now.counts & behind & meets)
        chain, taken = candidates.owner[chosen], candidates.members[chosen]
        copied, before = self._copied(candidates, chain, taken)
        absent = chains.absent[copied]
        absent[:, -1] |= (now.absent & behind)[copied] & before
        awaited, soon = self._turned(chains, now, chain, taken)
        event = self.rests.event[taken]
        return _HiddenChains(
            chains.row[chain], with_another(chains.hidden, chain, taken), (*chains.tied, True), awaited,
            soon, absent, np.maximum(chains.earliest[chain], masses.lower[event]),
            np.minimum(chains.latest[chain], masses.upper[event]),
        )  # fmt: skip

    def _copied(self, candidates: Group, chain: Indexes, taken: Indexes) -> tuple[Indexes, Flags]:
        """The candidates of some of the chains, and whether each comes before the one that a chain takes."""
        entries = _entries(candidates).take(chain)
        rank = self.events.id_rank[self.rests.event]
        before = rank[candidates.members[entries.members]] < rank[taken][entries.owner]
        return entries.members, before

    def _turned(
        self, chains: _HiddenChains, moment: _Moment, chain: Indexes, taken: Indexes
    ) -> tuple[Flags, Flags]:
        """What is awaited at once, and soon, where some of the chains take a candidate each."""
        of = self.rests
        rests = _entries(of.of_match.take(chains.row)).take(chain)
        awaited, soon = chains.awaited[rests.members], chains.soon[rests.members]
        steps = of.steps_of.take(chains.row)
        entries = _entries(steps).take(chain)
        number = steps.members[entries.members]
        turns = moment.open[entries.members] & (of.steps.candidate[number] == taken[entries.owner])
        owner, left = entries.owner[turns], of.steps.next[number[turns]]
        place = rests.offsets[owner] - of.of_match.offsets[chains.row[chain]][owner] + left
        soon[place[of.in_order[left]]] = True
        awaited[place[~of.in_order[left]]] = True
        return awaited, soon

    def _hidden(self, chains: _HiddenChains, candidates: Group, absent: Flags) -> HiddenEvents:
        hidden, event = self.rests.event[chains.hidden], self.rests.event[candidates.members]
        begins = [place for place, tied in enumerate(chains.tied) if not tied]
        for number, place in enumerate(begins):
            taken = hidden[candidates.owner, place]
            absent[:, 2 * number + 1] &= may_share_tick(self.events.masses, event, taken)
        found = tuple(_absences(candidates.owner, event, absent, begins))
        return HiddenEvents(chains.row, hidden, found, chains.tied[1:])


def _entries(group: Group) -> Group:
    """The places of the members of each group."""
    return Group(group.offsets, np.arange(len(group.members)))


def _absences(part: Indexes, event: Indexes, absent: Flags, begins: list[int]) -> Iterator[Absences]:
    """Slots in which events are absent, those of each run of them together; of single gaps perhaps none.

    `begins`: the first hidden event of each tick.
    """
    edge = np.zeros((len(absent), 1), dtype=bool)
    inside = np.column_stack([edge, absent, edge])
    pair, first = np.nonzero(inside[:, 1:-1] & ~inside[:, :-2])
    _, last = np.nonzero(inside[:, 1:-1] & ~inside[:, 2:])
    slots = absent.shape[1]
    run = first * slots + last
    gaps = range(0, slots * slots, 2 * slots + 2)
    for each in sorted({*np.unique(run).tolist(), *gaps}):
        (since, at_first), (until, at_last) = divmod(each // slots, 2), divmod(each % slots, 2)
        own = pair[run == each]
        after = begins[since - (not at_first)] if each // slots else OF_GAP
        before = OF_GAP if each % slots == slots - 1 else begins[until]
        ends = np.full(len(own), bool(at_first)), np.full(len(own), bool(at_last))
        yield Absences(part[own], event[own], after, before, *ends)
