"""Events that last, bound by one alternative or by several at once: as `JointMatches`.

Matches whose Kleene groups are of the same sizes are measured together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.bindings import MatchBatch
from cepctl.engines.columns.tick_spans import TickSpans
from cepctl.engines.intervals.groups import alike_in_size, of_sizes
from cepctl.engines.intervals.search import measure_of_all
from cepctl.engines.intervals.within_spans import LastingMatches

if TYPE_CHECKING:
    from cepctl.engines.event.alternative import PreparedAlternative


@dataclass(frozen=True)
class JointLasting:
    """Parts of matches, each alike in the sizes of groups; row i of all is `place[i]` of part `part[i]`."""

    parts: tuple[LastingMatches, ...]
    part: Indexes
    place: Indexes

    @classmethod
    def of(cls, sources: Sequence[PreparedAlternative], matches: MatchBatch) -> JointLasting:
        """Matches of the first of some alternatives, all of which bind the same events."""
        searches = [each.intervals for each in sources if each.intervals is not None]
        parts: list[LastingMatches] = []
        part, place = np.zeros(len(matches), np.int64), np.zeros(len(matches), np.int64)
        for sizes, events, rows in alike_in_size(matches.bound):
            own = [of_sizes(each, sizes) for each in searches]
            measure = own[0].measure if len(own) == 1 else measure_of_all(own)
            for some, alike in LastingMatches.of(measure, events):
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
