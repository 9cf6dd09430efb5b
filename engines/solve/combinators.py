"""Methods that make simpler batches of one: what is given, offsets of clocks, samples beside exact sums.

Each has the door as its first argument, through which the simpler batches are measured again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.solve.batch import Batch
from cepctl.engines.solve.points import Found

if TYPE_CHECKING:
    from cepctl.engines.columns.masses import Masses
    from cepctl.engines.columns.ties import EventTies
    from cepctl.engines.intervals.measure import IntervalMeasure
    from cepctl.engines.pattern.rivals import Rivals

Door: TypeAlias = Callable[[Batch], Measured]


def endpoints(batch: Batch, rows: Indexes) -> Found:
    """Matches of independent interval events."""
    from cepctl.engines.intervals.independent import measured_independently

    return _of_endpoints(measured_independently, batch, rows)


def endpoints_at_offsets(batch: Batch, rows: Indexes) -> Found:
    """Matches of interval events that share clocks, summed over the offsets of these."""
    from cepctl.engines.intervals.on_clocks import measured_without_ties

    return _of_endpoints(measured_without_ties, batch, rows)


def endpoints_given(batch: Batch, rows: Indexes) -> Found:
    """Matches of interval events beside all that is tied to these, in the worlds that remain."""
    from cepctl.engines.intervals.tied_matches import measured_with_ties

    return _of_endpoints(measured_with_ties, batch, rows)


def _of_endpoints(
    measuring: Callable[[IntervalMeasure, Indexes], Measured], batch: Batch, rows: Indexes
) -> Found:
    from cepctl.engines.intervals.search import measured_by_size

    assert batch.lasting is not None
    bound = batch.taken(rows).bound
    return rows, measured_by_size(batch.lasting, [bound[i] for i in sorted(bound)], measuring)


def untied(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Matches that nothing given says anything of."""
    some = rows[~touched(batch)[rows]]
    if not len(some):
        return some, impossible(0)
    free = replace(batch.measure, ties=None, sifted=False)
    return some, door(replace(batch, measure=free).taken(some))


def touched(batch: Batch) -> Flags:
    """Which matches bind a tied event, have such a rival, or are on a clock of such events."""
    if not batch.form.on_clocks:
        from cepctl.engines.given.confidences import are_tied

        return are_tied(batch.ties, batch.bound, batch.rivals, len(batch))
    from cepctl.engines.given.on_clocks import GivenOnClocks

    known = GivenOnClocks.of(batch.clocks, batch.ties)
    return known.touch(len(batch), list(batch.bound.values()), batch.rivals)


def sampled(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Matches exactly, and each that costs too much from worlds of its own; its range is exact."""
    from cepctl.engines.clocks.estimates import estimated_match, measured_or_estimated
    from cepctl.engines.confidence.coupled.assembly import coupled_problems

    measure, whole = batch.measure, batch.taken(rows)
    sampling, tied = measure.sampling, None
    assert sampling is not None
    if batch.form.given:
        from cepctl.engines.given.confidences import ties_of_problems

        tied = partial(ties_of_problems, batch.ties)
    clocks = measure.clocks or EventClocks.none(measure.masses)
    exactly = replace(whole, measure=replace(measure, sampling=None, heard=None))

    def estimate(row: Indexes) -> Measured:
        one = whole.taken(row)
        return estimated_match(clocks, sampling, one.groups, list(coupled_problems(one.coupled)), tied)

    return rows, measured_or_estimated(lambda some: door(exactly.taken(some)), estimate, len(rows))


def given(batch: Batch, rows: Indexes) -> Found:
    """Matches beside all that is tied to their events, in the worlds that remain."""
    from cepctl.engines.given.confidences import tied_matches

    return rows, tied_matches(batch.taken(rows).coupled, batch.ties, batch.measure.memory)


def given_at_offsets(door: Door, batch: Batch, rows: Indexes) -> Found:
    """The same of events that share clocks: a sum over offsets, divided by that of what is given."""
    from cepctl.engines.given.clocked_confidences import given_on_clocks
    from cepctl.engines.given.on_clocks import GivenOnClocks

    measure, whole = batch.measure, batch.taken(rows)
    known = GivenOnClocks.of(batch.clocks, batch.ties)

    def placed(masses: Masses, ties: EventTies, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        return door(Batch(replace(measure.placed(masses), ties=ties), bound, rivals))

    return rows, given_on_clocks(known, measure.masses, measure.shape, whole.bound, whole.rivals, placed)


def clock_chains(batch: Batch, rows: Indexes) -> Found:
    """Chains without rivals, over one offset or one difference of two at most."""
    from cepctl.engines.clocks import chains

    measure, clocks = batch.measure, batch.clocks
    on_own_parts = measure.placed(clocks.own).chains
    events = batch.taken(rows).events
    found, left = chains.clock_chains(clocks, measure.system, measure.window, events, on_own_parts)
    if not len(left):
        return rows, found
    measured = np.setdiff1d(np.arange(len(rows)), left)
    return rows[measured], found.taken(measured)


def offsets(door: Door, batch: Batch, rows: Indexes) -> Found:
    """Matches given the offsets of their clocks, summed over these."""
    from cepctl.engines.clocks.conditioned import conditioned

    measure, whole = batch.measure, batch.taken(rows)

    def placed(masses: Masses, bound: dict[int, Bindings], rivals: list[Rivals]) -> Measured:
        return door(Batch(measure.placed(masses), bound, rivals))

    found = conditioned(batch.clocks, measure.masses, measure.shape, whole.bound, whole.rivals, placed)
    return rows, found
