"""Probability of a chain in a window, in closed form: P(t_1 < t_2 < ... < t_l and t_l - t_1 < W).

Time is cut at every bucket end, so that inside one cell each event has a constant mass per tick.  A table
over (cell, events placed) sums the events one after the other.  The first event is put into a start cell R
of n ticks, so fine that the window's end stays in one cell while t_1 runs through R.  At offset o in R,
n - 1 - o ticks of R are left after t_1, then come whole cells, then the first o ticks of the cell at R + W:

    sum over o of C(n - 1 - o, k) * C(o, m)  =  C(n, k + m + 1)

so k events in R after the first, m events in the shifted cell and a table for those between give a
positive term each.  The cost depends on the number of cells, never on their width, and nothing
cancels.

    name here           in the specification's semantics
    positions           l      events of the chain
    cuts, cells         cells  maximal runs of ticks with constant masses
    share               n * q  mass of an event within a cell
    placed              table over (cell, events placed so far)
"""

from __future__ import annotations

from cepctl.engines.columns.tick_sums import plus, sort_cuts
from cepctl.engines.confidence.chain.cells import (
    cell_from,
    cut_time,
    fill_densities,
    place_in_cell,
)
from cepctl.engines.confidence.chain.runs import WINDOWED
from cepctl.engines.kernels.kernel import inner


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
        pieces = _refine(cuts, count, first, last, window, refined)
        total = _with_window(size, cuts, count, per_tick, refined, pieces, window, placed)
        runs.product[runs.part[event]] *= total


@inner
def _refine(cuts, count, first_lower, first_upper, window, refined):
    """Start cells: cut the first event's interval at every cut and at every cut minus W."""
    pieces = 0
    for c in range(count):
        for cut in (cuts[c], plus(cuts[c], -window)):
            if first_lower <= cut <= first_upper + 1:
                refined[pieces] = cut
                pieces += 1
    return sort_cuts(refined, pieces)


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
