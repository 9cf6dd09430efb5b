"""Probability that events come one before the other: the product over runs, of which each is summed by itself.

Where all ticks of one event lie before all of the next, that they do says nothing: a chain falls apart there
into runs of independent events.  A run is summed in time order: what is known at a tick is the probability that
the first so many events have come before it.  Up to the next end of a bucket each has a constant mass per
tick, and k consecutive events fall into n such ticks in increasing order with probability C(n, k) times the
product of their masses per tick.  All terms are positive, so that nothing cancels.

    name here                 meaning
    low, high, mass           buckets of a chain, event after event: first tick, last tick, mass per tick
    offsets                   event j of the chain has the buckets from offsets[j] to offsets[j + 1]
    whole                     whether these are all that it has: its mass is 1
    one, two, three           the probability that the first so many of a run have come before a tick

Runs inside Spark workers: imports Numba only.
"""

from __future__ import annotations

from numba import njit

from cepctl.engines.confidence.chain.cells import place_in_cell


@njit(nogil=True, cache=True)
def product_of_runs(low, high, mass, offsets, whole, bucket, per_tick, placed):
    """Probability that the events of a chain come in order; `bucket`, `per_tick` and `placed` are room."""
    product, begin, count = 1.0, 0, len(offsets) - 1
    while begin < count and product > 0.0:
        stop = begin + 1
        while stop < count and high[offsets[stop] - 1] >= low[offsets[stop]]:
            stop += 1
        x, y = offsets[begin], offsets[begin + 1]
        if stop == begin + 1:
            if not whole[begin]:
                product *= _ticks_left(low, high, mass, x, y, low[x])
        elif stop == begin + 2:
            product *= _of_two(low, high, mass, x, y, offsets[stop])
        elif stop == begin + 3:
            product *= _of_three(low, high, mass, x, y, offsets[begin + 2], offsets[stop])
        else:
            product *= _of_many(low, high, mass, offsets[begin : stop + 1], bucket, per_tick, placed)
        begin = stop
    return product


@njit(nogil=True, cache=True)
def _ticks_left(low, high, mass, begin, stop, tick):
    """The mass of some buckets from a tick on, which lies not after the first of them."""
    total = 0.0
    for b in range(begin, stop):
        total += mass[b] * float(high[b] - max(low[b], tick) + 1)
    return total


@njit(nogil=True, cache=True)
def _of_two(low, high, mass, x, y, stop):
    """The first event has the buckets from `x` to `y`, the second those from `y` to `stop`."""
    one, two, i = 0.0, 0.0, x
    for j in range(y, stop):
        first, last = low[j], high[j]
        ticks, inside = float(last - first + 1), 0.0
        while i < y and high[i] < first:
            one += mass[i] * float(high[i] - low[i] + 1)
            i += 1
        k = i
        while k < y and low[k] < last:
            begin, end = max(low[k], first), min(high[k], last - 1)
            before, among = float(begin - low[k]), float(end - begin + 1)
            inside += mass[k] * (before * ticks + among * (0.5 * (float(last - begin) + float(last - end))))
            k += 1
        two += mass[j] * (one * ticks + inside)
    return two


@njit(nogil=True, cache=True)
def _of_three(low, high, mass, x, y, z, stop):
    """The same with a third event, which has the buckets from `z` to `stop`."""
    one, two, three = 0.0, 0.0, 0.0
    i, j, k, tick = x, y, z, low[y]
    while i < y and high[i] < tick:
        one += mass[i] * float(high[i] - low[i] + 1)
        i += 1
    if i < y and low[i] < tick:
        one += mass[i] * float(tick - low[i])
    while k < stop and high[k] < tick:
        k += 1
    while j < z:
        x_mass, end = _from_tick(low, high, mass, i, y, tick, high[j])
        y_mass, end = _from_tick(low, high, mass, j, z, tick, end)
        z_mass, end = _from_tick(low, high, mass, k, stop, tick, end)
        ticks = float(end - tick + 1)
        pairs = 0.5 * ticks * (ticks - 1.0)
        triples = pairs * (ticks - 2.0) / 3.0
        three += (two * ticks + (one * pairs + x_mass * triples) * y_mass) * z_mass
        two += (one * ticks + x_mass * pairs) * y_mass
        one += x_mass * ticks
        i += i < y and high[i] == end
        j += high[j] == end
        k += k < stop and high[k] == end
        tick = end + 1
    return three + two * _ticks_left(low, high, mass, k, stop, tick)


@njit(nogil=True, cache=True)
def _from_tick(low, high, mass, bucket, stop, tick, end):
    """Mass per tick at a tick, and the last one, at most `end`, that has the same; no bucket before ends later."""
    if bucket == stop:
        return 0.0, end
    if tick < low[bucket]:
        return 0.0, min(end, low[bucket] - 1)
    return mass[bucket], min(end, high[bucket])


@njit(nogil=True, cache=True)
def _of_many(low, high, mass, offsets, bucket, per_tick, placed):
    count = len(offsets) - 1
    placed[:] = 0.0
    placed[0], bucket[:count] = 1.0, offsets[:count]
    tick, last = low[offsets[0]], high[offsets[count] - 1]
    while tick <= last:
        end = last
        for j in range(count):
            per_tick[j, 0], end = _from_tick(low, high, mass, bucket[j], offsets[j + 1], tick, end)
        place_in_cell(placed, 0, count, per_tick, 0, float(end - tick + 1))
        tick = end + 1
        for j in range(count):
            while bucket[j] < offsets[j + 1] and high[bucket[j]] < tick:
                bucket[j] += 1
    return placed[count]
