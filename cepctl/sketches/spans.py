"""Spans: the events of a row group in runs of at most 1,024, each with the stretch of time that it covers.

An event that is much wider than its neighbours would blur the stretch of all of them.  Those wider than their
own run is long share runs with others of about their width.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Indexes, Numbers, Ticks

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

    Parameters
    ----------
    lower, upper
        Intervals of the events, shape (n,).
    row_group
        Its number.

    Returns
    -------
    The spans, and for each event the number of its span among them, shape (n,).

    Examples
    --------
    >>> spans, of_event = spans_of(np.array([1, 2, 3]), np.array([1, 900, 3]), 0)
    >>> spans.last.tolist(), of_event.tolist()
    ([3, 900], [0, 1, 0])
    """
    count = len(lower)
    order = np.argsort(lower, kind="stable")
    kind = np.empty(count, dtype=np.int64)
    kind[order] = _kinds(lower[order], upper[order])
    order = order[np.argsort(kind[order], kind="stable")]
    sorted_kind = kind[order]
    place = np.arange(count)
    begins = np.empty(count, dtype=np.bool_)
    begins[:1] = True
    begins[1:] = sorted_kind[1:] != sorted_kind[:-1]
    within = place - np.maximum.accumulate(np.where(begins, place, 0))
    begins |= within % SPAN_EVENTS == 0
    starts = np.flatnonzero(begins)
    of_event = np.empty(count, dtype=np.int64)
    of_event[order] = np.cumsum(begins) - 1
    if not count:
        return Spans(*(np.empty(0, dtype=np.int64) for _ in range(4))), of_event
    spans = Spans(
        np.full(len(starts), row_group, dtype=np.int64),
        np.minimum.reduceat(lower[order], starts),
        np.maximum.reduceat(upper[order], starts),
        np.diff(np.append(starts, count)),
    )
    return spans, of_event


def _kinds(lower: Ticks, upper: Ticks) -> Numbers:
    """0 for events no wider than their run is long, else the order of magnitude of their width, by fours."""
    run = np.arange(len(lower)) // SPAN_EVENTS
    starts = np.arange(0, len(lower), SPAN_EVENTS)
    ends = np.minimum(starts + SPAN_EVENTS, len(lower)) - 1
    length = (lower[ends].astype(np.float64) - lower[starts])[run]
    width = upper.astype(np.float64) - lower.astype(np.float64)
    magnitude = np.floor(np.log2(np.maximum(width, 1.0)) / 2.0).astype(np.int64) + 1
    return np.where(width <= length, 0, magnitude)
