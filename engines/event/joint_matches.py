"""Events that one alternative binds, or several at once: how probable it is that all hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, TickSpans, take_matches
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.engines.pattern.bound_matches import Rivals
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
        """P(all alternatives hold, and what they show lies within the span) of some rows, ascending.

        Something may be absent as a whole where there is but one of them.

        Raises
        ------
        QueryTooLargeError
            If one needs more work than is allowed.
        """
        if self.sources[0].shape.together:
            return self._within_parts(rows, spans)
        rivals, never = self._decisive
        whole = Batch(self._measure, self._bound, rivals, self._lasting).taken(rows)
        return np.where(never[rows], 0.0, measure(replace(whole, spans=spans)).confidence)

    def measured(self) -> Measured:
        """How probable it is that all alternatives hold, with an error where one is allowed."""
        own = replace(self._measure, sampling=self.sources[0].measure.sampling)
        rivals, never = self._decisive
        found = measure(Batch(own, self._bound, rivals, self._lasting))
        if never.any():
            found.put(np.flatnonzero(never), impossible(int(never.sum())))
        return found

    def _within_parts(self, rows: Indexes, spans: TickSpans) -> Reals:
        """The same of matches that fall into parts, with events that they do not show."""
        from cepctl.engines.event.absent_parts import AbsentParts

        (source,), found = self.sources, np.zeros(len(rows))
        bound = take_matches(self._bound, rows)
        rivals = source.rivals(bound) if source.shape.rules else []
        for part in AbsentParts(source, self._measure).parts(bound, rivals):
            inside = measure(replace(part.batch, spans=spans.take(part.row)))
            np.add.at(found, part.row, inside.confidence)
        return found

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
    def _decisive(self) -> tuple[list[Rivals], Flags]:
        """The rivals that the matches do not bind, and in which matches some member is certainly a rival.

        Where the events are apart, a member after the first would have been taken by what follows its group.
        """
        never, found = np.zeros(len(self.matches), dtype=bool), list[Rivals]()
        for each in self._rivals:
            first = each.rule.regions[0][0].point if each.rule.members_too else None
            if first is None or self._shape.blocks[first.block].kind is not BlockKind.SINGLE:
                found.append(each)
                continue
            own = np.zeros(len(each.row), dtype=bool)
            for block in self._shape.blocks:
                events = self._bound[block.components[0]]
                if block.kind is BlockKind.SINGLE and not isinstance(events, Group):
                    is_member = events[each.row] == each.event
                    own |= is_member
                    if block != self._shape.blocks[first.block]:
                        never[each.row[is_member]] = True
            found.append(replace(each, row=each.row[~own], event=each.event[~own]))
        return found, never

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
