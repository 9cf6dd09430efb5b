"""Cells of time in which each event of a chain has a constant mass per tick.

k consecutive events fall into a cell of n ticks in increasing order with probability C(n, k) times the
product of their masses per tick.  Cells are few, so that they are looked for one after the other.
"""

from __future__ import annotations

from cepctl.engines.columns.tick_sums import sort_cuts
from cepctl.engines.kernels.kernel import inner

WIDEST_CELL = 1 << 62


@inner
def cut_time(low, high, begin, stop, cuts):
    """Ends of the buckets from number `begin` to `stop`; cell c is [cuts[c], cuts[c + 1] - 1]."""
    found = 0
    for b in range(begin, stop):
        # Buckets often adjoin: fewer cuts are sorted.
        if found == 0 or cuts[found - 1] != low[b]:
            cuts[found] = low[b]
            found += 1
        cuts[found] = high[b] + 1
        found += 1
    return sort_cuts(cuts, found)


@inner
def fill_densities(low, high, mass, offsets, cuts, count, per_tick):
    """Mass per tick of every event in every cell; zero outside its buckets."""
    for j in range(len(offsets) - 1):
        c = 0
        for b in range(offsets[j], offsets[j + 1]):
            while cuts[c] < low[b]:
                per_tick[j, c] = 0.0
                c += 1
            while c < count - 1 and cuts[c] <= high[b]:
                per_tick[j, c] = mass[b]
                c += 1
        per_tick[j, c:count] = 0.0


@inner
def cell_from(cuts, count, cell, tick):
    """The last of the `count` cuts that is not after a tick, from one on that is not either; cuts are few."""
    while cell + 1 < count and cuts[cell + 1] <= tick:
        cell += 1
    return cell


@inner
def place_in_cell(placed, first, positions, per_tick, cell, ticks):
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
