"""Confidence and time range of matches of events that share clocks, of which something is given.

Given the offsets of all clocks that the match and what is given need, both are measured as without clocks:

    P(match | given) = sum over offsets of P(match and given | offsets) / sum over them of P(given | offsets)

Both sums are over the same few combinations of offsets, and exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Reals, Ticks
from cepctl.engines.clocks.conditioned import degree_of, repeated
from cepctl.engines.clocks.deciding import BoundEvents, alike_matches, deciding_rivals, groups_of
from cepctl.engines.clocks.frames import Frames, frames_of
from cepctl.engines.clocks.nodes import Nodes, add_at_nodes, nodes_of, offset_range, summed_over_nodes
from cepctl.engines.clocks.walls import constants_of, is_absolute, shift_differences, walls_of
from cepctl.engines.columns.bindings import Bindings, TickSpans, take
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.measured import Measured, Total, impossible
from cepctl.engines.given.on_clocks import GivenOnClocks, TiesOf, at_offsets, differences
from cepctl.engines.given.tied_problems import tied_problems
from cepctl.engines.given.touched_components import touched
from cepctl.engines.given.within_spans import tied_within
from cepctl.engines.measure.rival_blocks import BlockMemory
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.rivals import Rivals

MATCHES_AT_ONCE = 1_000
COPIES_AT_ONCE = 200_000

MeasuringTied: TypeAlias = Callable[[Masses, EventTies, dict[int, Bindings], list[Rivals]], Measured]
"""From the masses of copies, what ties them, and matches and rivals of these, to what is measured."""
_MeasuringNodes: TypeAlias = Callable[[Nodes, Masses, EventTies, dict[int, Bindings], list[Rivals]], Measured]

_LAST = np.iinfo(np.int64).max


def given_on_clocks(
    known: GivenOnClocks, envelopes: Masses, shape: Shape, bound: BoundEvents, rivals: Sequence[Rivals],
    measuring: MeasuringTied,
) -> Measured:  # fmt: skip
    """Measure matches in the worlds that remain.

    `envelopes` say where events can be, `measuring` how matches are measured given the offsets.

    Raises
    ------
    QueryTooLargeError
        If a match needs too many tied events, or its measure at too many offsets, or as `measuring` does.
    """
    found = impossible(len(groups_of(shape, bound)[0].sizes))
    for rows, part, others in alike_matches(shape, bound, rivals, MATCHES_AT_ONCE):
        measured = _alike(known, envelopes, shape, part, others, lambda _, *placed: measuring(*placed))
        found.put(rows, measured)
    return found


def given_within_on_clocks(
    known: GivenOnClocks, envelopes: Masses, shape: Shape, bound: BoundEvents, rivals: Sequence[Rivals],
    spans: TickSpans, memory: BlockMemory,
) -> Reals:  # fmt: skip
    """P(a match happens, and all that it binds does so within its span) in the worlds that remain.

    Raises
    ------
    QueryTooLargeError
        As `given_on_clocks`.
    """
    found = np.zeros(len(spans.first))
    for rows, part, others in alike_matches(shape, bound, rivals, MATCHES_AT_ONCE):
        own = spans.take(rows)

        def measuring(
            nodes: Nodes, masses: Masses, ties: EventTies, bound: dict[int, Bindings], near: list[Rivals],
            own: TickSpans = own,
        ) -> Measured:  # fmt: skip
            return tied_within(shape, memory, masses, ties, bound, near, own.take(nodes.match))

        found[rows] = _alike(known, envelopes, shape, part, others, measuring, own).confidence
    return found


def _alike(
    known: GivenOnClocks, envelopes: Masses, shape: Shape, bound: BoundEvents, rivals: list[Rivals],
    measuring: _MeasuringNodes, spans: TickSpans | None = None,
) -> Measured:  # fmt: skip
    """Measure matches whose groups are of the same sizes."""
    groups = groups_of(shape, bound)
    count = len(groups[0].sizes)
    rivals = deciding_rivals(shape, envelopes, groups, rivals)
    wholes = known.touched(count, list(bound.values()), rivals)
    involved = [*bound.values(), wholes.events]
    absolute = is_absolute(shape) or spans is not None
    frames = frames_of(known.clocks, count, involved, rivals, absolute=absolute)
    shifts = _shifts(known, wholes, CoupledMatches(shape, envelopes, groups, rivals))
    most = int(frames.levels.max(initial=0))
    cuts = None if spans is None else spans.cuts
    walls = walls_of(constants_of(shape), frames, count, shifts, most, cuts)
    degree = degree_of(frames, count)
    total = _Totals(count)
    for levels in range(most + 1):
        matches = np.flatnonzero(frames.levels == levels)
        if len(matches):
            nodes = nodes_of(frames, matches, walls, degree, edges=spans is None)
            for part in nodes.in_blocks(frames.sizes, COPIES_AT_ONCE):
                _add(total, frames, part, wholes, bound, rivals, measuring)
    return total.measured()


def _shifts(known: GivenOnClocks, wholes: TiesOf, matches: CoupledMatches) -> Ticks:
    """By how much cuts of two clocks may be apart where pieces end; of matches with what is tied to them."""
    shape, masses, ties = matches.shape, matches.masses, known.ties
    found = known.shifts(wholes)
    found.update(shift_differences(shape, masses, list(matches.groups), matches.rivals).tolist())
    for problems in coupled_problems(matches):
        touching = touched(problems, ties)
        found.update(differences(problems.structure))
        if len(touching.problem):
            for each in tied_problems(problems, ties, masses, touching):
                found.update(differences(each.first.structure))
    return np.array(sorted(found), dtype=np.int64)


def _add(
    total: _Totals, frames: Frames, nodes: Nodes, wholes: TiesOf, bound: BoundEvents, rivals: list[Rivals],
    measuring: _MeasuringNodes,
) -> None:  # fmt: skip
    """Add what is measured at some nodes."""
    placed = at_offsets(frames, nodes, wholes)
    nodes = placed.nodes
    if not len(nodes):
        return
    moved = {i: placed.copies(take(each, nodes.match)) for i, each in bound.items()}
    others = []
    for rival in rivals:
        row, event = repeated(rival, nodes.match)
        others.append(replace(rival, row=row, event=placed.number(row, event)))
    found = measuring(nodes, placed.masses, placed.ties, moved, others)
    total.add(nodes, placed.chance, found, *offset_range(frames, nodes))


class _Totals:
    """Sums over offsets of the probability of matches together with what is given, and of that alone."""

    def __init__(self, count: int) -> None:
        self.both = Total(count)
        self.given: Reals = np.zeros(count)

    def add(self, nodes: Nodes, chance: Reals, found: Measured, first: Ticks, last: Ticks) -> None:
        """Add what was measured at some nodes, whose ticks are moved by `first` to `last`."""
        add_at_nodes(self.both, replace(nodes, weight=nodes.weight * chance), found, first, last)
        np.add.at(self.given, nodes.match, nodes.weight * chance)

    def measured(self) -> Measured:
        """What was measured; impossible where nothing was."""
        given = np.where(self.given > 0.0, self.given, 1.0)
        self.both.confidence /= given
        self.both.end[self.given == 0.0] = -_LAST
        return summed_over_nodes(self.both)
