"""Events that one alternative binds, or several at once: how probable it is that all hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, TickSpans, take_matches
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import measure
from cepctl.numeric.arrays import Flags, Indexes, Reals

if TYPE_CHECKING:
    from cepctl.engines.confidence.intervals.search import IntervalSearch
    from cepctl.engines.event.alternative import PreparedAlternative
    from cepctl.plan.plan import Alternative

_Bound = dict[int, Bindings]


@dataclass(frozen=True)
class JointMatches:
    """Matches of the first of some alternatives, all of which bind the same events.

    Only in the shape of the first may something be absent as a whole.
    """

    sources: tuple[PreparedAlternative, ...]
    matches: MatchBatch

    @classmethod
    def of(cls, sources: Sequence[PreparedAlternative], matches: MatchBatch) -> JointMatches:
        """Plain chains that bind the same events hold in the same worlds."""
        if all(each.plain for each in sources):
            return cls(tuple(sources[:1]), matches)
        return cls(tuple(sorted(sources, key=lambda each: not each.shape.together)), matches)

    def within(self, rows: Indexes, spans: TickSpans) -> Reals:
        """P(all alternatives hold, and what they show lies within the span) of some rows, ascending.

        Raises
        ------
        QueryTooLargeError
            If one needs more work than is allowed.
        """
        if self._shape.together:
            return self._within_parts(rows, spans)
        rivals, never = self._decisive
        whole = Batch(self._measure, self._bound, rivals, self._lasting).taken(rows)
        return np.where(never[rows], 0.0, measure(replace(whole, spans=spans)).confidence)

    def measured(self) -> Measured:
        """How probable it is that all alternatives hold, with an error where one is allowed."""
        own = replace(self._measure, sampling=self.sources[0].measure.sampling)
        rivals, never = self._decisive
        if self._shape.together:
            from cepctl.engines.event.absent_parts import AbsentTogether

            found = AbsentTogether(self._source, own).measured(self._bound, rivals)
        else:
            found = measure(Batch(own, self._bound, rivals, self._lasting))
        if never.any():
            found.put(np.flatnonzero(never), impossible(int(never.sum())))
        return found

    def _within_parts(self, rows: Indexes, spans: TickSpans) -> Reals:
        """How probable matches are that fall into parts, with events that they do not show."""
        from cepctl.engines.event.absent_parts import AbsentParts

        found, (rivals, never) = np.zeros(len(rows)), self._decisive
        bound, own = take_matches(self._bound, rows), [each.taken(rows) for each in rivals]
        for part in AbsentParts(self._source, self._measure).parts(bound, own):
            inside = measure(replace(part.batch, spans=spans.take(part.row)))
            np.add.at(found, part.row, inside.confidence)
        return np.where(never[rows], 0.0, found)

    @property
    def _source(self) -> PreparedAlternative:
        """The first of them, with what all of them have absent."""
        return replace(self.sources[0], shape=self._shape)

    @cached_property
    def _lasting(self) -> tuple[IntervalSearch, ...]:
        return tuple(search for each in self.sources for search in each.lasting)

    @cached_property
    def _measure(self) -> Measure:
        # Each is measured exactly: the ticks at which a match is decided are looked for.
        own = replace(self.sources[0].measure, sampling=None)
        return own if len(self.sources) == 1 or self._lasting else own.shaped(self._shape)

    @cached_property
    def _shape(self) -> Shape:
        if len(self.sources) == 1:
            return self.sources[0].shape
        from cepctl.engines.pattern.conjunction import intersection

        return intersection([each.shape for each in self.sources])

    @cached_property
    def _bound(self) -> _Bound:
        apart = len(self.sources) == 1 or self._lasting
        return bound_by(self.sources[0], self.matches, None if apart else self._shape.alternative)

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


def bound_by(source: PreparedAlternative, matches: MatchBatch, read: Alternative | None = None) -> _Bound:
    """The events of matches as one of the alternatives binds them: one that is a group for it is one here.

    `read`: the same alternative with other groups, if it is to be read so.
    """
    components = (read or source.alternative).components
    return {
        i: _as_group(each) if components[i].kleene else _as_single(each)
        for i, each in zip(source.search.singles, matches.bound, strict=True)
    }


def _as_group(bound: Bindings) -> Group:
    return bound if isinstance(bound, Group) else Group(np.arange(len(bound) + 1), bound)


def _as_single(bound: Bindings) -> Indexes:
    return bound.members if isinstance(bound, Group) else bound
