"""Probability that the events of a run come one before the other.

Where all ticks of one event lie before all of the next, that they do says nothing: a chain falls apart there
into runs of independent events.  A run is summed in time order: what is known at a tick is the probability
that the first so many events have come before it.  Up to the next end of a bucket each has a constant mass
per tick, and k consecutive events fall into n such ticks in increasing order with probability C(n, k) times
the product of their masses per tick.  All terms are positive, so that nothing cancels.

Runs of one length are summed one after the other, in one loop: to hand arrays to a function for each of them
would take longer than to sum a pair.

    name here                 meaning
    one, two, three           the probability that the first so many of a run have come before a tick
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.tick_sums import apart
from cepctl.engines.confidence.chain.cells import WIDEST_CELL, place_in_cell
from cepctl.engines.kernels.kernel import inner

ONE, TWO, THREE, MORE, WINDOWED = range(5)
"""Runs by their number of events, and parts that are summed with their window."""
KINDS = 5
_NEVER = (1 << 63) - 1


class Runs(NamedTuple):
    """Parts of chains, each a product over runs.

    Of every part `product` is that of the runs that are summed by now, and `windowed` says whether it is
    summed with its window instead.  Its events stand in `event` in time order, part after part.  An event of
    the part `part` is wanted from tick `first` to tick `last`, and all its ticks are moved by `moved`; `tied`
    says whether it may come before the one that stands before it in its part.

    `low`, `high`, `mass`: buckets, first and last tick and mass per tick.  Event i has those from offsets[i]
    to offsets[i + 1], and `whole` says whether they are all that it has.  Of kind k there are counts[k] runs:
    run i of them has size[k, i] events from number begin[k, i] on.
    """

    product: Reals
    windowed: Flags
    event: Indexes
    first: Ticks
    last: Ticks
    moved: Ticks
    part: Indexes
    tied: Flags
    low: Ticks
    high: Ticks
    mass: Reals
    offsets: Indexes
    whole: Flags
    counts: Indexes
    begin: Indexes
    size: Indexes


@inner
def room_for_runs(parts, positions, most_buckets):
    """Room for so many parts, each of `positions` events with at most `most_buckets` buckets together."""
    events = parts * positions
    # Where a bucket is looked at there is always one, and a wide one may be cut in two.
    buckets = parts * (most_buckets + 1) + 1
    return Runs(
        np.empty(parts),
        np.empty(parts, dtype=np.bool_),
        np.empty(events, dtype=np.int64),
        np.empty(events, dtype=np.int64),
        np.empty(events, dtype=np.int64),
        np.empty(events, dtype=np.int64),
        np.empty(events, dtype=np.int64),
        np.empty(events, dtype=np.bool_),
        np.empty(buckets, dtype=np.int64),
        np.empty(buckets, dtype=np.int64),
        np.empty(buckets),
        np.zeros(events + 1, dtype=np.int64),
        np.empty(events, dtype=np.bool_),
        np.zeros(KINDS, dtype=np.int64),
        np.empty((KINDS, events), dtype=np.int64),
        np.empty((KINDS, events), dtype=np.int64),
    )


@inner
def copy_buckets(buckets, runs, events):
    """Fill the buckets of the first `events` events, cut at what is wanted, and moved."""
    starts, lo, hi, density = buckets.starts, buckets.lo, buckets.hi, buckets.density
    event, first, last, moved = runs.event, runs.first, runs.last, runs.moved
    low, high, mass, offsets, whole = runs.low, runs.high, runs.mass, runs.offsets, runs.whole
    k = 0
    for i in range(events):
        bucket, stop = starts[event[i]], starts[event[i] + 1]
        whole[i] = first[i] <= lo[bucket] and hi[stop - 1] <= last[i]
        for b in range(bucket, stop):
            begin, end = max(lo[b], first[i]), min(hi[b], last[i])
            if begin <= end:
                low[k], high[k], mass[k] = begin + moved[i], end + moved[i], density[b]
                k += 1
                if apart(begin, end) >= WIDEST_CELL:
                    # int64 may not hold its number of ticks.
                    high[k - 1] = low[k - 1] + (WIDEST_CELL - 1)
                    low[k], high[k], mass[k] = begin + WIDEST_CELL + moved[i], end + moved[i], density[b]
                    k += 1
        offsets[i + 1] = k


@inner
def find_runs(runs, events):
    """List the runs of each kind among the first `events` events."""
    part, tied, windowed = runs.part, runs.tied, runs.windowed
    counts, begin, size = runs.counts, runs.begin, runs.size
    counts[:] = 0
    first = 0
    for i in range(events):
        if i + 1 == events or not tied[i + 1]:
            kind = WINDOWED if windowed[part[i]] else min(i - first, MORE)
            begin[kind, counts[kind]], size[kind, counts[kind]] = first, i + 1 - first
            counts[kind] += 1
            first = i + 1


@inner
def sum_ones(runs):
    """Multiply with the masses of events that are tied to no other."""
    low, high, mass, offsets = runs.low, runs.high, runs.mass, runs.offsets
    whole, product = runs.whole, runs.product
    for run in range(runs.counts[ONE]):
        event = runs.begin[ONE, run]
        if not whole[event]:
            total = 0.0
            for b in range(offsets[event], offsets[event + 1]):
                total += mass[b] * float(high[b] - low[b] + 1)
            product[runs.part[event]] *= total


@inner
def sum_twos(runs):
    """Multiply with the probabilities of pairs: buckets of the second event against those of the first."""
    low, high, mass, offsets, product = runs.low, runs.high, runs.mass, runs.offsets, runs.product
    for run in range(runs.counts[TWO]):
        event = runs.begin[TWO, run]
        i, middle, stop = offsets[event], offsets[event + 1], offsets[event + 2]
        one, two = 0.0, 0.0
        for j in range(middle, stop):
            first, last = low[j], high[j]
            ticks, inside = float(last - first + 1), 0.0
            while i < middle and high[i] < first:
                one += mass[i] * float(high[i] - low[i] + 1)
                i += 1
            k = i
            while k < middle and low[k] < last:
                begin, end = max(low[k], first), min(high[k], last - 1)
                among = 0.5 * float(end - begin + 1) * (float(last - begin) + float(last - end))
                inside += mass[k] * (float(begin - low[k]) * ticks + among)
                k += 1
            two += mass[j] * (one * ticks + inside)
        product[runs.part[event]] *= two


@inner
def sum_threes(runs):
    """Multiply with the probabilities of three events: step by step through the ticks of the second one."""
    low, high, mass, offsets, product = runs.low, runs.high, runs.mass, runs.offsets, runs.product
    for run in range(runs.counts[THREE]):
        event = runs.begin[THREE, run]
        i, j, k, stop = offsets[event], offsets[event + 1], offsets[event + 2], offsets[event + 3]
        x_stop, y_stop, tick = j, k, low[j]
        one, two, three = 0.0, 0.0, 0.0
        while i < x_stop and low[i] < tick:
            one += mass[i] * float(min(high[i] + 1, tick) - low[i])
            if high[i] >= tick:
                break
            i += 1
        while k < stop and high[k] < tick:
            k += 1
        while j < y_stop:
            x_mass, end = _from_tick(low[i], high[i], mass[i], i < x_stop, tick, high[j])
            y_mass, end = _from_tick(low[j], high[j], mass[j], True, tick, end)
            z_mass, end = _from_tick(low[k], high[k], mass[k], k < stop, tick, end)
            ticks = float(end - tick + 1)
            pairs = 0.5 * ticks * (ticks - 1.0)
            triples = pairs * (ticks - 2.0) * (1.0 / 3.0)
            three += (two * ticks + (one * pairs + x_mass * triples) * y_mass) * z_mass
            two += (one * ticks + x_mass * pairs) * y_mass
            one += x_mass * ticks
            i += i < x_stop and high[i] == end
            j += high[j] == end
            k += k < stop and high[k] == end
            tick = end + 1
        for b in range(k, stop):
            three += two * mass[b] * float(high[b] - max(low[b], tick) + 1)
        product[runs.part[event]] *= three


@inner
def _from_tick(first, last, mass, exists, tick, end):
    """Mass per tick at a tick, and the last one, at most `end`, that has the same.

    The bucket, if there is one, is the first that ends not before the tick.  Without branches, which nothing
    could foretell.
    """
    begin = first if exists else _NEVER
    begun = tick >= begin
    return mass if begun else 0.0, min(end, last if begun else begin - 1)


@inner
def sum_more(runs, per_tick, placed):
    """Multiply with the probabilities of more events: step by step through all of their ticks."""
    low, high, mass, product = runs.low, runs.high, runs.mass, runs.product
    bucket = np.empty(len(placed), dtype=np.int64)
    for run in range(runs.counts[MORE]):
        event, count = runs.begin[MORE, run], runs.size[MORE, run]
        stops = runs.offsets[event + 1 : event + count + 1]
        for j in range(count):
            bucket[j] = runs.offsets[event + j]
        tick, last = low[bucket[0]], high[stops[count - 1] - 1]
        placed[:] = 0.0
        placed[0] = 1.0
        while tick <= last:
            end = last
            for j in range(count):
                b = bucket[j]
                per_tick[j, 0], end = _from_tick(low[b], high[b], mass[b], b < stops[j], tick, end)
            place_in_cell(placed, 0, count, per_tick, 0, float(end - tick + 1))
            tick = end + 1
            for j in range(count):
                while bucket[j] < stops[j] and high[bucket[j]] < tick:
                    bucket[j] += 1
        product[runs.part[event]] *= placed[count]
