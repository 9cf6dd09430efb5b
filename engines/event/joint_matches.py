"""Events that several alternatives of OR bind at once: their one shape, and how probable it is that all hold.

A boundary between blocks says that everything before it comes before everything after it.  The
intersection has the boundaries of all alternatives, hence their blocks cut to pieces, and the rules
and timing constraints of all of them.  Its problem is measured like that of one alternative.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, TickSpans, take_matches
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    Block,
    BlockKind,
    Point,
    RegionEnd,
    Rivals,
    Shape,
    Together,
    kind_of_group,
)
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import measure
from cepctl.numeric.arrays import Flags, Indexes, Reals
from cepctl.plan.plan import Alternative, AnyTiming, Timing
from cepctl.plan.summary import with_one_member

if TYPE_CHECKING:
    from cepctl.engines.confidence.intervals.search import IntervalSearch
    from cepctl.engines.event.alternative import PreparedAlternative

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
        return _intersection([each.shape for each in self.sources])

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


def _intersection(shapes: Sequence[Shape]) -> Shape:
    """Shape of the conjunction; its components are numbered as those of the first alternative.

    Something may be absent as a whole in the first alternative alone.

    An event that one alternative binds alone and another as a Kleene group is a group of one, since all
    have the same signature; so it stands alone here.
    """
    first = _with_common_groups(shapes)
    numbers = first.alternative.positive
    timings = {_renumbered(timing, shape, first) for shape in shapes for timing in shape.timings}
    of_members = {_renumbered(timing, shape, first) for shape in shapes for timing in shape.member_timings}
    cuts = sorted({cut for shape in shapes for cut in _cuts(shape)} | {len(numbers)})
    blocks = []
    for begin, end in zip([0, *cuts], cuts, strict=False):
        if begin < end:
            kind = _kind(first, shapes, {*timings, *of_members}, begin, end)
            blocks.append(Block(numbers[begin:end], kind))
    common = Shape(first.alternative, first.window, tuple(blocks), (), tuple(sorted(timings, key=repr)))
    common = replace(common, member_timings=tuple(sorted(of_members, key=repr)))
    rules = [Renumbering(shape, common).rule(rule) for shape in shapes for rule in shape.rules]
    together = tuple(Renumbering(shapes[0], common).together(each) for each in shapes[0].together)
    return replace(common, rules=tuple(rules), together=together)


def keeps_groups(shapes: Sequence[Shape]) -> bool:
    """Whether the first alternative has no group that another binds as one event."""
    return _with_common_groups(shapes).alternative is shapes[0].alternative


def _with_common_groups(shapes: Sequence[Shape]) -> Shape:
    """The first alternative, with a Kleene group only where every alternative has one."""
    alternative = shapes[0].alternative
    for place, number in enumerate(alternative.positive):
        bound = [each.alternative.components[each.alternative.positive[place]] for each in shapes]
        if alternative.components[number].kleene and not all(each.kleene for each in bound):
            alternative = with_one_member(alternative, number)
    return replace(shapes[0], alternative=alternative)


@dataclass(frozen=True)
class Renumbering:
    """From the blocks and components of one alternative to those of the intersection."""

    own: Shape
    common: Shape

    def rule(self, rule: AbsenceRule) -> AbsenceRule:
        """The rule with its points moved; who must be absent stays as it is."""
        regions = tuple(tuple(self._end(end) for end in region) for region in rule.regions)
        spared = tuple((each, constant) for point, constant in rule.spared for each in self._points(point))
        return replace(rule, regions=regions, spared=spared)

    def together(self, together: Together) -> Together:
        """What must not happen as a whole, in its gap between the blocks of the intersection."""
        if together.gap == len(self.own.blocks):
            return replace(together, gap=len(self.common.blocks))
        behind = self.own.blocks[together.gap].components[0]
        return replace(together, gap=self.common.block_of(_moved(behind, self.own, self.common)))

    def _end(self, end: RegionEnd) -> RegionEnd:
        return end if end.point is None else replace(end, point=self._point(end.point))

    def _points(self, point: Point) -> list[Point]:
        """The points of each event of a block, which may be several blocks of the intersection."""
        if point.role != "each":
            return [self._point(point)]
        components = self.own.blocks[point.block].components
        blocks = {self.common.block_of(_moved(each, self.own, self.common)) for each in components}
        single = {block for block in blocks if self.common.blocks[block].kind is BlockKind.SINGLE}
        return [Point(block, "first" if block in single else "each") for block in sorted(blocks)]

    def _point(self, point: Point) -> Point:
        components = self.own.blocks[point.block].components
        named = components[-1] if point.role == "last" else components[0]
        named = point.component if point.role == "only" else named
        component = _moved(named, self.own, self.common)
        block = self.common.block_of(component)
        if self.common.blocks[block].kind is BlockKind.SINGLE:
            return Point(block, "first")
        return Point(block, point.role, component if point.role == "only" else -1)


def _cuts(shape: Shape) -> list[int]:
    """Positions, in pattern order, at which a block begins."""
    positive = shape.alternative.positive
    return [positive.index(block.components[0]) for block in shape.blocks]


def _moved(component: int, own: Shape, first: Shape) -> int:
    return first.alternative.positive[own.alternative.positive.index(component)]


def _renumbered(timing: AnyTiming, own: Shape, first: Shape) -> AnyTiming:
    left = None if timing.left is None else _moved(timing.left, own, first)
    right = None if timing.right is None else _moved(timing.right, own, first)
    return replace(timing, left=left, right=right)


def _kind(
    common: Shape, shapes: Sequence[Shape], timings: Iterable[Timing], begin: int, end: int
) -> BlockKind:
    members = common.alternative.positive[begin:end]
    if len(members) > 1:
        timed = {side for timing in timings for side in (timing.left, timing.right)} & set(members)
        apart = timed or _names_one(shapes, begin, end) or _are_apart(shapes, begin, end)
        return BlockKind.UNORDERED if apart else BlockKind.SET
    if not common.alternative.components[members[0]].kleene:
        return BlockKind.SINGLE
    ordered = any(s.alternative.components[s.alternative.positive[begin]].ordered for s in shapes)
    return kind_of_group(ordered, members[0] in _named_one_by_one(shapes))


def _named_one_by_one(shapes: Sequence[Shape]) -> set[int]:
    """Groups, as the first alternative numbers them, of which some rule or timing needs every member."""
    return {
        _moved(block.components[0], shape, shapes[0])
        for shape in shapes
        for block in shape.blocks
        if block.kind is BlockKind.UNORDERED and len(block.components) == 1
    }


def _names_one(shapes: Sequence[Shape], begin: int, end: int) -> bool:
    """Whether some rule refers to the tick of a single member of these, or of each."""
    for shape in shapes:
        members = shape.alternative.positive[begin:end]
        spared = (point for rule in shape.rules for point, _ in rule.spared if point.role == "each")
        if any({*shape.blocks[point.block].components} & {*members} for point in spared):
            return True
        if any(point.role == "only" and point.component in members for point in shape.used_points()):
            return True
    return False


def _are_apart(shapes: Sequence[Shape], begin: int, end: int) -> bool:
    """Whether an alternative has a block whose members rules of single rivals may name, with one of these."""
    return any(
        block.kind is BlockKind.UNORDERED and {*block.components} & {*shape.alternative.positive[begin:end]}
        for shape in shapes
        for block in shape.blocks
        if len(block.components) > 1
    )
