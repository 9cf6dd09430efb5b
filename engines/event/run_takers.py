"""Who may take next in a run, and where events that would have taken must not lie.

After an event of the run its *takers* are the group itself, while it has room, and the component behind it,
once the group has enough members; where that may be absent, the next one, too, and so on.  Between two events
that a run takes one after the other there is no event that fits a taker.  Where a taker stands behind the
component that took the later one, there is none at its tick either: the last taker takes.

    run            a     b     b     c
    takers            b     b,c   b,c
    absent            b in (a, b)    b in (b, b), c in (b, b]     b and c in (b, c)

Where an event may not lie in one gap nor in the next, ends included, it may not lie in both together.

A set, a group without order, is one block.  From the event before it on it takes all that fits it, and what
is behind it may take from its first event on:

    run            a     {b, b}     c
    takers            b         b,c
    absent            b in (a, c)    c in (first b, c), other members among them

What leads to the last AND takes as it does without a group behind it: takers are those after its last event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.engines.columns.numbering import rows_alike
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.pattern.blocks import AbsenceRule, Point, RegionEnd, Rivals
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Alternative
from cepctl.plan.unrolled import Unrolled


@dataclass(frozen=True)
class Stretch:
    """From after one block of a run to another one, which is not part of it unless it is `closed`."""

    begin: int
    end: int
    closed: bool = False


@dataclass(frozen=True)
class Takers:
    """The takers after each block of runs that take one event after the other."""

    form: Unrolled
    window: int | None

    @property
    def reading(self) -> Alternative:
        """What the runs are of."""
        return self.form.reading

    @cached_property
    def taken(self) -> tuple[int, ...]:
        """The component that takes last in each block."""
        return tuple(self.form.taken[places[-1]] for places in self.form.places)

    def is_set(self, block: int) -> bool:
        """Whether a block is a group without order."""
        return self.reading.components[self.taken[block]].is_set

    def _is_running(self, block: int) -> bool:
        """Whether a block is the end of a match, and others take more of the same group."""
        return block == len(self.taken) - 1 and self.reading.components[self.taken[block]].running

    def after(self, block: int) -> list[int]:
        """The components that may take after the first event of a set, or another block, in pattern order.

        After the last event of a running group none is asked for: each number of members is a match.
        """
        if block < self.form.lead_blocks - 1:
            return []
        taker = self.taken[block]
        component, order = self.reading.components[taker], self.reading.positive
        if self._is_running(block):
            return []
        members = self.form.taken[: self.form.places[block].stop].count(taker)
        has_room = component.kleene and (component.most is None or members < component.most)
        found = [taker] if has_room else []
        for other in order[order.index(taker) + 1 :] if members >= component.least else ():
            found.append(other)
            if self.reading.components[other].least:
                break
        return found

    def instead_of(self, place: int) -> list[int]:
        """The components that may take where a run takes the event at a place, not the first."""
        if place < self.form.lead:
            return []
        before = self.form.block_at(place - 1)
        # A running set, too, takes all that fits up to its last member.
        goes_on = before == self.form.block_at(place) and self._is_running(before)
        return [self.taken[before]] if goes_on else self.after(before)

    def take_from(self, rows: Indexes, upper: Ticks, place: int) -> Ticks:
        """Until when those begin to take which may where runs take the event at a place, shape (n,).

        `rows`: the events that runs take, shape (n, l); `upper`: until when each event may happen.  Of a set
        its first event has come by then.
        """
        block = self.form.block_at(place - 1)
        places = self.form.places[block]
        ticks = upper[rows[:, places.start : min(places.stop, place)]]
        return np.asarray(ticks.min(axis=1) if self.is_set(block) else ticks.max(axis=1))

    def gaps(self, component: int) -> list[Stretch]:
        """Between which blocks of the run a component is a taker."""
        last = len(self.taken) - 1
        found = [
            Stretch(block, block + 1, closed=block < last and self._takes_at(component, block + 1))
            for block in range(last + 1)
            if component in self.after(block)
        ]
        if self._is_running(last) and self.is_set(last) and component == self.taken[last]:
            found.append(Stretch(last, last + 1))
        return found

    def _takes_at(self, component: int, block: int) -> bool:
        """Whether what fits a component takes at the tick of a block, too."""
        return component > self.taken[block] or (component == self.taken[block] and self.is_set(block))

    def rule(self, component: int, stretch: Stretch) -> AbsenceRule:
        """No event that fits the component lies there; `component` is how the rule names it."""
        own, begin = self.form.origin[component], stretch.begin
        after_set = self.is_set(begin)
        # A set that begins the pattern takes all that fits from its first tick on.
        is_own = after_set and own == self.taken[begin]
        after = Point(begin, "first" if after_set else "last")
        ends = [RegionEnd(after, 0 if is_own else 1, is_lower=True)]
        if stretch.end < len(self.taken):
            through = self.is_set(stretch.end) and own == self.taken[stretch.end]
            end = Point(stretch.end, "last" if through else "first")
            ends.append(RegionEnd(end, 0 if stretch.closed else -1, is_lower=False))
        elif self._is_running(len(self.taken) - 1):
            ends.append(RegionEnd(Point(len(self.taken) - 1, "last"), 0, is_lower=False))
        elif self.window is not None:
            ends.append(RegionEnd(Point(0, "first"), self.window - 1, is_lower=False))
        others_too = after_set and not is_own and len(self.form.places[begin]) > 1
        return AbsenceRule(component, (tuple(ends),), members_too=others_too)

    def of_blocks(self, valid: tuple[Ticks, Ticks]) -> BlockTicks:
        """When the blocks of runs begin and end, whose events have these earliest and latest ticks.

        Shape (n, l).  A set begins with its first event, AND ends with its last one.
        """
        sets = np.array([self.is_set(block) for block in range(len(self.taken))])
        if self.of_single_events and not sets.any():
            return BlockTicks(*valid, valid[1])
        starts = [places.start for places in self.form.places]
        first = [np.minimum.reduceat(ticks, starts, axis=1) for ticks in valid]
        last = [np.maximum.reduceat(ticks, starts, axis=1) for ticks in valid]
        earliest, latest = (np.where(sets, one, other) for one, other in zip(first, last, strict=True))
        return BlockTicks(earliest - sets, latest, last[1])

    @property
    def of_single_events(self) -> bool:
        """Whether each block is one event."""
        return len(self.taken) == len(self.form.taken)

    def whole(self, component: int) -> Stretch | None:
        """All of these gaps together."""
        gaps = self.gaps(component)
        return replace(gaps[-1], begin=gaps[0].begin) if gaps else None


@dataclass(frozen=True)
class BlockTicks:
    """Of each block of n runs the earliest and latest tick of where it begins, and the latest of its end.

    Shape (n, blocks).  A set begins one tick before its first event, at which more of it may be taken.
    """

    earliest: Ticks
    latest: Ticks
    until: Ticks


def stretches(
    gaps: Sequence[Stretch], fits: Flags, blocks: BlockTicks, row: Indexes, own: tuple[Ticks, Ticks]
) -> Iterator[tuple[Stretch, Indexes]]:
    """Where events must not lie, and which of some pairs of a run and an event that is said of.

    `fits`, shape (pairs, gaps): whether the event fits the taker in each gap.  `own`: earliest and latest
    ticks of the events of pairs, shape (pairs,).
    """
    count = len(row)
    since = np.full(count, -1)
    for number, gap in enumerate(gaps):
        fit = fits[:, number]
        since[fit & (since < 0)] = gap.begin
        goes_on = np.zeros(count, dtype=bool)
        if gap.closed and number + 1 < len(gaps):
            goes_on = fit & fits[:, number + 1]
        ends = np.flatnonzero((since >= 0) & ~goes_on)
        yield from _narrowed(since[ends], gap, blocks, row[ends], own, ends)
        since[ends] = -1


def _narrowed(
    since: Indexes, gap: Stretch, blocks: BlockTicks, row: Indexes, own: tuple[Ticks, Ticks], pairs: Indexes
) -> Iterator[tuple[Stretch, Indexes]]:
    """Stretches without what lies there in no world: events of the run that are surely before or after."""
    earliest, latest = own[0][pairs], own[1][pairs]
    last = blocks.until.shape[1] - 1
    begin, end, closed = since.copy(), np.full(len(pairs), gap.end), np.full(len(pairs), gap.closed)
    for block in range(gap.begin, -1, -1):
        certainly = (block >= since) & (begin < block) & (earliest > blocks.latest[row, block])
        begin[certainly] = block
    for block in range(min(gap.end, last), 0, -1):
        certainly = (block > since) & (latest < blocks.earliest[row, block])
        end[certainly], closed[certainly] = block, False
    possible = (begin < end) & (latest > blocks.earliest[row, begin])
    inside = np.minimum(end, last)
    until = np.where(closed, blocks.until[row, inside], shifted(blocks.until[row, inside], -1))
    possible &= (end > last) | (earliest <= until)
    for stretch, chosen in _by_kind(begin, end, closed, np.flatnonzero(possible)):
        yield stretch, pairs[chosen]


def _by_kind(
    begin: Indexes, end: Indexes, closed: Flags, chosen: Indexes
) -> Iterator[tuple[Stretch, Indexes]]:
    kinds = np.stack([begin[chosen], end[chosen], closed[chosen]], axis=1)
    for kind, rows in rows_alike(kinds):
        first, last, own = kind.tolist()
        yield Stretch(first, last, bool(own)), chosen[rows]


def joined(found: Mapping[AbsenceRule, Sequence[tuple[Indexes, Indexes]]]) -> list[Rivals]:
    """The rivals of each rule, by ascending rows."""
    rivals = []
    for rule, parts in found.items():
        row = np.concatenate([part[0] for part in parts])
        event = np.concatenate([part[1] for part in parts])
        order = np.lexsort((event, row))
        rivals.append(Rivals(rule, row[order], event[order]))
    return rivals
