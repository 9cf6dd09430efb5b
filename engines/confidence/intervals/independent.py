"""Time range and confidence of matches whose endpoints are independent: nothing given, no clock shared.

For each case of the conditions, matches that bind points at the same places share a system of edges between
endpoints.  Edges that hold whatever the ticks are left out, match by match; the probability of the others is
summed, and divided by that of the events' own laws, where these are among them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.bindings import TickSpans
from cepctl.engines.columns.endpoints import Endpoints, cut_endpoints
from cepctl.engines.columns.numbering import rows_alike
from cepctl.engines.confidence.intervals.conditions import Case, Place
from cepctl.engines.confidence.intervals.edges import (
    MOST_TOLD,
    SHARED,
    Lasting,
    OpenEdges,
    Reached,
    Skeleton,
    coupled_groups,
    reached,
    skeleton_of,
)
from cepctl.engines.confidence.intervals.measure import IntervalMeasure, with_certain_ones
from cepctl.engines.confidence.intervals.rivals import (
    FoundRivals,
    RivalList,
    alike_rivals,
    deciding,
    rivals_of_rows,
)
from cepctl.engines.confidence.intervals.sums import (
    Together,
    probability,
    probability_without_rivals,
)
from cepctl.engines.confidence.measured import Measured, Total, impossible
from cepctl.engines.confidence.work import ENDS_APART

BLOCK = 1 << 16
"""Matches that are measured at once."""
OWN_LENGTHS = 1 << MOST_TOLD


def measured_independently(
    measure: IntervalMeasure, matches: Indexes, spans: TickSpans | None = None
) -> Measured:
    """Measure matches, shape (n, l).

    With `spans` the confidence is that of a match within its span; its time range then means nothing.

    Raises
    ------
    QueryTooLargeError
        If a match needs too many products.
    """
    if spans is not None:
        return _within(measure, matches, spans)
    measure.heard(ENDS_APART)
    total = Total(len(matches))
    for begin in range(0, len(matches), BLOCK):
        block = matches[begin : begin + BLOCK]
        rivals = [] if measure.rivals is None else measure.rivals(block)
        for lasting, rows in measure.by_points(block):
            own = rivals_of_rows(rivals, rows)
            for case in measure.cases:
                _add(measure, total, block[rows], begin + rows, case, lasting, own)
    found = total.measured()
    confidence = with_certain_ones(found.confidence, measure, measure.cases, (), matches)
    return replace(found, confidence=confidence)


def _within(measure: IntervalMeasure, matches: Indexes, spans: TickSpans) -> Measured:
    """The endpoints that matches bind are cut where their spans end; those of their rivals stay."""
    count, size = matches.shape
    near = [] if measure.rivals is None else measure.rivals(matches)
    strangers = np.unique(np.concatenate([np.zeros(0, np.int64), *(event for _, _, event in near)]))
    whose = spans.of_each(size, measure.counted or size).followed_by_everywhere(len(strangers))
    events = np.concatenate([matches.reshape(-1), strangers])
    endpoints, share = cut_endpoints(measure.endpoints, events, whose)
    inside = share[: matches.size].reshape(count, size).prod(axis=1)
    found, possible = impossible(count), np.flatnonzero(inside > 0.0)
    moved = [(each, row, matches.size + np.searchsorted(strangers, event)) for each, row, event in near]

    def rivals(matches: Indexes) -> list[FoundRivals]:
        return rivals_of_rows(moved, matches[:, 0] // size)

    if len(possible):
        cut = replace(measure, endpoints=endpoints, rivals=rivals if moved else None)
        part = measured_independently(cut, np.arange(matches.size).reshape(count, size)[possible])
        found.put(possible, replace(part, confidence=inside[possible] * part.confidence))
    return found


def _add(
    measure: IntervalMeasure,
    total: Total,
    matches: Indexes,
    rows: Indexes,
    case: Case,
    lasting: Lasting,
    rivals: list[FoundRivals],
) -> None:
    """Add the matches that bind points at the same places, in one case."""
    skeleton = skeleton_of(case, lasting)
    left = reached(measure.endpoints, matches, np.array(lasting), skeleton.allowed, skeleton.edges)
    happens = np.flatnonzero(left.open_edges >= 0)
    if len(happens) < len(rows):
        rows, matches, left = rows[happens], matches[happens], taken(left, happens)
        rivals = rivals_of_rows(rivals, happens)
    if rivals:
        lists, broken = deciding(measure.endpoints, matches, case, lasting, rivals)
        has = np.unique(np.concatenate([np.zeros(0, np.int64), *(each.row for each in lists)]))
        if len(has):
            some = [each.taken(has) for each in lists]
            total.add(rows[has], *_absent(measure, skeleton, taken(left, has), matches[has], some))
        broken[has] = True
        free = np.flatnonzero(~broken)
        rows, matches, left = rows[free], matches[free], taken(left, free)
    total.add(rows, _summed(measure, skeleton, left, matches), *measure.range_of(left.lower, left.upper))


def _absent(
    measure: IntervalMeasure, skeleton: Skeleton, left: Reached, matches: Indexes, lists: list[RivalList]
) -> tuple[Reals, Ticks, Ticks]:
    """Confidence, first and last tick of matches each of which has a rival; none that never holds."""
    count = len(matches)
    confidence, start, end = np.empty(count), np.empty(count, np.int64), np.empty(count, np.int64)
    endpoint = measure.endpoints.places(matches)
    own = measure.endpoints.lengths(matches[:, np.array(skeleton.lasting)])
    open_edges = _with_own_lengths(skeleton, left.open_edges, own)
    alike = np.column_stack(
        [
            open_edges,
            np.where((open_edges & OWN_LENGTHS)[:, None] > 0, own, 0),
            alike_rivals(measure.endpoints, lists, len(matches)),
        ]
    )
    for kind, rows in rows_alike(alike):
        mask, *constants, _ = kind.tolist()
        mine = [each for each in (some.taken(rows) for some in lists) if len(each.row)]
        named = _named(mine, matches.shape[1])
        chosen = _chosen(skeleton, mask, named)
        part = taken(left, rows)
        absent, others = _apart(chosen, named, skeleton.restricted, tuple(constants), mine)
        of_rivals, lower, upper = probability_without_rivals(measure, absent, endpoint[rows], part)
        for k in np.flatnonzero(~np.array(skeleton.lasting)):
            lower[:, 2 * k + 1], upper[:, 2 * k + 1] = lower[:, 2 * k], upper[:, 2 * k]
        found = of_rivals * probability(measure, others, endpoint[rows], part, own[rows])
        confidence[rows] = _conditioned(measure.endpoints, found, chosen, matches[rows])
        start[rows], end[rows] = measure.range_of(lower, upper)
    return confidence, start, end


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


def _chosen(skeleton: Skeleton, mask: int, named: frozenset[Place] = frozenset()) -> OpenEdges:
    count = len(skeleton.edges)
    numbers = [each for each in range(count) if each >= MOST_TOLD or mask >> each & 1]
    return coupled_groups(
        tuple(map(tuple, skeleton.edges[numbers].tolist())),
        tuple(number - skeleton.shared if number >= skeleton.shared else SHARED for number in numbers),
        skeleton.restricted | named,
        own_lengths=bool(mask & OWN_LENGTHS) or count > MOST_TOLD,
    )


def _named(lists: list[RivalList], components: int) -> frozenset[Place]:
    """The places of matches that say what a rival is."""
    places = (place for each in lists for case in each.kind.cases for edge in case for place in edge[:2])
    return frozenset(places) & frozenset(range(2 * components))


def _apart(
    chosen: OpenEdges,
    named: frozenset[Place],
    restricted: frozenset[Place],
    constants: tuple[int, ...],
    lists: list[RivalList],
) -> tuple[Together, OpenEdges]:
    """What must be summed together with rivals, and what multiplies."""
    together = [each for each in chosen.coupled if named & set(each.places)]
    rest = tuple(each for each in chosen.coupled if not named & set(each.places))
    alone = tuple(place for place in chosen.alone if place not in named)
    places = sorted({*named, *(place for group in together for place in group.places)})
    edges = tuple(
        (group.places[i], group.places[j], bound if number == SHARED else constants[number])
        for group in together
        for (i, j, bound), number in zip(group.edges, group.own, strict=True)
    )
    return Together(tuple(places), edges, restricted & set(places), tuple(lists)), OpenEdges(
        rest, alone, chosen.free
    )
