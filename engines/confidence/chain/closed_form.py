"""Confidence of chains: P(t_1 < t_2 < ... < t_l and t_l - t_1 < W), in closed form.

Order and window are a ring of links, each between an event and the next one:

    t_1 < t_2 < ... < t_l < t_1 + W

A link that holds at all ticks of both events says nothing.  Where one does, the ring is opened: what follows
it, then what comes before it, a window later, is a chain without window.  Further links that hold part it into
runs that are independent of each other (runs.py).  Where every link may fail, the ticks of the first event are
parted: before all ticks of the second its link to that holds, after others the window does.  What is left
between is summed with its window (window_sums.py).  All terms are positive, so that nothing cancels, and the
cost depends on the number of buckets, never on their width.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import apart
from cepctl.engines.confidence.chain.runs import (
    BUCKET,
    FIRST_BUCKET,
    LOWER,
    MOVED,
    STOP_BUCKET,
    UPPER,
    run_probability,
)
from cepctl.engines.confidence.chain.window_sums import window_probability

NO_WINDOW = 0
_FARTHEST = 1 << 61
"""Ticks of chains that reach farther are not moved by a window: int64 may not hold them."""


def chain_confidence(
    masses: Masses, matches: Indexes, valid_lower: Ticks, valid_upper: Ticks, window: int | None
) -> Reals:
    """Confidence of every match of a batch.

    Parameters
    ----------
    masses
        Masses of all events.
    matches
        Shape (n, l): the events of each match in chain order.
    valid_lower, valid_upper
        Shape (n, l): valid intervals; ticks outside contribute nothing and are left out.
    window
        W in ticks, None for none.

    Returns
    -------
    Shape (n,), in [0, 1]; relative error below 1e-12 for chains of up to 8 events.

    Examples
    --------
    ZDI10, Fig. 1: a1 = [1, 5], b3 = [3, 5], c2 = [3, 5], window 4.

    >>> import pyarrow as pa
    >>> from cepctl.engines.columns.masses import masses_of
    >>> events = pa.table({"event_id": ["a1", "b3", "c2"], "lower": [1, 3, 3], "upper": [5, 5, 5]})
    >>> bounds = np.array([[1, 3, 4]]), np.array([[3, 4, 5]])
    >>> result = chain_confidence(masses_of(events), np.array([[0, 1, 2]]), *bounds, window=4)
    >>> round(float(result[0]) * 225, 9)
    25.0
    """
    result = np.zeros(len(matches))
    if not len(matches):
        return result
    width = np.int64(NO_WINDOW if window is None else window)
    most_buckets = masses.most_buckets * matches.shape[1]
    _chain_batch(masses.buckets, matches, valid_lower, valid_upper, width, most_buckets, result)
    return result


class Workspace(NamedTuple):
    """What measuring a chain writes to: made once for many chains."""

    places: Ticks
    cuts: Ticks
    refined: Ticks
    per_tick: Reals
    placed: Reals


@njit(nogil=True, cache=True)
def workspace(positions, most_buckets):
    """Room for chains of `positions` events with at most `most_buckets` buckets together."""
    return Workspace(
        np.empty((positions, 6), dtype=np.int64),
        np.empty(2 * most_buckets + 1, dtype=np.int64),
        np.empty(4 * most_buckets + 4, dtype=np.int64),
        np.empty((positions, 2 * most_buckets + 1)),
        np.empty(positions + 1),
    )


@njit(nogil=True, cache=True)
def _chain_batch(buckets, matches, valid_lower, valid_upper, window, most_buckets, result):
    starts, lo, hi, density = buckets.starts, buckets.lo, buckets.hi, buckets.density
    places, cuts, refined, per_tick, placed = workspace(matches.shape[1], most_buckets)
    for row in range(matches.shape[0]):
        result[row] = _chain(
            *(starts, lo, hi, density, matches[row], valid_lower[row], valid_upper[row], window),
            *(places, cuts, refined, per_tick, placed),
        )


@njit(nogil=True, cache=True)
def one_chain(buckets, events, valid_lower, valid_upper, window, space):
    """Confidence of a chain that can happen, as `chain_confidence`; exactly 1 where it is certain."""
    return _chain(
        *(buckets.starts, buckets.lo, buckets.hi, buckets.density, events, valid_lower, valid_upper, window),
        *(space.places, space.cuts, space.refined, space.per_tick, space.placed),
    )


@njit(nogil=True, cache=True)
def _chain(
    starts, lo, hi, density, events, lower, upper, window, places, cuts, refined, per_tick, placed
):
    last = len(events) - 1
    reach = apart(lower[0], upper[last])
    opened = 0
    if window != NO_WINDOW and reach >= window and last > 0:
        opened = 1
        while opened <= last and upper[opened - 1] >= lower[opened]:
            opened += 1
        if reach > _FARTHEST:
            return window_probability(
                starts, lo, hi, density, events, lower, upper, window, cuts, refined, per_tick, placed
            )
        if opened > last:
            return _tied(
                *(starts, lo, hi, density, events, lower, upper, window),
                *(places, cuts, refined, per_tick, placed),
            )
    _open(starts, places, events, lower, upper, opened, window)
    return _of_runs(lo, hi, density, places, per_tick, placed)


@njit(nogil=True, cache=True)
def _open(starts, places, events, lower, upper, opened, window):
    """Fill the places: first those from number `opened` on, then those before, moved by the window."""
    count = len(events)
    for place in range(count):
        position, moved = place + opened, 0
        if position >= count:
            position, moved = position - count, window
        places[place, LOWER], places[place, UPPER] = lower[position] + moved, upper[position] + moved
        places[place, MOVED] = moved
        first = starts[events[position]]
        places[place, FIRST_BUCKET] = places[place, BUCKET] = first
        places[place, STOP_BUCKET] = starts[events[position] + 1]


@njit(nogil=True, cache=True)
def _of_runs(lo, hi, density, places, per_tick, placed):
    """The product over runs of events between which links may fail."""
    product, begin, count = 1.0, 0, len(places)
    while begin < count and product > 0.0:
        stop = begin + 1
        while stop < count and places[stop - 1, UPPER] >= places[stop, LOWER]:
            stop += 1
        product *= run_probability(lo, hi, density, places, begin, stop, per_tick, placed)
        begin = stop
    return product


@njit(nogil=True, cache=True)
def _tied(
    starts, lo, hi, density, events, lower, upper, window, places, cuts, refined, per_tick, placed
):
    """A chain of which every link may fail, parted by the ticks of its first event."""
    last, total = len(events) - 1, 0.0
    second, in_window = lower[1], upper[last] - window + 1
    if lower[0] < second:
        _open(starts, places, events, lower, upper, 1, window)
        places[last, UPPER] = second - 1 + window
        total += _of_runs(lo, hi, density, places, per_tick, placed)
    begin = max(lower[0], second, in_window)
    if begin <= upper[0]:
        _open(starts, places, events, lower, upper, 0, window)
        places[0, LOWER] = begin
        total += _of_runs(lo, hi, density, places, per_tick, placed)
    begin, end = max(lower[0], second), min(upper[0], in_window - 1)
    if begin <= end:
        _open(starts, places, events, lower, upper, 0, window)
        places[0, LOWER], places[0, UPPER] = begin, end
        total += window_probability(
            *(starts, lo, hi, density, events, places[:, LOWER], places[:, UPPER], window),
            *(cuts, refined, per_tick, placed),
        )
    return total
