"""What hidden events weigh of two others between which they stand in a known order.

Between events that one writer wrote d ticks apart, g others of the same ticks have room in C(d - 1, g) ways,
all of which are equally probable.  So they need not be summed: the two are *linked*.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.laws import room_weight
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Indexes, Ticks


class Links(NamedTuple):
    """Pairs of events, how many hidden ones stand between each, and where their weight is 1; shape (k,).

    `typical`: that many ticks are then to spare between the two.
    """

    left: Indexes
    right: Indexes
    hidden: Indexes
    typical: Ticks


NO_LINKS = Links(*(np.zeros(0, dtype=np.int64) for _ in range(4)))


@inner
def no_links():
    """Links of nothing."""
    return Links(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))


@inner
def weight_of_links(links, level_of, level, tick):
    """What the links weigh whose later placed event is that of a level."""
    weight = 1.0
    for i in range(len(links.left)):
        a, b = links.left[i], links.right[i]
        if max(level_of[a], level_of[b]) == level:
            weight *= room_weight(links.hidden[i], links.typical[i], tick[b] - tick[a] - 1 - links.hidden[i])
    return weight


@inner
def is_linked(links, event):
    """Whether an event is linked to another."""
    found = False
    for i in range(len(links.left)):
        found |= links.left[i] == event or links.right[i] == event
    return found


@inner
def hidden_below(links, level_of, first, end):
    """How many hidden events weigh the ticks of levels from `first` to before `end`."""
    count = 0
    for i in range(len(links.left)):
        if first <= max(level_of[links.left[i]], level_of[links.right[i]]) < end:
            count += links.hidden[i]
    return count


@inner
def placed_links(links, begin, end, event):
    """Links `begin` to `end` - 1 between rows of events, as links between the places of these."""
    found = Links(
        np.empty(end - begin, np.int64), np.empty(end - begin, np.int64), links.hidden[begin:end].copy(),
        links.typical[begin:end].copy(),
    )  # fmt: skip
    for i in range(end - begin):
        found.left[i] = found.right[i] = -1
        for e in range(len(event)):
            if event[e] == links.left[begin + i]:
                found.left[i] = e
            if event[e] == links.right[begin + i]:
                found.right[i] = e
    return found


@inner
def links_within(links, place):
    """Those both of whose events have a place, between these."""
    count, kept = 0, np.empty(len(links.left), np.int64)
    for i in range(len(links.left)):
        a, b = links.left[i], links.right[i]
        if a >= 0 and b >= 0 and place[a] >= 0 and place[b] >= 0:
            kept[count] = i
            count += 1
    found = Links(
        np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64),
        np.empty(count, np.int64),
    )  # fmt: skip
    for k in range(count):
        i = kept[k]
        found.left[k], found.right[k] = place[links.left[i]], place[links.right[i]]
        found.hidden[k], found.typical[k] = links.hidden[i], links.typical[i]
    return found
