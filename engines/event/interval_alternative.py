"""An alternative that binds interval events: found by their hulls, measured by their starts and ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.intervals.search import IntervalSearch
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.search.search import Search
from cepctl.engines.search.threshold import Threshold

if TYPE_CHECKING:
    from cepctl.engines.pattern.bound_matches import Rivals
    from cepctl.engines.pattern.rivals import RivalJoin
    from cepctl.engines.search.shape_ranges import RangesOfPairs


@dataclass(frozen=True)
class IntervalAlternative(PreparedAlternative):
    """An alternative, and `intervals`, which knows what it asks of starts and ends and who can break it."""

    intervals: IntervalSearch = field(kw_only=True)

    @property
    def lasting(self) -> tuple[IntervalSearch, ...]:
        """What is asked of starts and ends."""
        return (self.intervals,)

    @property
    def searched(self) -> Events:
        """The events as bindings are searched among them: by all of time that each may last."""
        return self.intervals.hulls

    @property
    def plain(self) -> bool:
        """No: the order of the blocks says nothing of ends."""
        return False

    def beside(self, others: Sequence[PreparedAlternative]) -> IntervalAlternative:
        """The alternative as the source of rows that others give, too."""
        intervals = replace(self.intervals, others=tuple(each for one in others for each in one.lasting))
        return replace(self, others=tuple(others), intervals=intervals)

    def above(self, threshold: Threshold) -> IntervalAlternative:
        """Itself: nothing bounds a confidence before it is measured."""
        return self

    def ranges(self, confidence: float) -> tuple[RangesOfPairs, ...]:
        """None: nothing bounds how far apart two events are."""
        return ()

    def search_within_gaps(self) -> Search:
        """The search as it is: rivals are found when matches are measured."""
        return self.search

    def rivals(self, bound: dict[int, Bindings], joins: Sequence[RivalJoin] | None = None) -> list[Rivals]:
        """None: `intervals` finds them when matches are measured."""
        return []

    def judged(self, bound: dict[int, Bindings]) -> Measured:
        """Time range and confidence of matches; `intervals` finds their rivals."""
        return self.decided(bound, [])
