"""An alternative of groups in order, for groups of some sizes: it binds one event after the other.

So what is known of single events in order serves groups in order, too: the search, the closed form, tables
for gaps, nested sums, clocks, what is given.  Two things are its own: who fits depends on the members before,
and so do its rivals (`takers`).

Rows that runs and another reading both give are bound alike: the groups of that reading one by one, too.
Who may break a match is found as before; where it must not lie is said of the blocks of single events.

    a reading with a group of two      the same, one by one
    set b1+b2                          a block of two single events, in any order
    sequence b1+b2                     two blocks
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from cepctl.engines.columns.bindings import Bindings, Group, MatchBatch, count_of, single_events, take_matches
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.coupled.edges import deciding_in_chains
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.points.measure import Measure
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.read_members import ReadMembers
from cepctl.engines.event.run_conditions import RunConditions, folded
from cepctl.engines.event.run_growth import RunGrowth
from cepctl.engines.event.run_takers import Stretch, Takers, joined, stretches
from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    BlockKind,
    Point,
    RegionEnd,
    Rivals,
    decided_alike,
    gap_of,
)
from cepctl.engines.pattern.difference_constraints import possible
from cepctl.engines.pattern.rivals import RivalJoin
from cepctl.engines.pattern.shapes import edge_of, shape_of
from cepctl.engines.search.search import FEWEST_COSTLY_STARTS, MOST_STARTS, PARTS, Search
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.methods import measure
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Alternative
from cepctl.plan.unrolled import Unrolled, unrolled


@dataclass(frozen=True)
class RunAlternative(PreparedAlternative):
    """Groups of some sizes: `form_of` is the reading with one component for each event.

    `takers` where events that could have been taken decide, None under contiguity.  `begun`: the runs that
    have taken the first so many events, `taken`; their rows, shape (n, l).  `unfinished_system` is that of
    `RunGrowth`.
    """

    form_of: Unrolled = field(kw_only=True)
    conditions: RunConditions = field(kw_only=True)
    takers: Takers | None = field(kw_only=True)
    unfinished_system: Ticks = field(kw_only=True)
    begun: Indexes = field(kw_only=True)
    taken: int = field(default=0, kw_only=True)

    @property
    def shown(self) -> Alternative:
        """The reading, whose groups are those of rows."""
        return self.form_of.shown

    @property
    def decided_by_window(self) -> bool:
        """Whether a run is decided as its window ends: some component may take until then."""
        if self.takers is None or self.shown.components[-1].negated:
            return super().decided_by_window
        return bool(self.takers.after(len(self.takers.taken) - 1))

    def folded(self, matches: MatchBatch) -> MatchBatch:
        """Matches as rows show them."""
        return replace(matches, bound=folded(self.form_of.reading, self.form_of.taken, matches.bound))

    def owning(self, values: Sequence[Bindings]) -> Bindings:
        """What the first component binds: of a group that begins runs all members, in whatever order."""
        if not self._leading:
            return values[0]
        members = single_events([values[at] for at in self._leading])
        return Group(np.arange(0, members.size + 1, members.shape[1]), members.reshape(-1))

    @cached_property
    def _leading(self) -> list[int]:
        """The places of the group that begins runs, or of what takes in turn there; none of one event."""
        reading, taken = self.form_of.reading, self.form_of.taken
        turn = reading.turn(taken[0]) if reading.components[taken[0]].kleene else ()
        return [at for at, each in enumerate(taken) if each in turn]

    def parts(self, owned: tuple[int, int] | None) -> list[Callable[[], Iterator[MatchBatch]]]:
        """Independent parts of its matches, which are bound in pattern order."""
        rows = self.begun
        if owned is not None:
            lower = self.events.stated_lower[rows[:, 0]]
            rows = rows[(lower >= owned[0]) & (lower <= self._latest_start(owned))]
        size = min(max(len(rows) // PARTS, FEWEST_COSTLY_STARTS), MOST_STARTS)
        return [
            partial(self._completed, rows[begin : begin + size], owned) for begin in range(0, len(rows), size)
        ]

    def _latest_start(self, owned: tuple[int, int]) -> int:
        """Until when the first event of a run may begin that a slice owns: by a later member of its group."""
        members = [self.search.candidates[self.search.singles[at]] for at in self._leading]
        if not members:
            return owned[1]
        some = np.unique(np.concatenate(members))
        lower = self.events.stated_lower[some]
        own = some[(lower >= owned[0]) & (lower <= owned[1])]
        return int(self.events.masses.upper[own].max()) if len(own) else owned[0]

    @property
    def growth(self) -> RunGrowth:
        """How its runs take one more event."""
        search = self.search_within_gaps()
        growth = RunGrowth(search, self.searched, self.conditions, self.takers, self.unfinished_system)
        if growth.asked.tally is None:
            return growth
        # What is asked of the times of first and last members is then asked of whole runs.
        return replace(growth, search=replace(search, system=self.unfinished_system))

    def _completed(self, rows: Indexes, owned: tuple[int, int] | None) -> Iterator[MatchBatch]:
        if self.taken == rows.shape[1]:
            rows = rows[self.conditions.may_end(rows)]
        for whole in self.growth.through(rows, self.taken):
            some = whole[self.may_happen(whole)]
            if len(some):
                some = self.conditions.with_sets_by(self.events.id_rank, some)
                yield self.measured(dict(zip(self.search.singles, some.T, strict=True)), owned)

    def may_happen(self, runs: Indexes) -> Flags:
        """Which runs some world has, shape (n, l), whoever may break them."""
        return possible(*self.measure.valid(runs))

    def search_within_gaps(self) -> Search:
        """The search, with the gaps that some event may break in every world, where no condition is on it."""
        # What is certainly before the members of a set that are known may come after one that is not.
        if self.takers is not None or self.conditions.has_sets:
            return self.search
        decided = {link.decides for link in self.form_of.reading.links}
        rules = tuple(
            rule
            for rule in self.shape.rules
            if rule.component is None or self.form_of.origin[rule.component] not in decided
        )
        return self.within_gaps_of(replace(self.shape, rules=rules))

    def rivals(self, bound: dict[int, Bindings], joins: Sequence[RivalJoin] | None = None) -> list[Rivals]:
        """Who could break these runs, each where it must not lie."""
        events = single_events([bound[i] for i in self.search.singles])
        found: dict[AbsenceRule, list[tuple[Indexes, Indexes]]] = {}
        of_takers = {place: i for i, place in self.form_of.rivals.items()}
        for each in super().rivals(bound, joins):
            place = each.rule.component
            if place is None:
                found[each.rule] = [(each.row, each.event)]
            elif place in of_takers:
                for rule, row, event in self._of_taker(of_takers[place], place, each, events):
                    found.setdefault(rule, []).append((row, event))
            else:
                component = self.form_of.origin[place]
                fits = self.conditions.fit(component, events, events.shape[1], each.row, each.event)
                found[each.rule] = [(each.row[fits], each.event[fits])]
        return joined(found)

    def fitting(self, rule: AbsenceRule, bound: dict[int, Bindings]) -> Rivals:
        """Events that fit a negated component beside a run, and parts of what is absent as a whole."""
        found, origin = super().fitting(rule, bound), self.form_of.origin
        assert rule.component is not None
        parts = [i for i in bound if i not in self.search.singles]
        events = single_events([bound[i] for i in (*self.search.singles, *parts)])
        conditions = replace(self.conditions, taken=(*self.conditions.taken, *(origin[i] for i in parts)))
        pairs = found.row, found.event
        fits = conditions.fit(origin[rule.component], events, events.shape[1], *pairs)
        return replace(found, row=found.row[fits], event=found.event[fits])

    def ties(self, components: Sequence[int]) -> bool:
        """Whether a condition reads several of these components."""
        chosen = {self.form_of.origin[i] for i in components}
        return any(len(chosen & {*each.components}) > 1 for each in self.form_of.reading.links)

    def _of_taker(
        self, component: int, place: int, rivals: Rivals, events: Indexes
    ) -> Iterator[tuple[AbsenceRule, Indexes, Indexes]]:
        """Pairs of a run and an event that a component would have taken, by where it must not lie."""
        assert self.takers is not None
        valid, masses = self.measure.valid(events), self.events.masses
        if self.takers.of_single_events:
            (rivals,) = deciding_in_chains([rivals], masses, self.search.system, *valid)
        row, event = rivals.row, rivals.event
        gaps, alike = self.takers.gaps(component), not self.conditions.depends_on_members(component)
        own, blocks = (masses.lower[event], masses.upper[event]), self.takers.of_blocks(valid)
        fits: Flags = np.zeros((len(row), len(gaps)), dtype=bool)
        for number, gap in enumerate(gaps):
            if self.conditions.reads_taking(component, self.form_of.places[gap.begin].stop):
                every = np.ones((len(row), 1), dtype=bool)
                members = self._members_read(component, gap.begin, events)
                for stretch, pairs in stretches([gap], every, blocks, row, own):
                    yield from members.rivals(self.takers.rule(place, stretch), row[pairs], event[pairs])
            elif alike and number:
                fits[:, number] = fits[:, 0]
            else:
                before = self.form_of.places[gap.begin].stop
                fits[:, number] = self.conditions.fit(component, events, before, row, event)
        for stretch, pairs in stretches(gaps, fits, blocks, row, own):
            yield self.takers.rule(place, stretch), row[pairs], event[pairs]

    def _members_read(self, component: int, block: int, events: Indexes) -> ReadMembers:
        """The members of a set that a component behind it reads."""
        places, singles = self.form_of.places[block], self.search.singles
        points = [Point(block, "only", singles[at]) for at in places]
        points = points if len(points) > 1 else [Point(block, "first")]
        return ReadMembers(self.conditions, component, events, places, points)

    def measured_as(self, asked: Measure, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        """Runs whose rivals lie in gaps are chains with gaps; the others are measured by their rules."""
        if self.takers is None or self.shape.together:
            return super().measured_as(asked, bound, rivals)
        count = count_of(bound.values())
        others = [each for each in rivals if not self._is_gap(each.rule)]
        found = impossible(count)
        for _, rows in decided_alike(others, count):
            own = [each.taken(rows) for each in rivals]
            rules = self._gap_rules + tuple(
                each.rule for each in own if len(each.row) and each.rule not in self._gap_rules
            )
            own = _of_rules(own, rules)
            shape = replace(self.shape, rules=rules)
            batch = Batch(replace(asked, shape=shape), take_matches(bound, rows), own)
            found.put(rows, measure(batch))
        return found

    def may_take(self, bound: dict[int, Bindings]) -> bool:
        """Whether a run takes these events one after the other, as far as conditions say."""
        rows, growth = single_events([bound[i] for i in self.search.singles]), self.search.growth
        assert growth is not None
        if self.conditions.has_sets:
            rows = self.conditions.with_sets_by(self.events.begin_rank, rows)
        return all(len(growth.kept(self.events, rows, taken)) for taken in range(1, rows.shape[1] + 1))

    def found_at_certain_times(self, events: Events, known: Flags, matches: MatchBatch) -> Flags:
        """Which runs are taken where all events are at certain ticks; what is not `known` breaks none."""
        certain = replace(self, events=events, conditions=replace(self.conditions, events=events))
        return held_at_certain_times(certain, known, matches)

    def _is_gap(self, rule: AbsenceRule) -> bool:
        return all(
            gap_of(region) is not None or edge_of(region, self.shape) is not None for region in rule.regions
        )

    @property
    def _gap_rules(self) -> tuple[AbsenceRule, ...]:
        """The rules that speak of one gap, whether any event could break them or not."""
        assert self.takers is not None
        negated = [rule for rule in self.shape.rules if rule.component not in self.form_of.rivals.values()]
        taken = [
            self.takers.rule(place, Stretch(gap.begin, gap.end))
            for component, place in self.form_of.rivals.items()
            for gap in self.takers.gaps(component)
        ]
        return tuple(rule for rule in (*negated, *taken) if self._is_gap(rule))


def held_at_certain_times(source: PreparedAlternative, known: Flags, matches: MatchBatch) -> Flags:
    """Which matches of single events hold where all events are at certain ticks, `known` of some of them."""
    found = possible(*source.measure.valid(single_events(matches.bound)))
    rows = np.flatnonzero(found)
    if not len(rows):
        return found
    some = take_matches(dict(zip(source.search.singles, matches.bound, strict=True)), rows)
    rivals = [] if source.shape.plain_chain else source.rivals(some)
    rivals = [
        replace(each, row=each.row[known[each.event]], event=each.event[known[each.event]]) for each in rivals
    ]
    found[rows] = source.decided(some, rivals).possible
    return found


def _of_rules(rivals: Sequence[Rivals], rules: Sequence[AbsenceRule]) -> list[Rivals]:
    """The rivals of each of some rules, of none where it has none."""
    none = np.zeros(0, dtype=np.int64)
    known = {each.rule: each for each in rivals}
    return [known.get(rule) or Rivals(rule, none, none) for rule in rules]


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
