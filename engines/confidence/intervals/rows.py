"""Matches that bind interval events: confidence and time range of each, and whether some of a key hold.

    what matches have                       measured by
    their cases alone                       what open edges couple, with its closed forms
    rivals, clocks, what is given, spans    clauses, each match a key of one row

The cases of a match exclude each other: each is a row, and their probabilities add up.

With their cases alone, matches that bind points at the same places share a system of edges between endpoints.
Edges that hold whatever the ticks are left out, match by match; the probability of the others is summed, and
divided by that of the events' own laws, where these are among them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from itertools import product

import numpy as np
import polars as pl

from cepctl.engines.columns.bindings import TickSpans
from cepctl.engines.columns.endpoints import Endpoints
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.confidence.coupled.problem import Clauses
from cepctl.engines.confidence.given.edges import contradicted
from cepctl.engines.confidence.intervals.clauses import AskedEndpoints, GroupedMatches, component_probability
from cepctl.engines.confidence.intervals.edges import (
    MOST_TOLD,
    SHARED,
    OpenEdges,
    Reached,
    Skeleton,
    coupled_groups,
    reached,
    skeleton_of,
)
from cepctl.engines.confidence.intervals.measure import (
    FoundWholes,
    IntervalMeasure,
    MeasureOnClocks,
    broken_in_rows,
    require_known,
)
from cepctl.engines.confidence.intervals.sums import (
    probability,
)
from cepctl.engines.confidence.measured import Measured, Total, impossible
from cepctl.engines.confidence.occurrence.ends import NEVER, ends_of
from cepctl.engines.confidence.occurrence.occurrence import Occurrences
from cepctl.engines.confidence.occurrence.rows import NEARLY
from cepctl.engines.confidence.work import NESTED_ENDS
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.plan.plan import Given

_AFTER_ITS_START = "\0"
"""Follows the id of an event in that of its end."""
BLOCK = 1 << 14
"""Matches whose clauses are made at once."""
MOST_CHOICES = 256
"""Of matches whose cases can be violated in more ways, all that are left count as uncertain."""


def measured(measure: IntervalMeasure, matches: Indexes, spans: TickSpans | None = None) -> Measured:
    """Measure matches, shape (n, l), in the worlds that satisfy what is given.

    With `spans` the confidence is that of a match within its span; its time range then means nothing.

    Raises
    ------
    QueryTooLargeError
        If a match needs too many products, or offsets of clocks.
    """
    found = impossible(len(matches))
    for begin in range(0, len(matches), BLOCK):
        block = matches[begin : begin + BLOCK]
        broken = measure.broken_by(block)
        plain = _plain(measure, block, broken) & (spans is None)
        some, rest = np.flatnonzero(plain), np.flatnonzero(~plain)
        if len(some):
            alone = measured_independently(measure, block[some])
            found.put(begin + some, _certain_ones(measure, block[some], [], alone))
        if len(rest):
            own, within = broken_in_rows(broken, rest), None if spans is None else spans.take(begin + rest)
            found.put(begin + rest, _by_clauses(measure, block[rest], own, within))
    return found


def _plain(measure: IntervalMeasure, matches: Indexes, broken: list[FoundWholes]) -> Flags:
    """Which matches nothing can break, and nothing ties or moves against anything."""
    found = np.full(len(matches), not isinstance(measure, MeasureOnClocks))
    for _, row, _ in broken:
        found[row] = False
    if measure.ties is not None:
        found &= (measure.ties.component[matches] < 0).all(axis=1)
    return found


def _by_clauses(
    measure: IntervalMeasure, matches: Indexes, broken: list[FoundWholes], spans: TickSpans | None
) -> Measured:
    measure.heard(NESTED_ENDS)
    count, total = len(matches), Total(len(matches))
    for case in measure.cases:
        alone = replace(measure, cases=(case,))
        found = GroupedMatches(alone, matches, np.arange(count), broken, spans)
        asked = AskedEndpoints.of(measure, [found], count)
        confidence = asked.occurrences(measure.occurrences).probability
        start, end = _ends(measure, found)
        possible = start != NEVER if spans is None else confidence > 0.0
        require_known(np.where(possible, confidence, 0.0), "a match", 2 * matches.shape[1])
        if spans is not None:
            start, end = np.where(possible, 0, 1), np.zeros(count, dtype=np.int64)
        total.add(np.arange(count), np.where(possible, confidence, 0.0), start, end)
    measured = total.measured()
    return measured if spans is not None else _certain_ones(measure, matches, broken, measured)


def _ends(measure: IntervalMeasure, found: GroupedMatches) -> tuple[Ticks, Ticks]:
    """First start and last end of matches of one case, each a group of its own; NEVER where none holds."""
    endpoint = measure.endpoints.places(found.matches)
    first, last = _left(measure, found, endpoint[:, ::2], endpoint[:, 1::2])
    return first.min(axis=1), last.max(axis=1)


def _left(
    measure: IntervalMeasure, found: GroupedMatches, first: Indexes, last: Indexes
) -> tuple[Ticks, Ticks]:
    """The earliest ticks of the endpoints `first` of each match, and the latest of `last`."""
    asked = AskedEndpoints.of(measure, [found._replace(shown=True)], len(found.matches))
    of_problem = np.argsort(asked.problem)
    first, last = (np.ascontiguousarray(each[of_problem]) for each in (first, last))
    earliest, latest = ends_of(measure.stamps, asked.clauses, first, last, NESTED_ENDS)
    return earliest[asked.problem], latest[asked.problem]


def valid(measure: IntervalMeasure, matches: Indexes) -> tuple[Ticks, Ticks]:
    """What the conditions, and what is given, leave to starts and ends: shape (n, 2 l).

    None where nothing holds; absences narrow nothing.
    """
    count, width = len(matches), 2 * matches.shape[1]
    lower, upper = np.full((count, width), LAST), np.full((count, width), FIRST)
    for case in measure.cases if count else ():
        alone = replace(measure, cases=(case,))
        endpoint = measure.endpoints.places(matches)
        first, last = _left(measure, GroupedMatches(alone, matches, np.arange(count)), endpoint, endpoint)
        lower, upper = np.minimum(lower, first), np.maximum(upper, last)
    return lower, upper


def holds_somewhere(measure: IntervalMeasure, matches: Indexes) -> Flags:
    """Which matches some world has that satisfies what is given; absences are not looked at."""
    lower, upper = valid(measure, matches)
    return np.asarray((lower <= upper).all(axis=1))


def _certain_ones(
    measure: IntervalMeasure, matches: Indexes, broken: list[FoundWholes], found: Measured
) -> Measured:
    """Confidences that miss 1 by what sums are rounded, of matches that are certain, are 1."""
    near = (found.confidence != 1.0) & (np.abs(found.confidence - 1.0) < NEARLY)
    rows = np.flatnonzero(near)
    if not len(rows):
        return found
    own = matches[rows]
    certain = ~_can_be_violated(measure, own)
    for breaking, row, event in broken_in_rows(broken, rows):
        can = np.zeros(len(row), dtype=bool)
        for case in breaking.cases:
            together = replace(measure, cases=(case,))
            can |= holds_somewhere(together, np.column_stack([own[row], event]))
        certain[row[can]] = False
    confidence = found.confidence.copy()
    confidence[rows[certain]] = 1.0
    return replace(found, confidence=confidence)


def _can_be_violated(measure: IntervalMeasure, matches: Indexes) -> Flags:
    """Which matches some world has, of those that satisfy what is given, where no case of theirs holds."""
    found = np.zeros(len(matches), dtype=bool)
    for ways, chosen in enumerate(product(*measure.cases)):
        rows = np.flatnonzero(~found)
        if ways == MOST_CHOICES or not len(rows):
            found[rows] = True
            break
        violated = tuple((j, i, -bound - 1) for i, j, bound in chosen if bound < UNBOUNDED)
        if len(violated) == len(chosen):
            found[rows] = holds_somewhere(replace(measure, cases=(violated,)), matches[rows])
    return found


def require_worlds(given: Sequence[Given], events: Events) -> None:
    """Raise ContradictionError where masses with holes leave a component on clocks no world."""
    ties, stamps, owner = events.tied_endpoints, events.endpoint_stamps, events.endpoints.owner
    holed = np.unique(owner[np.flatnonzero(stamps.own.has_hole)])
    found = ties.component[holed]
    components = np.unique(found[found >= 0])
    measure = replace(IntervalMeasure.of(events), ties=ties)
    for each in components[component_probability(measure, components) == 0.0].tolist():
        members = ties.members[slice(*ties.member_offsets[each : each + 2])]
        raise contradicted(given, members.tolist(), events)


def occurrences_of_intervals(
    events: Events,
    found: Sequence[GroupedMatches],
    groups: int,
    measuring: Callable[[Events, Clauses], Occurrences],
) -> Occurrences:
    """Measure the groups of these matches; `measuring` is how clauses between endpoints are.

    Raises
    ------
    QueryTooLargeError
        If a match has too many cases.
    """
    asked = AskedEndpoints.of(IntervalMeasure.of(events), found, groups)
    # Every endpoint is an event; an end stands after its start.
    ends = events.ids.gather(events.endpoints.lasting) + _AFTER_ITS_START
    of_endpoints = Events(events.endpoints.masses, pl.DataFrame({"event_id": pl.concat([events.ids, ends])}))
    return asked.occurrences(lambda clauses: measuring(of_endpoints, clauses))


def with_rivals(measure: IntervalMeasure, matches: Indexes, group: Indexes) -> GroupedMatches:
    """Matches of groups with all that must not happen beside them."""
    return GroupedMatches(measure, matches, group, measure.broken_by(matches))


BLOCK = 1 << 16
"""Matches that are measured at once."""
OWN_LENGTHS = 1 << MOST_TOLD


def measured_independently(measure: IntervalMeasure, matches: Indexes) -> Measured:
    """Measure matches, shape (n, l), that nothing can break.

    Raises
    ------
    QueryTooLargeError
        If a match needs too many products.
    """
    total = Total(len(matches))
    for lasting, rows in measure.by_points(matches):
        for case in measure.cases:
            skeleton = skeleton_of(case, lasting)
            own = matches[rows]
            left = reached(measure.endpoints, own, np.array(lasting), skeleton.allowed, skeleton.edges)
            happens = np.flatnonzero(left.open_edges >= 0)
            some = taken(left, happens)
            ends = reduce(np.minimum, some.lower.T), reduce(np.maximum, some.upper.T)
            total.add(rows[happens], _summed(measure, skeleton, some, own[happens]), *ends)
    return total.measured()


def _summed(measure: IntervalMeasure, skeleton: Skeleton, left: Reached, matches: Indexes) -> Reals:
    """P(all edges) over P(the events' own): for matches alike in which edges are open at once."""
    total = np.ones(len(matches))
    undecided = np.flatnonzero(left.open_edges) if skeleton.can_be_certain else np.arange(len(matches))
    if not len(undecided):
        return total
    if len(undecided) < len(matches):
        matches, left = matches[undecided], taken(left, undecided)
    endpoint = measure.endpoints.places(matches)
    own = measure.endpoints.lengths(matches[:, np.array(skeleton.lasting)])
    open_edges = _with_own_lengths(skeleton, left.open_edges, own)
    part = np.ones(len(matches))
    for mask in _distinct(open_edges):
        rows = np.flatnonzero(open_edges == mask)
        chosen = _chosen(skeleton, int(mask))
        some = taken(left, rows)
        found = probability(measure, chosen, endpoint[rows], some, own[rows])
        part[rows] = _conditioned(measure.endpoints, found, chosen, matches[rows])
    total[undecided] = part
    return total


def _conditioned(endpoints: Endpoints, found: Reals, chosen: OpenEdges, matches: Indexes) -> Reals:
    """Given that the stamps of every event agree with its law."""
    for event in range(matches.shape[1]):
        if event not in chosen.free:
            found = found / endpoints.whole[matches[:, event]]
    return found


def taken(left: Reached, rows: Indexes) -> Reached:
    """Of some matches."""
    return Reached(*(each[rows] for each in left))


def _distinct(masks: Indexes) -> Indexes:
    if len(masks) and int(masks.max()) < len(masks) + 1024:
        return np.flatnonzero(np.bincount(masks))
    return np.unique(masks)


def _with_own_lengths(skeleton: Skeleton, open_edges: Indexes, own: Ticks) -> Indexes:
    """Open edges that matter; the bit OWN_LENGTHS where a length has bounds of its own.

    `0 <= end - start` does not matter where other edges imply it, but another bound does.
    """
    found = open_edges & skeleton.needed
    for number in range(own.shape[1]):
        edge = skeleton.shared + number
        if edge < MOST_TOLD:
            is_open = (open_edges >> edge & 1).astype(bool)
            # Of both edges of an event the second bounds its length from above, also by 0.
            bounded = is_open & ((own[:, number] != 0) | (number % 2 == 1))
            found |= np.where(bounded, np.int64(1) << edge | OWN_LENGTHS, 0)
    return found


def _chosen(skeleton: Skeleton, mask: int) -> OpenEdges:
    count = len(skeleton.edges)
    numbers = [each for each in range(count) if each >= MOST_TOLD or mask >> each & 1]
    return coupled_groups(
        tuple(map(tuple, skeleton.edges[numbers].tolist())),
        tuple(number - skeleton.shared if number >= skeleton.shared else SHARED for number in numbers),
        skeleton.restricted,
        own_lengths=bool(mask & OWN_LENGTHS) or count > MOST_TOLD,
    )
