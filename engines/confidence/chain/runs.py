"""Probability that events come one before the other, each at its ticks between two bounds: runs of a chain.

Events are placed in time order: what is known at a tick is the probability that the first so many have come
before it.  Up to the next end of a bucket each has a constant mass per tick, and k consecutive events fall
into n such ticks in increasing order with probability C(n, k) times the product of their masses per tick.
Time before the second event and after the last but one needs no such steps.  All terms are positive, so
that nothing cancels.

    name here                 meaning
    places                    shape (l, 6): a row for each event of the chain, with the columns below
    one, two, three           the probability that the first so many of a run have come before a tick

Kernels take arrays, not tuples of them: Numba counts who holds each array that comes out of a tuple, which
takes longer than a pair of events.

Runs inside Spark workers: imports NumPy and Numba only.
"""

from __future__ import annotations

from numba import njit

from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.confidence.chain.cells import place_in_cell

LOWER, UPPER, MOVED, FIRST_BUCKET, STOP_BUCKET, BUCKET = range(6)
"""Of every place the ticks between which its event is wanted, by how much its buckets are moved, and which
they are; and the bucket that was found last."""
_MOST_TICKS = 1 << 60
"""Steps are no longer, so that int64 holds their ticks."""


@njit(nogil=True, cache=True)
def _mass(lo, hi, density, places, place, first, last):
    """The mass of an event between two ticks, where it is wanted; exactly 1 where that is all."""
    first = max(first, places[place, LOWER]) - places[place, MOVED]
    last = min(last, places[place, UPPER]) - places[place, MOVED]
    begin, stop = places[place, FIRST_BUCKET], places[place, STOP_BUCKET]
    if first <= lo[begin] and hi[stop - 1] <= last:
        return 1.0
    mass = 0.0
    for b in range(begin, stop):
        start, end = max(lo[b], first), min(hi[b], last)
        if start <= end:
            mass += density[b] * tick_count(start, end)
    return mass


@njit(nogil=True, cache=True)
def _step(lo, hi, density, places, place, tick, end):
    """Mass per tick of an event from a tick on, and the last tick, at most `end`, up to which it is that."""
    if tick < places[place, LOWER]:
        return 0.0, min(end, places[place, LOWER] - 1)
    if tick > places[place, UPPER]:
        return 0.0, end
    moved = places[place, MOVED]
    bucket, stop = places[place, BUCKET], places[place, STOP_BUCKET]
    while bucket < stop and hi[bucket] + moved < tick:
        bucket += 1
    places[place, BUCKET] = bucket
    if bucket == stop:
        return 0.0, end
    if tick < lo[bucket] + moved:
        return 0.0, min(end, lo[bucket] + moved - 1)
    return density[bucket], min(end, hi[bucket] + moved, places[place, UPPER])


@njit(nogil=True, cache=True)
def run_probability(lo, hi, density, places, begin, stop, per_tick, placed):
    """Probability that the events from place `begin` on, before `stop`, come one before the other."""
    if stop - begin == 1:
        return _mass(lo, hi, density, places, begin, places[begin, LOWER], places[begin, UPPER])
    if stop - begin == 2:
        return _of_two(lo, hi, density, places, begin)
    if stop - begin == 3:
        return _of_three(lo, hi, density, places, begin)
    return _of_many(lo, hi, density, places, begin, stop, per_tick, placed)


@njit(nogil=True, cache=True)
def _of_two(lo, hi, density, places, x):
    y = x + 1
    tick, last = places[y, LOWER], min(places[x, UPPER], places[y, UPPER])
    one, two = _mass(lo, hi, density, places, x, places[x, LOWER], tick - 1), 0.0
    while tick <= last:
        x_mass, end = _step(lo, hi, density, places, x, tick, min(last, tick + _MOST_TICKS))
        y_mass, end = _step(lo, hi, density, places, y, tick, end)
        ticks = float(end - tick + 1)
        two += (one * ticks + x_mass * (0.5 * ticks * (ticks - 1.0))) * y_mass
        one += x_mass * ticks
        tick = end + 1
    return two + one * _mass(lo, hi, density, places, y, last + 1, places[y, UPPER])


@njit(nogil=True, cache=True)
def _of_three(lo, hi, density, places, x):
    y, z = x + 1, x + 2
    tick, last = places[y, LOWER], places[y, UPPER]
    one, two, three = _mass(lo, hi, density, places, x, places[x, LOWER], tick - 1), 0.0, 0.0
    while tick <= last:
        x_mass, end = _step(lo, hi, density, places, x, tick, min(last, tick + _MOST_TICKS))
        y_mass, end = _step(lo, hi, density, places, y, tick, end)
        z_mass, end = _step(lo, hi, density, places, z, tick, end)
        ticks = float(end - tick + 1)
        pairs = 0.5 * ticks * (ticks - 1.0)
        triples = pairs * (ticks - 2.0) / 3.0
        three += (two * ticks + (one * pairs + x_mass * triples) * y_mass) * z_mass
        two += (one * ticks + x_mass * pairs) * y_mass
        one += x_mass * ticks
        tick = end + 1
    return three + two * _mass(lo, hi, density, places, z, last + 1, places[z, UPPER])


@njit(nogil=True, cache=True)
def _of_many(lo, hi, density, places, begin, stop, per_tick, placed):
    count = stop - begin
    tick, last = places[begin + 1, LOWER], places[stop - 2, UPPER]
    placed[:] = 0.0
    placed[0] = 1.0
    placed[1] = _mass(lo, hi, density, places, begin, places[begin, LOWER], tick - 1)
    while tick <= last:
        end = min(last, tick + _MOST_TICKS)
        for j in range(count):
            per_tick[j, 0], end = _step(lo, hi, density, places, begin + j, tick, end)
        place_in_cell(placed, 0, count, per_tick, 0, float(end - tick + 1))
        tick = end + 1
    after = _mass(lo, hi, density, places, stop - 1, last + 1, places[stop - 1, UPPER])
    return placed[count] + placed[count - 1] * after
