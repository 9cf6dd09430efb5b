"""What the other clocks of a chain leave to the offset of one: weights by which its mass counts.

A match asks for the offsets of some clocks of a chain, and of those between.  All others enter by how
probable it is that their ties hold, given the offset of the first of these clocks, or of the last one:

    weight(offset) = sum of mass * weight over the offsets of the clock beside that are near enough

On cells of ticks that is a polynomial, whose degree is the number of clocks that are summed out.  It is kept
by its values at few ticks (see `quadrature`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from cepctl.engines.columns.clocks import NO_TIE, EventClocks
from cepctl.engines.confidence.quadrature import place_nodes, takes_every_tick
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Indexes, Reals, Ticks

BEFORE, AFTER = -1, 1
"""Where the clocks are that weigh an offset."""


class WeightCells(NamedTuple):
    """A weight on c cells of ticks, both ends included, each of a degree at most: its values at `nodes`.

    `nodes` count from the first tick of their cell; both have the shape (c, nodes).
    """

    begin: Ticks
    end: Ticks
    degree: Indexes
    nodes: Indexes
    values: Reals


class WeighedMasses(NamedTuple):
    """The masses of offsets, weighed: mass t has the cells starts[t] to starts[t + 1] - 1.

    Each cell has a density and lies in one cell of `weight`; `upto` is the sum of a mass with that cell.
    `degree`, of each mass: that of its weight.
    """

    starts: Indexes
    begin: Ticks
    end: Ticks
    density: Reals
    cell: Indexes
    upto: Reals
    degree: Indexes
    weight: WeightCells


@dataclass(frozen=True)
class ChainWeights:
    """The weights of the offsets of clocks; each is found once."""

    clocks: EventClocks
    _found: dict[tuple[int, int], WeightCells | None] = field(default_factory=dict)
    _whole: dict[int, float] = field(default_factory=dict)
    _masses: dict[tuple[int, tuple[int, ...]], WeighedMasses] = field(default_factory=dict)

    def whole(self, clock: int) -> float:
        """The probability that all ties of the chain of a clock hold."""
        last = clock
        while last + 1 < len(self.clocks.tie) and self.clocks.tie[last + 1] != NO_TIE:
            last += 1
        if last not in self._whole:
            self._whole[last] = float(self.mass(last, (BEFORE,)).upto[-1])
        return self._whole[last]

    def mass(self, clock: int, sides: tuple[int, ...]) -> WeighedMasses:
        """The mass of an offset, weighed by the clocks on these sides."""
        if (clock, sides) not in self._masses:
            weight: WeightCells | None = None
            for cells in (self.cells(clock, side) for side in sides):
                weight = _product(weight, cells) if weight and cells else weight or cells
            offsets = self.clocks.offsets
            own = slice(int(offsets.starts[clock]), int(offsets.starts[clock + 1]))
            self._masses[clock, sides] = _weighed(
                offsets.lo[own], offsets.hi[own], offsets.density[own], weight
            )
        return self._masses[clock, sides]

    def cells(self, clock: int, side: int) -> WeightCells | None:
        """What the clocks on one side leave to an offset; None where there are none."""
        if (clock, side) not in self._found:
            self._found[clock, side] = self._cells(clock, side)
        return self._found[clock, side]

    def _cells(self, clock: int, side: int) -> WeightCells | None:
        other, tie = clock + side, self.clocks.tie
        later = max(clock, other)
        if not 0 < later < len(tie) or tie[later] == NO_TIE:
            return None
        apart, offsets = tie[later], self.clocks.offsets
        mass = self.mass(other, (side,))
        first, last = int(offsets.lower[clock]), int(offsets.upper[clock])
        cuts = np.concatenate([mass.begin, mass.end + 1])
        cuts = np.unique(np.concatenate([[first], cuts - apart, cuts + apart + 1]))
        begin = cuts[(first <= cuts) & (cuts <= last)]
        end = np.append(begin[1:] - 1, last)
        degree = np.int64(mass.degree[0] + 1)
        nodes = np.zeros((len(begin), _most(degree)), dtype=np.int64)
        values = np.zeros(nodes.shape)
        _fill(mass, apart, begin, end, degree, nodes, values)
        return WeightCells(begin, end, np.full(len(begin), degree), nodes, values)


def _weighed(lo: Ticks, hi: Ticks, density: Reals, weight: WeightCells | None) -> WeighedMasses:
    """One mass of buckets without holes."""
    if weight is None:
        nothing = np.zeros(1, np.int64)
        weight = WeightCells(lo[:1], hi[-1:], nothing, nothing[:, None], np.ones((1, 1)))
    cuts = np.unique(np.concatenate([lo, weight.begin]))
    bucket = np.searchsorted(lo, cuts, side="right") - 1
    end = np.minimum(np.append(cuts[1:] - 1, hi[-1]), hi[bucket])
    kept = cuts <= end
    begin, end, bucket = cuts[kept], end[kept], bucket[kept]
    cell = np.searchsorted(weight.begin, begin, side="right") - 1
    starts, degree = np.array([0, len(begin)]), weight.degree[:1].copy()
    found = WeighedMasses(
        starts, begin, end, density[bucket].copy(), cell, np.zeros(len(begin)), degree, weight
    )
    _add_up(found)
    return found


def joined(masses: Sequence[WeighedMasses]) -> WeighedMasses:
    """All of these, one after the other."""
    weights = [each.weight for each in masses]
    before = np.cumsum([0, *(len(each.begin) for each in weights)])
    room = max(each.nodes.shape[1] for each in weights)

    def of_cells(name: str) -> Any:
        return np.concatenate([getattr(each, name) for each in masses])

    def of_weights(name: str) -> Any:
        return np.concatenate([getattr(each, name) for each in weights])

    def widened(name: str) -> Any:
        values = (getattr(each, name) for each in weights)
        return np.concatenate([np.pad(each, ((0, 0), (0, room - each.shape[1]))) for each in values])

    return WeighedMasses(
        starts=np.cumsum([0, *(len(each.begin) for each in masses)]),
        begin=of_cells("begin"),
        end=of_cells("end"),
        density=of_cells("density"),
        cell=np.concatenate([each.cell + by for each, by in zip(masses, before[:-1], strict=True)]),
        upto=of_cells("upto"),
        degree=of_cells("degree"),
        weight=WeightCells(
            of_weights("begin"), of_weights("end"), of_weights("degree"), widened("nodes"), widened("values")
        ),
    )


def weights_at(cells: WeightCells, offsets: Ticks) -> Reals:
    """The weights of some offsets."""
    found = np.empty(len(offsets))
    _values(cells, offsets, found)
    return found


def _product(one: WeightCells, other: WeightCells) -> WeightCells:
    """Both weights together."""
    begin = np.unique(np.concatenate([one.begin, other.begin]))
    end = np.append(begin[1:] - 1, one.end[-1])
    degree = np.int64(one.degree[0] + other.degree[0])
    nodes = np.zeros((len(begin), _most(degree)), dtype=np.int64)
    _place(begin, end, degree, nodes)
    ticks = np.minimum(begin[:, None] + nodes, end[:, None])
    values = weights_at(one, ticks.reshape(-1)) * weights_at(other, ticks.reshape(-1))
    return WeightCells(begin, end, np.full(len(begin), degree), nodes, values.reshape(nodes.shape))


@kernel
def _place(begin, end, degree, nodes):
    """Fill the nodes of cells."""
    weights = np.empty(nodes.shape[1])
    for c in range(len(begin)):
        place_nodes(end[c] - begin[c] + 1, degree, nodes[c], weights)


@kernel
def _add_up(mass):
    total = 0.0
    for c in range(len(mass.begin)):
        total += _sum_of(mass, c, mass.begin[c], mass.end[c])
        mass.upto[c] = total


@inner
def _sum_of(masses, cell, first, last):
    """The sum of a cell from one of its ticks to another."""
    at, ticks = masses.cell[cell], last - first + 1
    degree = masses.weight.degree[at]
    if degree == 0:
        return masses.density[cell] * float(ticks) * masses.weight.values[at, 0]
    if degree == 1:
        ends = _value(masses.weight, at, first) + _value(masses.weight, at, last)
        return masses.density[cell] * 0.5 * float(ticks) * ends
    nodes, weights = np.empty(_most(degree), dtype=np.int64), np.empty(_most(degree))
    total = 0.0
    for k in range(place_nodes(ticks, degree, nodes, weights)):
        total += weights[k] * _value(masses.weight, at, first + nodes[k])
    return masses.density[cell] * total


@kernel
def _most(degree):
    """So many ticks are looked at in a cell at most."""
    return max(degree + 2, (degree + 1) * (degree + 1) // 4)


@inner
def _value(cells, cell, tick):
    """The weight of a tick of a cell: its value there, or that of the polynomial through the others."""
    ticks, at, degree = cells.end[cell] - cells.begin[cell] + 1, tick - cells.begin[cell], cells.degree[cell]
    if degree == 0:
        return cells.values[cell, 0]
    if takes_every_tick(ticks, degree):
        return cells.values[cell, at]
    total = 0.0
    for i in range(degree + 1):
        share = cells.values[cell, i]
        for j in range(degree + 1):
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
            values[c, k] = mass_near(mass, 0, tick - apart, tick + apart)


@inner
def mass_near(masses, which, first, last):
    """What one mass has from one tick to another."""
    if first > last:
        return 0.0
    begin, stop = masses.starts[which], masses.starts[which + 1]
    a, b = begin, begin
    if stop - begin > 1:
        a += np.searchsorted(masses.end[begin:stop], first)
        b += np.searchsorted(masses.begin[begin:stop], last, side="right") - 1
    if a > b:
        return 0.0
    if a == b:
        return _sum_of(masses, a, max(first, masses.begin[a]), min(last, masses.end[a]))
    total = _sum_of(masses, a, max(first, masses.begin[a]), masses.end[a])
    total += _sum_of(masses, b, masses.begin[b], min(last, masses.end[b]))
    return total + masses.upto[b - 1] - masses.upto[a]


@inner
def value_at(masses, which, tick):
    """What one mass has at a tick within its ends."""
    begin, stop = masses.starts[which], masses.starts[which + 1]
    cell = begin + np.searchsorted(masses.begin[begin:stop], tick, side="right") - 1
    return masses.density[cell] * _value(masses.weight, masses.cell[cell], tick)


@kernel
def _values(cells, offsets, found):
    """Fill the weights of some offsets."""
    for i in range(len(offsets)):
        cell = np.searchsorted(cells.begin, offsets[i], side="right") - 1
        found[i] = _value(cells, cell, offsets[i])
