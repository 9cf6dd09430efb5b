"""Ordered pairs of events -> bounds of how far clocks are ahead of each other.

d(t) is how far the clock of y is ahead of that of x when it shows t, so that the clock of x shows t - d(t).
This rises with t, as clocks drift by less than they go.  Readings of x are xl..xu, those of y yl..yu.

    x before y    xl < yu - d(yu)    an upper bound of d at yu: yu - xl
    y before x    yl - d(yl) < xu    a lower bound of d at yl: yl - xu

Each pair bounds both clocks, each at a reading of its own, but for the reference, which is not ahead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepctl.clocks.hulls.pairs import EventPairs, HostEvents
from cepctl.clocks.hulls.windows import LinkBounds
from cepctl.numeric.arrays import Indexes


@dataclass(frozen=True, eq=False)
class DifferenceBounds:
    """Bounds from below and above; link i is how far the clock `host[i]` is ahead of `other[i]`."""

    host: Indexes
    other: Indexes
    lower: LinkBounds
    upper: LinkBounds


def difference_bounds(own: HostEvents, pairs: EventPairs, reference: int) -> DifferenceBounds:
    """The bounds that pairs give; `reference` is the place of a host."""
    earliest, latest = own.end[0][pairs.first], own.start[1][pairs.second]
    before, after = own.host[pairs.first], own.host[pairs.second]
    value, number, count = latest - earliest, np.arange(len(before)), max(len(own.hosts), 1)
    of_later = np.flatnonzero(after != reference)
    of_earlier = np.flatnonzero(before != reference)
    later, earlier = (after * count + before)[of_later], (before * count + after)[of_earlier]
    links, places = np.unique(np.concatenate([later, earlier]), return_inverse=True)
    upper, lower = np.split(places, [len(later)])
    host, other = np.divmod(links, count)
    return DifferenceBounds(
        host,
        other,
        LinkBounds(lower, earliest[of_earlier], -value[of_earlier], number[of_earlier]),
        LinkBounds(upper, latest[of_later], value[of_later], number[of_later]),
    )
