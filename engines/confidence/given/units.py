"""Series of records that can be anywhere in one unit of time: what they leave to each, in closed form.

Of n records on the same m ticks every choice of n of these is equally probable.  So what comes before the
i-th (from 0), s ticks behind the unit's begin, has room in C(s, i) ways, and what comes after it in
C(m - 1 - s, n - 1 - i): no pass over the series says more.  Each such weight is scaled to be 1 about where it
matters, so that products of many neither vanish nor grow beyond all floats.
"""

from __future__ import annotations

import numpy as np

from cepctl.engines.columns.laws import NO_CELL, Buckets, Laws, Polynomials, weighted_laws
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import distinct_rows, places_in_runs
from cepctl.engines.columns.ties import EventTies, Units
from cepctl.numeric.arrays import Indexes, Ticks
from cepctl.numeric.logarithms import Logarithms, logarithms, raised

LEAST_OF_UNIT, MOST_OF_UNIT = 2, 1_500
"""Records of a unit that is summed: of more some weight may exceed all floats."""


def units_of(ties: EventTies, masses: Masses) -> Units:
    """The units among the series.

    The interval of each event is cut to what its neighbours leave: in a unit both ends rise by one tick from
    each event to the next.
    """
    found = ties.in_order & (ties.sizes >= LEAST_OF_UNIT)
    inside = np.repeat(found, ties.sizes)
    event = ties.members[inside]
    first = ties.members[np.repeat(ties.member_offsets[:-1][found], ties.sizes[found])]
    place = ties.rank[event]
    even = masses.lower[event] - masses.lower[first] == place
    even &= masses.upper[event] - masses.upper[first] == place
    even &= np.diff(masses.starts)[event] == 1
    found[ties.component[event[~even]]] = False
    start = ties.members[ties.member_offsets[:-1]]
    spare = masses.upper[start] - masses.lower[start]
    return Units(np.where(found, ties.sizes, 0), masses.lower[start], spare)


def typical_spare(spare: Ticks, records: Indexes, others: Indexes) -> Ticks:
    """How many spare ticks there are, on average, before so many of a unit's records and the next."""
    return np.floor(spare * ((others + 1.0) / (records + 1.0))).astype(np.int64)


def ways(others: Indexes, spare: Ticks) -> Logarithms:
    """The logarithm of C(spare + others, others): in how many ways others have room; all of shape (n,).

    Units of a log are mostly alike: each sum is taken once.
    """
    first, which = distinct_rows(np.stack([others, spare], axis=1))
    run, place = places_in_runs(others[first])
    total = np.zeros(len(first), np.longdouble)
    np.add.at(total, run, logarithms(spare[first][run] + place + 1) - logarithms(place + 1))
    return total[which]


def scale_of_ends(units: Units, component: Indexes, others: Indexes) -> Logarithms:
    """The logarithm of what a weight of so many others of a unit is to be multiplied by."""
    typical = typical_spare(units.spare[component], units.records[component], others)
    return ways(others, typical)


def unit_shares(units: Units, component: Indexes) -> Logarithms:
    """The logarithm of the number of choices of a unit's ticks."""
    return ways(units.records[component], units.spare[component])


def with_units(laws: Laws, units: Units, component: Indexes, rank: Indexes) -> Laws:
    """Laws followed by four of each record of units, as `SeriesMasses` has them.

    `component`, `rank`, shape (u,): where each record stands.
    """
    count, cells = len(component), [len(each.start) for each in (laws.earlier, laws.later)]
    records, spare, begin = (each[component] for each in (units.records, units.spare, units.begin))
    end, after = begin + records + spare - 1, records - 1 - rank
    earlier = _rooms(laws.earlier, begin, rank, typical_spare(spare, records, rank))
    later = _rooms(laws.later, -end, after, typical_spare(spare, records, after))
    own = scale_of_ends(units, component, rank) + scale_of_ends(units, component, after)
    even = 1.0 / (records + spare)
    both = raised(own - unit_shares(units, component))
    nothing, first, last = np.full(count, NO_CELL), cells[0] + np.arange(count), cells[1] + np.arange(count)
    bent = len(laws.before) > 0
    none = np.full(0 if bent else len(laws.lo), NO_CELL)
    zeros = np.zeros(0 if bent else len(laws.lower), np.int64)
    buckets = Buckets(
        np.concatenate([laws.lower, *(begin,) * 4]),
        np.concatenate([laws.upper, *(end,) * 4]),
        np.concatenate([laws.starts, laws.starts[-1] + 1 + np.arange(4 * count)]),
        np.concatenate([laws.lo, *(begin,) * 4]),
        np.concatenate([laws.hi, *(end,) * 4]),
        np.concatenate([laws.density, even, even, even, both]),
    )
    return weighted_laws(
        buckets,
        np.concatenate([laws.degree, zeros, 0 * rank, rank, after, records - 1]),
        np.concatenate([laws.before, none, nothing, first, nothing, first]),
        np.concatenate([laws.after, none, nothing, nothing, last, last]),
        earlier,
        later,
    )


def _rooms(cells: Polynomials, start: Ticks, others: Indexes, typical: Ticks) -> Polynomials:
    """Cells followed by rooms of others."""
    offsets = np.full(len(start), cells.offsets[-1] if len(cells.offsets) else 0)
    return Polynomials(
        np.concatenate([cells.start, start]),
        np.concatenate([cells.ticks, typical]),
        np.concatenate([cells.others, others]),
        np.concatenate([cells.offsets if len(cells.offsets) else np.zeros(1, np.int64), offsets]),
        cells.coefficient,
    )
