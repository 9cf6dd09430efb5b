"""How probable it is that an event which lasts is under way at a tick: from its start to its end."""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Reals, Ticks
from cepctl.engines.columns.endpoints import Endpoints, agreeing, cut_masses, joined_masses
from cepctl.engines.columns.tick_sums import FIRST, LAST


def under_way(endpoints: Endpoints, event: int, ticks: Ticks) -> Reals:
    """P(start <= tick <= end) of one event by its law, for each of n ticks, shape (n,)."""
    count = len(ticks)
    start, end = np.full(count, event), np.full(count, endpoints.end[event])
    starts, begun = cut_masses(endpoints.masses, start, np.full(count, FIRST), ticks)
    ends, not_over = cut_masses(endpoints.masses, end, ticks, np.full(count, LAST))
    lengths = endpoints.shortest[start], endpoints.longest[start]
    places = np.arange(count)
    both = agreeing(joined_masses(starts, ends), places, count + places, *lengths)
    found: Reals = np.where((begun > 0) & (not_over > 0), begun * not_over * both, 0.0)
    shares: Reals = np.minimum(found / endpoints.whole[event], 1.0)
    return shares
