"""One pass over series: what is given of all events before each of them, as piecewise polynomials.

The mass of an event, given that all before it are in order, is its own mass times the share of the mass of
the event before that lies early enough: a running sum, which is a polynomial of one degree more on each cell.
Every sum is scaled to 1, so that a series may have any length.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.laws import Polynomials
from cepctl.engines.kernels.kernel import inner, kernel


class Pass(NamedTuple):
    """What a pass finds: the cells of each event from cell_offsets on, and its `ratio`."""

    cell_offsets: Indexes
    cells: Polynomials
    ratio: Reals


class _Cells(NamedTuple):
    """Room for cells: grown by doubling."""

    start: Ticks
    ticks: Ticks
    offsets: Indexes
    coefficient: Reals


@kernel
def series_pass(buckets, event, bound, begins):
    """The masses of events of series, each given those before it; scaled to 1.

    `event`: rows of the events, one series after the other; `bound`: t_before - t_event <= bound of each and
    the one before it; `begins`: whether a series begins with it.
    """
    cells = _Cells(np.empty(16, np.int64), np.empty(16, np.int64), np.zeros(17, np.int64), np.empty(16))
    cell_offsets, ratio = np.zeros(len(event) + 1, np.int64), np.empty(len(event))
    found = 0
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
    used = cells.offsets[found]
    kept = Polynomials(
        cells.start[:found].copy(), cells.ticks[:found].copy(), cells.offsets[: found + 1].copy(),
        cells.coefficient[:used].copy(),
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
    return _Cells(start, ticks, offsets, coefficient)


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
