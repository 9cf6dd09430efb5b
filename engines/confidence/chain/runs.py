"""Chains as runs of events in order, and the probability that the events of a run come one before the other.

The links of a chain, order and window, are a ring: t_1 < t_2 < ... < t_l < t_1 + W.  A link that holds at all
ticks of both events says nothing.  Where one does, the ring is opened: what follows it, and then what comes
before it, a window later, is a chain without window.  Where every link may fail, the ticks of the first event
are parted: before all ticks of the second its link to that holds; late enough, the window does.  What is left
between is summed with its window.

Where all ticks of one event lie before all of the next, a chain falls apart into runs of independent events.
A run is summed in time order: what is known at a tick is the probability that the first so many events have
come before it.  Up to the next end of a bucket each has a constant mass per tick, and k consecutive events
fall into n such ticks in increasing order with probability C(n, k) times the product of their masses per
tick.  All terms are positive, so that nothing cancels.

Runs of one length are summed one after the other, in one loop: to hand arrays to a function for each of them
would take longer than to sum a pair.

    name here                 meaning
    one, two, three           the probability that the first so many of a run have come before a tick
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.tick_sums import apart, plus, sort_cuts
from cepctl.engines.kernels.kernel import inner
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks

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
def start_cells(cuts, count, first_lower, first_upper, window, refined):
    """Cut the first event's interval at every cut and at every cut minus W; returns how many ends."""
    pieces = 0
    for c in range(count):
        for cut in (cuts[c], plus(cuts[c], -window)):
            if first_lower <= cut <= first_upper + 1:
                refined[pieces] = cut
                pieces += 1
    return sort_cuts(refined, pieces)


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


NO_WINDOW = 0
MOST_PARTS = 3
"""A chain is the sum of at most so many."""
_NOWHERE = -1
_FARTHEST = 1 << 61
"""Ticks of chains that reach farther are not moved by a window: int64 may not hold them."""


@inner
def open_rings(matches, valid_lower, valid_upper, window, begin, end, runs, row_of):
    """Fill the events of all parts of some matches, and the row of each part; returns the numbers of both."""
    event, first, last, moved = runs.event, runs.first, runs.last, runs.moved
    part, tied, product, windowed = runs.part, runs.tied, runs.product, runs.windowed
    parts, events, positions = 0, 0, matches.shape[1]
    for row in range(begin, end):
        opened = _opened(valid_lower, valid_upper, row, window)
        for number in range(MOST_PARTS if opened == _NOWHERE else 1):
            least, most, at = valid_lower[row, 0], valid_upper[row, 0], opened
            if opened == _NOWHERE:
                limits = valid_lower[row, 1], valid_upper[row, positions - 1]
                least, most, at = _part(number, least, most, *limits, window)
                if least > most:
                    continue
            row_of[parts], product[parts], windowed[parts] = row, 1.0, at == _NOWHERE
            position, by = max(at, 0), 0
            for place in range(positions):
                event[events], part[events], moved[events] = matches[row, position], parts, by
                first[events] = valid_lower[row, position] if position else least
                last[events] = valid_upper[row, position] if position else most
                tied[events] = place > 0 and (
                    at == _NOWHERE or last[events - 1] + moved[events - 1] >= first[events] + by
                )
                events += 1
                position += 1
                if position == positions:
                    position, by = 0, window
            parts += 1
    return parts, events


@inner
def _opened(lower, upper, row, window):
    """The position that a chain without window begins with; _NOWHERE where every link may fail."""
    last = lower.shape[1] - 1
    reach = apart(lower[row, 0], upper[row, last])
    if window == NO_WINDOW or last == 0 or reach < window:
        return 0
    for position in range(1, last + 1):
        if upper[row, position - 1] < lower[row, position] and reach <= _FARTHEST:
            return position
    return _NOWHERE


@inner
def _part(number, least, most, second, last, window):
    """Ticks of the first event, and the position that a chain without window then begins with."""
    if apart(least, last) > _FARTHEST:
        return least, most if number == 0 else least - 1, _NOWHERE
    in_window = last - window + 1
    if number == 0:
        return least, min(most, second - 1), 1
    if number == 1:
        return max(least, second, in_window), most, 0
    return max(least, second), min(most, in_window - 1), _NOWHERE


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
