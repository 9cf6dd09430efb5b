"""What must not happen as a whole beside interval events: matches with the events that could make it happen.

A whole is one way to choose distinct events for all parts of `!SEQ(...)` or `!AND(...)`, each fitting beside
the match and the parts before it.  A match is measured as one of more events, its own and those of its
wholes, in the cases in which some condition of each whole fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.numbering import places_in_runs, rows_alike
from cepctl.engines.confidence.intervals.conditions import Case
from cepctl.engines.confidence.intervals.measure import IntervalMeasure, can_break, ticks_left
from cepctl.engines.confidence.intervals.rivals import FoundWholes, Negation, Whole
from cepctl.engines.confidence.intervals.tied_matches import measured
from cepctl.engines.confidence.intervals.ways_to_be_absent import Absent, cases_without, free_rivals
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.work import BESIDE_WHOLES, NARROW, too_costly

MOST_HIDDEN = 64
"""Events that could make a whole happen, and are measured with the match."""


def beside_wholes(
    measure: IntervalMeasure, matches: Indexes, rows: Indexes
) -> Iterator[tuple[IntervalMeasure, Indexes, Indexes]]:
    """How matches are measured that no whole may break: with the events of these, those alike together.

    Raises
    ------
    QueryTooLargeError
        If too many events could make a whole happen, or it can fail to happen in too many ways.
    """
    if measure.wholes is None:
        yield measure, matches, rows
        return
    found = [can_break(measure, matches, each) for each in measure.wholes(matches)]
    alone = replace(measure, wholes=None)
    broken = np.unique(np.concatenate([np.zeros(0, np.int64), *(row for _, row, _ in found)]))
    free = np.setdiff1d(np.arange(len(matches)), broken)
    if len(free):
        yield alone, matches[free], rows[free]
    if len(broken):
        for own, events, some in _Hidden.of(alone, matches, found).alike():
            yield own, events, rows[some]


def measured_beside_wholes(measure: IntervalMeasure, matches: Indexes) -> Measured:
    """Matches, shape (n, l), that no whole may break."""
    found = impossible(len(matches))
    for own, events, rows in beside_wholes(measure, matches, np.arange(len(matches))):
        found.put(rows, measured(own, events))
    return found


@dataclass(frozen=True)
class _Hidden:
    """Matches that a whole may break: `row` of each hidden event, `event`; `ways`: what may break them.

    A way is a whole or a rival that is hidden too: what it asks, its rows and its events, shape (w, parts).
    """

    measure: IntervalMeasure
    matches: Indexes
    row: Indexes
    event: Indexes
    ways: Sequence[FoundWholes]

    @classmethod
    def of(cls, measure: IntervalMeasure, matches: Indexes, found: Sequence[FoundWholes]) -> _Hidden:
        many = int(max(events.max(initial=0) for _, _, events in found)) + 1
        keys = [np.repeat(row, events.shape[1]) * many + events.reshape(-1) for _, row, events in found]
        hidden = np.unique(np.concatenate(keys))
        if (most := int(np.bincount(hidden // many).max(initial=0))) > MOST_HIDDEN:
            why = f"{most:,} events could make it happen"
            what = "the exact confidence of a match"
            raise too_costly(what, BESIDE_WHOLES, f"{MOST_HIDDEN} events", why, NARROW)
        ways = list(found)
        for each in measure.rivals(matches) if measure.rivals is not None else ():
            negation, row, event = can_break(measure, matches, each)
            among = np.isin(row * many + event, hidden) & (event < many)
            ways.append((negation, row[among], event[among][:, None]))
        return cls(measure, matches, hidden // many, hidden % many, ways)

    def alike(self) -> Iterator[tuple[IntervalMeasure, Indexes, Indexes]]:
        """Those together whose ways ask the same of the same places: how each is measured, and rows."""
        rows, begin, sizes = np.unique(self.row, return_index=True, return_counts=True)
        told = [self._told(number, *way) for number, way in enumerate(self.ways)]
        row = np.concatenate([each[0] for each in told])
        width = max(each[1].shape[1] for each in told)
        codes = np.concatenate([_padded(each[1], width) for each in told])
        order = np.argsort(row, kind="stable")
        row, codes = row[order], codes[order]
        match, slot = places_in_runs(np.bincount(np.searchsorted(rows, row), minlength=len(rows)))
        key = np.full((len(rows), int(slot.max()) + 1, width), -1)
        key[match, slot] = codes
        flat = np.column_stack([sizes, key.reshape(len(rows), -1)])
        for alike, some in rows_alike(flat):
            hidden = self.event[begin[some][:, None] + np.arange(int(sizes[some[0]]))]
            events = np.concatenate([self.matches[rows[some]], hidden], axis=1)
            ways = alike[1:].reshape(-1, width)
            yield self._measure(ways[ways[:, 0] >= 0], events.shape[1]), events, rows[some]

    def _told(
        self, number: int, asked: Negation | Whole, row: Indexes, events: Indexes
    ) -> tuple[Indexes, Indexes]:
        """Rows of a way, and codes of each: its number, which conditions may fail, as bits, its places."""
        many = int(self.event.max()) + 1
        own = self.row * many + self.event
        first = np.searchsorted(self.row, row)
        places = np.searchsorted(own, row[:, None] * many + events) - first[:, None]
        together = np.column_stack([self.matches[row], events])
        rows, codes = [], []
        for at, case in enumerate(asked.cases):
            can, bits = self._open(case, together)
            told = [np.full(len(row), number), np.full(len(row), at), bits]
            rows.append(row[can])
            codes.append(np.column_stack([*told, places])[can])
        return np.concatenate(rows), np.concatenate(codes)

    def _open(self, case: Case, together: Indexes) -> tuple[Flags, Indexes]:
        """Where a case can hold beside the match; and which of its conditions may fail there, as bits."""
        can = self._possible(together, case)
        bits = np.zeros(len(together), dtype=np.int64)
        for number, (i, j, bound) in enumerate(case):
            bits |= self._possible(together, ((j, i, -bound - 1),)).astype(np.int64) << number
        return can, bits

    def _possible(self, together: Indexes, more: Case) -> Flags:
        asked = replace(self.measure, cases=tuple((*case, *more) for case in self.measure.cases))
        lower, upper = ticks_left(asked, together)
        return np.asarray((lower <= upper).all(axis=1))

    def _measure(self, ways: Indexes, width: int) -> IntervalMeasure:
        """How matches with so many events are measured, that none of these ways breaks."""
        own = self.matches.shape[1]
        absent: list[Absent] = []
        for number, at, bits, *places in ways.tolist():
            case = self.ways[number][0].cases[at]
            left = tuple(edge for place, edge in enumerate(case) if bits >> place & 1)
            absent.append(((left,), tuple(own + each for each in places if each >= 0)))
        cases = cases_without(self.measure.cases, absent, own, width, BESIDE_WHOLES)
        rivals = self.measure.rivals
        free = None if rivals is None else free_rivals(rivals, own)
        return replace(self.measure, cases=cases, rivals=free, counted=own)


def _padded(codes: Indexes, width: int) -> Indexes:
    return np.pad(codes, ((0, 0), (0, width - codes.shape[1])), constant_values=-1)
