"""Measuring matches of events that share clocks: as without clocks given the offsets, summed over these.

Only the rivals that can decide a match are looked at: their clocks are summed over, and their cuts end
pieces. So a match is measured alike wherever it is found, as without clocks. Matches whose groups have the
same sizes are measured together.

A span in which a match has to lie stands still while offsets move: no offset drops out, and its ends are
cuts like those of events without a clock.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from cepctl.arrays import Flags, Indexes, Ticks
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.numbering import rows_alike
from cepctl.engines.confidence.clocks.breakpoints import breakpoints_of, constants_of, shift_differences
from cepctl.engines.confidence.clocks.curved_measures import FEWEST_LEVELS, curved_measured, takes_curves
from cepctl.engines.confidence.clocks.frames import Frames, frames_of
from cepctl.engines.confidence.clocks.nodes import Nodes, offset_range
from cepctl.engines.confidence.clocks.offset_sums import Copies, OffsetSum, at_nodes, summed_over_nodes
from cepctl.engines.confidence.coupled.assembly import coupled_problems
from cepctl.engines.confidence.coupled.deciding_rivals import deciding_in_chains
from cepctl.engines.confidence.coupled.matches import CoupledMatches
from cepctl.engines.confidence.measured import Measured, Total
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.bound_matches import BoundMatches, Rivals
from cepctl.engines.pattern.difference_constraints import closed_system, valid_bounds

MATCHES_AT_ONCE = 10_000

Measuring: TypeAlias = Callable[[Masses, BoundMatches, bool], Measured]
"""From the masses of copies, matches of these, and whether only ranges count, to what is measured."""


@dataclass(frozen=True)
class AlikeMatches:
    """Matches whose groups have the same sizes, with the rivals that can decide them.

    `clocks` and `envelopes` are those of all events; the second say where each can be.
    """

    clocks: EventClocks
    envelopes: Masses
    shape: Shape
    matches: BoundMatches

    @classmethod
    def of(
        cls, clocks: EventClocks, envelopes: Masses, shape: Shape, matches: BoundMatches, at_once: int
    ) -> Iterator[tuple[Indexes, AlikeMatches]]:
        """All matches, at most `at_once` together, and their rows."""
        sizes = np.stack([group.sizes for group in matches.groups(shape)], axis=1)
        for _, of_kind in rows_alike(sizes):
            for begin in range(0, len(of_kind), at_once):
                rows = of_kind[begin : begin + at_once]
                some = matches.taken(rows)
                rivals = _deciding_rivals(shape, envelopes, some.groups(shape), some.rivals)
                yield rows, cls(clocks, envelopes, shape, replace(some, rivals=rivals))

    def taken(self, rows: Indexes) -> AlikeMatches:
        """Some of the matches, by ascending rows."""
        return replace(self, matches=self.matches.taken(rows))

    @property
    def coupled(self) -> CoupledMatches:
        """The matches, of which coupled problems can be made."""
        groups = self.matches.groups(self.shape)
        return CoupledMatches(self.shape, self.envelopes, groups, self.matches.rivals)

    def frames(self, others: Sequence[Bindings] = (), *, curved: bool = False) -> Frames:
        """Which clocks are summed over; `others` are events that matter to the matches besides."""
        events, spans = [*self.matches.bound.values(), *others], self.matches.spans
        absolute = self.shape.knows_constants or spans is not None
        count, rivals = len(self.matches), self.matches.rivals
        return frames_of(self.clocks, count, events, rivals, absolute=absolute, curved=curved)

    def offset_sum(self, frames: Frames, shifts: Ticks | None = None) -> OffsetSum:
        """The offsets of these frames; `shifts`, where known: how far apart two cuts may be that make one."""
        spans = self.matches.spans
        if shifts is None:
            groups, rivals = self.matches.groups(self.shape), self.matches.rivals
            shifts = shift_differences(self.shape, self.envelopes, groups, rivals)
        constants, own = constants_of(self.shape), None if spans is None else spans.cuts
        return OffsetSum(frames, breakpoints_of(frames, shifts, constants, own), ranges=spans is None)


def _deciding_rivals(
    shape: Shape, envelopes: Masses, groups: list[Group], rivals: Sequence[Rivals]
) -> list[Rivals]:
    """The rivals that can decide, told by where events can be; `groups` are the members of every block."""
    if not any(len(each.row) for each in rivals):
        return list(rivals)
    if shape.only_single:
        matches = np.stack([group.members for group in groups], axis=1)
        system = closed_system(range(len(groups)), shape.window)
        valid = valid_bounds(envelopes.lower[matches], envelopes.upper[matches], system)
        return deciding_in_chains(rivals, envelopes, system, *valid)
    events = len(envelopes.lower)
    found = [group.owner * events + group.members for group in groups]
    for problems in coupled_problems(CoupledMatches(shape, envelopes, groups, rivals)):
        problem = np.repeat(np.arange(len(problems.match)), np.diff(problems.factors.offsets))
        found.append(problems.match[problem] * events + problems.factors.event)
    known = np.unique(np.concatenate(found))
    kept = [np.isin(each.row * events + each.event, known) for each in rivals]
    pairs = zip(rivals, kept, strict=True)
    return [replace(each, row=each.row[some], event=each.event[some]) for each, some in pairs]


def conditioned(
    clocks: EventClocks, envelopes: Masses, shape: Shape, matches: BoundMatches, measuring: Measuring
) -> Measured:
    """Measure matches; of those that have spans the time range means nothing.

    Parameters
    ----------
    clocks, envelopes
        Of all events; the second say where each can be.
    shape
        Of the pattern.
    matches
        With all events that could break them.
    measuring
        How they are measured given the offsets.

    Raises
    ------
    QueryTooLargeError
        If a match needs its measure at too many offsets, or as `measuring` does.
    """
    total = Total(len(matches))
    for rows, alike in AlikeMatches.of(clocks, envelopes, shape, matches, MATCHES_AT_ONCE):
        lone = _with_curves(alike)
        left = np.flatnonzero(~lone)
        if lone.any():
            here = np.flatnonzero(lone)
            found = _summed(alike.taken(here), _with_masses_of_curves(shape), curved=True)
            total.put(rows[here], found)
            left = np.union1d(left, here[np.isnan(found.confidence)])
        if len(left):
            total.put(rows[left], _summed(alike.taken(left), measuring, curved=False))
    return summed_over_nodes(total)


def _with_masses_of_curves(shape: Shape) -> Measuring:
    return lambda masses, matches, _ranges_only: curved_measured(shape, masses, matches)


def _with_curves(alike: AlikeMatches) -> Flags:
    """Matches of several clocks that are left to sum over, fewer where masses may be curves."""
    if not takes_curves(alike.shape) or alike.matches.spans is not None:
        return np.zeros(len(alike.matches), dtype=bool)
    levels, fewer = alike.frames().levels, alike.frames(curved=True).levels
    return np.asarray((levels >= FEWEST_LEVELS) & (fewer < levels))


def _summed(alike: AlikeMatches, measuring: Measuring, *, curved: bool) -> Measured:
    """Measure matches; with `curved` the confidence of one that needs too much work is NaN."""
    frames, matches = alike.frames(curved=curved), alike.matches
    total, unmoved = Total(len(frames)), np.flatnonzero(frames.unmoved)
    if len(unmoved):
        total.put(unmoved, _on_own_parts(frames, unmoved, matches.taken(unmoved), measuring))
    if len(unmoved) == len(frames):
        return summed_over_nodes(total)
    offsets = alike.offset_sum(frames)
    for block in offsets.nodes(np.flatnonzero(~frames.unmoved)):
        # Most of those that only tell ranges widen none, and to measure them takes as long as the sum.
        ranges_only = not block.weight.any()
        nodes = block.taken(_can_widen(alike, frames, block, total)) if ranges_only else block
        copies = Copies.of(frames, nodes)
        found = measuring(copies.masses, at_nodes(copies.number, nodes, matches), ranges_only)
        offsets.add(total, nodes, found)
    return summed_over_nodes(total)


def _can_widen(alike: AlikeMatches, frames: Frames, nodes: Nodes, total: Total) -> Flags:
    """Nodes at which the match may happen earlier or later than is known of it."""
    if not alike.shape.only_single:
        return np.ones(len(nodes), dtype=bool)
    copies, here = Copies.of(frames, nodes), np.arange(len(nodes))
    groups = alike.matches.groups(alike.shape)
    events = np.stack([copies.number(here, group.members[nodes.match]) for group in groups], axis=1)
    system = closed_system(range(len(groups)), alike.shape.window)
    lower, upper = valid_bounds(copies.masses.lower[events], copies.masses.upper[events], system)
    first, last = offset_range(frames, nodes)
    wider = (lower[:, 0] + first < total.start[nodes.match]) | (upper[:, -1] + last > total.end[nodes.match])
    return np.asarray(wider & (lower <= upper).all(axis=1))


def _on_own_parts(frames: Frames, rows: Indexes, matches: BoundMatches, measuring: Measuring) -> Measured:
    """Measure matches that no offset moves against anything: own parts tell all but when they happened."""
    found = measuring(frames.clocks.own, matches, False)
    nodes = Nodes(rows, np.zeros((len(rows), 0), dtype=np.int64), np.ones(len(rows)))
    return found.shifted(*offset_range(frames, nodes))
