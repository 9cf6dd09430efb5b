"""Groups bound as runs bind them, one event after the other: rows that both give have to be bound alike.

    a reading with a group of two      the same, one by one
    set b1+b2                          a block of two single events, in any order
    sequence b1+b2                     two blocks

Who may break a match is found as before; where it must not lie is said of the blocks of single events.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch
from cepctl.engines.columns.events import Events
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.run_alternative import RunAlternative, held_at_certain_times
from cepctl.engines.event.run_conditions import folded
from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    BlockKind,
    Point,
    RegionEnd,
)
from cepctl.engines.pattern.bound_matches import Rivals
from cepctl.engines.pattern.rivals import RivalJoin
from cepctl.engines.pattern.shapes import shape_of
from cepctl.engines.search.search import Search
from cepctl.numeric.arrays import Flags
from cepctl.plan.plan import Alternative
from cepctl.plan.unrolled import Unrolled, unrolled


def bound_alike(
    sources: Sequence[PreparedAlternative], parts: Sequence[MatchBatch]
) -> tuple[list[PreparedAlternative], list[MatchBatch]]:
    """Alternatives that give the same rows, and these rows: one by one for all, if one is of runs."""
    if not any(isinstance(each, RunAlternative) for each in sources):
        return list(sources), list(parts)
    found = [
        (each, part) if isinstance(each, RunAlternative) else OneByOne.of(each, part)
        for each, part in zip(sources, parts, strict=True)
    ]
    return [each for each, _ in found], [part for _, part in found]


def one_by_one(bound: Sequence[Bindings]) -> tuple[Bindings, ...]:
    """What matches bind whose groups have equal sizes, one event after the other."""
    return tuple(
        column
        for each in bound
        for column in (each.members.reshape(len(each.sizes), -1).T if isinstance(each, Group) else [each])
    )


@dataclass(frozen=True)
class OneByOne(PreparedAlternative):
    """An alternative whose groups have some sizes; `whole` binds them as groups."""

    whole: PreparedAlternative = field(kw_only=True)
    form_of: Unrolled = field(kw_only=True)

    @classmethod
    def of(cls, whole: PreparedAlternative, matches: MatchBatch) -> tuple[OneByOne, MatchBatch]:
        """Matches whose groups have equal sizes, and the alternative that binds them so."""
        singles, plan = whole.search.singles, whole.plan
        groups = {i: each for i, each in zip(singles, matches.bound, strict=True) if isinstance(each, Group)}
        form = unrolled(whole.alternative, {i: int(each.sizes[0]) for i, each in groups.items()})
        columns = one_by_one(matches.bound)
        search = Search.of_unrolled(plan, form, whole.search.candidates)
        shape = replace(shape_of(plan, form.alternative), rules=())
        apart = cls(plan, whole.events, shape, search, whole.options, whole=whole, form_of=form)
        rules = tuple(map(apart._moved, whole.shape.rules))
        return replace(apart, shape=replace(shape, rules=rules)), replace(matches, bound=columns)

    @property
    def shown(self) -> Alternative:
        """The alternative as rows show it."""
        return self.whole.shown

    @property
    def decided_by_window(self) -> bool:
        """Whether a match is decided only as its window ends."""
        return self.whole.decided_by_window

    def folded(self, matches: MatchBatch) -> MatchBatch:
        """Matches as rows show them."""
        return replace(matches, bound=folded(self.form_of.reading, self.form_of.taken, matches.bound))

    def rivals(self, bound: dict[int, Bindings], joins: Sequence[RivalJoin] | None = None) -> list[Rivals]:
        """Who could break these matches."""
        found = self.whole.rivals(self._grouped(bound), joins)
        return [replace(each, rule=self._moved(each.rule)) for each in found]

    def found_at_certain_times(self, events: Events, known: Flags, matches: MatchBatch) -> Flags:
        """Which matches hold at certain ticks, `known` of some events."""
        certain = replace(self, events=events, whole=replace(self.whole, events=events))
        return held_at_certain_times(certain, known, matches)

    def _rival_joins(self, bound: dict[int, Bindings]) -> list[RivalJoin]:
        return self.whole._rival_joins(self._grouped(bound))

    def _grouped(self, bound: dict[int, Bindings]) -> dict[int, Bindings]:
        """What matches bind, as `whole` binds it."""
        columns = tuple(bound[i] for i in self.search.singles)
        parts = folded(self.form_of.reading, self.form_of.taken, columns)
        return dict(zip(self.whole.search.singles, parts, strict=True))

    @cached_property
    def _blocks(self) -> list[list[int]]:
        """Of each block of `whole` the blocks here."""
        origin = self.form_of.origin
        return [
            [n for n, each in enumerate(self.shape.blocks) if origin[each.components[0]] in block.components]
            for block in self.whole.shape.blocks
        ]

    def _moved(self, rule: AbsenceRule) -> AbsenceRule:
        """A rule with its points moved; who must be absent stays as it is."""
        regions = tuple(tuple(map(self._end, region)) for region in rule.regions)
        spared = tuple((each, constant) for point, constant in rule.spared for each in self._points(point))
        return replace(rule, regions=regions, spared=spared)

    def _end(self, end: RegionEnd) -> RegionEnd:
        if end.point is None:
            return end
        points = self._points(end.point)
        return replace(end, point=points[-1 if end.point.role == "last" else 0])

    def _points(self, point: Point) -> list[Point]:
        """The point here, or those of each block that stands for its block."""
        if point.role == "only":
            component = self.form_of.origin.index(point.component)
            block = self.shape.block_of(component)
            return [self._at(Point(block, "only", component))]
        return [self._at(replace(point, block=block)) for block in self._blocks[point.block]]

    def _at(self, point: Point) -> Point:
        single = self.shape.blocks[point.block].kind is BlockKind.SINGLE
        return Point(point.block, "first") if single else point
