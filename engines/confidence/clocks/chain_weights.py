"""What the other clocks of a chain leave to the offset of one: weights by which its mass counts.

A match asks for the offsets of some clocks of a chain, and of those between.  All others enter by how
probable it is that their ties hold, given the offset of the first of these clocks, or of the last one:

    weight(offset) = sum of mass * weight over the offsets of the clock beside that are near enough

On cells of ticks that is a polynomial, whose degree is the number of clocks that are summed out.  It is kept
by its values at few ticks (see `quadrature`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.clocks import NO_TIE, EventClocks
from cepctl.engines.confidence.quadrature import place_nodes, takes_every_tick
from cepctl.engines.kernels.kernel import inner, kernel

BEFORE, AFTER = -1, 1
"""Where the clocks are that weigh an offset."""


class Cells(NamedTuple):
    """A weight on c cells of ticks, both ends included, of a degree at most: its values at `nodes` of these.

    `nodes` count from the first tick of their cell; both have the shape (c, nodes).
    """

    begin: Ticks
    end: Ticks
    degree: np.int64
    nodes: Indexes
    values: Reals


@dataclass(frozen=True)
class ChainWeights:
    """The weights of the offsets of clocks; each is found once."""

    clocks: EventClocks
    _found: dict[tuple[int, int], Cells | None] = field(default_factory=dict)
    _whole: dict[int, float] = field(default_factory=dict)
    _masses: dict[tuple[int, tuple[int, ...]], _Mass] = field(default_factory=dict)

    def whole(self, clock: int) -> float:
        """The probability that all ties of the chain of a clock hold."""
        last = clock
        while last + 1 < len(self.clocks.tie) and self.clocks.tie[last + 1] != NO_TIE:
            last += 1
        if last not in self._whole:
            self._whole[last] = float(self._mass(last, self.cells(last, BEFORE)).before[-1])
        return self._whole[last]

    def between(self, clock: int, sides: tuple[int, ...], first: Ticks, last: Ticks) -> Reals:
        """The mass of offsets between two ticks, both included, weighed by the clocks on these sides."""
        if (clock, sides) not in self._masses:
            weight: Cells | None = None
            for cells in (self.cells(clock, side) for side in sides):
                weight = _product(weight, cells) if weight and cells else weight or cells
            self._masses[clock, sides] = self._mass(clock, weight)
        found = np.empty(len(first))
        _fill_between(self._masses[clock, sides], first, last, found)
        return found

    def _mass(self, clock: int, weight: Cells | None) -> _Mass:
        """The mass of an offset, weighed."""
        offsets = self.clocks.offsets
        own = slice(int(offsets.starts[clock]), int(offsets.starts[clock + 1]))
        return _Mass.of(offsets.lo[own], offsets.hi[own], offsets.density[own], weight)

    def cells(self, clock: int, side: int) -> Cells | None:
        """What the clocks on one side leave to an offset; None where there are none."""
        if (clock, side) not in self._found:
            self._found[clock, side] = self._cells(clock, side)
        return self._found[clock, side]

    def _cells(self, clock: int, side: int) -> Cells | None:
        other, tie = clock + side, self.clocks.tie
        later = max(clock, other)
        if not 0 < later < len(tie) or tie[later] == NO_TIE:
            return None
        apart, offsets = tie[later], self.clocks.offsets
        mass = self._mass(other, self.cells(other, side))
        first, last = int(offsets.lower[clock]), int(offsets.upper[clock])
        cuts = np.concatenate([mass.begin, mass.end + 1])
        cuts = np.unique(np.concatenate([[first], cuts - apart, cuts + apart + 1]))
        begin = cuts[(first <= cuts) & (cuts <= last)]
        end = np.append(begin[1:] - 1, last)
        degree = np.int64(mass.weight.degree + 1)
        nodes = np.zeros((len(begin), _most(degree)), dtype=np.int64)
        values = np.zeros(nodes.shape)
        _fill(mass, apart, begin, end, degree, nodes, values)
        return Cells(begin, end, degree, nodes, values)


def weights_at(cells: Cells, offsets: Ticks) -> Reals:
    """The weights of some offsets."""
    found = np.empty(len(offsets))
    _values(cells, offsets, found)
    return found


def _product(one: Cells, other: Cells) -> Cells:
    """Both weights together."""
    begin = np.unique(np.concatenate([one.begin, other.begin]))
    end = np.append(begin[1:] - 1, one.end[-1])
    degree = np.int64(one.degree + other.degree)
    nodes = np.zeros((len(begin), _most(degree)), dtype=np.int64)
    _place(begin, end, degree, nodes)
    ticks = np.minimum(begin[:, None] + nodes, end[:, None])
    values = weights_at(one, ticks.reshape(-1)) * weights_at(other, ticks.reshape(-1))
    return Cells(begin, end, degree, nodes, values.reshape(nodes.shape))


@kernel
def _place(begin, end, degree, nodes):
    """Fill the nodes of cells."""
    weights = np.empty(nodes.shape[1])
    for c in range(len(begin)):
        place_nodes(end[c] - begin[c] + 1, degree, nodes[c], weights)


class _Mass(NamedTuple):
    """The mass of an offset and its weight: in each cell a density, and which cell of the weight it is in.

    `before`: the sum of all cells before each.
    """

    begin: Ticks
    end: Ticks
    density: Reals
    cell: Indexes
    weight: Cells
    before: Reals

    @classmethod
    def of(cls, lo: Ticks, hi: Ticks, density: Reals, weight: Cells | None) -> _Mass:
        if weight is None:
            everywhere = np.array([lo[0]]), np.array([hi[-1]])
            one = np.zeros((1, 1), np.int64), np.ones((1, 1))
            weight = Cells(*everywhere, np.int64(0), *one)
        cuts = np.unique(np.concatenate([lo, weight.begin]))
        bucket = np.searchsorted(lo, cuts, side="right") - 1
        end = np.minimum(np.append(cuts[1:] - 1, hi[-1]), hi[bucket])
        kept = cuts <= end
        begin, end, bucket = cuts[kept], end[kept], bucket[kept]
        cell = np.searchsorted(weight.begin, begin, side="right") - 1
        before = np.zeros(len(begin) + 1)
        found = cls(begin, end, density[bucket].copy(), cell, weight, before)
        _add_up(found)
        return found


@kernel
def _add_up(mass):
    for c in range(len(mass.begin)):
        mass.before[c + 1] = mass.before[c] + _sum_of(mass, c, mass.begin[c], mass.end[c])


@inner
def _sum_of(mass, cell, first, last):
    """The sum of a cell from one of its ticks to another."""
    degree, ticks = mass.weight.degree, last - first + 1
    if degree == 0:
        return mass.density[cell] * float(ticks) * mass.weight.values[mass.cell[cell], 0]
    nodes, weights = np.empty(_most(degree), dtype=np.int64), np.empty(_most(degree))
    total = 0.0
    for k in range(place_nodes(ticks, degree, nodes, weights)):
        total += weights[k] * _value(mass.weight, mass.cell[cell], first + nodes[k])
    return mass.density[cell] * total


@kernel
def _most(degree):
    """So many ticks are looked at in a cell at most."""
    return max(degree + 2, (degree + 1) * (degree + 1) // 4)


@inner
def _value(cells, cell, tick):
    """The weight of a tick of a cell: its value there, or that of the polynomial through the others."""
    ticks, at = cells.end[cell] - cells.begin[cell] + 1, tick - cells.begin[cell]
    if cells.degree == 0:
        return cells.values[cell, 0]
    if takes_every_tick(ticks, cells.degree):
        return cells.values[cell, at]
    total = 0.0
    for i in range(cells.degree + 1):
        share = cells.values[cell, i]
        for j in range(cells.degree + 1):
            if j != i:
                share *= float(at - cells.nodes[cell, j]) / float(cells.nodes[cell, i] - cells.nodes[cell, j])
        total += share
    return max(total, 0.0)


@kernel
def _fill(mass, apart, begin, end, degree, nodes, values):
    """Fill the nodes of cells, and the mass that is as near to each."""
    weights = np.empty(_most(degree))
    for c in range(len(begin)):
        for k in range(place_nodes(end[c] - begin[c] + 1, degree, nodes[c], weights)):
            tick = begin[c] + nodes[c, k]
            values[c, k] = _near(mass, tick - apart, tick + apart)


@inner
def _near(mass, first, last):
    """The mass from one tick to another."""
    a, b = np.searchsorted(mass.end, first), np.searchsorted(mass.begin, last, side="right") - 1
    if a > b:
        return 0.0
    if a == b:
        return _sum_of(mass, a, max(first, mass.begin[a]), min(last, mass.end[a]))
    total = _sum_of(mass, a, max(first, mass.begin[a]), mass.end[a])
    total += _sum_of(mass, b, mass.begin[b], min(last, mass.end[b]))
    return total + mass.before[b] - mass.before[a + 1]


@kernel
def _fill_between(mass, first, last, found):
    """Fill the mass between pairs of ticks."""
    for i in range(len(found)):
        found[i] = _near(mass, first[i], last[i]) if first[i] <= last[i] else 0.0


@kernel
def _values(cells, offsets, found):
    """Fill the weights of some offsets."""
    for i in range(len(offsets)):
        cell = np.searchsorted(cells.begin, offsets[i], side="right") - 1
        found[i] = _value(cells, cell, offsets[i])
