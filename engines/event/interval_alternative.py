"""An alternative that binds interval events: found by their hulls, measured by their starts and ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from cepctl.engines.columns.bindings import Bindings, single_events
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.intervals.conditions import cases_of, hull_system
from cepctl.engines.confidence.intervals.search import IntervalSearch
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.event.run_alternative import RunAlternative
from cepctl.engines.event.run_conditions import RunConditions
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.search.search import NOT_BOUND, Search
from cepctl.engines.search.threshold import Threshold
from cepctl.numeric.arrays import Flags, Indexes
from cepctl.plan.plan import Alternative, Plan
from cepctl.plan.unrolled import Unrolled

if TYPE_CHECKING:
    from cepctl.engines.pattern.blocks import Rivals
    from cepctl.engines.pattern.rivals import RivalJoin
    from cepctl.engines.search.threshold import RangesOfPairs


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


@dataclass(frozen=True)
class IntervalRun(IntervalAlternative, RunAlternative):
    """Runs some of whose events last; no other event decides what they take."""

    def may_happen(self, runs: Indexes) -> Flags:
        """All: `intervals` says it when they are measured."""
        return np.ones(len(runs), dtype=bool)


def interval_run(
    plan: Plan, events: Events, shape: Shape, search: Search, options: MatchOptions, form: Unrolled,
    conditions: RunConditions, unfinished: Alternative,
) -> IntervalRun:  # fmt: skip
    """Runs of an unrolled reading; `unfinished`: what is asked of those whose last members are not known."""
    bound = _without_rivals(form, form.alternative)
    candidates = search.candidates[: len(bound.components)]

    def fits(component: int, beside: dict[int, Bindings], row: Indexes, event: Indexes) -> Flags:
        """Whether events fit an absent component beside runs, and parts of what is absent as a whole."""
        parts = [i for i in beside if i not in bound.positive]
        taken = single_events([beside[i] for i in (*bound.positive, *parts)])
        asked = replace(conditions, taken=(*conditions.taken, *(form.origin[i] for i in parts)))
        return asked.fit(form.origin[component], taken, taken.shape[1], row, event)

    intervals = IntervalSearch.of(plan, bound, events, candidates, fits)
    system = hull_system(cases_of(_without_rivals(form, unfinished), plan.window), len(bound.positive))
    return IntervalRun(
        plan, events, replace(shape, rules=(), together=(), timings=()),
        replace(search, system=intervals.system), options,
        intervals=intervals, form_of=form, conditions=conditions, takers=None,
        begun=np.full((0, len(search.singles)), NOT_BOUND),
        unfinished_system=intervals.system if system is None else system,
    )  # fmt: skip


def _without_rivals(form: Unrolled, alternative: Alternative) -> Alternative:
    """An unrolled reading without what stands for events that must not be taken: others decide nothing."""
    count = len(form.origin) - len(form.rivals)
    kept = tuple(each for each in alternative.equalities if max(each.left, each.right) < count)
    return replace(alternative, components=alternative.components[:count], equalities=kept)
