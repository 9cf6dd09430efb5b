"""Time range and confidence of matches of events some of which have curves for masses.

    what ties the events of a match        measured by
    order and window alone                 the closed form of curved chains
    conditions and rivals                  nested sums over curves; NaN where they take too much work

Their ranges are those of even masses on the same intervals: what is possible, and when, is the same.
"""

from __future__ import annotations

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.laws import Curves
from cepctl.engines.columns.masses import Buckets, Masses
from cepctl.engines.confidence.certainty import certainly_in_order
from cepctl.engines.confidence.chain.closed_form import chain_range
from cepctl.engines.confidence.chain.runs import NO_WINDOW
from cepctl.engines.confidence.clocks.curved_chains import curved_chain, curved_space
from cepctl.engines.confidence.clocks.summed_masses import CurvedMasses
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.measured import Measured, Total, impossible
from cepctl.engines.confidence.occurrence.rows import Rows
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.engines.pattern.bound_matches import BoundMatches
from cepctl.engines.pattern.difference_constraints import closed_system, possible, valid_bounds

FEWEST_LEVELS = 2
"""Offsets to be summed over from which on matches are measured so: one is cheap to sum."""
_PROBLEMS_AT_ONCE = 2_000


def takes_curves(shape: Shape) -> bool:
    """Whether matches of a pattern can be measured so: each component is one event, which rows show."""
    return not shape.hides_ends and all(block.kind is BlockKind.SINGLE for block in shape.blocks)


def curved_measured(shape: Shape, masses: Masses, asked: BoundMatches) -> Measured:
    """Measure matches that the given rivals can break; the confidence of what is too much work is NaN."""
    # A part of an OR may bind groups, of one event each where all parts are to hold together.
    matches = np.stack([group.members for group in asked.groups(shape)], axis=1)
    found = impossible(len(matches))
    if not len(matches):
        return found
    assert isinstance(masses, CurvedMasses)
    if shape.plain_chain:
        lower, upper, rows = _valid(shape, masses, matches)
        if len(rows):
            found.put(rows, _chains(shape, masses, matches[rows], lower[rows], upper[rows]))
        return found
    for begin in range(0, len(matches), _PROBLEMS_AT_ONCE):
        rows = np.arange(begin, min(begin + _PROBLEMS_AT_ONCE, len(matches)))
        some = asked.taken(rows)
        found.put(rows, _coupled(CoupledMatches(shape, masses, some.groups(shape), some.rivals), masses))
    return found


def _valid(shape: Shape, masses: CurvedMasses, matches: Indexes) -> tuple[Ticks, Ticks, Indexes]:
    """Valid intervals, and the rows that can happen."""
    system = closed_system(range(matches.shape[1]), shape.window)
    lower, upper = valid_bounds(masses.lower[matches], masses.upper[matches], system)
    return lower, upper, np.flatnonzero(possible(lower, upper))


def _chains(shape: Shape, masses: CurvedMasses, matches: Indexes, lower: Ticks, upper: Ticks) -> Measured:
    confidence = np.zeros(len(matches))
    window = np.int64(NO_WINDOW if shape.window is None else shape.window)
    sizes = np.diff(masses.starts)[matches].sum(axis=1).max(initial=0)
    arrays = masses.buckets, masses.curves, masses.degree
    _solve_chains(arrays, matches, lower, upper, window, int(sizes), confidence)
    return Measured.exact(confidence, *chain_range(masses, matches, lower, upper, shape.window))


@kernel
def _solve_chains(arrays, matches, lower, upper, window, size, confidence):
    buckets, curves, degree = arrays
    length = matches.shape[1]
    space = curved_space(length, size)
    raised = np.empty(length, dtype=np.int64)
    own = Buckets(
        np.empty(length, dtype=np.int64),
        np.empty(length, dtype=np.int64),
        np.zeros(length + 1, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size, dtype=np.int64),
        np.empty(size),
    )
    bent = Curves(np.empty(size, dtype=np.int64), np.empty(size), np.empty(size), np.empty(size))
    for row in range(len(matches)):
        at = 0
        for j in range(length):
            event = matches[row, j]
            own.lower[j], own.upper[j] = buckets.lower[event], buckets.upper[event]
            raised[j] = degree[event] + 1 if own.lower[j] < own.upper[j] else 0
            for b in range(buckets.starts[event], buckets.starts[event + 1]):
                own.lo[at], own.hi[at], bent.degree[at] = buckets.lo[b], buckets.hi[b], curves.degree[b]
                bent.begin[at], bent.middle[at], bent.end[at] = (
                    curves.begin[b],
                    curves.middle[b],
                    curves.end[b],
                )
                at += 1
            own.starts[j + 1] = at
        confidence[row] = curved_chain(own, bent, raised, lower[row], upper[row], window, space)


def _coupled(matches: CoupledMatches, masses: CurvedMasses) -> Measured:
    total = Total(len(matches))
    certain = certainly_in_order(matches.shape, masses, matches.groups)
    for each in matches.rivals:
        certain[each.row] = False
    for problems in coupled_problems(matches):
        rows, event = Rows.of(masses, problems), problems.variables.event
        total.add(problems.match, rows.probability(), *rows.ends(event[:, 0], event[:, -1]))
    total.confidence[certain] = 1.0
    return total.measured()
