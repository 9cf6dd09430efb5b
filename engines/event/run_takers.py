"""Who may take next in a run, and where events that would have taken must not lie.

After an event of the run its *takers* are the group itself, while it has room, and the component behind it,
once the group has enough members; where that may be absent, the next one, too, and so on.  Between two events
that a run takes one after the other there is no event that fits a taker.  Where a taker stands behind the
component that took the later one, there is none at its tick either: the last taker takes.

    run            a     b     b     c
    takers            b     b,c   b,c
    absent            b in (a, b)    b in (b, b), c in (b, b]     b and c in (b, c)

Where an event may not lie in one gap nor in the next, ends included, it may not lie in both together.

What leads to the last AND takes as it does without a group behind it: takers are those after its last event.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.pattern.blocks import AbsenceRule, Point, RegionEnd
from cepctl.engines.pattern.rivals import Rivals
from cepctl.plan.plan import Alternative
from cepctl.plan.unrolled import Unrolled


@dataclass(frozen=True)
class Stretch:
    """From after one event of a run to another one, which is not part of it unless it is `closed`."""

    begin: int
    end: int
    closed: bool = False


@dataclass(frozen=True)
class Takers:
    """The takers after each event of runs that take one after the other."""

    form: Unrolled
    window: int | None

    @property
    def reading(self) -> Alternative:
        """What the runs are of."""
        return self.form.reading

    @cached_property
    def taken(self) -> tuple[int, ...]:
        """The component that takes each event."""
        return self.form.taken

    def after(self, place: int) -> list[int]:
        """The components that may take after the event at a place, in the order of the pattern.

        After the last event of a running group none is asked for: each number of members is a match.
        """
        if place < self.form.lead - 1:
            return []
        taker = self.taken[place]
        component, order = self.reading.components[taker], self.reading.positive
        if component.running and place == len(self.taken) - 1:
            return []
        members = sum(each == taker for each in self.taken[: place + 1])
        has_room = component.kleene and (component.most is None or members < component.most)
        found = [taker] if has_room else []
        for other in order[order.index(taker) + 1 :] if members >= component.least else ():
            found.append(other)
            if self.reading.components[other].least:
                break
        return found

    def gaps(self, component: int) -> list[Stretch]:
        """Between which events of the run a component is a taker."""
        last = len(self.taken) - 1
        return [
            Stretch(place, place + 1, closed=place < last and component > self.taken[place + 1])
            for place in range(last + 1)
            if component in self.after(place)
        ]

    def rule(self, component: int, stretch: Stretch) -> AbsenceRule:
        """No event that fits the component lies there; `component` is how the rule names it."""
        joined = self.form.lead - self.form.lead_blocks
        ends = [RegionEnd(Point(stretch.begin - joined, "last"), 1, is_lower=True)]
        if stretch.end < len(self.taken):
            end = Point(stretch.end - joined, "first")
            ends.append(RegionEnd(end, 0 if stretch.closed else -1, is_lower=False))
        elif self.window is not None:
            ends.append(RegionEnd(Point(0, "first"), self.window - 1, is_lower=False))
        return AbsenceRule(component, (tuple(ends),))

    def together(self, place: int) -> slice:
        """The places of what is in one block with that at a place, which ends it."""
        last = self.reading.positive_blocks[self.form.lead_blocks - 1]
        return slice(place + 1 - (len(last) if place == self.form.lead - 1 else 1), place + 1)

    def of_blocks(self, valid: tuple[Ticks, Ticks]) -> tuple[Ticks, Ticks]:
        """Earliest and latest ticks of the events of runs, of AND those of its last one; shape (n, l)."""
        if not self.form.lead:
            return valid
        at, every = self.form.lead - 1, (valid[0].copy(), valid[1].copy())
        for ticks in every:
            ticks[:, at] = ticks[:, self.together(at)].max(axis=1)
        return every

    def whole(self, component: int) -> Stretch | None:
        """All of these gaps together."""
        gaps = self.gaps(component)
        return replace(gaps[-1], begin=gaps[0].begin) if gaps else None


def stretches(
    gaps: Sequence[Stretch], fits: Flags, valid: tuple[Ticks, Ticks], row: Indexes, own: tuple[Ticks, Ticks]
) -> Iterator[tuple[Stretch, Indexes]]:
    """Where events must not lie, and which of some pairs of a run and an event that is said of.

    `fits`, shape (pairs, gaps): whether the event fits the taker in each gap.  `valid`: earliest and latest
    ticks of the events of runs, shape (n, l); `own`: those of the events of pairs, shape (pairs,).
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
        yield from _narrowed(since[ends], gap, valid, row[ends], own, ends)
        since[ends] = -1


def _narrowed(
    since: Indexes, gap: Stretch, valid: tuple[Ticks, Ticks], row: Indexes, own: tuple[Ticks, Ticks],
    pairs: Indexes,
) -> Iterator[tuple[Stretch, Indexes]]:  # fmt: skip
    """The same without what lies there in no world: events of the run that certainly are before or after."""
    earliest, latest = own[0][pairs], own[1][pairs]
    begin, end, closed = since.copy(), np.full(len(pairs), gap.end), np.full(len(pairs), gap.closed)
    for place in range(gap.begin, -1, -1):
        certainly = (place >= since) & (begin < place) & (earliest > valid[1][row, place])
        begin[certainly] = place
    for place in range(min(gap.end, valid[0].shape[1] - 1), 0, -1):
        certainly = (place > since) & (latest < valid[0][row, place])
        end[certainly], closed[certainly] = place, False
    possible = (begin < end) & (latest > valid[0][row, begin])
    inside = np.minimum(end, valid[0].shape[1] - 1)
    until = np.where(closed, valid[1][row, inside], shifted(valid[1][row, inside], -1))
    possible &= (end == valid[0].shape[1]) | (earliest <= until)
    for stretch, chosen in _by_kind(begin, end, closed, np.flatnonzero(possible)):
        yield stretch, pairs[chosen]


def _by_kind(
    begin: Indexes, end: Indexes, closed: Flags, chosen: Indexes
) -> Iterator[tuple[Stretch, Indexes]]:
    kinds = np.stack([begin[chosen], end[chosen], closed[chosen]], axis=1)
    found, kind = np.unique(kinds, axis=0, return_inverse=True)
    for number, (first, last, own) in enumerate(found.tolist()):
        yield Stretch(first, last, bool(own)), chosen[kind.reshape(-1) == number]


def joined(found: Mapping[AbsenceRule, Sequence[tuple[Indexes, Indexes]]]) -> list[Rivals]:
    """The rivals of each rule, by ascending rows."""
    rivals = []
    for rule, parts in found.items():
        row = np.concatenate([part[0] for part in parts])
        event = np.concatenate([part[1] for part in parts])
        order = np.lexsort((event, row))
        rivals.append(Rivals(rule, row[order], event[order]))
    return rivals
