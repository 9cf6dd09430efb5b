"""Events that one alternative binds, or several at once: how probable it is that all hold within spans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.bindings import (
    Bindings,
    Group,
    MatchBatch,
    TickSpans,
    events_in,
    flattened,
    places_of,
    take,
)
from cepctl.engines.columns.endpoints import cut_masses
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.measure.measure import Measure
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.rivals import Rivals
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.combinators import touched
from cepctl.engines.solve.methods import measure

if TYPE_CHECKING:
    from cepctl.engines.event.alternative import PreparedAlternative

_Bound = dict[int, Bindings]


@dataclass(frozen=True)
class JointMatches:
    """Matches of the first of some alternatives, all of which bind the same events, none of which lasts."""

    sources: tuple[PreparedAlternative, ...]
    matches: MatchBatch

    @classmethod
    def of(cls, sources: Sequence[PreparedAlternative], matches: MatchBatch) -> JointMatches:
        """Plain chains that bind the same events hold in the same worlds."""
        plain = all(each.shape.plain_chain for each in sources)
        return cls(tuple(sources[:1] if plain else sources), matches)

    def within(self, rows: Indexes, spans: TickSpans) -> Reals:
        """P(all alternatives hold, and what they bind lies within the span) of some rows, ascending.

        Raises
        ------
        QueryTooLargeError
            If one needs more work than is allowed.
        """
        bound = {i: take(each, rows) for i, each in self._bound.items()}
        rivals = [each.taken(rows) for each in self._rivals]
        tied = self._tied(bound, rivals, len(rows))
        found = np.zeros(len(rows))
        for some, measured in ((~tied, self._of_free), (tied, self._of_tied)):
            here = np.flatnonzero(some)
            if len(here):
                chosen = {i: take(each, here) for i, each in bound.items()}
                others = [each.taken(here) for each in rivals]
                found[here] = measured(chosen, others, spans.take(here))
        return found

    def _of_free(self, bound: _Bound, rivals: list[Rivals], spans: TickSpans) -> Reals:
        """Of matches that nothing is given of."""
        events = self.sources[0].events
        if events.clocks is not None:
            from cepctl.engines.clocks.within_spans import within_on_clocks

            return within_on_clocks(
                events.clocks, events.masses, self._shape, bound, rivals, spans, self._measured
            )
        others = np.unique(np.concatenate([np.zeros(0, np.int64), *(each.event for each in rivals)]))
        row, event, numbered = flattened(bound)
        whose = spans.take(row).followed_by_everywhere(len(others))
        masses, share = cut_masses(events.masses, np.concatenate([event, others]), whose.first, whose.last)
        inside = np.ones(len(spans.first))
        np.multiply.at(inside, row, share[: len(row)])
        possible = np.flatnonzero(inside > 0.0)
        found = np.zeros(len(inside))
        if len(possible):
            moved = []
            for each in rivals:
                # An event that a match binds may be another rule's rival of it: it is cut there, too.
                stranger = len(row) + np.searchsorted(others, each.event)
                number = places_of(row, event, each.row, each.event, stranger)
                moved.append(replace(each, event=number).taken(possible))
            chosen = {i: take(each, possible) for i, each in numbered.items()}
            found[possible] = inside[possible] * self._measured(masses, chosen, moved).confidence
        return found

    def _of_tied(self, bound: _Bound, rivals: list[Rivals], spans: TickSpans) -> Reals:
        """Of matches that something is given of, in the worlds that remain."""
        from cepctl.engines.given.within_spans import tied_within

        events, shape, memory = self.sources[0].events, self._shape, self.sources[0].options.block_memory
        assert events.ties is not None
        if events.clocks is None:
            return tied_within(shape, memory, events.masses, events.ties, bound, rivals, spans).confidence
        from cepctl.engines.given.clocked_confidences import given_within_on_clocks
        from cepctl.engines.given.on_clocks import GivenOnClocks

        known = GivenOnClocks.of(events.clocks, events.ties)
        return given_within_on_clocks(known, events.masses, shape, bound, rivals, spans, memory)

    def _tied(self, bound: _Bound, rivals: list[Rivals], count: int) -> Flags:
        if self._measure.ties is None:
            return np.zeros(count, dtype=bool)
        return touched(Batch(self._measure, bound, rivals))

    def _measured(self, masses: Masses, bound: _Bound, rivals: list[Rivals]) -> Measured:
        """The confidence of independent events with these masses."""
        return measure(Batch(self._measure.placed(masses), bound, rivals))

    @cached_property
    def _measure(self) -> Measure:
        own = self.sources[0].measure
        return own if len(self.sources) == 1 else replace(own, shape=self._shape, joint=True)

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
        i: _as_group(each) if source.alternative.components[i].kleene else events_in(each)
        for i, each in zip(source.search.singles, matches.bound, strict=True)
    }


def _as_group(bound: Bindings) -> Group:
    return bound if isinstance(bound, Group) else Group(np.arange(len(bound) + 1), bound)
