"""Methods for points, each for as many matches as it can measure; all but the last for independent ones.

    what ties the events of a match                          measured by
    order and window alone                                   the closed form of chains
    besides, rivals that can reach one gap each, or lie      a table per gap: all ticks of narrow
    at one edge of the window                                intervals, few ticks of wide ones
    three events and rivals that stay out of both gaps       a sum over both ends and cells between
    rivals that stay out of gaps one after the other         densities carried over these together; or, of
                                                             few ticks, a table over who has its place
    nothing, since all of it holds in every world            1
    no rivals, a set of members between two events           a sum over both of a product over members
    anything else, also on clocks and beside what is given   nested sums (coupled problems)

Each imports what it needs when it is first asked: a small query needs but one of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.confidence.gaps.opened_rings import OpenedRing
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.solve.batch import Batch
from cepctl.numeric.arrays import Flags, Indexes, Reals

if TYPE_CHECKING:
    from cepctl.engines.confidence.gaps.distinct_gaps import GapChains
    from cepctl.engines.confidence.gaps.several_gaps import Places
    from cepctl.engines.pattern.blocks import Rivals

MOST_TICKS_OF_ONE = 200
"""Widest interval that is tabulated for a gap of one match alone: a table costs the square of its ticks."""

_BLOCK_BYTES = 128 << 20
"""Of more at once, a third of the time would go by in which the system hands out memory."""

_BITS = 34
"""Rounding to this many bits errs by at most 6e-11 of the number."""
_ERROR = 5e-14
"""Bound on the relative error of a sum, many times what is seen: a few 1e-15."""

Found = tuple[Indexes, Measured]
"""Which matches were measured, ascending, and what was."""


def broken(batch: Batch, rows: Indexes) -> Found:
    """Matches that some rival breaks wherever it and they are."""
    from cepctl.engines.pattern.rivals import certainly_broken, spans_of

    masses = batch.measure.masses
    spans = spans_of(masses, batch.groups)
    some = rows[certainly_broken(batch.rivals, masses, spans, batch.bound)[rows]]
    return some, impossible(len(some))


def chain(batch: Batch, rows: Indexes) -> Found:
    """Matches that no rival can break."""
    measure = batch.measure
    if batch.form.plain:
        return rows, measure.chains(batch.events)
    alone = np.ones(len(batch), dtype=bool)
    for each in batch.deciding:
        alone[each.row] = False
    some = rows[alone[rows]]
    return some, measure.chains(batch.events[some]) if len(some) else impossible(0)


def gaps(batch: Batch, rows: Indexes) -> Found:
    """Matches whose rivals tie no gaps together."""
    from cepctl.engines.confidence.gaps.distinct_gaps import range_of_places
    from cepctl.engines.confidence.gaps.tables import gap_confidence, narrow

    measure, ring = batch.measure, batch.measure.opened
    if ring is None:
        return rows[:0], impossible(0)
    masses = measure.opened_masses
    usable, chains = _gaps(batch, ring, batch.rivals, rows)
    rows = rows[usable]
    start, end, possible = range_of_places(masses, chains, measure.window, ring.first, ring.last)
    start, end = start - ring.moved[ring.first], end - ring.moved[ring.last]
    confidence = np.zeros(len(rows))
    if measure.ranges_only:
        return rows, Measured.exact(confidence, start, end, possible)
    tabulated = narrow(masses, chains)
    if not measure.shares_gaps:
        widths = ticks_between(masses.lower[chains.event], masses.upper[chains.event])
        tabulated &= (widths <= MOST_TICKS_OF_ONE).all(axis=1)
    chosen = np.flatnonzero(tabulated)
    confidence[chosen] = gap_confidence(masses, chains.taken(chosen), measure.window)
    wide = np.flatnonzero(~tabulated)
    if len(wide):
        confidence[wide] = _agreed(
            masses, chains.taken(wide), measure.window, possible[wide],
            lambda some: _gaps(batch, ring, batch.deciding, rows[wide[some]])[1],
            together=measure.shares_cuts,
        )  # fmt: skip
    solved = np.flatnonzero(~np.isnan(confidence))
    return rows[solved], Measured.exact(confidence, start, end, possible).taken(solved)


def _gaps(batch: Batch, ring: OpenedRing, rivals: list[Rivals], rows: Indexes) -> tuple[Flags, GapChains]:
    """Gaps of some opened matches with these rivals; also says which have rivals that tie none together."""
    from cepctl.engines.confidence.gaps.distinct_gaps import gap_chains

    measure, count = batch.measure, len(batch.measure.masses.lower)
    lower, upper = (each[rows] for each in batch.valid)
    reaching = [
        (ring.gaps[region], region in ring.closed, each.taken(rows))
        for each in rivals
        for region in each.rule.regions
    ]
    return gap_chains(
        measure.opened_masses, ring.events(batch.events[rows], count), ring.ticks(lower), ring.ticks(upper),
        ring.system(measure.system), reaching, ring.copies(count),
    )  # fmt: skip


def _agreed(
    masses: Masses,
    chains: GapChains,
    window: int | None,
    possible: Flags,
    alone: Callable[[Indexes], GapChains],
    *,
    together: bool = True,
) -> Reals:
    """Confidence of every chain, shape (n,), the same bits in whatever company; NaN if left to nested sums.

    Chains that share their middle event share cells, nodes and factors, which makes them ten times as fast as
    each alone; but which chains these are depends on the slice and the batch, and so do the last bits of the
    sums.  All ways to sum a chain agree to a relative error far below _ERROR.  So a sum is rounded to _BITS
    bits; and where it lies so close to the border between two such numbers that another way might fall on the
    other side, the chain is summed alone, with the rivals that can decide it and no others, and that is
    rounded (Ziv's test: Muller et al., "Handbook of Floating-Point Arithmetic", 2nd ed. 2018, section 10.3).
    If one way is clear of a border, all are on its side.

    `possible`, shape (n,): chains that some world returns.  `alone` gives some of the chains, each with gaps
    of its own and the rivals that can decide it.
    """
    from cepctl.engines.confidence.gaps.polynomials import wide_gap_confidence

    confidence = wide_gap_confidence(masses, chains, window, together=together)
    unclear = np.flatnonzero(possible & _near_border(confidence))
    if len(unclear):
        confidence[unclear] = wide_gap_confidence(masses, alone(unclear), window, together=False)
    # Parts of a tick may have either sign: what cannot happen is known without them.
    return np.where(possible, _rounded(confidence), 0.0)


def _near_border(confidence: Reals) -> Flags:
    """Whether sums, two errors off, may round to another number; so may those that are 0 or unknown."""
    mantissa = np.ldexp(np.frexp(confidence)[0], _BITS)
    from_border = np.abs(mantissa - np.floor(mantissa) - 0.5)
    # Written so that NaN is unclear.
    return np.asarray(~((confidence > 0.0) & (from_border > 2.0 * _ERROR * mantissa)))


def _rounded(confidence: Reals) -> Reals:
    """Numbers to _BITS bits; NaN stays.

    Examples
    --------
    >>> _rounded(np.array([0.5, 1 / 3])).tolist()
    [0.5, 0.3333333333430346]
    """
    mantissa, exponent = np.frexp(confidence)
    shortened: Reals = np.ldexp(np.rint(np.ldexp(mantissa, _BITS)), exponent - _BITS)
    return shortened


def shared_gaps(batch: Batch, rows: Indexes) -> Found:
    """Matches of three whose rivals stay out of both gaps."""
    from cepctl.engines.confidence.gaps.shared_gaps import shared_gap_chains

    measure, ring = batch.measure, batch.measure.opened
    if ring is None or ring.by or ring.closed:
        return rows[:0], impossible(0)
    lower, upper = (each[rows] for each in batch.valid)
    found, measured = shared_gap_chains(
        *(measure.masses, batch.events[rows], lower, upper, measure.system),
        [each.taken(rows) for each in batch.deciding],
        measure.window,
    )
    return rows[found], measured


def several_gaps(batch: Batch, rows: Indexes) -> Found:
    """Matches whose rivals stay out of several gaps, one after the other."""
    from cepctl.engines.confidence.gaps.several_gaps import several_gap_chains

    measure = batch.measure
    rows, places = _places(batch, rows)
    lower, upper = (each[rows] for each in batch.valid)
    solved, measured = several_gap_chains(
        measure.masses, batch.events[rows], lower, upper, measure.system, places, measure.window
    )
    return rows[solved], measured


def _places(batch: Batch, rows: Indexes) -> tuple[Indexes, Places]:
    """The matches that have rivals of several gaps alone, and where these must not lie."""
    from cepctl.engines.confidence.gaps.several_gaps import places_of

    usable, places = places_of(batch.measure.shape, batch.deciding, rows)
    if not usable.all():
        rows = rows[usable]
        _, places = places_of(batch.measure.shape, batch.deciding, rows)
    return rows, places


def settled(batch: Batch, rows: Indexes) -> Found:
    """Matches that every world returns, since all intervals are apart and none of the events is a rival."""
    from cepctl.engines.confidence.needless_sums import certainly_in_order
    from cepctl.engines.pattern.rivals import spans_of

    masses, groups = batch.measure.masses, batch.groups
    certain = certainly_in_order(batch.measure.shape, masses, groups)
    for each in batch.rivals:
        certain[each.row] = False
    some = rows[certain[rows]]
    spans = spans_of(masses, groups)
    start, end = spans.first_lower[some].min(axis=1), spans.last_upper[some].max(axis=1)
    return some, Measured.exact(np.ones(len(some)), start, end, np.ones(len(some), dtype=bool))


def sets(batch: Batch, rows: Indexes) -> Found:
    """Matches whose members lie between two events."""
    from cepctl.engines.confidence.sets_between import sets_between

    groups = [each.take(rows) for each in batch.groups]
    found, measured = sets_between(batch.measure.shape, batch.measure.masses, groups)
    return rows[found], measured


def nested(batch: Batch, rows: Indexes) -> Found:
    """Any matches of points, however these depend on each other: each of their problems is a row of clauses.

    Raises
    ------
    QueryTooLargeError
        If a match exceeds the bound on the work and there is no sampling.
    """
    from cepctl.engines.confidence.occurrence.rows import with_sure_ones
    from cepctl.engines.confidence.points.confidences import coupled_confidences
    from cepctl.engines.confidence.points.measure import BlockMemory, coupled_blocks

    measure, whole, rows_of = batch.measure, batch.taken(rows), batch.rows_of
    alone, found = batch.form.independent, impossible(len(rows))
    sampling, keeps_unknown = measure.sampling if alone else None, measure.affordable is not None
    memory = BlockMemory(min(measure.memory.block, _BLOCK_BYTES), measure.memory.most)
    for begin, end in coupled_blocks(measure.shape, whole.groups, whole.rivals, memory):
        block = np.arange(begin, end)
        some = whole.taken(block)
        matches = some.coupled
        part = coupled_confidences(matches, sampling, some.spans, rows_of, keeps_unknown=keeps_unknown)
        if not alone and some.spans is None:
            part = with_sure_ones(part, matches, batch.clocks, batch.tied)
        found.put(block, part)
    return rows, found
