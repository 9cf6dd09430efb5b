"""What must not happen as a whole of three or more parts, `!SEQ(X x, Y y, Z z)` and `!AND(...)`: their first.

Either no x lies in the gap, or a first one does, but no y behind it, or a first y does as well, but no z
behind that; and so on.  Where nothing orders the parts, "behind" is anywhere in the gap.  So it is where no
condition ties one part to another, and no event fits two that nothing orders.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.columns.events import Events
from cepctl.engines.event.chained_pairs import Fitting
from cepctl.engines.event.hidden_events import (
    Absences,
    HiddenEvents,
    Kinds,
    entries_of,
    first_of,
    require_few,
    with_another,
)
from cepctl.engines.pattern.blocks import Together
from cepctl.errors import UnsupportedQueryError

_FITS_TWO = (
    "not supported yet: !AND of more than two where one event fits two of its parts; tell them apart by "
    "their types or conditions, or use --engine worlds"
)


@dataclass(frozen=True)
class FirstParts:
    """Some matches, and what of several parts must not happen in their gap."""

    events: Events
    together: Together
    fitting: Fitting
    bound: dict[int, Bindings]
    count: int

    def parts(self) -> Iterator[HiddenEvents]:
        """The parts without any x, then those with one and without y, and so on."""
        found = [self.fitting(self.bound, part) for part in self.together.parts]
        if not self.together.in_order:
            self._require_apart(found)
        row, hidden = np.arange(self.count), np.zeros((self.count, 0), dtype=np.int64)
        absent: list[Absences] = []
        spent = 0
        for own_row, own_event in found:
            part, at = entries_of(own_row, row, self.count)
            event = own_event[at]
            if self.together.in_order and hidden.shape[1]:
                masses = self.events.masses
                later = masses.upper[event] > masses.lower[hidden[part, -1]]
                later &= (hidden[part] != event[:, None]).all(axis=1)
                part, event = part[later], event[later]
            spent += len(part)
            require_few(spent)
            yield self._hidden(row, hidden, [*absent, Absences(part, event)])
            absent = [each.taken(part, len(row)) for each in [*absent, Absences(part, event)]]
            row, hidden = row[part], with_another(hidden, part, event)

    def _hidden(self, row: Indexes, hidden: Indexes, absent: list[Absences]) -> HiddenEvents:
        in_order = self.together.in_order
        kinds: Kinds = "in order" if in_order else "in any order"
        strictly = np.zeros((len(row), max(hidden.shape[1] - 1, 0)), dtype=bool) if in_order else None
        return HiddenEvents(row, hidden, tuple(first_of(self.events, hidden, absent, kinds)), strictly)

    def _require_apart(self, found: list[tuple[Indexes, Indexes]]) -> None:
        """Raise UnsupportedQueryError where an event fits two parts of one match."""
        size = len(self.events)
        pairs = np.concatenate([np.unique(row * size + event) for row, event in found])
        if len(np.unique(pairs)) < len(pairs):
            raise UnsupportedQueryError(_FITS_TWO)
