"""A power of two for each set of a cell, by which states are divided where hundreds of events may happen.

So what all events of a set together bring is about 1, however large their factors are and however many
orders they have.  A rate leads from one set to another: it is multiplied by the power of the one and divided
by that of the other.  Where no product can leave the floats all powers are 1.
"""

from __future__ import annotations

from math import frexp

import numpy as np

from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.kernels.kernel import inner
from cepctl.engines.order_laws.scaled_sets import times_two_to

_MOST_EXPONENT = 400
_UNKNOWN = -(1 << 40)


@inner
def divide_rates(members, stride, cells, cell, rates, follow, landing):
    """The exponent of the power of two of each set of a cell; `rates` are changed by them."""
    exponents = np.zeros(len(rates), dtype=np.int64)
    mass = _masses(cells, cell, len(stride))
    if _largest_exponent(members, stride, mass, rates, follow) <= _MOST_EXPONENT:
        return exponents
    _fill_exponents(members, stride, mass, rates, follow, landing, exponents)
    for s in range(len(rates)):
        for i in range(len(stride)):
            if rates[s, i] != 0.0 and stride[i] > 0:
                rates[s, i] = times_two_to(rates[s, i], exponents[s] - exponents[s + stride[i]])
    return exponents


@inner
def _masses(cells, cell, count):
    """What an event of each kind has in the cell; 1 of one that cannot happen there, but has before."""
    begin, ticks = cells.starts[cell], tick_count(cells.cut[cell], cells.cut[cell + 1] - 1)
    found = np.empty(count)
    for i in range(count):
        density = cells.density[begin + i]
        found[i] = (density * ticks if density > 0.0 else 1.0) * cells.over[begin + i]
    return found


@inner
def _largest_exponent(members, stride, mass, rates, follow):
    """A bound of the exponents of all products."""
    events, most = 0, 0
    for i in range(len(stride)):
        if stride[i] > 0:
            events += members[i]
            own, after = 0, 0
            for s in range(len(rates)):
                own = max(own, abs(frexp(rates[s, i])[1]))
            for c in range(len(follow)):
                after = max(after, abs(frexp(follow[c, i])[1]))
            most = max(most, abs(frexp(mass[i])[1]) + own + after)
    return events * most


@inner
def _fill_exponents(members, stride, mass, rates, follow, landing, exponents):
    """What the events of a set bring in any order, by what keys end with, set by set from those before it."""
    values = np.zeros((len(rates), len(follow)))
    values[0] = 1.0
    for s in range(1, len(rates)):
        size, unit = 0, _UNKNOWN
        for i in range(len(stride)):
            digit = s // stride[i] % (members[i] + 1) if stride[i] > 0 else 0
            size += digit
            if digit > 0:
                before = s - stride[i]
                unit = max(unit, exponents[before] + frexp(mass[i] * rates[before, i])[1])
        for i in range(len(stride)):
            if stride[i] > 0 and s // stride[i] % (members[i] + 1) > 0:
                before = s - stride[i]
                rate = times_two_to(mass[i] * rates[before, i], exponents[before] - unit) / size
                for c in range(len(follow)):
                    values[s, landing[c, i]] += values[before, c] * follow[c, i] * rate
        own = frexp(values[s].max())[1]
        exponents[s] = unit + own
        for c in range(len(follow)):
            values[s, c] = times_two_to(values[s, c], -own)
