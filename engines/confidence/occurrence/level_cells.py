"""The cells of a separator, given the ticks of those before it: in each the sum is a polynomial."""

from __future__ import annotations

from cepctl.engines.columns.tick_sums import plus, with_cut
from cepctl.engines.kernels.kernel import inner


@inner
def begins_of_cells(cuts, part, separators, level, tick, buckets, cells):
    """Fill the begins of the cells of a level, given the ticks of those below; returns their number."""
    event = part.event[separators[level]]
    cells[0] = buckets.lower[event]
    count = 1
    for i in range(cuts.constants[level]):
        cells[count] = cuts.constant[level, i]
        count += 1
    for i in range(cuts.relatives[level]):
        at = plus(tick[separators[cuts.relative[level, i, 0]]], cuts.relative[level, i, 1])
        if buckets.lower[event] < at <= buckets.upper[event]:
            count = with_cut(cells, count, at)
    return count
