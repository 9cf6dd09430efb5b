"""The probability that some row of a group holds, for events that share clocks.

Given the offsets that have to be summed over, every row asks for differences between independent variables
again: own parts, and offsets that stand for sharp events.  That is what the room `occurrence` measures; it is
summed over few offsets (nodes), between the walls of each part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.clocks.frames import Frames
from cepctl.engines.clocks.nodes import MOST_NODES, Nodes, nodes_of
from cepctl.engines.clocks.offset_masses import moved_masses
from cepctl.engines.clocks.union_frames import (
    EVENT,
    LEVEL,
    OFFSET,
    SUBSTITUTED,
    is_wide,
    moved_bounds,
    places_of,
    union_frames,
    union_parts,
)
from cepctl.engines.clocks.union_variables import MOST_BREAKPOINTS, part_variables, walls_of_parts
from cepctl.engines.clocks.walls import Segments
from cepctl.engines.columns.clocks import EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.work import AT_OFFSETS, NARROW, too_costly
from cepctl.engines.occurrence.clauses import NO_EVENT, Clauses
from cepctl.engines.occurrence.occurrence import Occurrences
from cepctl.errors import QueryTooLargeError

DIFFERENCES_AT_ONCE = 400_000

MeasuringClauses = Callable[[Events, Clauses], Occurrences]
"""From independent events and clauses of these to the occurrences of groups."""


def occurrences_on_clocks(
    clocks: EventClocks, id_rank: Indexes, clauses: Clauses, measuring: MeasuringClauses, *, give_up: bool
) -> Occurrences:
    """Measure groups of rows whose events share clocks.

    Parameters
    ----------
    clocks, id_rank
        Of all events; the second is the rank of their ids, from 1.
    clauses
        What the rows of each group ask for.
    measuring
        How independent events are measured.
    give_up
        Whether the occurrence of a group that needs its measure at too many offsets is NaN.

    Raises
    ------
    QueryTooLargeError
        If there is such a group, and it is not.
    """
    parts = union_parts(clocks, clauses)
    frames = union_frames(clocks, parts.clauses)
    count = len(frames.levels)
    walls, costly = walls_of_clauses(frames, parts.clauses)
    if costly.any() and not give_up:
        raise _too_many(int(frames.levels[costly][0]), f"{MOST_BREAKPOINTS:,} breakpoints of an event")
    total, certain = np.where(costly, np.nan, 0.0), np.ones(count, dtype=np.int64)
    figures = [np.zeros(parts.groups, dtype=np.int64) for _ in range(3)]
    for nodes in _nodes(frames, parts.clauses, walls, np.flatnonzero(~costly)):
        if isinstance(nodes, int):
            if not give_up:
                raise _too_many(int(frames.levels[nodes]), f"{MOST_NODES:,} combinations of offsets")
            total[nodes] = np.nan
            continue
        events, moved = _given_offsets(frames, nodes, id_rank, parts.clauses)
        found = measuring(events, moved)
        np.add.at(total, nodes.match, nodes.weight * found.probability)
        certain[nodes.match[found.probability < 1.0]] = 0
        unknown = np.flatnonzero(np.isnan(found.probability))
        for into, values in zip(figures, (found.hubs, found.rows, found.products), strict=True):
            into[parts.of[nodes.match[unknown]]] = values[unknown]
    probability: Reals = np.where(certain.astype(bool) & ~np.isnan(total), 1.0, np.minimum(total, 1.0))
    return Occurrences(parts.together(probability), *figures)


def _nodes(
    frames: Frames, clauses: Clauses, walls: Mapping[tuple[int, int], Segments], parts: Indexes
) -> Iterator[Nodes | int]:
    """The nodes of some parts, in blocks of bounded size; a part alone where it has too many."""
    wide = is_wide(frames.clocks)[frames.event]
    count, width = len(frames.levels), max(len(frames.clocks.offsets.lower), 1)
    degree = np.bincount(frames.match[wide], minlength=count)
    degree += np.bincount(frames.keys[frames.level == SUBSTITUTED] // width, minlength=count)
    sizes = np.diff(clauses.difference_offsets[clauses.clause_offsets[clauses.problem_offsets]])
    most = int(frames.levels.max(initial=-1))
    waiting = [parts[frames.levels[parts] == levels] for levels in range(most, -1, -1)]
    while waiting:
        alike = waiting.pop()
        if not len(alike):
            continue
        try:
            nodes = nodes_of(frames, alike, walls, degree, edges=False)
        except QueryTooLargeError:
            if len(alike) == 1:
                yield int(alike[0])
            else:
                waiting += [alike[len(alike) // 2 :], alike[: len(alike) // 2]]
            continue
        yield from nodes.in_blocks(sizes, DIFFERENCES_AT_ONCE)


def _too_many(levels: int, what: str) -> QueryTooLargeError:
    why = f"it sums over {levels} clocks of its events and of those that could break its matches"
    return too_costly("the occurrence of a key", AT_OFFSETS, what, why, NARROW, "group by more")


def _given_offsets(
    frames: Frames, nodes: Nodes, id_rank: Indexes, clauses: Clauses
) -> tuple[Events, Clauses]:
    """The clauses of a part once for each of its nodes, and the independent events that they speak of."""
    taken = clauses.of_groups(nodes.match)
    clause = np.repeat(np.arange(len(taken.absent)), np.diff(taken.difference_offsets))
    problem = np.repeat(np.arange(len(taken.clause_offsets) - 1), np.diff(taken.clause_offsets))
    node = np.repeat(np.arange(len(nodes)), np.diff(taken.problem_offsets))[problem[clause]]
    copies = _Copies(frames, nodes, id_rank)
    left, left_by = copies.of(node, taken.left)
    right, right_by = copies.of(node, taken.right)
    bound = moved_bounds(taken.bound, right_by - left_by)
    events, (left, right) = copies.events(left, right)
    return events, taken._replace(left=left, right=right, bound=bound)


class _Copies:
    """The variables of some nodes: events where offsets put them, and offsets that stand for sharp events.

    A variable is told by a record (event, shift), or (-1 - clock, 0) of an offset.
    """

    def __init__(self, frames: Frames, nodes: Nodes, id_rank: Indexes) -> None:
        self.frames, self.nodes, self.id_rank = frames, nodes, id_rank

    def of(self, node: Indexes, event: Indexes) -> tuple[Indexes, Ticks]:
        """Records of the variables of events at nodes, shape (k, 3), and what is to be added to their ticks.

        The columns: whether there is a variable, its event or -1 - clock, its shift.
        """
        places = places_of(self.frames, self.nodes.match[node], event)
        by = places.by.copy()
        at_level = np.flatnonzero(places.kind == LEVEL)
        by[at_level] += self.nodes.offset[node[at_level], places.variable[at_level]]
        records = np.zeros((len(event), 3), dtype=np.int64)
        records[:, 0] = (places.kind == EVENT) | (places.kind == OFFSET)
        own = np.flatnonzero(places.kind == EVENT)
        level = self.frames.level_of(self.nodes.match[node[own]], event[own])
        summed = np.flatnonzero(level > 0)
        records[own, 1] = event[own]
        records[own[summed], 2] = self.nodes.offset[node[own[summed]], level[summed] - 1]
        offsets = np.flatnonzero(places.kind == OFFSET)
        records[offsets, 1] = -1 - places.variable[offsets]
        return records, by

    def events(self, *records: Indexes) -> tuple[Events, list[Indexes]]:
        """The variables as events, and the row number of each record, NO_EVENT where it has none."""
        clocks = self.frames.clocks
        every = np.concatenate(records)
        real = every[every[:, 0] == 1]
        rank = np.where(
            real[:, 1] < 0, len(self.id_rank) - real[:, 1], self.id_rank[np.maximum(real[:, 1], 0)]
        )
        order = np.lexsort((real[:, 2], rank))
        fresh = np.ones(len(order), dtype=bool)
        sorted_rank, shift = rank[order], real[order, 2]
        fresh[1:] = (sorted_rank[1:] != sorted_rank[:-1]) | (shift[1:] != shift[:-1])
        number = np.empty(len(order), dtype=np.int64)
        number[order] = np.cumsum(fresh) - 1
        numbers = np.full(len(every), NO_EVENT, dtype=np.int64)
        numbers[every[:, 0] == 1] = number
        chosen = real[order[fresh]]
        masses = moved_masses(clocks, chosen[:, 1], chosen[:, 2])
        # They stand in the order of their ranks.
        frame = pl.DataFrame({"event_id": np.arange(len(chosen))})
        ends = np.cumsum([len(each) for each in records])[:-1]
        return Events(masses, frame), np.split(numbers, ends)


def walls_of_clauses(frames: Frames, clauses: Clauses) -> tuple[dict[tuple[int, int], Segments], Flags]:
    """The walls of all parts, as `nodes_of` takes them, and which parts have too many."""
    count, most = len(frames.levels), int(frames.levels.max(initial=0))
    costly = np.zeros(count, dtype=bool)
    if not most:
        return {}, costly
    parts = part_variables(frames, clauses)
    found = np.empty((64 * count, 4), dtype=np.int64)
    while (number := walls_of_parts(parts, found, costly)) > len(found):
        found = np.empty((number, 4), dtype=np.int64)
    part, later, earlier, constant = found[:number].T
    walls = {}
    for level in range(1, most + 1):
        for before in range(level):
            rows = np.flatnonzero((later == level - 1) & (earlier == before - 1))
            walls[before, level] = Segments.of(count, part[rows], constant[rows])
    return walls, costly
