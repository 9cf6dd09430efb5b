"""Records that can be anywhere in one unit of time: what they leave to each, and how they stand as is asked.

Of n records of a writer on the m ticks of a unit every choice of n ticks is equally probable.  So what comes
before the i-th (from 0), s ticks behind the unit's begin, has room in C(s, i) ways, and what comes after it
in C(m - 1 - s, n - 1 - i): no pass over the series says more.  Each such weight is scaled to be 1 about where
it matters, so that products of many neither vanish nor grow beyond all floats.

Of a few writers, every way in which their records stand among each other on the same number t of ticks that
have some is equally probable, too: C(m, t) choices of ticks give it.  Such a way is a path on a lattice: each
step takes the next record of one writer, or of several at once, which are then on one tick.  What is asked of
a record and those of others forbids some of its steps; the paths that are left are counted by their number
of ticks.  No tick is summed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.laws import NO_CELL, Buckets, Laws, Polynomials, weighted_laws
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import distinct_rows, places_in_runs
from cepctl.engines.columns.ties import EventTies, Units
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Ticks
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


class Interleaved(NamedTuple):
    """Questions about the order of records of some writers; question i owns writers from offsets[i] on.

    `ticks`: how many the unit has; `meetings`: how many records may be on the tick of another, what is beyond
    being too improbable to matter; shape (q,).  `records`: how many each writer has.

    The records of writer w are those from record_offsets[w] on, and clauses from clause_offsets[r] on compare
    record r with others.  `difference_offsets`: those of a clause, which must not all hold where it is
    `absent`: `t_record - t_other <= bound` where `side` is 1, `t_other - t_record <= bound` where it is -1,
    with a bound of 0 or -1.  Other writers count from 0 in each question, ranks in each writer.
    """

    offsets: Indexes
    ticks: Ticks
    meetings: Indexes
    records: Indexes
    record_offsets: Indexes
    clause_offsets: Indexes
    absent: Flags
    difference_offsets: Indexes
    other_writer: Indexes
    other_rank: Indexes
    side: Indexes
    bound: Ticks


@kernel
def interleaved_as_asked(asked):
    """Of each question the probability that all its clauses hold; shape (q,)."""
    found = np.zeros(len(asked.ticks))
    for question in range(len(asked.ticks)):
        begin, end = asked.offsets[question], asked.offsets[question + 1]
        records = asked.records[begin:end]
        paths = _paths(asked, question, records)
        weights = weights_of_paths(records, asked.ticks[question], len(paths))
        for met in range(len(paths)):
            found[question] += paths[met] * weights[met]
    return found


@inner
def _paths(asked, question, records):
    """Paths to the end by how many records are on the tick of another; each step weighs a writer's share."""
    writers, places = len(records), asked.meetings[question] + 1
    strides, layer = np.zeros(writers, np.int64), 1
    for w in range(writers - 1, 0, -1):
        strides[w] = layer
        layer *= records[w] + 1
    # The first writer has the number of the layer, and reaches back by one.
    backs, meets, weights = steps_of(records, strides)
    before, here = np.zeros((layer, places)), np.zeros((layer, places))
    count = np.zeros(writers, np.int64)
    for first in range(records[0] + 1):
        here[:] = 0.0
        count[:] = 0
        count[0] = first
        for place in range(layer):
            if first == 0 and place == 0:
                here[0, 0] = 1.0
            for step in range(1, 1 << writers):
                if allowed(asked, question, step, count):
                    back, met, weight = place - backs[step], meets[step], weights[step]
                    source = before if step & 1 else here
                    for d in range(met, places):
                        here[place, d] += weight * source[back, d - met]
            for w in range(writers - 1, 0, -1):
                count[w] += 1
                if count[w] <= records[w]:
                    break
                count[w] = 0
        before, here = here, before
    return before[layer - 1]


@inner
def steps_of(records, strides):
    """How far back each step comes from, how many meet another there, and what it weighs: (2^w,) each."""
    steps, together = 1 << len(records), sum_of(records)
    back, met, weight = np.zeros(steps, np.int64), np.full(steps, -1), np.ones(steps)
    for step in range(1, steps):
        for w in range(len(records)):
            if step >> w & 1:
                back[step] += strides[w]
                met[step] += 1
                weight[step] *= records[w] / together
    return back, met, weight


@inner
def allowed(asked, question, step, count):
    """Whether a step of some writers may lead to so many records of each."""
    for w in range(len(count)):
        if step >> w & 1 and count[w] == 0:
            return False
    for w in range(len(count)):
        record = asked.record_offsets[asked.offsets[question] + w] + count[w] - 1
        if step >> w & 1:
            for clause in range(asked.clause_offsets[record], asked.clause_offsets[record + 1]):
                if _all_hold(asked, clause, step, count) == asked.absent[clause]:
                    return False
    return True


@inner
def _all_hold(asked, clause, step, count):
    """Whether all differences of a clause hold where its record has just been taken."""
    for i in range(asked.difference_offsets[clause], asked.difference_offsets[clause + 1]):
        other, rank = asked.other_writer[i], asked.other_rank[i]
        steps = step >> other & 1
        if rank < count[other] - steps:
            after = -1
        elif steps and rank == count[other] - 1:
            after = 0
        else:
            after = 1
        if asked.side[i] * after + asked.bound[i] < 0:
            return False
    return True


@inner
def weights_of_paths(records, ticks, places):
    """What paths with so many records on the tick of another are worth, by the ticks that they choose."""
    found, total, weight = np.empty(places), 0, 1.0
    # Their number without meetings, and what a step weighs, both grow as all records together do.
    count = np.zeros(len(records), np.int64)
    together = sum_of(records)
    for taken in range(1, together + 1):
        least = 0
        for w in range(1, len(records)):
            if (count[w] + 1) * records[least] < (count[least] + 1) * records[w]:
                least = w
        count[least] += 1
        weight /= taken / count[least] * (records[least] / together)
    for w in range(len(records)):
        for i in range(records[w]):
            weight *= (ticks - total - i) / (ticks - i)
        total += records[w]
    for met in range(places):
        found[met] = weight
        weight *= (total - met) / (ticks - total + met + 1.0)
    return found


@inner
def sum_of(values):
    """The sum of some numbers."""
    total = values[0]
    for i in range(1, len(values)):
        total += values[i]
    return total
