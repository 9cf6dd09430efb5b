"""Where time is cut: ticks in ascending order, each once, at the front of an array with room for more.

They are few, so that a further one is put in its place by moving those after it.  That is compiled into what
calls it: as a call of its own it made some sums take a tenth longer.
"""

from __future__ import annotations

from cepctl.engines.kernels.kernel import inlined, inner


@inlined
def with_cut(cuts, count, at):
    """Put a tick among the first `count`, unless it is there; returns how many there are then."""
    place = count
    while place > 0 and cuts[place - 1] > at:
        place -= 1
    if place > 0 and cuts[place - 1] == at:
        return count
    for j in range(count, place, -1):
        cuts[j] = cuts[j - 1]
    cuts[place] = at
    return count + 1


@inner
def sort_cuts(ticks, count):
    """Sort the first `count` ticks in place, each once (Shell's sort); returns how many remain."""
    for gap in (301, 132, 57, 23, 10, 4, 1):
        if gap > 1 and count < 4 * gap:
            continue
        for i in range(gap, count):
            tick = ticks[i]
            j = i - gap
            while j >= 0 and ticks[j] > tick:
                ticks[j + gap] = ticks[j]
                j -= gap
            ticks[j + gap] = tick
    kept = min(count, 1)
    for i in range(1, count):
        if ticks[i] != ticks[kept - 1]:
            ticks[kept] = ticks[i]
            kept += 1
    return kept
