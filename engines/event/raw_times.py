"""Whether a tool that trusts the raw times would have found a match.

Every event is put at the tick of its raw time, the only one it then has, and a match is held to the
pattern once more: order, window, timing constraints, and, for negation, next match and contiguity, the
absence of rivals at their own raw times.  Predicates on attributes held already and hold again; `prob(...)`
is 1 or 0 where times are certain, and is asked anew.  Ticks are known, so each constraint is one comparison
of whole columns, and the rivals are one range join.

A match that binds an event without a raw time cannot be judged; such an event is not a rival.  Nor is, on
Spark, one whose interval lies outside the slice of its match, although its raw time lies inside.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import polars as pl

from cepctl.engines.columns.bindings import (
    Bindings,
    Group,
    block_group,
    count_of,
    events_in,
    take,
    take_matches,
)
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.predicates import fitting_events, group_link_holds
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.confidence.points.measure import BlockMemory, joined_blocks
from cepctl.engines.event.own_laws import with_own_laws
from cepctl.engines.pattern.blocks import (
    AbsenceRule,
    BlockKind,
    Point,
    Rivals,
    Shape,
    Together,
)
from cepctl.engines.pattern.rivals import (
    BlockSpans,
    RuleIndexes,
    link_holds_for_pairs,
    rivals_of,
    spans_of,
    take_further_on,
)
from cepctl.engines.pattern.shapes import absences_of, ends_of_gap, shape_of
from cepctl.language.strategies import Absent
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.passed_over import readings_apart
from cepctl.plan.plan import Plan, Scope, Timing, members_of_sides
from cepctl.schema import EARLIEST_TICK, LATEST_TICK


@dataclass(frozen=True)
class CertainTimes:
    """A plan on events that are all at their raw times.

    `known`, shape (n,): which of the n events have a raw time.  `shapes` and, per component, `candidates`
    are those of the alternatives; candidates are left out where nobody asks for them.
    """

    plan: Plan
    events: Events
    known: Flags
    shapes: tuple[Shape, ...]
    candidates: tuple[tuple[Indexes, ...], ...]
    memory: BlockMemory

    @classmethod
    def of(cls, plan: Plan, events: Events, memory: BlockMemory | None = None) -> CertainTimes:
        """Put the events at their raw times; their frame has the column `time`.

        Raises
        ------
        UnsupportedQueryError
            If the event engine does not run the plan.
        """
        time = events.frame.get_column("time")
        unit = plan.time_unit
        instants = time.cast(pl.Datetime(unit.resolution)).to_physical().fill_null(0).to_numpy()
        ticks = np.clip(instants // unit.counts, EARLIEST_TICK, LATEST_TICK)
        masses = Masses.at(ticks)
        shapes = tuple(shape_of(plan, each) for each in readings_apart(plan))
        asked = len(shapes) > 1 or plan.asks_probabilities or any(map(absences_of, shapes))
        # What is probable of certain times is sure or impossible.
        certain = with_own_laws(Events(masses, events.frame))
        candidates = tuple(
            tuple(fitting_events(events, each) for each in shape.alternative.components) if asked else ()
            for shape in shapes
        )
        known = time.is_not_null().to_numpy()
        memory = memory or BlockMemory.of()
        return cls(plan, certain, known, shapes, candidates, memory)

    @cached_property
    def _rule_indexes(self) -> list[RuleIndexes]:
        """Of each alternative."""
        return [
            RuleIndexes(shape, self.events, candidates, self.plan.partition_by)
            for shape, candidates in zip(self.shapes, self.candidates, strict=True)
        ]

    def judgeable(self, bound: tuple[Bindings, ...]) -> Flags:
        """Matches all of whose events have a raw time, shape (n,); `bound` as in `MatchBatch`."""
        judgeable = np.ones(count_of(bound), dtype=bool)
        for each in bound:
            if isinstance(each, Group):
                judgeable[each.owner[~self.known[each.members]]] = False
            else:
                judgeable &= self.known[each]
        return judgeable

    def found(self, bound: tuple[Bindings, ...]) -> Flags:
        """Matches that some alternative has at raw times, shape (n,); `bound` as in `MatchBatch`."""
        found = np.zeros(count_of(bound), dtype=bool)
        for number, shape in enumerate(self.shapes):
            if len(shape.alternative.positive) != len(bound):
                continue
            rows = np.flatnonzero(~found & _has_form(shape, bound))
            chosen = _as_bound_by(shape, tuple(take(each, rows) for each in bound))
            found[rows] = self._found_by(number, chosen, len(rows))
        return found

    def _found_by(self, number: int, bound: dict[int, Bindings], count: int) -> Flags:
        """Matches that one alternative has at raw times."""
        shape, tick = self.shapes[number], self.events.masses.lower
        holds = _in_order(shape, tick, bound, count)
        for timing in (*shape.timings, *shape.member_timings):
            holds &= _timing_holds(timing, tick, bound, count)
        if len(self.shapes) > 1 or self.plan.asks_probabilities:
            rows = np.flatnonzero(holds)
            holds[rows] = self._fits(number, take_matches(bound, rows), len(rows))
        if self.plan.strategy.absent is Absent.NEARER:
            holds &= ~take_further_on(shape, self.events, self.candidates[number], bound)
        if shape.rules:
            rows = np.flatnonzero(holds)
            holds[rows] = ~self._broken(number, take_matches(bound, rows), len(rows))
        for each in shape.together:
            rows = np.flatnonzero(holds)
            holds[rows[self._happens(number, each, take_matches(bound, rows))]] = False
        return holds

    def _fits(self, number: int, bound: dict[int, Bindings], count: int) -> Flags:
        """Whether the events fit the alternative's components: another one may have bound them.

        `prob(...)` may also say something else of raw times than of intervals.
        """
        shape, events = self.shapes[number], self.events
        holds = np.ones(count, dtype=bool)
        for i, each in bound.items():
            is_candidate = np.zeros(len(events), dtype=bool)
            is_candidate[self.candidates[number][i]] = True
            row = each.owner if isinstance(each, Group) else np.arange(count)
            member = events_in(each)
            fits = is_candidate[member]
            for link in shape.alternative.links:
                if link.decides == i and link.scope is Scope.EVENT:
                    fits &= link_holds_for_pairs(shape.alternative, events, link, i, bound, row, member)
            holds[row[~fits]] = False
        for link in shape.alternative.links:
            if link.decides in bound and link.scope is not Scope.EVENT:
                holds &= group_link_holds(events, shape.alternative, link, bound)
        return holds

    def _broken(self, number: int, bound: dict[int, Bindings], count: int) -> Flags:
        """Whether a rival lies, at its raw time, where none may be; in blocks, to bound the pairs."""
        shape, masses = self.shapes[number], self.events.masses
        broken = np.zeros(count, dtype=bool)
        partition_by, candidates = self.plan.partition_by, self.candidates[number]
        spans = _spans(shape, masses, bound)
        joins = self._rule_indexes[number].joins(bound, spans)
        for begin, end in joined_blocks(joins, count, self.memory):
            part = take_matches(bound, np.arange(begin, end))
            spans = _spans(shape, masses, part)
            for rivals in rivals_of(
                shape, self.events, candidates, partition_by, part, spans,
                joins=[join.taken(slice(begin, end)) for join in joins],
            ):  # fmt: skip
                inside = _inside(shape, rivals, masses.lower, part, spans) & self.known[rivals.event]
                broken[begin + rivals.row[inside]] = True
        return broken

    def _happens(self, number: int, together: Together, bound: dict[int, Bindings]) -> Indexes:
        """The matches in whose gap all parts lie at their raw times that must not happen as a whole."""
        tick, row, chosen = self.events.masses.lower, np.arange(count_of(bound.values())), bound
        before: Indexes | None = None
        for part in together.parts:
            pair, event = self._in_gap(number, together.gap, part, chosen)
            if together.in_order and before is not None:
                later = tick[event] > tick[before[pair]]
                pair, event = pair[later], event[later]
            row, before, chosen = row[pair], event, take_matches(chosen, pair) | {part: event}
        return np.unique(row)

    def _in_gap(
        self, number: int, gap: int, part: int, bound: dict[int, Bindings]
    ) -> tuple[Indexes, Indexes]:
        """Pairs of a match and an event that fits a part and lies in the gap."""
        shape, masses = self.shapes[number], self.events.masses
        asked = replace(shape, rules=(AbsenceRule(part, (ends_of_gap(shape, gap),)),), together=())
        spans = _spans(shape, masses, bound)
        keys = self.candidates[number], self.plan.partition_by
        (found,) = rivals_of(asked, self.events, *keys, bound, spans)
        inside = _inside(shape, found, masses.lower, bound, spans) & self.known[found.event]
        return found.row[inside], found.event[inside]


def _spans(shape: Shape, masses: Masses, bound: dict[int, Bindings]) -> BlockSpans:
    return spans_of(masses, [block_group([bound[i] for i in block.components]) for block in shape.blocks])


def _has_form(shape: Shape, bound: tuple[Bindings, ...]) -> Flags:
    """Matches that bind one event to each component that is not a group."""
    holds = np.ones(count_of(bound), dtype=bool)
    for i, each in zip(shape.alternative.positive, bound, strict=True):
        if isinstance(each, Group) and not shape.alternative.components[i].kleene:
            holds &= each.sizes == 1
    return holds


def _as_bound_by(shape: Shape, bound: tuple[Bindings, ...]) -> dict[int, Bindings]:
    """Matches of an alternative's form as it would bind them: groups to its groups, else single events."""
    own: dict[int, Bindings] = {}
    for i, each in zip(shape.alternative.positive, bound, strict=True):
        if shape.alternative.components[i].kleene:
            own[i] = block_group([each])
        else:
            own[i] = events_in(each)
    return own


def _in_order(shape: Shape, tick: Ticks, bound: dict[int, Bindings], count: int) -> Flags:
    """Blocks strictly one after the other inside the window, and the members of sequences, too."""
    holds = np.ones(count, dtype=bool)
    ends = [_ends(tick, [bound[i] for i in block.components]) for block in shape.blocks]
    for (_, last), (first, _) in itertools.pairwise(ends):
        holds &= last < first
    if shape.window is not None:
        holds &= ends[-1][1] < shifted(ends[0][0], shape.window)
    for block in shape.blocks:
        group = bound[block.components[0]]
        if block.kind is BlockKind.SEQUENCE and isinstance(group, Group):
            back = (np.diff(tick[group.members]) <= 0) & (np.diff(group.owner) == 0)
            holds[group.owner[1:][back]] = False
    return holds


def _ends(tick: Ticks, bound: list[Bindings]) -> tuple[Ticks, Ticks]:
    """First and last tick of a block."""
    if len(bound) == 1 and not isinstance(bound[0], Group):
        return tick[bound[0]], tick[bound[0]]
    group = block_group(bound)
    ticks, begins = tick[group.members], group.offsets[:-1]
    if not len(begins):
        return ticks, ticks
    return np.minimum.reduceat(ticks, begins), np.maximum.reduceat(ticks, begins)


def _timing_holds(timing: Timing, tick: Ticks, bound: dict[int, Bindings], count: int) -> Flags:
    """Whether a timing constraint holds for every member that it speaks of."""
    row, left, right = np.arange(count), np.zeros(count, np.int64), np.zeros(count, np.int64)
    of_members = members_of_sides(timing)
    sides = (timing.left, True, of_members[0]), (timing.right, False, of_members[1])
    for component, is_left, member in sides:
        if component is None:
            continue
        each = take(bound[component], row)
        if member is not None and isinstance(each, Group):
            each = each.members[each.offsets[:-1] if member == "first" else each.offsets[1:] - 1]
        events = events_in(each)
        pair = each.owner if isinstance(each, Group) else np.arange(len(row))
        row = row[pair]
        left = tick[events] if is_left else left[pair]
        right = right[pair] if is_left else tick[events]
    limit = shifted(right, timing.bound)
    wrong = left == limit if timing.not_equal else left > limit
    return np.asarray(np.bincount(row[wrong], minlength=count) == 0)


def _inside(
    shape: Shape, rivals: Rivals, tick: Ticks, bound: dict[int, Bindings], spans: BlockSpans
) -> Flags:
    """Pairs whose event lies in one of the regions of its rule, and at no tick that the rule spares."""
    anywhere = np.zeros(len(rivals.row), dtype=bool)
    own = tick[rivals.event]
    for region in rivals.rule.regions:
        inside = np.ones(len(rivals.row), dtype=bool)
        for end in region:
            base = 0 if end.point is None else _tick_of(end.point, tick, bound, spans)[rivals.row]
            limit = shifted(np.asarray(base), end.constant)
            inside &= own >= limit if end.is_lower else own <= limit
        anywhere |= inside
    for point, constant in rivals.rule.spared:
        if point.role != "each":
            anywhere &= own != shifted(_tick_of(point, tick, bound, spans)[rivals.row], constant)
            continue
        group = block_group([bound[i] for i in shape.blocks[point.block].components]).take(rivals.row)
        meets = shifted(tick[group.members], constant) == own[group.owner]
        anywhere[group.owner[meets]] = False
    return anywhere


def _tick_of(point: Point, tick: Ticks, bound: dict[int, Bindings], spans: BlockSpans) -> Ticks:
    if point.role == "only":
        event = bound[point.component]
        assert not isinstance(event, Group)
        return tick[event]
    ticks = spans.first_lower if point.role == "first" else spans.last_lower
    return np.asarray(ticks[:, point.block])
