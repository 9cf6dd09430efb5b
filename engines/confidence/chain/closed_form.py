"""Confidence of chains: P(t_1 < t_2 < ... < t_l and t_l - t_1 < W), in closed form.

Time is cut at every bucket end, so that inside one cell each event has a constant mass per tick.
k consecutive events fall into a cell of n ticks in increasing order with probability
C(n, k) times the product of their masses per tick: a table over (cell, events placed) sums a
chain without window.  With a window the first event is put into a start cell R of n ticks, so
fine that the window's end stays in one cell while t_1 runs through R.  At offset o in R, n - 1 - o
ticks of R are left after t_1, then come whole cells, then the first o ticks of the cell at R + W:

    sum over o of C(n - 1 - o, k) * C(o, m)  =  C(n, k + m + 1)

so k events in R after the first, m events in the shifted cell and a table for those between give a
positive term each.  The cost depends on the number of cells, never on their width, and nothing
cancels.

    name here           in the specification's semantics
    positions           l      events of the chain
    cuts, cells         cells  maximal runs of ticks with constant masses
    share               n * q  mass of an event within a cell
    placed              table over (cell, events placed so far)

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import apart, plus
from cepctl.engines.confidence.chain.cells import cell_from, cut_time, fill_densities, sorted_unique

NO_WINDOW = 0


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

    cuts: Ticks
    refined: Ticks
    per_tick: Reals
    placed: Reals


@njit(nogil=True, cache=True)
def workspace(positions, most_buckets):
    """Room for chains of `positions` events with at most `most_buckets` buckets together."""
    return Workspace(
        np.empty(2 * most_buckets + 1, dtype=np.int64),
        np.empty(4 * most_buckets + 4, dtype=np.int64),
        np.empty((positions, 2 * most_buckets + 1)),
        np.empty(positions + 1),
    )


@njit(nogil=True, cache=True)
def _chain_batch(buckets, matches, valid_lower, valid_upper, window, most_buckets, result):
    """As `one_chain` of each row.

    Written out, with arrays made here and slices made for each call: as calls of `one_chain`, whose arrays
    come out of tuples, short chains took 40 percent longer.
    """
    starts, lo, hi, density = buckets.starts, buckets.lo, buckets.hi, buckets.density
    positions = matches.shape[1]
    cuts = np.empty(2 * most_buckets + 1, dtype=np.int64)
    refined = np.empty(4 * most_buckets + 4, dtype=np.int64)
    per_tick = np.empty((positions, 2 * most_buckets + 1))
    placed = np.empty(positions + 1)
    for row in range(matches.shape[0]):
        if _is_certain(buckets, matches[row], window):
            result[row] = 1.0
            continue
        count = cut_time(starts, lo, hi, matches[row], valid_lower[row], valid_upper[row], cuts)
        fill_densities(
            starts, lo, hi, density, matches[row], valid_lower[row], valid_upper[row], cuts, count, per_tick
        )
        span = apart(valid_lower[row, 0], valid_upper[row, positions - 1])
        if window == NO_WINDOW or span < window:
            result[row] = _without_window(positions, cuts, count, per_tick, placed)
        else:
            pieces = _refine(cuts, count, valid_lower[row, 0], valid_upper[row, 0], window, refined)
            result[row] = _with_window(positions, cuts, count, per_tick, refined, pieces, window, placed)


@njit(nogil=True, cache=True)
def one_chain(buckets, events, valid_lower, valid_upper, window, space):
    """Confidence of a chain that can happen, as `chain_confidence`; exactly 1 where it is certain."""
    if _is_certain(buckets, events, window):
        return 1.0
    positions = len(events)
    starts, lo, hi = buckets.starts, buckets.lo, buckets.hi
    cuts, per_tick, placed = space.cuts, space.per_tick, space.placed
    count = cut_time(starts, lo, hi, events, valid_lower, valid_upper, cuts)
    fill_densities(starts, lo, hi, buckets.density, events, valid_lower, valid_upper, cuts, count, per_tick)
    span = apart(valid_lower[0], valid_upper[positions - 1])
    if window == NO_WINDOW or span < window:
        return _without_window(positions, cuts, count, per_tick, placed)
    pieces = _refine(cuts, count, valid_lower[0], valid_upper[0], window, space.refined)
    return _with_window(positions, cuts, count, per_tick, space.refined, pieces, window, placed)


@njit(nogil=True, cache=True)
def _is_certain(buckets, events, window):
    """Whether all ticks of the intervals are in order and in the window: sums of masses may miss 1."""
    lower, upper = buckets.lower, buckets.upper
    last = upper[events[0]]
    for j in range(1, len(events)):
        if lower[events[j]] <= last:
            return False
        last = upper[events[j]]
    return window == NO_WINDOW or apart(lower[events[0]], last) < window


@njit(nogil=True, cache=True)
def _place(placed, first, positions, per_tick, cell, ticks):
    """Let a cell of `ticks` ticks take up any number of the next events; `placed` is updated."""
    for after in range(positions, first, -1):
        term = per_tick[after - 1, cell] * (ticks - 1 + 1)
        if term <= 0.0:
            continue
        total = placed[after] + placed[after - 1] * term
        for k in range(2, after - first + 1):
            # C(n, k) = C(n, k - 1) * (n - k + 1) / k
            term *= per_tick[after - k, cell] * (ticks - k + 1) / k
            if term <= 0.0:
                break
            total += placed[after - k] * term
        placed[after] = total


@njit(nogil=True, cache=True)
def _without_window(positions, cuts, count, per_tick, placed):
    placed[:] = 0.0
    placed[0] = 1.0
    for c in range(count - 1):
        _place(placed, 0, positions, per_tick, c, float(cuts[c + 1] - cuts[c]))
    return placed[positions]


@njit(nogil=True, cache=True)
def _refine(cuts, count, first_lower, first_upper, window, refined):
    """Start cells: cut the first event's interval at every cut and at every cut minus W."""
    pieces = 0
    for c in range(count):
        for cut in (cuts[c], plus(cuts[c], -window)):
            if first_lower <= cut <= first_upper + 1:
                refined[pieces] = cut
                pieces += 1
    return sorted_unique(refined, pieces)


@njit(nogil=True, cache=True)
def _with_window(positions, cuts, count, per_tick, refined, pieces, window, placed):
    total, cell = 0.0, -1
    for r in range(pieces - 1):
        start, ticks = refined[r], refined[r + 1] - refined[r]
        cell = cell_from(cuts, count, cell, start)
        if cell < 0 or cell >= count - 1 or per_tick[0, cell] <= 0.0:
            continue
        if ticks > window:
            # No cut within the window of any tick of R: every start sees the same W - 1 ticks.
            term = float(ticks) * per_tick[0, cell]
            for k in range(1, positions):
                term *= per_tick[k, cell] * (float(window) - k) / k
            total += max(term, 0.0)
        else:
            total += _from_start_cell(positions, cuts, count, per_tick, cell, start, ticks, window, placed)
    return total


@njit(nogil=True, cache=True)
def _from_start_cell(positions, cuts, count, per_tick, cell, start, ticks, window, placed):
    """Sum over t_1 in R = [start, start + ticks - 1]; see the identity on top of this file."""
    n, end = float(ticks), plus(start, window)
    middle_first = cell_from(cuts, count, cell, start + ticks)
    shifted = cell_from(cuts, count, middle_first, end)
    total = 0.0
    beside = n * per_tick[0, cell]  # C(n, k + 1) times masses per tick of the first k + 1 events
    for k in range(positions):
        if k > 0:
            beside *= per_tick[k, cell] * (n - k) / (k + 1)
        if beside <= 0.0:
            break
        placed[:] = 0.0
        placed[k + 1] = 1.0
        c = middle_first
        while c < count - 1 and cuts[c] < end:
            width = min(cuts[c + 1], end) - max(cuts[c], start + ticks)
            if width > 0:
                _place(placed, k + 1, positions, per_tick, c, float(width))
            c += 1
        term = beside
        total += placed[positions] * term
        for m in range(1, positions - k):
            if shifted >= count - 1:
                break
            # C(n, k + m + 1) from C(n, k + m)
            term *= per_tick[positions - m, shifted] * (n - k - m) / (k + m + 1)
            if term <= 0.0:
                break
            total += placed[positions - m] * term
    return total
