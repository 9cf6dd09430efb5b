"""What must not happen as a whole of parts that no condition ties to each other: their first events.

Either no x lies in the gap, or a first one does, but no y behind it, or a first y does as well, but no z
behind that; and so on.  Where nothing orders the parts, "behind" is anywhere in the gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.columns.events import Events
from cepctl.engines.event.awaited_rests import Fitting
from cepctl.engines.event.hidden_events import (
    OF_GAP,
    Absences,
    HiddenEvents,
    entries_of,
    may_share_tick,
    require_few,
    with_another,
)
from cepctl.engines.pattern.blocks import Together
from cepctl.numeric.arrays import Flags, Indexes


@dataclass(frozen=True)
class FirstParts:
    """Some matches, and which events fit each part of what must not happen: pairs (match, event)."""

    events: Events
    in_order: bool
    found: Sequence[tuple[Indexes, Indexes]]
    count: int

    @classmethod
    def of(
        cls, together: Together, events: Events, fitting: Fitting, bound: dict[int, Bindings], count: int
    ) -> FirstParts | None:
        """None where an event fits two parts that nothing orders."""
        found = [fitting(together, bound, part) for part in together.parts]
        if not together.in_order:
            pairs = np.concatenate([np.unique(row * len(events) + event) for row, event in found])
            if len(np.unique(pairs)) < len(pairs):
                return None
        return cls(events, together.in_order, found, count)

    def parts(self) -> Iterator[HiddenEvents]:
        """The parts without any x, then those with one and without y, and so on."""
        row, hidden = np.arange(self.count), np.zeros((self.count, 0), dtype=np.int64)
        absent: list[Absences] = []
        spent = 0
        for own_row, own_event in self._completed():
            part, at = entries_of(own_row, row, self.count)
            event = own_event[at]
            if self.in_order and hidden.shape[1]:
                masses = self.events.masses
                later = masses.upper[event] > masses.lower[hidden[part, -1]]
                later &= (hidden[part] != event[:, None]).all(axis=1)
                part, event = part[later], event[later]
            spent += len(part)
            require_few(spent)
            absent.append(Absences(part, event, hidden.shape[1] - 1 if self.in_order else OF_GAP))
            yield self._hidden(row, hidden, absent)
            absent = [each.taken(part, len(row)) for each in absent]
            row, hidden = row[part], with_another(hidden, part, event)

    def _completed(self) -> Iterator[tuple[Indexes, Indexes]]:
        """Those of each part behind which the others may follow."""
        never = np.iinfo(np.int64).min
        latest = np.full(self.count, np.iinfo(np.int64).max)
        kept, masses = list[tuple[Indexes, Indexes]](), self.events.masses
        for every, fitting in reversed(self.found):
            before = masses.lower[fitting] < latest[every]
            row, event = every[before], fitting[before]
            kept.append((row, event))
            behind = np.full(self.count, never)
            np.maximum.at(behind, row, masses.upper[event])
            latest = behind if self.in_order else np.where(behind > never, latest, never)
        return reversed(kept)

    def _hidden(self, row: Indexes, hidden: Indexes, absent: Sequence[Absences]) -> HiddenEvents:
        """Each hidden event is the first of its part: of several at one tick the one with the smaller id."""
        count = hidden.shape[1]
        firsts = [
            replace(each, before=place, at_last=self._comes_first(each.event, hidden[each.part, place]))
            for place, each in enumerate(absent[:count])
        ]
        order = (False,) * max(count - 1, 0) if self.in_order else None
        return HiddenEvents(row, hidden, (*firsts, *absent[count:]), order)

    def _comes_first(self, event: Indexes, hidden: Indexes) -> Flags:
        """Whether events that share the tick of hidden ones come before them."""
        rank = self.events.id_rank
        return np.asarray((rank[event] < rank[hidden]) & may_share_tick(self.events.masses, event, hidden))
