"""The one sum over the offsets of clocks: where these put events, what is measured there, added up.

Given all offsets, events are independent again: each has its own part, moved.  A moved event is an event of
its own here, a copy.  Whatever measures matches without clocks measures these copies, at few offsets for each
match (nodes.py), and the sums are exact.  A match of events that no clock stamped has one node of weight 1.

    what is summed                             its copies                     where, in `engines`
    matches, anywhere or within spans          equal ones are one             clocks/conditioned
    matches in the worlds that GIVEN leaves    of each node apart, and tied   given/clocked_confidences
    matches of interval events                 of starts and of ends          intervals/on_clocks
    rows of OR and of GROUP BY                 variables of their clauses     clocks/unions
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.bindings import Bindings, Group, take
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.clocks.breakpoints import OffsetBreakpoints
from cepctl.engines.confidence.clocks.frames import CONVOLVED, REFERENCE, Frames
from cepctl.engines.confidence.clocks.nodes import Nodes, nodes_of, offset_range
from cepctl.engines.confidence.clocks.offset_masses import moved_masses
from cepctl.engines.confidence.clocks.summed_masses import curved_masses
from cepctl.engines.confidence.measured import Measured, Total
from cepctl.engines.pattern.bound_matches import BoundMatches

COPIES_AT_ONCE = 400_000
"""Copies of events that are measured together."""

_Names: TypeAlias = np.ndarray[tuple[int], np.dtype[Any]]


@dataclass(frozen=True)
class OffsetSum:
    """What n rows are summed over: offsets by frames, between breakpoints; their ranges only if `ranges`."""

    frames: Frames
    breakpoints: OffsetBreakpoints
    ranges: bool = True

    def nodes(
        self,
        rows: Indexes | None = None,
        sizes: Indexes | None = None,
        *,
        at_once: int = COPIES_AT_ONCE,
        costly: Flags | None = None,
    ) -> Iterator[Nodes]:
        """The nodes of some rows, or all, in blocks; those that only tell ranges last, by themselves.

        `sizes`: how much of a block each row takes at a node, its events if nothing is said.  Rows with too
        many nodes are marked in `costly`, where that is given.

        Raises
        ------
        QueryTooLargeError
            If a row has too many nodes.
        """
        sizes = np.diff(self.frames.offsets) if sizes is None else sizes
        rows = np.arange(len(self.frames)) if rows is None else rows
        levels = self.frames.levels[rows]
        for level in np.unique(levels).tolist():
            alike = rows[levels == level]
            every = nodes_of(self.frames, alike, self.breakpoints, edges=self.ranges, costly=costly)
            edge = every.weight == 0.0
            for nodes in (every.taken(~edge), every.taken(edge)) if edge.any() else (every,):
                yield from nodes.in_blocks(sizes, at_once)

    def add(self, total: Total, nodes: Nodes, found: Measured, chance: Reals | float = 1.0) -> None:
        """Add what was measured at nodes; `chance`: how probable it is there what that is conditioned on."""
        weight, moved = nodes.weight * chance, found.shifted(*offset_range(self.frames, nodes))
        total.add(nodes.match, weight * found.confidence, moved.start, moved.end)
        total.certain[nodes.match[(weight != 0.0) & (found.confidence != 1.0)]] = False

    def measured(self, measuring: Callable[[Nodes], Measured], *, at_once: int = COPIES_AT_ONCE) -> Measured:
        """All rows, from what `measuring` finds at nodes.

        Raises
        ------
        QueryTooLargeError
            If a row has too many nodes, or as `measuring` does.
        """
        total = Total(len(self.frames))
        for nodes in self.nodes(at_once=at_once):
            self.add(total, nodes, measuring(nodes))
        return summed_over_nodes(total)


def summed_over_nodes(total: Total) -> Measured:
    """What was added at nodes: weights add up to 1 but for rounding, and what is certain does so exactly."""
    total.confidence[total.certain & total.possible] = 1.0
    return total.measured()


def copied(frames: Frames, nodes: Nodes, node: Indexes, event: Indexes) -> Masses:
    """The masses of events where offsets put them at nodes, one after the other."""
    return _masses(frames.clocks, _keys(frames, nodes, node, event))


def at_nodes(
    number: Callable[[Indexes, Indexes], Indexes], nodes: Nodes, matches: BoundMatches
) -> BoundMatches:
    """Matches at each of their nodes; `number` gives the copies of pairs of a node and an event."""
    bound: dict[int, Bindings] = {}
    for component, each in matches.bound.items():
        chosen = take(each, nodes.match)
        if isinstance(chosen, Group):
            bound[component] = Group(chosen.offsets, number(chosen.owner, chosen.members))
        else:
            bound[component] = number(np.arange(len(nodes)), chosen)
    rivals = []
    for rival in matches.rivals:
        own = Group.of_owners(len(matches), rival.row, rival.event)
        node, at = nodes.with_each(own.offsets)
        rivals.append(replace(rival, row=node, event=number(node, own.members[at])))
    spans = None if matches.spans is None else matches.spans.take(nodes.match)
    return BoundMatches(bound, rivals, spans)


@dataclass(frozen=True)
class Copies:
    """The events of some nodes, moved by the offsets there; equal copies are one.

    `names` has a value for each copy, in order.
    """

    frames: Frames
    nodes: Nodes
    names: _Names
    masses: Masses

    @classmethod
    def of(cls, frames: Frames, nodes: Nodes) -> Copies:
        """The copies of all events that matter to the matches of nodes."""
        node, at = nodes.with_each(frames.offsets)
        keys = _keys(frames, nodes, node, frames.event[at])
        names, first = np.unique(_named(frames, nodes, keys), return_index=True)
        return cls(frames, nodes, names, _masses(frames.clocks, keys[first]))

    def number(self, node: Indexes, event: Indexes) -> Indexes:
        """The copies of some events at some nodes."""
        keys = _keys(self.frames, self.nodes, node, event)
        return np.searchsorted(self.names, _named(self.frames, self.nodes, keys))


def shifts(frames: Frames, nodes: Nodes, node: Indexes, event: Indexes) -> tuple[Indexes, Ticks]:
    """Of events at nodes the level of the clock, and by how much its offset moves them there."""
    level, shift = frames.level_of(nodes.match[node], event), np.zeros(len(event), dtype=np.int64)
    summed = np.flatnonzero(level > REFERENCE)
    shift[summed] = nodes.offset[node[summed], level[summed] - 1]
    return level, shift


def _keys(frames: Frames, nodes: Nodes, node: Indexes, event: Indexes) -> Indexes:
    """What tells copies: event, whether it has the mass of its offset, and its shift; shape (k, 3)."""
    level, shift = shifts(frames, nodes, node, event)
    return np.stack([event, (level == CONVOLVED).astype(np.int64), shift], axis=1)


def _named(frames: Frames, nodes: Nodes, keys: Indexes) -> _Names:
    """One value for every key, in the order of keys: an integer where there is room, else a record."""
    least, most = int(nodes.offset.min(initial=0)), int(nodes.offset.max(initial=0))
    if (most - least + 1) * 2 * len(frames.clocks.clock) < 2**63:
        names: _Names = (2 * keys[:, 0] + keys[:, 1]) * (most - least + 1) + (keys[:, 2] - least)
        return names
    fields = [("event", np.int64), ("convolved", np.int64), ("shift", np.int64)]
    return np.ascontiguousarray(keys).view(fields).reshape(-1)


def _masses(clocks: EventClocks, keys: Indexes) -> Masses:
    """Masses of copies: the own part moved, or the mass of own part and offset together."""
    event, convolved, shift = keys[:, 0], keys[:, 1] == 1, keys[:, 2].copy()
    if (clocks.own.lower[event[convolved]] < clocks.own.upper[event[convolved]]).any():
        return curved_masses(clocks, event, convolved, shift)
    shift[convolved] = clocks.own.lower[event[convolved]]
    return moved_masses(clocks, np.where(convolved, -1 - clocks.clock[event], event), shift)
