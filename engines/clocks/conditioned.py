"""Measuring matches of events that share clocks: as without clocks given the offsets, summed over these.

Given all offsets, events are independent again: each has its own part, moved.  A moved event is an event of
its own here, a copy.  Whatever measures matches without clocks measures these copies, at few offsets for each
match (nodes.py), and the sums are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.clocks.curved_masses import curved_masses
from cepctl.engines.clocks.curved_measures import FEWEST_LEVELS, curved_measured, takes_curves
from cepctl.engines.clocks.deciding import BoundEvents, alike_matches, deciding_rivals, groups_of
from cepctl.engines.clocks.frames import CONVOLVED, REFERENCE, Frames, frames_of
from cepctl.engines.clocks.nodes import Nodes, add_at_nodes, nodes_of, offset_range, summed_over_nodes
from cepctl.engines.clocks.offset_masses import moved_masses
from cepctl.engines.clocks.walls import constants_of, is_absolute, shift_differences, walls_of
from cepctl.engines.columns.bindings import Bindings, Group, take
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.measured import Measured, Total, impossible
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.difference_constraints import closed_system, valid_bounds
from cepctl.engines.pattern.rivals import Rivals

MATCHES_AT_ONCE = 10_000
PAIRS_AT_ONCE = 400_000
"""Copies of events that are measured together."""

_Names: TypeAlias = np.ndarray[tuple[int], np.dtype[Any]]
Measuring: TypeAlias = Callable[[Masses, dict[int, Bindings], list[Rivals]], Measured]
"""From the masses of copies, and matches and rivals of these, to what is measured."""


def conditioned(
    clocks: EventClocks, envelopes: Masses, shape: Shape, bound: BoundEvents, rivals: Sequence[Rivals],
    measuring: Measuring,
) -> Measured:  # fmt: skip
    """Measure matches.

    Parameters
    ----------
    clocks, envelopes
        Of all events; the second say where each can be.
    shape
        Of the pattern.
    bound, rivals
        The matches, and all events that could break them.
    measuring
        How they are measured given the offsets.

    Raises
    ------
    QueryTooLargeError
        If a match needs its measure at too many offsets, or as `measuring` does.
    """
    total = Total(len(groups_of(shape, bound)[0].sizes))
    for rows, part, reaching in alike_matches(shape, bound, rivals, MATCHES_AT_ONCE):
        others = deciding_rivals(shape, envelopes, groups_of(shape, part), reaching)
        lone = _with_curves(clocks, shape, len(rows), part, others)
        for curved, here in ((True, np.flatnonzero(lone)), (False, np.flatnonzero(~lone))):
            if not len(here):
                continue
            some = {i: take(each, here) for i, each in part.items()}
            near = [each.taken(here) for each in others]
            found = _alike(clocks, envelopes, shape, some, near, measuring, curved=curved)
            total.put(rows[here], found)
            left = np.flatnonzero(np.isnan(found.confidence))
            if len(left):
                some = {i: take(each, left) for i, each in some.items()}
                near = [each.taken(left) for each in near]
                found = _alike(clocks, envelopes, shape, some, near, measuring, curved=False)
                total.put(rows[here[left]], found)
    return summed_over_nodes(total)


def _with_curves(
    clocks: EventClocks, shape: Shape, count: int, bound: BoundEvents, rivals: list[Rivals]
) -> Flags:
    """Matches of several clocks that are left to sum over, fewer where masses may be curves."""
    if not takes_curves(shape):
        return np.zeros(count, dtype=bool)
    absolute, events = is_absolute(shape), list(bound.values())
    levels = frames_of(clocks, count, events, rivals, absolute=absolute).levels
    fewer = frames_of(clocks, count, events, rivals, absolute=absolute, curved=True).levels
    return np.asarray((levels >= FEWEST_LEVELS) & (fewer < levels))


def _alike(
    clocks: EventClocks, envelopes: Masses, shape: Shape, bound: BoundEvents, rivals: list[Rivals],
    measuring: Measuring, *, curved: bool,
) -> Measured:  # fmt: skip
    """Measure matches whose groups are of the same sizes, and whose rivals can decide.

    With `curved` the confidence of a match that needs too much work is NaN.
    """
    groups = groups_of(shape, bound)
    count = len(groups[0].sizes)
    absolute = is_absolute(shape)
    frames = frames_of(clocks, count, list(bound.values()), rivals, absolute=absolute, curved=curved)
    if curved:
        measuring = partial(curved_measured, shape)
    shifts = shift_differences(shape, envelopes, groups, rivals)
    most = int(frames.levels.max(initial=0))
    walls = walls_of(constants_of(shape), frames, count, shifts, most)
    degree = degree_of(frames, count)
    total = Total(count)
    for levels in range(most + 1):
        matches = np.flatnonzero(frames.levels == levels)
        if levels == 0:
            plain = matches[~_any_convolved(frames, count)[matches]]
            total.put(plain, _on_own_parts(frames, plain, bound, rivals, measuring))
            matches = np.setdiff1d(matches, plain)
        if len(matches):
            nodes = nodes_of(frames, matches, walls, degree, edges=True)
            edge = nodes.weight == 0.0
            for part in nodes.taken(~edge).in_blocks(frames.sizes, PAIRS_AT_ONCE):
                found = _measured(frames, part, bound, rivals, measuring)
                add_at_nodes(total, part, found, *offset_range(frames, part))
            # Most edges can widen no range, and to measure them takes as long as the sum.
            for part in nodes.taken(edge).in_blocks(frames.sizes, PAIRS_AT_ONCE):
                wider = part.taken(_can_widen(shape, frames, part, groups, total))
                found = _measured(frames, wider, bound, rivals, measuring)
                add_at_nodes(total, wider, found, *offset_range(frames, wider))
    return summed_over_nodes(total)


def _can_widen(shape: Shape, frames: Frames, nodes: Nodes, groups: list[Group], total: Total) -> Flags:
    """Nodes at which the match may happen earlier or later than is known of it."""
    if not shape.only_single:
        return np.ones(len(nodes), dtype=bool)
    copies = Copies.of(frames, nodes)
    here = np.arange(len(nodes))
    events = np.stack([copies.number(here, group.members[nodes.match]) for group in groups], axis=1)
    system = closed_system(range(len(groups)), shape.window)
    lower, upper = valid_bounds(copies.masses.lower[events], copies.masses.upper[events], system)
    first, last = offset_range(frames, nodes)
    wider = (lower[:, 0] + first < total.start[nodes.match]) | (upper[:, -1] + last > total.end[nodes.match])
    return np.asarray(wider & (lower <= upper).all(axis=1))


def _any_convolved(frames: Frames, count: int) -> Flags:
    """Matches some of whose events have the mass of an offset."""
    found = np.zeros(count, dtype=bool)
    found[frames.match[frames.level_of(frames.match, frames.event) == CONVOLVED]] = True
    return found


def _on_own_parts(
    frames: Frames, matches: Indexes, bound: BoundEvents, rivals: list[Rivals], measuring: Measuring
) -> Measured:
    """Measure matches that no offset moves against anything: own parts tell all but when they happened."""
    if not len(matches):
        return impossible(0)
    chosen = {i: take(each, matches) for i, each in bound.items()}
    found = measuring(frames.clocks.own, chosen, [each.taken(matches) for each in rivals])
    nodes = Nodes(matches, np.zeros((len(matches), 0), dtype=np.int64), np.ones(len(matches)))
    first, last = offset_range(frames, nodes)
    happens = found.start <= found.end
    start, end = np.where(happens, found.start + first, 1), np.where(happens, found.end + last, 0)
    return Measured(found.confidence, found.error, start, end)


def degree_of(frames: Frames, count: int) -> Indexes:
    """Of each match how many own parts and offsets of events raise the degree of its measure by one each."""
    own, level = frames.clocks.own, frames.level_of(frames.match, frames.event)
    wide = own.lower[frames.event] < own.upper[frames.event]
    convolved = level == CONVOLVED
    own_part = np.bincount(frames.match[wide & convolved], minlength=count)
    return np.bincount(frames.match[wide | convolved], minlength=count) + own_part


def _measured(
    frames: Frames, nodes: Nodes, bound: BoundEvents, rivals: list[Rivals], measuring: Measuring
) -> Measured:
    copies = Copies.of(frames, nodes)
    moved: dict[int, Bindings] = {}
    for component, each in bound.items():
        chosen = take(each, nodes.match)
        if isinstance(chosen, Group):
            moved[component] = Group(chosen.offsets, copies.number(chosen.owner, chosen.members))
        else:
            moved[component] = copies.number(np.arange(len(nodes)), chosen)
    others = []
    for rival in rivals:
        row, event = repeated(rival, nodes.match)
        others.append(replace(rival, row=row, event=copies.number(row, event)))
    return measuring(copies.masses, moved, others)


def repeated(rivals: Rivals, match: Indexes) -> tuple[Indexes, Indexes]:
    """The pairs of a rule once for every node of their match; rows are then nodes."""
    order = np.argsort(rivals.row, kind="stable")
    row, event = rivals.row[order], rivals.event[order]
    begin, end = np.searchsorted(row, match), np.searchsorted(row, match, side="right")
    sizes = end - begin
    total = np.concatenate([[0], np.cumsum(sizes)])
    at = np.arange(total[-1]) - np.repeat(total[:-1] - begin, sizes)
    return np.repeat(np.arange(len(match)), sizes), event[at]


@dataclass(frozen=True)
class Copies:
    """The events of some nodes, moved by the offsets there; equal copies are one.

    `keys` has a row for each copy, in order: event, whether it has the mass of its offset, and its shift;
    `names` the same as one value each.
    """

    frames: Frames
    nodes: Nodes
    keys: Indexes
    names: _Names
    masses: Masses

    @classmethod
    def of(cls, frames: Frames, nodes: Nodes) -> Copies:
        size = frames.sizes
        begin = np.concatenate([[0], np.cumsum(size)])[nodes.match]
        sizes = size[nodes.match]
        total = np.concatenate([[0], np.cumsum(sizes)])
        at = np.arange(total[-1]) - np.repeat(total[:-1] - begin, sizes)
        row = np.repeat(np.arange(len(nodes)), sizes)
        keys = copy_keys(frames, nodes, row, frames.event[at])
        names, first = np.unique(_named(keys, nodes), return_index=True)
        keys = keys[first]
        return cls(frames, nodes, keys, names, copy_masses(frames.clocks, keys))

    def number(self, row: Indexes, event: Indexes) -> Indexes:
        """The copies of some events at some nodes."""
        wanted = copy_keys(self.frames, self.nodes, row, event)
        return np.searchsorted(self.names, _named(wanted, self.nodes))


def _named(keys: Indexes, nodes: Nodes) -> _Names:
    """One value for every key, in the order of keys: an integer where there is room, else a record."""
    least, most = int(nodes.offset.min(initial=0)), int(nodes.offset.max(initial=0))
    if (most - least + 1) * 2 * (int(keys[:, 0].max(initial=0)) + 1) < 2**63:
        names: _Names = (2 * keys[:, 0] + keys[:, 1]) * (most - least + 1) + (keys[:, 2] - least)
        return names
    fields = [("event", np.int64), ("convolved", np.int64), ("shift", np.int64)]
    return np.ascontiguousarray(keys).view(fields).reshape(-1)


def copy_keys(frames: Frames, nodes: Nodes, row: Indexes, event: Indexes) -> Indexes:
    level = frames.level_of(nodes.match[row], event)
    shift = np.zeros(len(event), dtype=np.int64)
    summed = np.flatnonzero(level > REFERENCE)
    shift[summed] = nodes.offset[row[summed], level[summed] - 1]
    return np.stack([event, (level == CONVOLVED).astype(np.int64), shift], axis=1)


def copy_masses(clocks: EventClocks, keys: Indexes) -> Masses:
    """Masses of copies: the own part moved, or the mass of own part and offset together."""
    event, convolved, shift = keys[:, 0], keys[:, 1] == 1, keys[:, 2].copy()
    if (clocks.own.lower[event[convolved]] < clocks.own.upper[event[convolved]]).any():
        return curved_masses(clocks, event, convolved, shift)
    shift[convolved] = clocks.own.lower[event[convolved]]
    return moved_masses(clocks, np.where(convolved, -1 - clocks.clock[event], event), shift)
