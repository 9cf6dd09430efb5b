"""What matches of interval events ask of endpoints whose clocks are summed over, as clauses: where these cut.

Every edge of a case is a clause, and every edge by which a possible rival breaks a match; nothing more is
told of them, since where the measure changes its polynomial depends on the edges alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from cepctl.arrays import Indexes
from cepctl.engines.columns.bindings import TickSpans
from cepctl.engines.columns.endpoints import UNBOUNDED_LENGTH, Endpoints
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.intervals.conditions import CONSTANT, Case
from cepctl.engines.intervals.edges import Lasting, Skeleton, skeleton_of
from cepctl.engines.intervals.rivals import FoundRivals
from cepctl.engines.occurrence.clauses import NO_EVENT, Clauses, Part, gathered, present


def cutting_clauses(
    endpoints: Endpoints,
    cases: Sequence[Case],
    matches: Indexes,
    lasting: Lasting,
    rivals: Sequence[FoundRivals],
    counted: int | None,
    spans: TickSpans | None,
) -> Clauses:
    """The clauses of matches, shape (n, l), that bind points at the same places: a group for each.

    `spans`: in which the first `counted` of their events have to lie, or all.
    """
    rows = np.arange(len(matches))
    parts = [*laws_of(endpoints, rows, matches[:, np.flatnonzero(lasting)])]
    endpoint = endpoints.places(matches)
    if spans is not None:
        parts += _of_spans(spans, endpoint[:, : 2 * (counted or matches.shape[1])])
    for case in cases:
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


def laws_of(endpoints: Endpoints, row: Indexes, events: Indexes) -> Iterator[Part]:
    """What interval events, shape (n, k), ask of their own two endpoints."""
    for event in events.T:
        end, longest = endpoints.end[event], endpoints.longest[event]
        yield present(row, event, end, -endpoints.shortest[event])
        some = np.flatnonzero(longest < UNBOUNDED_LENGTH)
        yield present(row[some], end[some], event[some], longest[some])
