"""Confidence of chains: P(t_1 < t_2 < ... < t_l and t_l - t_1 < W), in closed form.

A chain is opened where order or window holds anyway, so that it is a product over runs of events in order
(runs.py), or a sum of such products; what is left is summed with its window.  All terms are positive, so that
nothing cancels, and the cost depends on the number of buckets, never on their width.  What a chain is found
to be depends on nothing but its masses and their distances in time.

With its window: time is cut at every bucket end, so that inside one cell each event has a constant mass per
tick.  A table over (cell, events placed) sums the events one after the other.  The first event is put into a
start cell R of n ticks, so fine that the window's end stays in one cell while t_1 runs through R.  At offset
o in R, n - 1 - o ticks of R are left after t_1, then come whole cells, then the first o ticks of the cell at
R + W:

    sum over o of C(n - 1 - o, k) * C(o, m)  =  C(n, k + m + 1)

so k events in R after the first, m events in the shifted cell and a table for those between give a positive
term each.

    name here           in the specification's semantics
    positions           l      events of the chain
    cuts, cells         cells  maximal runs of ticks with constant masses
    placed              table over (cell, events placed so far)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.confidence.chain.runs import (
    MOST_PARTS,
    NO_WINDOW,
    WINDOWED,
    Runs,
    cell_from,
    copy_buckets,
    cut_time,
    fill_densities,
    find_runs,
    open_rings,
    place_in_cell,
    room_for_runs,
    start_cells,
    sum_more,
    sum_ones,
    sum_threes,
    sum_twos,
)
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.difference_constraints import ticks_left
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

_BUCKETS_AT_ONCE = 1 << 11
"""Buckets, at most, of the chains that are summed at a time: what they take stays in the cache of a core."""


def chain_confidence(
    masses: Masses, matches: Indexes, valid_lower: Ticks, valid_upper: Ticks, window: int | None
) -> Reals:
    """Confidence of every match of a batch.

    `matches`, shape (n, l): the events of each match in chain order; `valid_lower`, `valid_upper`: their
    valid intervals, outside of which ticks contribute nothing.  `window`: W in ticks.  Returns shape (n,), in
    [0, 1]; relative error below 1e-12 for chains of up to 8 events.

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
    most_buckets = masses.most_buckets * matches.shape[1]
    at_once = min(max(_BUCKETS_AT_ONCE // most_buckets, 1), len(matches))
    space = workspace(at_once, matches.shape[1], most_buckets)
    if window is None:
        sum_chains_in_order(masses.buckets, matches, valid_lower, valid_upper, space, result)
    else:
        width = np.int64(window)
        sum_chains(masses.buckets, matches, valid_lower, valid_upper, width, space, result)
    return result


class Workspace(NamedTuple):
    """What summing chains writes to, `chains` of them at a time."""

    chains: int
    runs: Runs
    row: Indexes
    cuts: Ticks
    refined: Ticks
    per_tick: Reals
    placed: Reals


@inner
def workspace(chains, positions, most_buckets):
    """Room for chains of `positions` events with at most `most_buckets` buckets together."""
    parts = chains * MOST_PARTS
    # A bucket of each event may be cut in two, where int64 does not hold its number of ticks.
    cuts = 2 * (most_buckets + positions)
    return Workspace(
        chains,
        room_for_runs(parts, positions, most_buckets),
        np.empty(parts, dtype=np.int64),
        np.empty(cuts, dtype=np.int64),
        np.empty(2 * cuts, dtype=np.int64),
        np.empty((positions, cuts)),
        np.empty(positions + 1),
    )


@kernel
def sum_chains(buckets, matches, valid_lower, valid_upper, window, space, result):
    """Fill `result` as `chain_confidence`; exactly 1 where a chain is certain."""
    runs = space.runs
    for begin in range(0, len(result), space.chains):
        parts = _sum_in_order(buckets, matches, valid_lower, valid_upper, window, begin, space)
        sum_windowed(runs, window, space.cuts, space.refined, space.per_tick, space.placed)
        _add_up(parts, begin, space, result)


@kernel
def sum_chains_in_order(buckets, matches, valid_lower, valid_upper, space, result):
    """Fill `result` for chains without window."""
    for begin in range(0, len(result), space.chains):
        parts = _sum_in_order(buckets, matches, valid_lower, valid_upper, NO_WINDOW, begin, space)
        _add_up(parts, begin, space, result)


@inner
def _sum_in_order(buckets, matches, valid_lower, valid_upper, window, begin, space):
    """Sum the runs of the chains of a block that need no window; returns how many parts these have."""
    runs, end = space.runs, min(begin + space.chains, len(matches))
    parts, events = open_rings(matches, valid_lower, valid_upper, window, begin, end, runs, space.row)
    copy_buckets(buckets, runs, events)
    find_runs(runs, events)
    sum_ones(runs)
    sum_twos(runs)
    sum_threes(runs)
    sum_more(runs, space.per_tick, space.placed)
    return parts


@inner
def _add_up(parts, begin, space, result):
    result[begin : begin + space.chains] = 0.0
    for part in range(parts):
        result[space.row[part]] += space.runs.product[part]


@inner
def sum_windowed(runs, window, cuts, refined, per_tick, placed):
    """Multiply with the probabilities of chains in a window; the other arrays are room.

    That is for two cuts of each bucket of a chain in `cuts` and in the columns of `per_tick`, and for two
    of each cut in `refined`.
    """
    for run in range(runs.counts[WINDOWED]):
        event, size = runs.begin[WINDOWED, run], runs.size[WINDOWED, run]
        offsets = runs.offsets[event : event + size + 1]
        count = cut_time(runs.low, runs.high, offsets[0], offsets[size], cuts)
        fill_densities(runs.low, runs.high, runs.mass, offsets, cuts, count, per_tick)
        first, last = runs.low[offsets[0]], runs.high[offsets[1] - 1]
        pieces = start_cells(cuts, count, first, last, window, refined)
        total = _with_window(size, cuts, count, per_tick, refined, pieces, window, placed)
        runs.product[runs.part[event]] *= total


@inner
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


@inner
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
                place_in_cell(placed, k + 1, positions, per_tick, c, float(width))
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


def chain_range(
    masses: Masses, matches: Indexes, valid_lower: Ticks, valid_upper: Ticks, window: int | None
) -> tuple[Ticks, Ticks, Flags]:
    """Tightest first and last ticks, each of shape (n,), and whether the match can happen at all.

    Parameters are those of `chain_confidence`.  Where masses have no holes these are the ends of the valid
    intervals; a histogram can have holes, in which no world puts the event: then valid intervals are narrowed
    to ticks that have mass.
    """
    first, last, happens = valid_lower[:, 0], valid_upper[:, -1], np.ones(len(matches), dtype=bool)
    if masses.uniform or not masses.has_hole.any():
        return first, last, happens
    rows = np.flatnonzero(masses.has_hole[matches].any(axis=1))
    if len(rows):
        length = matches.shape[1]
        edges = [(i, i + 1, -1) for i in range(length - 1)]
        if window is not None:
            edges.append((length - 1, 0, window - 1))
        table = np.array(edges, dtype=np.int64).reshape(-1, 3)
        lower, upper, happens[rows] = ticks_left(masses, matches[rows], table)
        first, last = first.copy(), last.copy()
        first[rows], last[rows] = lower[:, 0], upper[:, -1]
    return first, last, happens
