"""How probable it is that matches of events that share clocks happen, and within a span of ticks each.

As in `conditioned`, given the offsets events are independent: copies, moved, and those that a match binds
are cut where its span ends.  A span stands still while offsets move, so that no offset drops out, and its
ends are cuts like those of events without a clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cepctl.arrays import Reals
from cepctl.engines.clocks.conditioned import (
    Copies,
    Measuring,
    copy_keys,
    copy_masses,
    degree_of,
    repeated,
)
from cepctl.engines.clocks.deciding import BoundEvents, alike_matches, deciding_rivals, groups_of
from cepctl.engines.clocks.frames import Frames, frames_of
from cepctl.engines.clocks.nodes import Nodes, nodes_of
from cepctl.engines.clocks.walls import constants_of, shift_differences, walls_of
from cepctl.engines.columns.bindings import TickSpans, flattened, places_of, take
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.endpoints import cut_masses
from cepctl.engines.columns.masses import Masses
from cepctl.engines.pattern.blocks import Shape
from cepctl.engines.pattern.rivals import Rivals

MATCHES_AT_ONCE = 1_000
COPIES_AT_ONCE = 200_000


def within_on_clocks(
    clocks: EventClocks, envelopes: Masses, shape: Shape, bound: BoundEvents, rivals: Sequence[Rivals],
    spans: TickSpans, measuring: Measuring,
) -> Reals:  # fmt: skip
    """P(a match happens, and all that it binds does so within its span), shape of `spans`.

    The other parameters are those of `conditioned`.

    Raises
    ------
    QueryTooLargeError
        If a match needs its measure at too many offsets, or as `measuring` does.
    """
    found = np.zeros(len(groups_of(shape, bound)[0].sizes))
    for rows, part, others in alike_matches(shape, bound, rivals, MATCHES_AT_ONCE):
        found[rows] = _alike(clocks, envelopes, shape, part, others, spans.take(rows), measuring)
    return found


def _alike(
    clocks: EventClocks, envelopes: Masses, shape: Shape, bound: BoundEvents, rivals: list[Rivals],
    spans: TickSpans, measuring: Measuring,
) -> Reals:  # fmt: skip
    """The same of matches whose groups are of the same sizes."""
    groups = groups_of(shape, bound)
    count = len(groups[0].sizes)
    rivals = deciding_rivals(shape, envelopes, groups, rivals)
    frames = frames_of(clocks, count, list(bound.values()), rivals, absolute=True)
    shifts = shift_differences(shape, envelopes, groups, rivals)
    most = int(frames.levels.max(initial=0))
    walls = walls_of(constants_of(shape), frames, count, shifts, most, spans.cuts)
    degree = degree_of(frames, count)
    found = np.zeros(count)
    for levels in np.unique(frames.levels).tolist():
        matches = np.flatnonzero(frames.levels == levels)
        every = nodes_of(frames, matches, walls, degree, edges=False)
        for nodes in every.in_blocks(frames.sizes, COPIES_AT_ONCE):
            measured = _measured(frames, nodes, bound, rivals, spans.take(nodes.match), measuring)
            np.add.at(found, nodes.match, nodes.weight * measured)
    return np.minimum(found, 1.0)


def _measured(
    frames: Frames, nodes: Nodes, bound: BoundEvents, rivals: list[Rivals], spans: TickSpans,
    measuring: Measuring,
) -> Reals:  # fmt: skip
    """The probability of the matches of nodes, where the offsets there put their events."""
    row, event, numbered = flattened({i: take(each, nodes.match) for i, each in bound.items()})
    copies = copy_masses(frames.clocks, copy_keys(frames, nodes, row, event))
    masses, share = cut_masses(copies, np.arange(len(row)), spans.first[row], spans.last[row])
    inside = np.ones(len(nodes))
    np.multiply.at(inside, row, share)
    possible = np.flatnonzero(inside > 0.0)
    moved = {i: take(each, possible) for i, each in numbered.items()}
    others = []
    if rivals:
        # A rival of several rules is one event, and so is one that the match binds: one copy serves all.
        strangers = Copies.of(frames, nodes)
        masses = masses.followed_by(strangers.masses)
        for rival in rivals:
            of_node, strange = repeated(rival, nodes.match)
            number = places_of(row, event, of_node, strange, len(row) + strangers.number(of_node, strange))
            others.append(replace(rival, row=of_node, event=number).taken(possible))
    found = np.zeros(len(nodes))
    if len(possible):
        found[possible] = inside[possible] * measuring(masses, moved, others).confidence
    return found
