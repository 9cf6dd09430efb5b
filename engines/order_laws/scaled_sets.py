"""Values of a cell that stay within the floats, however many events happen in it.

A way through a cell multiplies by a factor for each event, and hundreds of events may happen in one cell: on
one day of a log that knows only the day.  Where values become too large or too small, those of each set are
divided by a power of two of its own, so that the largest is about 1.  A rate leads from one set to another:
it is multiplied by the power of the one and divided by that of the other.  So a way through the cell has what
it had, but for the powers at both of its ends.
"""

from __future__ import annotations

from math import frexp, isfinite, ldexp

import numpy as np

from cepctl.engines.kernels.kernel import inlined, inner
from cepctl.engines.order_laws.cells import next_set
from cepctl.engines.order_laws.passes import forward_of

_MOST_EXPONENT = 200
"""Values are left as they are while the largest of each set is within two to this, and one by it."""
_NOTHING = -(1 << 40)
"""The exponent of 0."""


@inner
def forward_in_range(cell, entry, least, width):
    """Forward values, and the exponent of the power of two by which those of each set are divided.

    Changes the rates of `cell`, unless all exponents are 0.
    """
    exponents = np.zeros(len(cell.sizes), dtype=np.int64)
    values = forward_of(cell, entry, least, width)
    if _in_range(values):
        return values, exponents
    _fill_exponents(cell, entry, least, values, exponents)
    for s in range(len(cell.sizes)):
        for i in cell.open[s, : cell.opens[s]]:
            cell.rates[s, i] = times_two_to(cell.rates[s, i], exponents[s] - exponents[s + cell.strides[i]])
    return forward_of(cell, by_set(entry, np.arange(len(entry)), -exponents), least, width), exponents


@inner
def by_set(values, sets, exponents):
    """Values of some sets by last step, each times the power of two of its set."""
    found = np.empty_like(values)
    for row in range(len(sets)):
        for last in range(values.shape[1]):
            found[row, last] = times_two_to(values[row, last], exponents[sets[row]])
    return found


@inlined
def times_two_to(value, exponent):
    """A value times a power of two, 0 where that is too small; never too large."""
    return ldexp(value, int(min(max(exponent, -2000), 900)))


@inner
def _in_range(values):
    for own in values:
        most = 0.0
        for each in own.flat:
            if not isfinite(each):
                return False
            most = max(most, each)
        if most > 0.0 and abs(frexp(most)[1]) > _MOST_EXPONENT:
            return False
    return True


@inner
def _fill_exponents(cell, entry, least, values, exponents):
    """Fill `values` anew, set by set from those before it, divided by the powers of two to fill in."""
    digits = np.zeros_like(cell.counts)
    for s in range(len(values)):
        if s > 0:
            next_set(digits, cell.counts)
        unit = _NOTHING
        for i in range(len(cell.kinds)):
            if digits[i] > 0 and values[s - cell.strides[i]].max() > 0.0:
                rate = cell.rates[s - cell.strides[i], i]
                if rate > 0.0:
                    unit = max(unit, exponents[s - cell.strides[i]] + frexp(rate)[1])
        if s < len(entry) and entry[s].max() > 0.0:
            unit = max(unit, 0)
        values[s] = 0.0
        if unit == _NOTHING:
            exponents[s] = _NOTHING
            continue
        if s < len(entry):
            for last in range(entry.shape[1]):
                if entry[s, last] != 0.0:
                    values[s, cell.sizes[s] - least, last] = times_two_to(entry[s, last], -unit)
        for i in range(len(cell.kinds)):
            if digits[i] > 0:
                _pull(cell, s, i, least, values, exponents[s - cell.strides[i]] - unit)
        exponents[s] = unit + _normalised(values[s])


@inner
def _pull(cell, s, i, least, values, exponent):
    """Add to the values of a set those of the set before it, of whose events one of a class happens."""
    before = s - cell.strides[i]
    rate = times_two_to(cell.rates[before, i], exponent)
    for e in range(min(values.shape[1], cell.sizes[before] - least + 1)):
        taken = 0.0
        for last in range(values.shape[2]):
            taken += values[before, e, last] * cell.followed[i, last]
        values[s, e, cell.landing[i]] += taken * (rate / (cell.sizes[before] - least - e + 1.0))


@inner
def _normalised(values):
    """Divide values by the power of two of the largest, whose exponent is returned."""
    exponent = frexp(values.max())[1]
    for e in range(values.shape[0]):
        for last in range(values.shape[1]):
            values[e, last] = times_two_to(values[e, last], -exponent)
    return exponent
