"""Events that one alternative binds, or several at once: how probable it is that all hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, TickSpans
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.rivals import Rivals
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import measure

if TYPE_CHECKING:
    from cepctl.engines.confidence.intervals.search import IntervalSearch
    from cepctl.engines.event.alternative import PreparedAlternative

_Bound = dict[int, Bindings]


@dataclass(frozen=True)
class JointMatches:
    """Matches of the first of some alternatives, all of which bind the same events."""

    sources: tuple[PreparedAlternative, ...]
    matches: MatchBatch

    @classmethod
    def of(cls, sources: Sequence[PreparedAlternative], matches: MatchBatch) -> JointMatches:
        """Plain chains that bind the same events hold in the same worlds."""
        plain = all(each.plain for each in sources)
        return cls(tuple(sources[:1] if plain else sources), matches)

    def within(self, rows: Indexes, spans: TickSpans) -> Reals:
        """P(all alternatives hold, and what they bind lies within the span) of some rows, ascending.

        Raises
        ------
        QueryTooLargeError
            If one needs more work than is allowed.
        """
        whole = Batch(self._measure, self._bound, self._rivals, self._lasting).taken(rows)
        return measure(replace(whole, spans=spans)).confidence

    def measured(self) -> Measured:
        """How probable it is that all alternatives hold, with an error where one is allowed."""
        own = replace(self._measure, sampling=self.sources[0].measure.sampling)
        return measure(Batch(own, self._bound, self._rivals, self._lasting))

    @cached_property
    def _lasting(self) -> tuple[IntervalSearch, ...]:
        return tuple(search for each in self.sources for search in each.lasting)

    @cached_property
    def _measure(self) -> Measure:
        # Each is measured exactly: the ticks at which a match is decided are looked for.
        own = replace(self.sources[0].measure, sampling=None)
        return own if len(self.sources) == 1 or self._lasting else replace(own, shape=self._shape, joint=True)

    @cached_property
    def _shape(self) -> Shape:
        if len(self.sources) == 1:
            return self.sources[0].shape
        from cepctl.engines.pattern.conjunction import intersection

        return intersection([each.shape for each in self.sources])

    @cached_property
    def _bound(self) -> _Bound:
        return bound_by(self.sources[0], self.matches)

    @cached_property
    def _rivals(self) -> list[Rivals]:
        if self._lasting:
            return []
        if len(self.sources) == 1:
            source = self.sources[0]
            return [] if source.shape.plain_chain else source.rivals(self._bound)
        from cepctl.engines.pattern.conjunction import Renumbering

        found = []
        for each in self.sources:
            common = Renumbering(each.shape, self._shape)
            own = each.rivals(bound_by(each, self.matches))
            found += [replace(rival, rule=common.rule(rival.rule)) for rival in own]
        return found


def bound_by(source: PreparedAlternative, matches: MatchBatch) -> _Bound:
    """The events of matches as one of the alternatives binds them: one that is a group for it is one here."""
    return {
        i: _as_group(each) if source.alternative.components[i].kleene else _as_single(each)
        for i, each in zip(source.search.singles, matches.bound, strict=True)
    }


def _as_group(bound: Bindings) -> Group:
    return bound if isinstance(bound, Group) else Group(np.arange(len(bound) + 1), bound)


def _as_single(bound: Bindings) -> Indexes:
    return bound.members if isinstance(bound, Group) else bound
