"""Matches of interval events which share clocks: measured given the offsets, summed over these.

One clock stamps both ends of an event, so that they move together.  Given the offsets, events are
independent again: copies, moved, and so are the rivals that may break a match.  Which rivals can break a
match is told by where its own clock sees it: what that clock stamped moves with it, anything else may be
anywhere in its envelope.  What no world allows there none allows at all.

Where the measure changes its polynomial as offsets move depends on the edges alone: every edge of a case, and
every edge by which a possible rival breaks a match, is a clause of these, and nothing more is told of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Group, TickSpans
from cepctl.engines.columns.clocks import NO_CLOCK
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.clocks.clause_breakpoints import breakpoints_of_clauses
from cepctl.engines.confidence.clocks.frames import Frames, frames_of
from cepctl.engines.confidence.clocks.nodes import Nodes
from cepctl.engines.confidence.clocks.offset_sums import OffsetSum, copied
from cepctl.engines.confidence.clocks.refusals import too_many_offsets
from cepctl.engines.confidence.coupled.clauses import NO_EVENT, Clauses, Part, gathered, present
from cepctl.engines.confidence.intervals.conditions import CONSTANT, Case
from cepctl.engines.confidence.intervals.edges import Lasting, Skeleton, skeleton_of
from cepctl.engines.confidence.intervals.independent import measured_independently
from cepctl.engines.confidence.intervals.measure import IntervalMeasure, MeasureOnClocks, laws_of
from cepctl.engines.confidence.intervals.rivals import FoundRivals, Negation, deciding, rivals_of_rows
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.confidence.work import ENDS_AT_OFFSETS

ROWS_AT_ONCE = 1 << 16
"""Matches whose rivals are looked for at once."""
MATCHES_AT_ONCE = 1_000
COPIES_AT_ONCE = 200_000


def measured_without_ties(
    measure: IntervalMeasure, matches: Indexes, spans: TickSpans | None = None
) -> Measured:
    """Measure matches, shape (n, l), in all worlds, whether events share clocks or not.

    With `spans` the confidence is that of a match within its span; its time range then means nothing.

    Raises
    ------
    QueryTooLargeError
        If a match needs its measure at too many offsets, or too many products.
    """
    if not isinstance(measure, MeasureOnClocks):
        return measured_independently(measure, matches, spans)
    measure.heard(ENDS_AT_OFFSETS)
    total = impossible(len(matches))
    for start in range(0, len(matches), ROWS_AT_ONCE):
        block = matches[start : start + ROWS_AT_ONCE]
        rivals = [] if measure.rivals is None else measure.rivals(block)
        for lasting, rows in measure.by_points(block):
            for begin in range(0, len(rows), MATCHES_AT_ONCE):
                some = rows[begin : begin + MATCHES_AT_ONCE]
                own = rivals_of_rows(rivals, some)
                within = None if spans is None else spans.take(start + some)
                alike = _Alike(measure, block[some], lasting, spans=within)
                for chosen, part in alike.beside(own) if rivals else [(np.arange(len(some)), alike)]:
                    total.put(start + some[chosen], part.measured())
    return total


@dataclass(frozen=True)
class _Alike:
    """Matches that bind points at the same places; `matches` has the shape (n, l).

    `spans`: in which all that they bind has to lie.
    """

    measure: MeasureOnClocks
    matches: Indexes
    lasting: Lasting
    rivals: tuple[tuple[Negation, Group], ...] = ()
    spans: TickSpans | None = None

    def beside(self, found: list[FoundRivals]) -> Iterator[tuple[Indexes, _Alike]]:
        """Matches that some of these events may break, with those events; then the others, none broken."""
        kept, broken = deciding_on_clocks(self.measure, self.matches, self.lasting, found)
        has = np.unique(np.concatenate([np.zeros(0, np.int64), *(row for _, row, _ in kept)]))
        if len(has):
            own = rivals_of_rows(kept, has)
            groups = tuple((each, Group.of_owners(len(has), row, event)) for each, row, event in own)
            yield has, replace(self.taken(has), rivals=groups)
        broken[has] = True
        if len(free := np.flatnonzero(~broken)):
            yield free, self.taken(free)

    def taken(self, rows: Indexes) -> _Alike:
        """Some of the matches."""
        spans = None if self.spans is None else self.spans.take(rows)
        return replace(self, matches=self.matches[rows], spans=spans)

    def measured(self) -> Measured:
        """All of them."""
        measure = self.measure
        found: list[FoundRivals] = [(each, group.owner, group.members) for each, group in self.rivals]
        absolute = self.spans is not None or compare_with_constants(measure.cases, found)
        starts = [group for _, group in self.rivals]
        ends = [Group(each.offsets, measure.endpoints.end[each.members]) for each in starts]
        columns = [np.ascontiguousarray(each) for each in measure.endpoints.places(self.matches).T]
        events: list[Indexes | Group] = [*columns, *starts, *ends]
        frames = frames_of(measure.clocks, len(self.matches), events, [], absolute=absolute)
        clauses = cutting_clauses(measure, self.matches, self.lasting, found, self.spans)
        breakpoints, costly = breakpoints_of_clauses(frames, clauses)
        if costly.any():
            first = int(np.flatnonzero(costly)[0])
            raise too_many_offsets(int(frames.levels[first]), frames.longest_chain(first))
        offsets = OffsetSum(frames, breakpoints, ranges=self.spans is None)
        return offsets.measured(lambda nodes: self._at(frames, nodes), at_once=COPIES_AT_ONCE)

    def _at(self, frames: Frames, nodes: Nodes) -> Measured:
        """The matches of some nodes, where the offsets put their events."""
        size = len(self.lasting)
        at_nodes = [(negation, group.take(nodes.match)) for negation, group in self.rivals]
        strangers, numbers = _once_at_each_node([each for _, each in at_nodes])
        events = np.concatenate([self.matches[nodes.match].reshape(-1), strangers.members])
        node = np.concatenate([np.repeat(np.arange(len(nodes)), size), strangers.owner])
        first = len(nodes) * size
        pairs: list[FoundRivals] = [
            (negation, each.owner, first + own)
            for (negation, each), own in zip(at_nodes, numbers, strict=True)
        ]

        def rivals(matches: Indexes) -> list[FoundRivals]:
            return rivals_of_rows(pairs, matches[:, 0] // size)

        ends = self.measure.endpoints
        lasting = ends.lasting_among(events)
        last = copied(frames, nodes, node[lasting], ends.end[events[lasting]])
        copies = ends.copies(events, copied(frames, nodes, node, events).followed_by(last))
        here = self.measure.at_offsets(copies, rivals if pairs else None)
        matches = np.arange(first).reshape(len(nodes), size)
        return measured_independently(
            here, matches, None if self.spans is None else self.spans.take(nodes.match)
        )


def _once_at_each_node(groups: Sequence[Group]) -> tuple[Group, list[Indexes]]:
    """The events of several groups of each node, each once, and which of these each member is.

    What fits several negations is one event, wherever the offsets put it.
    """
    many = max((int(each.members.max(initial=0)) for each in groups), default=0) + 1
    pairs = [each.owner * many + each.members for each in groups]
    distinct = np.unique(np.concatenate([np.zeros(0, np.int64), *pairs]))
    count = len(groups[0].offsets) - 1 if groups else 0
    offsets = np.searchsorted(distinct, np.arange(count + 1) * many)
    return Group(offsets, distinct % many), [np.searchsorted(distinct, each) for each in pairs]


def deciding_on_clocks(
    measure: MeasureOnClocks, matches: Indexes, lasting: Lasting, found: Sequence[FoundRivals]
) -> tuple[list[FoundRivals], Flags]:
    """The pairs that can decide matches, shape (n, l), that bind points at the same places; who is broken.

    Broken are those matches that some pair breaks in every world.
    """
    absolute = compare_with_constants(measure.cases, found)
    seen = [_seen(measure, matches, each, absolute=absolute) for each in found]
    can = [np.zeros(len(row), dtype=bool) for _, row, _ in found]
    broken = np.ones(len(matches), dtype=bool)
    for case in measure.cases:
        here = np.zeros(len(matches), dtype=bool)
        for number, ((negation, row, _), copies) in enumerate(zip(found, seen, strict=True)):
            pairs = np.arange(len(row) * (len(lasting) + 1)).reshape(len(row), len(lasting) + 1)
            rival = (negation, np.arange(len(row)), pairs[:, -1])
            lists, must = deciding(copies, pairs[:, :-1], case, lasting, [rival])
            here[row[must]] = True
            can[number] |= must
            for each in lists:
                can[number][each.row] = True
        broken &= here
    kept = [can[number] & ~broken[row] for number, (_, row, _) in enumerate(found)]
    pairs_of = zip(found, kept, strict=True)
    return [(each[0], each[1][some], each[2][some]) for each, some in pairs_of if some.any()], broken


def _seen(measure: MeasureOnClocks, matches: Indexes, found: FoundRivals, *, absolute: bool) -> Endpoints:
    """Pair by pair the events of the match and, last, its rival, as the clock of the rival sees them."""
    (_, row, event), endpoints, clocks = found, measure.endpoints, measure.clocks
    together = np.column_stack([matches[row], event])
    own_clock = np.full(len(row), NO_CLOCK) if absolute else clocks.clock[event]
    events, seer = together.reshape(-1), np.repeat(own_clock, together.shape[1])
    lasting = endpoints.lasting_among(events)
    which = np.concatenate([events, endpoints.end[events[lasting]]])
    seer = np.concatenate([seer, seer[lasting]])
    lower, upper = clocks.own.lower[which].copy(), clocks.own.upper[which].copy()
    clock, offsets = clocks.clock[which], clocks.offsets
    moved = np.flatnonzero((clock != seer) & (clock != NO_CLOCK))
    lower[moved] += offsets.lower[clock[moved]]
    upper[moved] += offsets.upper[clock[moved]]
    away = np.flatnonzero((clock != seer) & (seer != NO_CLOCK))
    lower[away] -= offsets.upper[seer[away]]
    upper[away] -= offsets.lower[seer[away]]
    masses = Masses(lower, upper, np.arange(len(lower) + 1), lower, upper, 1.0 / ticks_between(lower, upper))
    return endpoints.copies(events, masses)


def cutting_clauses(
    measure: IntervalMeasure,
    matches: Indexes,
    lasting: Lasting,
    rivals: Sequence[FoundRivals],
    spans: TickSpans | None,
) -> Clauses:
    """The clauses of matches, shape (n, l), that bind points at the same places: a group for each.

    `spans`: in which those events have to lie that are the matches' own.
    """
    rows, endpoints = np.arange(len(matches)), measure.endpoints
    parts = [*laws_of(endpoints, rows, matches[:, np.flatnonzero(lasting)])]
    endpoint = endpoints.places(matches)
    if spans is not None:
        parts += _of_spans(spans, endpoint[:, : 2 * (measure.counted or matches.shape[1])])
    for case in measure.cases:
        parts += _of_skeleton(skeleton_of(case, lasting), rows, endpoint)
    for negation, row, event in rivals:
        lasts = endpoints.end[event] != event
        parts += laws_of(endpoints, row[lasts], event[lasts][:, None])
        for wanted in (False, True):
            pair = np.flatnonzero(lasts == wanted)
            together = endpoints.places(np.column_stack([matches[row[pair]], event[pair]]))
            for each in negation.cases:
                parts += _of_skeleton(skeleton_of(each, (*lasting, wanted)), row[pair], together)
    return gathered(parts, rows, len(rows))


def compare_with_constants(cases: Sequence[Case], rivals: Sequence[FoundRivals]) -> bool:
    """Whether some endpoint is compared with a constant tick."""
    every = [*cases, *(case for negation, _, _ in rivals for case in negation.cases)]
    return any(CONSTANT in edge[:2] for case in every for edge in case)


def _of_skeleton(skeleton: Skeleton, row: Indexes, endpoint: Indexes) -> Iterator[Part]:
    """The edges between endpoints, and what constants leave to these."""
    nothing = np.full(len(row), NO_EVENT)
    for i, j, bound in skeleton.edges[: skeleton.shared].tolist():
        yield present(row, endpoint[:, i], endpoint[:, j], np.full(len(row), bound))
    for place, (first, last) in enumerate(skeleton.allowed.tolist()):
        if last != LAST:
            yield present(row, endpoint[:, place], nothing, np.full(len(row), last))
        if first != FIRST:
            yield present(row, nothing, endpoint[:, place], np.full(len(row), -first))


def _of_spans(spans: TickSpans, endpoint: Indexes) -> Iterator[Part]:
    """That every endpoint of a match lies within its span."""
    begins, ends = np.flatnonzero(spans.first > FIRST), np.flatnonzero(spans.last < LAST)
    for each in endpoint.T:
        yield present(ends, each[ends], np.full(len(ends), NO_EVENT), spans.last[ends])
        yield present(begins, np.full(len(begins), NO_EVENT), each[begins], -spans.first[begins])
