"""Tied events where the offsets of their clocks put them: copies whose own ticks alone are uncertain.

Given the offsets, what is given is of independent events again: it narrows their intervals, and many ties
hold everywhere or nowhere.  A combination of offsets where they cannot hold counts for nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.clocks.conditioned import copy_keys, copy_masses
from cepctl.engines.clocks.frames import Frames
from cepctl.engines.clocks.nodes import Nodes
from cepctl.engines.columns.bindings import Bindings, Group
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.ties import EventTies, event_ties
from cepctl.engines.given.components import component_probability
from cepctl.engines.given.series import with_series


@dataclass(frozen=True)
class TiesOf:
    """The tied events that each match needs, and the ties between these, each with its match."""

    events: Group
    match: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks


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

    def copies(self, bound: Bindings) -> Bindings:
        """Events of nodes as copies."""
        if isinstance(bound, Group):
            return Group(bound.offsets, self.number(bound.owner, bound.members))
        return self.number(np.arange(len(bound)), bound)

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
    row, at = _each_with(nodes, np.searchsorted(frames.match, np.arange(len(frames.levels) + 1)))
    names = row * events + frames.event[at]
    masses = copy_masses(frames.clocks, copy_keys(frames, nodes, row, frames.event[at]))
    order = np.argsort(wholes.match, kind="stable")
    node, tie = _each_with(nodes, np.searchsorted(wholes.match[order], np.arange(len(frames.levels) + 1)))
    tie = order[tie]
    left, right = (np.searchsorted(names, node * events + each[tie]) for each in (wholes.left, wholes.right))
    bound = wholes.bound[tie]
    lower, upper = _closed(masses, left, right, bound, int(np.diff(wholes.events.offsets).max(initial=0)))
    masses, inside = _cut(masses, lower, upper)
    chance = np.ones(len(nodes))
    np.multiply.at(chance, row, inside)
    if (chance == 0.0).any():
        left = right = bound = bound[:0]
    open_still = np.flatnonzero(masses.upper[left] - masses.lower[right] > bound)
    ties = event_ties(len(names), left[open_still], right[open_still], bound[open_still])
    ties = with_series(replace(ties, serial=np.zeros(len(ties.serial), dtype=bool)), masses)
    return AtOffsets(nodes, events, names, masses, ties, chance)


def _each_with(nodes: Nodes, offsets: Indexes) -> tuple[Indexes, Indexes]:
    """Every node with all that its match owns by offsets: the node, and which of these."""
    begin, end = offsets[nodes.match], offsets[nodes.match + 1]
    sizes = end - begin
    total = np.concatenate([[0], np.cumsum(sizes)])
    at: Indexes = np.arange(total[-1]) - np.repeat(total[:-1] - begin, sizes)
    return np.repeat(np.arange(len(nodes)), sizes), at


def _closed(masses: Masses, left: Indexes, right: Indexes, bound: Ticks, rounds: int) -> tuple[Ticks, Ticks]:
    """First and last ticks that ties leave; no longer way than over `rounds` events is to be followed."""
    lower, upper = masses.lower.copy(), masses.upper.copy()
    for _ in range(rounds):
        before = lower.copy(), upper.copy()
        np.maximum.at(lower, right, lower[left] - bound)
        np.minimum.at(upper, left, upper[right] + bound)
        if (lower == before[0]).all() and (upper == before[1]).all():
            break
    return lower, upper


def _cut(masses: Masses, lower: Ticks, upper: Ticks) -> tuple[Masses, Reals]:
    """Masses within these ends, renormalised, and how much of each that is; where it is nothing they stay."""
    owner = np.repeat(np.arange(len(lower)), np.diff(masses.starts))
    lo, hi = np.maximum(masses.lo, lower[owner]), np.minimum(masses.hi, upper[owner])
    kept = lo <= hi
    share = np.zeros(len(lo))
    share[kept] = masses.density[kept] * ticks_between(lo[kept], hi[kept])
    inside = np.bincount(owner, share, len(lower))
    whole: Flags = (lower == masses.lower) & (upper == masses.upper)
    none = inside <= 0.0
    kept |= none[owner]
    lo, hi = np.where(none[owner], masses.lo, lo)[kept], np.where(none[owner], masses.hi, hi)[kept]
    density, owner = masses.density[kept].copy(), owner[kept]
    narrowed = ~(whole | none)[owner]
    density[narrowed] /= inside[owner[narrowed]]
    starts = np.searchsorted(owner, np.arange(len(lower) + 1))
    return Masses(lo[starts[:-1]], hi[starts[1:] - 1], starts, lo, hi, density), np.where(whole, 1.0, inside)
