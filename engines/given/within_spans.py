"""How probable it is that matches of tied events happen within a span of ticks each, in the worlds left.

The first and the last event of a match are variables of its problems: to cut these cuts all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from cepctl.arrays import Indexes, Reals
from cepctl.engines.columns.bindings import Bindings, TickSpans, block_group
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.coupled.problem import Problems, Variables
from cepctl.engines.confidence.measured import Measured, impossible
from cepctl.engines.given.confidences import given_probability
from cepctl.engines.given.separators import tied_probability
from cepctl.engines.given.series import series_of
from cepctl.engines.given.tied_problems import tied_problems
from cepctl.engines.given.touched_components import touched
from cepctl.engines.given.work import require_few, within_bound
from cepctl.engines.measure.rival_blocks import BlockMemory, coupled_blocks
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.difference_constraints import possible, valid_bounds
from cepctl.engines.pattern.rivals import Rivals


def tied_within(
    shape: Shape, memory: BlockMemory, masses: Masses, ties: EventTies, bound: Mapping[int, Bindings],
    rivals: Sequence[Rivals], spans: TickSpans,
) -> Measured:  # fmt: skip
    """Measure matches of events with these masses and ties, in blocks that fit in memory.

    Raises
    ------
    QueryTooLargeError
        If the events that are tied to a match need too much work.
    """
    groups = [block_group([bound[i] for i in block.components]) for block in shape.blocks]
    found = impossible(len(spans.first))
    for begin, end in coupled_blocks(shape, groups, rivals, memory):
        block = np.arange(begin, end)
        near = [each.taken(block) for each in rivals]
        matches = CoupledMatches(shape, masses, [group.take(block) for group in groups], near)
        found.put(block, given_within(matches, ties, spans.take(block)))
    return found


def given_within(matches: CoupledMatches, ties: EventTies, spans: TickSpans) -> Measured:
    """Measure matches within their spans; of the time range only whether it is empty.

    Raises
    ------
    QueryTooLargeError
        If the events that are tied to a match need too much work.
    """
    found = np.zeros(len(matches))
    masses = matches.masses
    for problems in coupled_problems(matches):
        touching = touched(problems, ties)
        width = problems.variables.event.shape[1]
        free = problems.taken(np.setdiff1d(np.arange(len(problems.match)), touching.problem))
        np.add.at(found, free.match, _probability(ties, free, width, spans.take(free.match)))
        require_few(touching.pieces.size)
        if not len(touching.problem):
            continue
        sums = np.zeros(len(problems.match))
        for each in tied_problems(problems, ties, masses, touching):
            own = spans.take(problems.match[each.first.match])
            np.add.at(sums, each.first.match, _probability(ties, each.weighted, width, own))
        rows = np.unique(touching.problem)
        share = sums[rows] / given_probability(ties, masses, touching, rows)
        np.add.at(found, problems.match[rows], share)
    never: Indexes = (found <= 0.0).astype(np.int64)
    return Measured(found, np.zeros(len(found)), never, np.zeros(len(found), dtype=np.int64))


def _probability(ties: EventTies, problems: Problems, width: int, spans: TickSpans) -> Reals:
    """That of problems whose first `width` variables lie within spans."""
    lower, upper = problems.variables.lower.copy(), problems.variables.upper.copy()
    lower[:, :width] = np.maximum(lower[:, :width], spans.first[:, None])
    upper[:, :width] = np.minimum(upper[:, :width], spans.last[:, None])
    lower, upper = valid_bounds(lower, upper, problems.structure.system)
    found = np.zeros(len(problems.match))
    rows = np.flatnonzero(possible(lower, upper))
    if len(rows):
        variables = Variables(problems.variables.event[rows], lower[rows], upper[rows])
        cut = replace(problems.taken(rows), variables=variables)
        buckets = series_of(ties).laws
        found[rows] = within_bound(lambda each: tied_probability(buckets, each), cut)
    return found
