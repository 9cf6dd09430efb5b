"""How often one type directly follows another in a cluster, on average over its worlds: exact sums.

`b` directly follows `a` where t_a < t_b and no other event of the case lies strictly between (partition
contiguity).  Events are independent, so

    P(b directly follows a) = sum over s < t of p_a(s) p_b(t) product over x of (1 - P(s < t_x < t))

Time is cut into cells at all ends of buckets.  In a cell every factor is linear in s and in t, so the product
is a polynomial, and so many Gauss nodes of the discrete uniform measure (Gautschi, "Orthogonal Polynomials",
2004, section 1.5.2) sum it exactly as half its degree asks for.  No more than NODES are taken: where that
would be too few, cells are cut until no more than CELL_MASS events lie in one on average, and what is left
out is below (CELL_MASS / 4)^(2 NODES) / (2 NODES)!, less than 1e-30.

The product is taken over all events once, and divided by the factors of `a` and `b`, which are never zero
where these have mass: every factor is a sum of two tails, so nothing cancels.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np

from cepctl.inspection.follows.clusters import ClusterMembers
from cepctl.numeric.arrays import Indexes, Reals

NODES = 16
CELL_MASS = 4.0
MOST_WORK = 200_000_000
"""Factors of one cluster that are computed at most; beyond it is estimated."""
_AT_ONCE = 2_000_000
_MOST_MASSES = 4_000_000
"""Events times cells at most, of which the masses are held."""
_NEGLIGIBLE = np.log(1e-30)


@dataclass(frozen=True)
class Averages:
    """Of the types of a cluster (`kinds`, shape (k,)): how often each pair follows inside, shape (k, k), and
    how many events of a type are in the last and in the first place, shape (k,), all on average.

    `inner_error`, `place_error`: by how much they may be off at most, 0 where they are exact.
    """

    kinds: tuple[int, ...]
    inner: Reals
    last: Reals
    first: Reals
    inner_error: Reals
    place_error: Reals


@dataclass(frozen=True)
class _TimeCells:
    """Cells of time: `ticks`, shape (c,), and of each group of alike events mass inside, below and above."""

    ticks: Reals
    mass: Reals
    below: Reals
    above: Reals


def averages(members: ClusterMembers) -> Averages | None:
    """The averages of a cluster; None where they are too much work."""
    kinds = tuple(sorted(set(members.kind)))
    if 2 * sum(map(len, members.supports)) * len(members.kind) > _MOST_MASSES:
        return None
    cells = _cells(members)
    counts = [_node_count(cells, members, i) for i in range(len(cells.ticks))]
    if float(sum(counts)) * len(members.kind) * _reach(cells, members, counts) > MOST_WORK:
        return None
    of_kind = np.array([[kind == each for each in members.kind] for kind in kinds], dtype=np.float64)
    count = np.array(members.count, dtype=np.float64)
    nodes = [_gauss(int(n), m) for n, m in zip(cells.ticks, counts, strict=True)]
    cell = np.repeat(np.arange(len(counts)), counts)
    place = np.concatenate([each[0] for each in nodes])
    weight = np.concatenate([each[1] for each in nodes])
    density = (cells.mass / cells.ticks)[:, cell]
    upto = cells.below[:, cell] + density * (place + 1.0)
    since = cells.above[:, cell] + density * (cells.ticks[cell] - place)
    last = of_kind @ (count * _placed(upto, density, count, weight))
    first = of_kind @ (count * _placed(since, density, count, weight))
    inner = _across_cells(cell, upto, since, density, count, weight, of_kind)
    inner += _within_cells(cells, count, counts, of_kind)
    none = np.zeros(len(kinds))
    return Averages(kinds, inner, last, first, np.zeros_like(inner), none)


def _cells(members: ClusterMembers) -> _TimeCells:
    edges = sorted({edge for each in members.supports for lo, hi, _ in each for edge in (lo, hi + 1)})
    mass = _mass_between(members, np.array(edges))
    expected = np.array(members.count) @ mass
    present = np.array(members.count) @ (mass > 0)
    cut: list[int] = []
    for i, (start, end) in enumerate(pairwise(edges)):
        parts = 1
        if _exact_nodes(int(present[i])) > NODES:
            parts = min(end - start, int(np.ceil(expected[i] / CELL_MASS)))
        # Exact division: whole ticks, however many.
        cut += [start + (end - start) * part // max(parts, 1) for part in range(max(parts, 1))]
    whole = np.array([*cut, edges[-1]], dtype=np.int64)
    mass = _mass_between(members, whole)
    before = np.cumsum(mass, axis=1)
    behind = np.cumsum(mass[:, ::-1], axis=1)[:, ::-1]
    below = np.concatenate([np.zeros((len(mass), 1)), before[:, :-1]], axis=1)
    above = np.concatenate([behind[:, 1:], np.zeros((len(mass), 1))], axis=1)
    return _TimeCells(np.diff(whole).astype(np.float64), mass, below, above)


def _mass_between(members: ClusterMembers, edges: Indexes) -> Reals:
    """Mass of each group between neighbouring edges, which cut no tick of a bucket apart."""
    mass = np.zeros((len(members.kind), len(edges) - 1))
    for group, support in enumerate(members.supports):
        for lo, hi, p in support:
            inside = slice(*np.searchsorted(edges, [lo, hi + 1]))
            part = np.diff(edges[inside.start : inside.stop + 1]).astype(np.float64)
            mass[group, inside] += p * part / (hi - lo + 1)
    return mass


def _exact_nodes(present: int) -> int:
    """How many nodes sum the product of the factors of all but one event that can be in a cell."""
    return (present - 1) // 2 + 1


def _node_count(cells: _TimeCells, members: ClusterMembers, i: int) -> int:
    present = int(np.array(members.count) @ (cells.mass[:, i] > 0))
    return int(max(1, min(cells.ticks[i], _exact_nodes(max(present, 1)), NODES)))


def _reach(cells: _TimeCells, members: ClusterMembers, counts: list[int]) -> float:
    """How many nodes one of them is paired with: those that are no more events away than can be missing."""
    total = float(members.size)
    share = min(1.0, (CELL_MASS - _NEGLIGIBLE) / max(total, 1.0))
    return float(max(1.0, sum(counts) * share))


@lru_cache(maxsize=512)
def _gauss(ticks: int, count: int) -> tuple[Reals, Reals]:
    """Places and weights that sum a polynomial of degree below 2 count over the ticks from 0 on."""
    if count >= ticks:
        return np.arange(ticks, dtype=np.float64), np.ones(ticks)
    n = float(ticks)
    if count == 1:
        return np.array([0.5 * (n - 1.0)]), np.array([n])
    j = np.arange(1, count, dtype=np.float64)
    across = np.sqrt(j * j * (1.0 - (j / n) ** 2) / (4.0 * j * j - 1.0))
    zeros, vectors = np.linalg.eigh(np.diag(across, 1) + np.diag(across, -1))
    return 0.5 * (n * (1.0 + zeros) - 1.0), n * vectors[0] ** 2


def _placed(tail: Reals, density: Reals, count: Reals, weight: Reals) -> Reals:
    """Of each group, how probable it is that one event of it has all others on its side, or beside it."""
    with np.errstate(divide="ignore", invalid="ignore"):
        product = np.exp(count @ np.log(tail))
        alone = np.where(density > 0, density * product / tail, 0.0)
    return np.asarray(alone @ weight)


def _across_cells(
    cell: Indexes, upto: Reals, since: Reals, density: Reals, count: Reals, weight: Reals, of_kind: Reals
) -> Reals:
    """Pairs in two cells, by type."""
    inner = np.zeros((len(of_kind), len(of_kind)))
    starts = np.searchsorted(cell, np.arange(cell[-1] + 2))
    for begin, end in _blocks(starts, len(count)):
        first = int(starts[cell[begin] + 1])
        last = _last_reached(upto, since, count, end - 1, first, starts)
        if first >= last:
            continue
        columns = np.arange(first, last)
        apart = cell[columns][None, :] > cell[begin:end][:, None]
        inner += _of_block(
            upto[:, begin:end, None] + since[:, None, columns],
            density[:, begin:end],
            density[:, columns],
            weight[begin:end, None] * weight[columns][None, :] * apart,
            count,
            of_kind,
        )
    return inner


def _blocks(starts: Indexes, groups: int) -> list[tuple[int, int]]:
    """Rows of nodes that are taken at once: those of all cells where they are few, else of one cell."""
    nodes = int(starts[-1])
    if groups * nodes * nodes <= _AT_ONCE:
        return [(0, nodes)]
    return [(int(a), int(b)) for a, b in pairwise(starts)]


def _last_reached(upto: Reals, since: Reals, count: Reals, row: int, first: int, starts: Indexes) -> int:
    """Behind the last node that events at `row` or before can directly be followed at, all but surely."""
    nodes = int(upto.shape[1])
    if nodes * len(count) <= 20_000:
        return nodes
    low, high = first, nodes
    while low < high:
        middle = (low + high) // 2
        with np.errstate(divide="ignore"):
            logs = np.log(np.minimum(upto[:, row] + since[:, middle], 1.0))
            spared = 2.0 * logs.min()
            rest = count @ logs - (spared if np.isfinite(spared) else 0.0)
        if not np.isnan(rest) and rest < _NEGLIGIBLE:
            high = middle
        else:
            low = middle + 1
    return int(starts[min(int(np.searchsorted(starts, low)), len(starts) - 1)])


def _of_block(factor: Reals, at_s: Reals, at_t: Reals, weight: Reals, count: Reals, of_kind: Reals) -> Reals:
    """Sum over pairs of places; factor[g, s, t] is that of each event of group g."""
    with np.errstate(divide="ignore", invalid="ignore"):
        product = np.exp(np.tensordot(count, np.log(factor), axes=1)) * weight
        left = np.where(at_s[:, :, None] > 0, at_s[:, :, None] / factor, 0.0)
        right = np.where(at_t[:, None, :] > 0, at_t[:, None, :] / factor, 0.0)
    by_left = np.tensordot(of_kind * count, left, axes=1)
    by_right = np.tensordot(of_kind * count, right, axes=1)
    kinds = len(of_kind)
    pairs = (by_left * product).reshape(kinds, -1) @ by_right.reshape(kinds, -1).T
    # No event follows itself.
    itself = (left * right * product).sum(axis=(1, 2)) * count
    return np.asarray(pairs - np.diag(of_kind @ itself))


def _within_cells(cells: _TimeCells, count: Reals, counts: list[int], of_kind: Reals) -> Reals:
    """Pairs in one cell: their distance alone counts."""
    inner = np.zeros((len(of_kind), len(of_kind)))
    for i, ticks in enumerate(cells.ticks):
        here = cells.mass[:, i] > 0
        if ticks < 2 or count[here].sum() < 2:
            continue
        between, weight = _gauss(int(ticks) - 1, min(int(ticks) - 1, counts[i]))
        density = cells.mass[here, i] / ticks
        factor = 1.0 - density[:, None] * between[None, :]
        same = np.repeat(density[:, None], len(between), axis=1)
        inner += _of_block(
            factor[:, :, None],
            same,
            np.ones((int(here.sum()), 1)) * density[:, None],
            (weight * (ticks - 1.0 - between))[:, None],
            count[here],
            of_kind[:, here],
        )
    return inner
