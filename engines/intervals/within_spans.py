"""How probable it is that matches of interval events happen, and within a span of ticks each.

The endpoints that a match binds are cut where its span ends; those of its rivals stay as they are.  Matches
whose Kleene groups are of the same sizes are measured together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.bindings import MatchBatch, TickSpans
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.engines.intervals.on_clocks import measured_without_ties
from cepctl.engines.intervals.rivals import FoundRivals, renumbered
from cepctl.engines.intervals.search import IntervalSearch, alike_in_size, measure_of_all, of_sizes
from cepctl.engines.intervals.tied_matches import with_tied_events


@dataclass(frozen=True)
class PartOfMatches:
    """Matches, shape (n, l), and how they are measured; `given`, shape (n,), is what divides that.

    Where others that are tied to a match follow its own events, these alone lie within its span.
    """

    measure: IntervalMeasure
    matches: Indexes
    given: Reals

    @classmethod
    def of(cls, measure: IntervalMeasure, matches: Indexes) -> Iterator[tuple[Indexes, PartOfMatches]]:
        """Matches in parts that are measured together, each with its rows.

        Raises
        ------
        QueryTooLargeError
            If a match needs too many tied events, or too much work.
        """
        if measure.ties is None:
            yield np.arange(len(matches)), cls(measure, matches, np.ones(len(matches)))
            return
        for rows, own, events, given in with_tied_events(measure, measure.ties, matches):
            yield rows, cls(own, events, given)

    def within(self, rows: Indexes, spans: TickSpans) -> Reals:
        """P(a match happens, and all that it binds lies within its span) of some rows, ascending.

        Raises
        ------
        QueryTooLargeError
            If one needs more work than is allowed.
        """
        near = [renumbered(each, rows) for each in self._rivals]
        measure = replace(self.measure, rivals=(lambda _: near) if near else None)
        both = measured_without_ties(measure, self.matches[rows], spans).confidence
        return np.minimum(both / self.given[rows], 1.0)

    @cached_property
    def _rivals(self) -> list[FoundRivals]:
        return [] if self.measure.rivals is None else self.measure.rivals(self.matches)


@dataclass(frozen=True)
class JointIntervals:
    """Parts of matches, each alike in the sizes of groups; row i of all is `place[i]` of part `part[i]`."""

    parts: tuple[PartOfMatches, ...]
    part: Indexes
    place: Indexes

    @classmethod
    def of(cls, searches: Sequence[IntervalSearch], matches: MatchBatch) -> JointIntervals:
        """Matches of the first of some alternatives, all of which bind the same events."""
        parts: list[PartOfMatches] = []
        part, place = np.zeros(len(matches), np.int64), np.zeros(len(matches), np.int64)
        for sizes, events, rows in alike_in_size(matches.bound):
            own = [of_sizes(each, sizes) for each in searches]
            measure = own[0].measure if len(own) == 1 else measure_of_all(own)
            for some, alike in PartOfMatches.of(measure, events):
                part[rows[some]], place[rows[some]] = len(parts), np.arange(len(some))
                parts.append(alike)
        return cls(tuple(parts), part, place)

    def within(self, rows: Indexes, spans: TickSpans) -> Reals:
        """P(all alternatives hold, and what they bind lies within the span) of some rows, ascending.

        Raises
        ------
        QueryTooLargeError
            If one needs more work than is allowed.
        """
        found = np.zeros(len(rows))
        for number, each in enumerate(self.parts):
            here = np.flatnonzero(self.part[rows] == number)
            if len(here):
                found[here] = each.within(self.place[rows[here]], spans.take(here))
        return found
