"""Confidence and time range of matches of events that share clocks, of which something is given.

Given the offsets of all clocks that the match and what is given need, both are measured as without clocks:

    P(match | given) = sum over offsets of P(match and given | offsets) / sum over them of P(given | offsets)

Both sums are over the same few combinations of offsets, and exact. At each of them GIVEN speaks of
independent events again, copies whose own ticks alone are uncertain: it narrows their intervals, and many
ties hold everywhere or nowhere. A combination of offsets where they cannot hold counts for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import cut_masses
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies, event_ties
from cepctl.engines.confidence.clocks.breakpoints import breakpoints_of, shift_differences
from cepctl.engines.confidence.clocks.conditioned import AlikeMatches
from cepctl.engines.confidence.clocks.frames import Frames, frames_of
from cepctl.engines.confidence.clocks.nodes import Nodes
from cepctl.engines.confidence.clocks.offset_sums import OffsetSum, at_nodes, copied, summed_over_nodes
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.given.components import component_probability
from cepctl.engines.confidence.given.on_clocks import GivenOnClocks, TiesOf
from cepctl.engines.confidence.given.series import without_series
from cepctl.engines.confidence.given.tied_problems import tied_problems
from cepctl.engines.confidence.given.touched_components import touched
from cepctl.engines.confidence.measured import Measured, Total, impossible
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.bound_matches import BoundMatches
from cepctl.engines.pattern.propagation import narrowed

MATCHES_AT_ONCE = 1_000
COPIES_AT_ONCE = 200_000

MeasuringTied: TypeAlias = Callable[[Masses, EventTies, BoundMatches], Measured]
"""From the masses of copies, what ties them, and matches of these, to what is measured."""

_LAST = np.iinfo(np.int64).max


def given_on_clocks(
    known: GivenOnClocks, envelopes: Masses, shape: Shape, matches: BoundMatches, measuring: MeasuringTied
) -> Measured:
    """Measure matches in the worlds that remain; of those that have spans the time range means nothing.

    `envelopes` say where events can be, `measuring` how matches are measured given the offsets.

    Raises
    ------
    QueryTooLargeError
        If a match needs too many tied events, or its measure at too many offsets, or as `measuring` does.
    """
    found = impossible(len(matches))
    for rows, alike in AlikeMatches.of(known.clocks, envelopes, shape, matches, MATCHES_AT_ONCE):
        wholes = known.touched(len(rows), list(alike.matches.bound.values()), alike.matches.rivals)
        frames = alike.frames([wholes.events])
        offsets = alike.offset_sum(frames, _shifts(known, wholes, alike.coupled))
        total, given = Total(len(rows)), np.zeros(len(rows))
        for every in offsets.nodes(at_once=COPIES_AT_ONCE):
            placed = at_offsets(frames, every, wholes)
            nodes = placed.nodes
            if len(nodes):
                moved = at_nodes(placed.number, nodes, alike.matches)
                some = measuring(placed.masses, placed.ties, moved)
                offsets.add(total, nodes, some, placed.chance)
                np.add.at(given, nodes.match, nodes.weight * placed.chance)
        total.confidence /= np.where(given > 0.0, given, 1.0)
        total.end[given == 0.0] = -_LAST
        found.put(rows, summed_over_nodes(total))
    return found


def _shifts(known: GivenOnClocks, wholes: TiesOf, matches: CoupledMatches) -> Ticks:
    """By how much cuts of two clocks may be apart where pieces end; of matches with what is tied to them."""
    shape, masses, ties = matches.shape, matches.masses, known.ties
    found = known.shifts(wholes)
    found.update(shift_differences(shape, masses, list(matches.groups), matches.rivals).tolist())
    for problems in coupled_problems(matches):
        touching = touched(problems, ties)
        found.update(problems.structure.breakpoints.differences())
        if len(touching.problem):
            for each in tied_problems(problems, ties, masses, touching):
                found.update(each.first.structure.breakpoints.differences())
    return np.array(sorted(found), dtype=np.int64)


@dataclass(frozen=True)
class AtOffsets:
    """Nodes at which what is given can hold, and `chance`, shape (q,), that it does there.

    `names` are `node * events + event` of all copies, ascending; `masses` those that what is given leaves to
    them, and `ties` what is not told by these.
    """

    nodes: Nodes
    events: int
    names: Indexes
    masses: Masses
    ties: EventTies
    chance: Reals

    def number(self, node: Indexes, event: Indexes) -> Indexes:
        """The copies of some events at some nodes."""
        return np.searchsorted(self.names, node * self.events + event)


def at_offsets(frames: Frames, nodes: Nodes, wholes: TiesOf) -> AtOffsets:
    """Where the offsets of nodes put the events of their matches.

    Raises
    ------
    QueryTooLargeError
        If a component needs more work than the bound.
    """
    while True:
        placed = _placed(frames, nodes, wholes)
        certain = placed.chance > 0.0
        if certain.all():
            ties = placed.ties
            every = np.arange(len(ties.sizes))
            held = component_probability(ties, placed.masses, every)
            chance = placed.chance.copy()
            node = placed.names[ties.members[ties.member_offsets[:-1]]] // placed.events
            np.multiply.at(chance, node, held)
            certain = chance > 0.0
            if certain.all():
                return replace(placed, chance=chance)
        nodes = nodes.taken(certain)


def _placed(frames: Frames, nodes: Nodes, wholes: TiesOf) -> AtOffsets:
    """The same, `chance` as far as intervals tell, and 0 where they say that it cannot hold."""
    events = len(frames.clocks.clock)
    row, at = nodes.with_each(frames.offsets)
    names = row * events + frames.event[at]
    masses = copied(frames, nodes, row, frames.event[at])
    node, tie = nodes.with_each(wholes.offsets)
    left, right = (np.searchsorted(names, node * events + each[tie]) for each in (wholes.left, wholes.right))
    bound = wholes.bound[tie]
    begins = np.searchsorted(row, np.arange(len(nodes) + 1))
    edges = np.column_stack([left - begins[node], right - begins[node], bound])
    ends = np.searchsorted(node, np.arange(len(nodes) + 1))
    lower, upper, possible = narrowed(masses.lower, masses.upper, begins, edges, ends)
    masses, inside = cut_masses(masses, np.arange(len(names)), lower, upper)
    chance = possible.astype(np.float64)
    np.multiply.at(chance, row, inside)
    if (chance == 0.0).any():
        left = right = bound = bound[:0]
    open_still = np.flatnonzero(masses.upper[left] - masses.lower[right] > bound)
    ties = event_ties(len(names), left[open_still], right[open_still], bound[open_still])
    return AtOffsets(nodes, events, names, masses, without_series(ties, masses), chance)


def whole_probability(known: GivenOnClocks, whole: int) -> float:
    """That all ties of a whole hold."""
    one = np.zeros(1, dtype=np.int64)
    wholes = known.ties_of(1, one, np.array([whole]))
    frames = frames_of(known.clocks, 1, [wholes.events], [], absolute=False)
    shifts = np.array(sorted(known.shifts(wholes) | {0}), dtype=np.int64)
    offsets = OffsetSum(frames, breakpoints_of(frames, shifts, one[:0]), ranges=False)
    placed = (at_offsets(frames, nodes, wholes) for nodes in offsets.nodes(at_once=COPIES_AT_ONCE))
    return sum(float((each.nodes.weight * each.chance).sum()) for each in placed)
