"""How many sets of members are possible together, and the first and the last tick of all of them.

A set is possible when no member must be later than another can be: when the latest of their beginnings is not
after the earliest of their ends, plus what a window leaves between two members.  So with the members in the
order of their beginnings each set is counted where the last of it stands: as one of those before it that end
late enough.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.tick_sums import FIRST, LAST, plus
from cepctl.engines.kernels.kernel import inner
from cepctl.engines.pattern.difference_constraints import UNBOUNDED


@inner
def neighbour_bounds(places, singles, buckets):
    """The first and the last tick of each neighbour beside the others."""
    count = len(singles)
    low, high = np.empty(count, np.int64), np.empty(count, np.int64)
    for v in range(count):
        low[v], high[v] = buckets.lower[singles[v]], buckets.upper[singles[v]]
        for w in range(count):
            if v != w and places.between[w, v] < UNBOUNDED:
                low[v] = max(low[v], plus(buckets.lower[singles[w]], -places.between[w, v]))
            if v != w and places.between[v, w] < UNBOUNDED:
                high[v] = min(high[v], plus(buckets.upper[singles[w]], places.between[v, w]))
    return low, high


@inner
def set_range(places, lower, upper, low, high, sizes):
    """The number of possible sets, and the first and the last tick of all of them."""
    within = np.int64(UNBOUNDED)
    for v in range(len(low)):
        if places.upper_by[v] < UNBOUNDED and places.lower_by[v] < UNBOUNDED:
            within = min(within, places.upper_by[v] + places.lower_by[v])
    number, start, end = 0.0, np.int64(LAST), np.int64(FIRST)
    for i in range(len(lower)):
        company, least = _company(lower, upper, i, within)
        if company >= sizes.least - 1:
            number += sizes.with_one[company]
            first = least if sizes.most > 1 else lower[i]
            start = min(start, _start(places, lower[i], first, low))
        # With time reversed what ends comes first.
        company, least = _company(-upper, -lower, i, within)
        if company >= sizes.least - 1:
            last = -least if sizes.most > 1 else upper[i]
            end = max(end, _end(places, upper[i], last, high))
    return number, start, end


@inner
def _company(lower, upper, i, within):
    """How many of those that begin before member i, or with it and are named before, may go with it.

    And the first beginning of them and of it.
    """
    company, least = 0, lower[i]
    for j in range(len(lower)):
        before = lower[j] < lower[i] or (lower[j] == lower[i] and j < i)
        if before and (within == UNBOUNDED or plus(upper[j], within) >= lower[i]):
            company += 1
            least = min(least, lower[j])
    return company, least


@inner
def _start(places, latest, first, low):
    """The first tick of a set whose last member begins at `latest` and whose first one at `first`."""
    start, least = np.int64(LAST), first
    for v in range(len(low)):
        at = low[v]
        if places.upper_by[v] < UNBOUNDED:
            at = max(at, plus(latest, -places.upper_by[v]))
        start = min(start, at)
        if places.lower_by[v] < UNBOUNDED:
            least = max(least, plus(at, -places.lower_by[v]))
    return min(start, least)


@inner
def _end(places, earliest, last, high):
    end, most = np.int64(FIRST), last
    for v in range(len(high)):
        at = high[v]
        if places.lower_by[v] < UNBOUNDED:
            at = min(at, plus(earliest, places.lower_by[v]))
        end = max(end, at)
        if places.upper_by[v] < UNBOUNDED:
            most = min(most, plus(at, places.upper_by[v]))
    return max(end, most)
