"""Confidence of chains with rival-free gaps on intervals of any width.

The same sums as in `tables`, but over few places.  Time is cut at every bucket end of the chain's events
and of their rivals; between two cuts all sums below are polynomials, which `quadrature` keeps by their values
at some places between the ticks of a cell.  What is possible at all is decided without them (`time_range`).
For a chain s < t < u with a window, and gaps free with Q1(s, t) and Q2(t, u),

    F(u, t) = sum over s < t, s > u - W, of mass(s) Q1(s, t)        depends on the first gap alone
    total   = sum over u of mass(u) times sum over t of mass(t) F(u, t) Q2(t, u)

For a node u the ticks t are the nodes of all cells between those of u - W and u, and some ticks in each of
these two cells, of which only a part is left; ticks t that some rival always keeps from u are left out.  All
chains of one middle event share the nodes.  What they sum depends on the first event only by its mass, which
is even on a cell, and by the kind of its gap (the rivals that it keeps out, `product_trees`): so the sum over
u and t is taken once for each kind, cell of s and last event, from the last event on, and a chain is no more
than a sum over cells.

    name here      meaning
    pivot          the event before the last (t); chains of one pivot are solved together
    rows, past     Q1 between the nodes s of one cell and all later nodes t; its sums over s
    own            sum over s < t within the cell of t: Q1 depends there on t - s alone, so that the part
                   after u - W is the same function of fewer ticks
    after          sum over u of mass(u) mass(t) Q2(t, u), of all u whose window begins before the cell of s

Chains of two events have F = 1.  Longer ones are for `carried_chains`; those that exceed the bound on the
work are left.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.confidence.gaps.carried_chains import carried_confidence
from cepctl.engines.confidence.gaps.cells import cells_of, cuts_of, ends_of, rival_free
from cepctl.engines.confidence.gaps.distinct_gaps import GapChains, Gaps, window_ticks
from cepctl.engines.confidence.gaps.sums import PairedEnds, sum_pairs
from cepctl.engines.confidence.work import GAPS, most_products
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.numeric.arrays import Flags, Indexes, Reals

WORK_BOUND = most_products(GAPS)
"""Products that a chain may take."""

_MOST_CHAINS = 256
"""Largest group of chains that are solved together."""

_MOST_DISTINCT = 3
"""Chains whose rivals are at most so many times those of one are summed together.

Where each chain has all rivals of the one before and more, as under next match, they are twice those of one.
"""

MOST_VALUES = 1 << 22
"""Largest number of values that a table of a group may have; a larger group is halved."""


def wide_gap_confidence(
    masses: Masses, chains: GapChains, window: int | None, *, together: bool = True
) -> Reals:
    """Confidence of every chain, shape (n,); NaN for those that are left to nested sums.

    Unless `together`, chains are summed alone, but for those of two events that have most rivals in common:
    with one gap each, what is shared outweighs cells that are cut more finely.  One that can be summed with
    others can be summed alone, too: the work it is charged with is then no more.
    """
    count, length = chains.event.shape
    confidence = np.full(count, np.nan)
    if not count or length < 2:
        return confidence
    if length > 3:
        return carried_confidence(masses, chains, window, WORK_BOUND, MOST_VALUES)
    inner, outer = chains.gap[:, 0], chains.gap[:, -1]
    pivot = chains.event[:, -2]
    order = np.lexsort((outer, inner, pivot))
    fresh = np.flatnonzero(np.diff(pivot[order], prepend=-1))
    most = np.full(len(fresh), _MOST_CHAINS if together else 1)
    if not together and length == 2:
        most[have_rivals_in_common(chains.gaps, outer[order], fresh)] = _MOST_CHAINS
    pieces = -(-np.diff(fresh, append=count) // most)
    group, within = places_in_runs(pieces)
    starts = np.append(fresh[group] + within * most[group], count)
    width = window_ticks(window)
    bounds = np.array([WORK_BOUND, MOST_VALUES], dtype=np.float64)
    inner, outer = inner[order], outer[order]
    _solve(masses.buckets, chains.gaps, inner, outer, length > 2, starts, width, bounds, confidence)
    result = np.empty(count)
    result[order] = np.clip(confidence, 0.0, 1.0)
    return result


def have_rivals_in_common(gaps: Gaps, gap: Indexes, fresh: Indexes) -> Flags:
    """Which runs of gaps, each beginning at a place of `fresh`, list much the same rivals."""
    chains = np.diff(fresh, append=len(gap))
    run, sizes = np.repeat(np.arange(len(fresh)), chains), np.diff(gaps.rival_offsets)[gap]
    listing, within = places_in_runs(sizes)
    rivals = np.where(gaps.rivals < 0, ~gaps.rivals, gaps.rivals)
    width = rivals.max(initial=0) + 1
    pairs = np.unique(run[listing] * width + rivals[gaps.rival_offsets[gap][listing] + within])
    distinct = np.bincount(pairs // width, minlength=len(fresh))
    return np.asarray(distinct * chains <= _MOST_DISTINCT * np.add.reduceat(sizes, fresh))


@kernel
def _solve(buckets, gaps, inner, outer, linked, starts, window, bounds, confidence):
    for group in range(len(starts) - 1):
        begin, size = starts[group], starts[group + 1] - starts[group]
        while begin < starts[group + 1]:
            rows = slice(begin, min(begin + size, starts[group + 1]))
            _solve_group(buckets, gaps, inner[rows], outer[rows], linked, window, bounds, confidence[rows])
            if np.isnan(confidence[begin]) and size > 1:
                size //= 2
            else:
                begin += size


@inner
def _solve_group(buckets, gaps, inner, outer, linked, window, bounds, confidence):
    """Sum the chains of one pivot: those with gaps inner[i] (where they are linked) and outer[i]."""
    bound, most_values = bounds
    after = np.unique(outer)
    before = np.unique(inner) if linked else after[:0]
    pivot, last = gaps.left[after[0]], gaps.right[after]
    first = gaps.left[before]
    cut = cuts_of(buckets, gaps, before, after)
    listed = 0
    for side in (before, after):
        for gap in side:
            listed += gaps.rival_offsets[gap + 1] - gaps.rival_offsets[gap]
    if float(listed) * len(cut) > most_values:
        return
    first_gaps = rival_free(buckets, gaps, before, cut)
    last_gaps = rival_free(buckets, gaps, after, cut)
    left_degree = first_gaps.most + 1 if linked else np.zeros(len(cut) - 1, dtype=np.int64)
    degree = left_degree + last_gaps.most
    if (degree.astype(np.float64) ** 3).sum() > bound:
        return
    cells = cells_of(cut, degree, left_degree, buckets, np.append(first, pivot))
    ends = ends_of(buckets, cells, window, pivot, first, last, first_gaps, last_gaps, left_degree, linked)
    nodes, rivals = len(cells.offset), len(first_gaps.slope) + len(last_gaps.slope)
    in_cell = np.diff(cells.first).max()
    space = float(nodes) * (len(first_gaps.kinds.apart) * in_cell + rivals + len(last))
    if space > most_values or float(ends.nodes.sum()) * float(nodes) * (in_cell + rivals + 1) > bound:
        return
    pair_before = np.searchsorted(before, inner) if linked else np.zeros(len(outer), dtype=np.int64)
    pair_after = np.searchsorted(after, outer)
    paired = PairedEnds(first, last, pair_before, pair_after, linked, window)
    sum_pairs(buckets, cells, ends, first_gaps, last_gaps, pivot, paired, confidence)


BITS = 34
"""Rounding to this many bits errs by at most 6e-11 of the number."""

ERROR = 5e-14
"""Bound on the relative error of a sum, many times what is seen: a few 1e-15."""


def agreed_confidence(
    masses: Masses,
    chains: GapChains,
    window: int | None,
    possible: Flags,
    alone: Callable[[Indexes], GapChains],
    *,
    together: bool = True,
) -> Reals:
    """Confidence of every chain, shape (n,), the same bits in whatever company it is summed; else as above.

    Chains that share their middle event share cells, nodes and factors, which makes them ten times as fast as
    each alone; but which chains these are depends on the slice and the batch, and so do the last bits of the
    sums.  All ways to sum a chain agree to a relative error far below ERROR.  So a sum is rounded to BITS
    bits; and where it lies so close to the border between two such numbers that another way might fall on the
    other side, the chain is summed alone, with the rivals that can decide it and no others, and that is
    rounded (Ziv's test: Muller et al., "Handbook of Floating-Point Arithmetic", 2nd ed. 2018, section 10.3).
    If one way is clear of a border, all are on its side.

    `possible`, shape (n,): chains that some world returns.  `alone` gives some of the chains, each with gaps
    of its own and the rivals that can decide it.
    """
    confidence = wide_gap_confidence(masses, chains, window, together=together)
    unclear = np.flatnonzero(possible & _near_border(confidence))
    if len(unclear):
        confidence[unclear] = wide_gap_confidence(masses, alone(unclear), window, together=False)
    # Parts of a tick may have either sign: what cannot happen is known without them.
    return np.where(possible, rounded(confidence), 0.0)


def _near_border(confidence: Reals) -> Flags:
    """Whether sums, two errors off, may round to another number; so may those that are 0 or unknown."""
    mantissa = np.ldexp(np.frexp(confidence)[0], BITS)
    from_border = np.abs(mantissa - np.floor(mantissa) - 0.5)
    # Written so that NaN is unclear.
    return np.asarray(~((confidence > 0.0) & (from_border > 2.0 * ERROR * mantissa)))


def rounded(confidence: Reals) -> Reals:
    """Numbers to BITS bits; NaN stays.

    Examples
    --------
    >>> rounded(np.array([0.5, 1 / 3])).tolist()
    [0.5, 0.3333333333430346]
    """
    mantissa, exponent = np.frexp(confidence)
    shortened: Reals = np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS)
    return shortened
