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

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import apart
from cepctl.engines.confidence.chain.runs import product_of_runs
from cepctl.engines.confidence.chain.window_sums import window_probability

NO_WINDOW = 0
_NOWHERE = -1
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
    space = workspace(matches.shape[1], most_buckets)
    sum_chains(masses.buckets, matches, valid_lower, valid_upper, width, space, result)
    return result


class Workspace(NamedTuple):
    """What measuring a chain writes to: made once for many chains.

    The first five are the buckets of a chain, as for `product_of_runs`.
    """

    low: Ticks
    high: Ticks
    mass: Reals
    offsets: Indexes
    whole: Flags
    bucket: Indexes
    cuts: Ticks
    refined: Ticks
    per_tick: Reals
    placed: Reals


@njit(nogil=True, cache=True)
def workspace(positions, most_buckets):
    """Room for chains of `positions` events with at most `most_buckets` buckets together."""
    most = 2 * most_buckets
    return Workspace(
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most),
        np.zeros(positions + 1, dtype=np.int64),
        np.empty(positions, dtype=np.bool_),
        np.empty(positions, dtype=np.int64),
        np.empty(2 * most + 1, dtype=np.int64),
        np.empty(4 * most + 4, dtype=np.int64),
        np.empty((positions, 2 * most + 1)),
        np.empty(positions + 1),
    )


@njit(nogil=True, cache=True)
def sum_chains(buckets, matches, valid_lower, valid_upper, window, space, result):
    """As `chain_confidence`; exactly 1 where a chain is certain.

    One loop with all in it: arrays that are handed on or sliced for each chain take longer than a pair of events.
    """
    starts, lo, hi, density = buckets.starts, buckets.lo, buckets.hi, buckets.density
    low, high, mass, offsets, whole, bucket, cuts, refined, per_tick, placed = space
    last = matches.shape[1] - 1
    for row in range(matches.shape[0]):
        opened = _opened(valid_lower, valid_upper, row, window)
        total, parts = 0.0, 3 if opened == _NOWHERE else 1
        for part in range(parts):
            first_lower, first_upper, at = valid_lower[row, 0], valid_upper[row, 0], opened
            if opened == _NOWHERE:
                second, in_window = valid_lower[row, 1], valid_upper[row, last] - window + 1
                first_lower, first_upper, at = _part(part, first_lower, first_upper, second, in_window)
                if first_lower > first_upper:
                    continue
            k, possible = 0, True
            for place in range(last + 1):
                position, moved = place + max(at, 0), 0
                if position > last:
                    position, moved = position - last - 1, window
                first, final = valid_lower[row, position], valid_upper[row, position]
                if position == 0:
                    first, final = first_lower, first_upper
                begin, stop = starts[matches[row, position]], starts[matches[row, position] + 1]
                whole[place] = first <= lo[begin] and hi[stop - 1] <= final
                for b in range(begin, stop):
                    if max(lo[b], first) <= min(hi[b], final):
                        low[k], high[k], mass[k] = max(lo[b], first) + moved, min(hi[b], final) + moved, density[b]
                        k += 1
                possible = possible and k > offsets[place]
                offsets[place + 1] = k
            if not possible:
                continue
            if at == _NOWHERE:
                total += window_probability(low, high, mass, offsets, window, cuts, refined, per_tick, placed)
            else:
                total += product_of_runs(low, high, mass, offsets, whole, bucket, per_tick, placed)
        result[row] = total


@njit(nogil=True, cache=True)
def _opened(lower, upper, row, window):
    last = lower.shape[1] - 1
    if window == NO_WINDOW or last == 0 or apart(lower[row, 0], upper[row, last]) < window:
        return 0
    for position in range(1, last + 1):
        if upper[row, position - 1] < lower[row, position]:
            return position
    return _NOWHERE


@njit(nogil=True, cache=True)
def _part(part, first_lower, first_upper, second, in_window):
    if part == 0:
        return first_lower, min(first_upper, second - 1), 1
    if part == 1:
        return max(first_lower, second, in_window), first_upper, 0
    return max(first_lower, second), min(first_upper, in_window - 1), _NOWHERE
