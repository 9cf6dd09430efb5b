"""Spans: the events of a row group in runs of at most 1,024, each with the stretch of time that it covers.

An event that is much wider than its neighbours would blur the stretch of all of them.  Those wider than their
own run is long share runs with others of about their width.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from cepctl.numeric.arrays import Indexes, Numbers, Ticks

SPAN_EVENTS = 1024


@dataclass(frozen=True)
class Spans:
    """n spans as columns, shape (n,): the row group, first and last tick, and how many events each holds."""

    row_group: Indexes
    first: Ticks
    last: Ticks
    events: Numbers

    def __len__(self) -> int:
        return len(self.events)


def spans_of(lower: Ticks, upper: Ticks, row_group: int) -> tuple[Spans, Indexes]:
    """Cut the events of one row group into spans.

    `lower`, `upper`: intervals of the events, shape (n,).  `row_group`: its number.  Returns the spans, and
    for each event the number of its span among them, shape (n,).

    Examples
    --------
    >>> spans, of_event = spans_of(np.array([1, 2, 3]), np.array([1, 900, 3]), 0)
    >>> spans.last.tolist(), of_event.tolist()
    ([3, 900], [0, 1, 0])
    """
    count = len(lower)
    if not count:
        return Spans(*(np.empty(0, dtype=np.int64) for _ in range(4))), np.empty(0, dtype=np.int64)
    order, starts = _runs(lower, upper)
    of_event = np.empty(count, dtype=np.int64)
    of_event[order] = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, count)))
    spans = Spans(
        np.full(len(starts), row_group, dtype=np.int64),
        np.minimum.reduceat(lower[order], starts),
        np.maximum.reduceat(upper[order], starts),
        np.diff(np.append(starts, count)),
    )
    return spans, of_event


def together(first: Ticks, last: Ticks, events: Numbers) -> Indexes:
    """Spans that are joined, as those of many short runs are: the number of the new span of each, shape (n,).

    A span of more than half of 1,024 events stays as it is.  Others are joined with their neighbours, between
    two of these, and those that are longer than their neighbours are apart with such of their length alone.

    Examples
    --------
    >>> together(np.array([1, 5, 6, 9]), np.array([2, 900, 8, 9]), np.array([3, 1, 4, 2])).tolist()
    [0, 1, 0, 0]
    """
    order = np.argsort(first, kind="stable")
    begin, end, held = first[order], last[order], events[order]
    full = held > SPAN_EVENTS // 2
    between = 2 * np.cumsum(full) + full
    run = _cut(between, held)
    least, most = np.full(len(run), np.iinfo(np.int64).max), np.full(len(run), np.iinfo(np.int64).min)
    np.minimum.at(least, run, begin)
    np.maximum.at(most, run, begin)
    length = end.astype(np.float64) - begin
    wide = ~full & (length > (most.astype(np.float64) - least)[run])
    magnitude = _magnitudes(begin, end, np.arange(len(begin)))
    # Wide ones are joined within sixteen times their length.
    cell = np.where(wide, begin >> np.minimum(2 * magnitude + 4, 63), between)
    kind = np.where(wide, 1 + magnitude, 0)
    _, name = np.unique(np.stack([kind, cell]), axis=1, return_inverse=True)
    run = _cut(name.ravel(), held)
    _, at, number = np.unique(run, return_index=True, return_inverse=True)
    of_span = np.empty(len(order), dtype=np.int64)
    of_span[order] = np.argsort(np.argsort(at))[number.ravel()]
    return of_span


def _cut(name: Numbers, events: Numbers) -> Indexes:
    """Spans of one name cut into runs of less than 1,024 events: the number of the run of each."""
    order = np.argsort(name, kind="stable")
    before = np.cumsum(events[order]) - events[order]
    starts = np.flatnonzero(np.append(True, np.diff(name[order]) != 0)[: len(name)])
    before -= np.repeat(before[starts], np.diff(np.append(starts, len(name))))
    run = np.empty(len(name), dtype=np.int64)
    run[order] = before // max(SPAN_EVENTS // 2, 1)
    _, number = np.unique(np.stack([name, run]), axis=1, return_inverse=True)
    return np.asarray(number.ravel())


def _runs(lower: Ticks, upper: Ticks) -> tuple[Indexes, Indexes]:
    """The events run by run, and where the runs begin: first those that are not wide, then by width."""
    order = np.arange(len(lower))
    if (lower[1:] < lower[:-1]).any():
        order = np.argsort(lower, kind="stable")
    wide = _wide(lower[order], upper[order])
    kind = _magnitudes(lower, upper, order[wide])
    sorted_kind = np.argsort(kind, kind="stable")
    order = np.concatenate([order[~wide], order[wide][sorted_kind]])
    edges = np.flatnonzero(np.diff(kind[sorted_kind])) + 1 + len(lower) - len(kind)
    edges = np.unique(np.concatenate([[0], edges, [len(lower) - len(kind), len(lower)]]))
    starts = [np.arange(a, b, SPAN_EVENTS) for a, b in pairwise(edges.tolist())]
    return order, np.concatenate(starts)


def _wide(lower: Ticks, upper: Ticks) -> np.ndarray:
    """Which events, in order, are wider than the run of their neighbours is long."""
    starts = np.arange(0, len(lower), SPAN_EVENTS)
    ends = np.minimum(starts + SPAN_EVENTS, len(lower))
    length = lower[ends - 1].astype(np.float64) - lower[starts]
    return upper.astype(np.float64) - lower > np.repeat(length, ends - starts)


def _magnitudes(lower: Ticks, upper: Ticks, chosen: Indexes) -> Numbers:
    """The orders of magnitude of widths, by fours."""
    width = upper[chosen].astype(np.float64) - lower[chosen]
    return np.floor(np.log2(np.maximum(width, 1.0)) / 2.0).astype(np.int64)
