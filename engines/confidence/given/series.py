"""Series of tied events: what those before and after each leave to it, found by one pass each.

A match that needs some events of a series needs those between its first and its last, and of all others
only what they leave to these two: their masses are weighted by piecewise polynomials (forward and backward
messages). So a series may have any length, and its cost is linear.

The mass of an event, given that all before it are in order, is its own mass times the share of the mass of
the event before that lies early enough: a running sum, which is a polynomial of one degree more on each
cell. Every sum is scaled to 1.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.laws import NO_CELL, Buckets, Laws, Polynomials, weighted_laws
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies, SeriesLater, SeriesMasses
from cepctl.engines.confidence.given.units import MOST_OF_UNIT, unit_shares, units_of, with_units
from cepctl.engines.confidence.given.work import MOST_STEPS, overlapping_too_much
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.numeric.logarithms import logarithms, raised
from cepctl.numeric.precision import SMALLEST


class Pass(NamedTuple):
    """What a pass finds: the cells of each event from cell_offsets on, and its `ratio`."""

    cell_offsets: Indexes
    cells: Polynomials
    ratio: Reals


class _CellRoom(NamedTuple):
    """Room for cells: grown by doubling."""

    start: Ticks
    ticks: Ticks
    offsets: Indexes
    coefficient: Reals


@kernel
def series_pass(buckets, event, bound, begins, most_steps):
    """The masses of events of series, each given those before it; scaled to 1.

    Beyond `most_steps` it is given up, and says nothing of any event.

    `event`: rows of the events, one series after the other; `bound`: t_before - t_event <= bound of each and
    the one before it; `begins`: whether a series begins with it.
    """
    cells = _CellRoom(np.empty(16, np.int64), np.empty(16, np.int64), np.zeros(17, np.int64), np.empty(16))
    cell_offsets, ratio = np.zeros(len(event) + 1, np.int64), np.empty(len(event))
    found, steps = 0, 0
    work = np.empty(16)
    for m in range(len(event)):
        first = found
        before = cell_offsets[m - 1] if m else 0
        for b in range(buckets.starts[event[m]], buckets.starts[event[m] + 1]):
            lo, hi, density = buckets.lo[b], buckets.hi[b], buckets.density[b]
            if begins[m]:
                cells, found = _with_constant(cells, found, lo, hi, density)
                continue
            at, total = lo, 0.0
            for i in range(before, first):
                begin = cells.start[i] - bound[m] - 1
                end = begin + cells.ticks[i]
                if total > 0.0 and at <= min(hi, begin - 1):
                    cells, found = _with_constant(cells, found, at, min(hi, begin - 1), density * total)
                at = max(at, begin)
                if at <= min(hi, end - 1):
                    if len(work) < cells.offsets[i + 1] - cells.offsets[i] + 1:
                        work = np.empty(2 * (cells.offsets[i + 1] - cells.offsets[i] + 1))
                    cells, found, work = _with_running_sum(
                        cells, found, work, i, total, at, min(hi, end - 1), at - begin, density
                    )
                at = max(at, end)
                total += _sum_of(cells, i)
            if at <= hi:
                cells, found = _with_constant(cells, found, at, hi, density)
        whole = 0.0
        for i in range(first, found):
            whole += _sum_of(cells, i)
        ratio[m] = whole
        if whole > 0.0:
            for i in range(cells.offsets[first], cells.offsets[found]):
                cells.coefficient[i] /= whole
        cell_offsets[m + 1] = found
        steps += (cells.offsets[found] - cells.offsets[first]) ** 2
        if steps > most_steps:
            cell_offsets, ratio, found = cell_offsets[:1], ratio[:0], 0
            break
    used = cells.offsets[found]
    kept = Polynomials(
        cells.start[:found].copy(), cells.ticks[:found].copy(), np.full(found, -1),
        cells.offsets[: found + 1].copy(), cells.coefficient[:used].copy(),
    )  # fmt: skip
    return Pass(cell_offsets, kept, ratio)


@inner
def _room(cells, found, coefficients):
    """The cells with room for one more of so many coefficients."""
    start, ticks, offsets, coefficient = cells.start, cells.ticks, cells.offsets, cells.coefficient
    if found + 1 >= len(start):
        start = np.concatenate((start, np.empty(len(start), np.int64)))
        ticks = np.concatenate((ticks, np.empty(len(ticks), np.int64)))
        offsets = np.concatenate((offsets, np.empty(len(offsets), np.int64)))
    while offsets[found] + coefficients > len(coefficient):
        coefficient = np.concatenate((coefficient, np.empty(len(coefficient))))
    return _CellRoom(start, ticks, offsets, coefficient)


@inner
def _with_constant(cells, found, first, last, value):
    cells = _room(cells, found, 1)
    cells.start[found], cells.ticks[found] = first, last - first + 1
    at = cells.offsets[found]
    cells.coefficient[at] = value
    cells.offsets[found + 1] = at + 1
    return cells, found + 1


@inner
def _sum_of(cells, i):
    """The sum of a cell's polynomial over its ticks: that of C(x, k) / C(n, k) is (n - k) / (k + 1)."""
    n, total = float(cells.ticks[i]), 0.0
    for at in range(cells.offsets[i], cells.offsets[i + 1]):
        k = float(at - cells.offsets[i])
        total += cells.coefficient[at] * (n - k) / (k + 1.0)
    return total


@inner
def _with_running_sum(cells, found, work, i, total, first, last, moved, density):
    """Add the cell of `density` times the running sum of cell i, on ticks `moved` from its begin.

    In its own binomials it is `total` and the sum of c_k (n - k) / (k + 1) C(x, k + 1) / C(n, k + 1).
    With x = y + h, Vandermonde's identity gives it in those of a part of n' ticks:

        C(y + h, k) / C(n, k) = sum over j of  C(h, k - j) C(n', j) / C(n, k)  *  C(y, j) / C(n', j)
    """
    begin = cells.offsets[i]
    size = cells.offsets[i + 1] - begin
    ticks, n = last - first + 1, float(cells.ticks[i])
    degree = size if cells.ticks[i] > size else cells.ticks[i] - 1
    work[0] = density * total
    for k in range(degree):
        work[k + 1] = density * cells.coefficient[begin + k] * (n - k) / (k + 1.0)
    kept = degree if ticks > degree else ticks - 1
    cells = _room(cells, found, kept + 1)
    at = cells.offsets[found]
    h, part = float(moved), float(ticks)
    if moved == 0 and ticks == cells.ticks[i]:
        for j in range(kept + 1):
            cells.coefficient[at + j] = work[j]
    else:
        diagonal = 1.0
        for j in range(kept + 1):
            term, value = diagonal, 0.0
            for k in range(j, degree + 1):
                value += work[k] * term
                term *= max(h - (k - j), 0.0) / (k + 1.0 - j) * (k + 1.0) / (n - k)
            cells.coefficient[at + j] = value
            diagonal *= (part - j) / (n - j)
    cells.start[found], cells.ticks[found] = first, ticks
    size = kept + 1
    while size > 1 and cells.coefficient[at + size - 1] == 0.0:
        size -= 1
    cells.offsets[found + 1] = at + size
    return cells, found + 1, work


def with_series(ties: EventTies, masses: Masses) -> EventTies:
    """The ties, with what is given of the events of their series, as soon as something is to be summed."""
    return replace(ties, series=SeriesLater(partial(_series, ties, masses)))


def _passed(buckets: Buckets, event: Indexes, bound: Indexes, begins: Flags) -> Pass:
    """What a pass gives; raises QueryTooLargeError where it takes more than MOST_STEPS."""
    found: Pass = series_pass(buckets, event, bound, begins, MOST_STEPS)
    if len(found.ratio) < len(event):
        raise overlapping_too_much(len(event))
    return found


def _series(ties: EventTies, masses: Masses) -> SeriesMasses:
    """Two passes over all series that are no units; fills the probabilities of all."""
    units = units_of(ties, masses)
    of_units = units.records > 0
    passed = ties.serial & ~of_units
    serial = np.flatnonzero(passed)
    inside = np.repeat(passed, ties.sizes)
    event = ties.members[inside]
    place = np.full(len(masses.lower), -1, dtype=np.int64)
    place[event] = np.arange(len(event))
    begins, ends = np.zeros((2, len(event)), dtype=bool)
    last = np.cumsum(ties.sizes[serial])
    ends[last - 1] = True
    begins[last - ties.sizes[serial]] = True
    bound = np.zeros(len(event), dtype=np.int64)
    tied = place[ties.right] >= 0
    bound[place[ties.right[tied]]] = ties.bound[tied]
    forward = _passed(masses.buckets, event, bound, begins)
    # With time reversed an event is bound to the one after it.
    next_bound = np.append(bound[1:], 0) if len(bound) else bound
    reversed_event, reversed_bound = event[::-1].copy(), next_bound[::-1].copy()
    backward = _passed(masses.mirrored.buckets, reversed_event, reversed_bound, ends[::-1].copy())
    meeting = _meeting(forward.ratio, backward.ratio[::-1], ends)
    ties.probability[serial] = _products(forward.ratio, last - ties.sizes[serial])
    some = np.flatnonzero(of_units)
    in_order = unit_shares(units, some) - units.records[some] * logarithms(units.spare[some] + 1)
    ties.probability[some] = np.maximum(raised(in_order), SMALLEST)
    record = ties.members[np.repeat(of_units & (units.records <= MOST_OF_UNIT), ties.sizes)]
    unit_place = np.full(len(masses.lower), -1, dtype=np.int64)
    unit_place[record] = np.arange(len(record))
    laws = _weighted(masses, event, forward, backward, meeting)
    laws = with_units(laws, units, ties.component[record], ties.rank[record])
    return SeriesMasses(laws, place, forward.ratio, meeting, units, unit_place)


def without_series(ties: EventTies, masses: Masses) -> EventTies:
    """Ties whose components are all summed as wholes: offsets tie the events of series to others."""
    return with_series(replace(ties, serial=np.zeros(len(ties.serial), dtype=bool)), masses)


def series_of(ties: EventTies) -> SeriesMasses:
    """What is given of the events of series."""
    assert ties.series is not None
    return ties.series.found()


def weighted_events(ties: EventTies, ends: Indexes, *, follows: bool, leads: bool) -> Indexes:
    """First and last events of pieces with the weights that the rest of their series gives, shape (n, 2).

    `follows`, `leads`: whether others of the series are before the first, and after the last.  Of a piece of
    one event both columns are it.
    """
    series = series_of(ties)
    if not (follows or leads):
        return ends
    found, members = ends.copy(), len(series.ratio)
    place = series.place[ends] + len(series.place)
    if (ends[:, 0] == ends[:, 1]).all():
        return place + 2 * members
    if follows:
        found[:, 0] = place[:, 0]
    if leads:
        found[:, 1] = place[:, 1] + members
    return found


def _products(ratio: Reals, begin: Indexes) -> Reals:
    """The product over each series; of a long one it may be below all floats, and is not 0 for that."""
    if not len(begin):
        return np.zeros(0)
    possible = np.minimum.reduceat(ratio, begin) > 0.0
    product = raised(np.add.reduceat(logarithms(ratio), begin))
    return np.where(possible, np.maximum(product, SMALLEST), 0.0)


def _meeting(ratio: Reals, back: Reals, ends: Flags) -> Reals:
    """That an event, given all before it, is where it also is given all after it; shape (m,).

    That what is before an event fits what is after it is the product, over those after it, of what the one
    direction asks of each and the other does not: of all events of a series both ask the same.
    """
    if not len(ratio):
        return ratio
    with np.errstate(invalid="ignore"):
        step = logarithms(ratio) - logarithms(back)
    after = np.append(step[1:], np.longdouble(0.0))
    after[ends] = 0.0
    begin = np.concatenate([[0], np.flatnonzero(ends)[:-1] + 1])
    total = np.cumsum(after)
    whole = np.repeat(np.add.reduceat(after, begin), np.diff(np.append(begin, len(ends))))
    so_far = total - np.repeat(total[begin] - after[begin], np.diff(np.append(begin, len(ends))))
    return raised(whole - so_far + after) / back


def _weighted(masses: Masses, event: Indexes, forward: Pass, backward: Pass, meeting: Reals) -> Laws:
    """All masses, and those of the events of series with what is before, after, and both."""
    count, members = len(masses.lower), len(event)
    flipped = _mirrored_cells(backward)
    first, second = forward.cells.start, forward.cells.start + forward.cells.ticks - 1
    f_owner = np.repeat(np.arange(members), np.diff(forward.cell_offsets))
    b_cell, b_lo, b_hi, b_owner = flipped
    cut = np.full(len(masses.lo), NO_CELL)
    both = _both(f_owner, first, second, b_owner, b_lo, b_hi)
    f_of, b_of, lo, hi = both
    owner = f_owner[f_of]
    # The density of the event itself is in the weights of both sides: once too often.
    own = _density_at(masses, event[owner], lo)
    density = 1.0 / (own * meeting[owner])
    sizes = np.concatenate(
        [
            np.diff(masses.starts),
            *(np.bincount(each, minlength=members) for each in (f_owner, b_owner, owner)),
        ]
    )
    degrees = [np.diff(each.cells.offsets) - 1 for each in (forward, backward)]
    f_degree, b_degree = degrees[0], degrees[1][b_cell]
    largest = [
        np.zeros(count, np.int64),
        _largest(f_degree, f_owner, members),
        _largest(b_degree, b_owner, members),
        _largest(f_degree[f_of] + b_degree[b_of], owner, members),
    ]
    ones = np.ones
    buckets = Buckets(
        np.concatenate([masses.lower, *(masses.lower[event],) * 3]),
        np.concatenate([masses.upper, *(masses.upper[event],) * 3]),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([masses.lo, first, b_lo, lo]),
        np.concatenate([masses.hi, second, b_hi, hi]),
        np.concatenate([masses.density, ones(len(first)), ones(len(b_lo)), density]),
    )
    before = np.concatenate([cut, np.arange(len(first)), np.full(len(b_lo), NO_CELL), f_of])
    after = np.concatenate([cut, np.full(len(first), NO_CELL), b_cell, b_cell[b_of]])
    return weighted_laws(buckets, np.concatenate(largest), before, after, forward.cells, backward.cells)


def _mirrored_cells(backward: Pass) -> tuple[Indexes, Ticks, Ticks, Indexes]:
    """The cells of the pass back in the order of events and time: which, first and last tick, event."""
    cells = backward.cells
    which = np.arange(len(cells.start))[::-1]
    owner = np.repeat(np.arange(len(backward.ratio)), np.diff(backward.cell_offsets))
    lo, hi = -(cells.start + cells.ticks - 1), -cells.start
    return which, lo[which], hi[which], len(backward.ratio) - 1 - owner[which]


def _both(
    f_owner: Indexes, f_lo: Ticks, f_hi: Ticks, b_owner: Indexes, b_lo: Ticks, b_hi: Ticks
) -> tuple[Indexes, Indexes, Ticks, Ticks]:
    """Where cells of both sides of an event overlap: the cell of each, first and last tick; in time order."""
    members = int(f_owner.max(initial=-1)) + 1
    b_sizes = np.bincount(b_owner, minlength=members)
    b_begin = np.cumsum(b_sizes) - b_sizes
    f_of = np.repeat(np.arange(len(f_owner)), b_sizes[f_owner])
    each = np.concatenate([[0], np.cumsum(b_sizes[f_owner])])
    b_of = np.arange(len(f_of)) - each[f_of] + b_begin[f_owner[f_of]]
    lo, hi = np.maximum(f_lo[f_of], b_lo[b_of]), np.minimum(f_hi[f_of], b_hi[b_of])
    kept = lo <= hi
    return f_of[kept], b_of[kept], lo[kept], hi[kept]


def _density_at(masses: Masses, event: Indexes, tick: Ticks) -> Reals:
    """The density of events at ticks where they have one."""
    if masses.uniform:
        return np.asarray(masses.density[event])
    sizes = np.diff(masses.starts)[event]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    row = np.repeat(np.arange(len(event)), sizes)
    bucket = np.arange(offsets[-1]) - offsets[row] + masses.starts[event[row]]
    inside = (masses.lo[bucket] <= tick[row]) & (tick[row] <= masses.hi[bucket])
    found = np.zeros(len(event))
    found[row[inside]] = masses.density[bucket[inside]]
    return found


def _largest(degree: Indexes, owner: Indexes, count: int) -> Indexes:
    """Of each of `count` ascending owners, which all have some."""
    if not count:
        return np.zeros(0, dtype=np.int64)
    return np.maximum.reduceat(degree, np.searchsorted(owner, np.arange(count)))
