"""The probability that some row of a group holds, for events that share clocks.

The parts of a group that share neither events nor clocks, nor clocks that are tied, are measured by
themselves.  Given the offsets that have to be summed over, every row asks for differences between
independent variables again: own parts, and offsets that stand for sharp events.  That is what the room
`occurrence` measures; it is summed over few offsets (nodes), between the breakpoints of each part.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.engines.columns.clocks import NO_CLOCK, EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses
from cepctl.engines.columns.ties import connected
from cepctl.engines.confidence.clocks import estimates
from cepctl.engines.confidence.clocks.clause_breakpoints import (
    EVENT,
    LEVEL,
    MOST_BREAKPOINTS,
    OFFSET,
    breakpoints_of_clauses,
    frames_of_clauses,
    moved_bounds,
    places_of,
)
from cepctl.engines.confidence.clocks.estimates import refused_at_offsets
from cepctl.engines.confidence.clocks.frames import Frames
from cepctl.engines.confidence.clocks.nodes import Nodes, nodes_in_blocks, shifts
from cepctl.engines.confidence.clocks.offset_masses import moved_masses
from cepctl.engines.confidence.coupled.problem import NO_EVENT, Clauses, Problems, Tied
from cepctl.engines.confidence.occurrence.ends import ends_of
from cepctl.engines.confidence.occurrence.occurrence import Occurrences, occurrences
from cepctl.engines.confidence.occurrence.rows import Rows
from cepctl.numeric.arrays import Indexes, Reals, Ticks

DIFFERENCES_AT_ONCE = 400_000


@dataclass(frozen=True)
class Refusing:
    """Whose probability is refused where it takes too much, and with which advice."""

    what: str
    advice: tuple[str, ...] = ()


OF_ROWS = Refusing("the exact confidence of a match")
OF_KEYS = Refusing("the occurrence of a key", ("group by more",))

MeasuringClauses = Callable[[Events, Clauses], Occurrences]
"""From independent events and clauses of these to the occurrences of groups."""


@dataclass(frozen=True)
class UnionParts:
    """Clauses whose groups are independent parts, and the group `of` that each is a part of, shape (p,)."""

    clauses: Clauses
    of: Indexes
    groups: int

    def together(self, probability: Reals) -> Reals:
        """Of each group the probability that some part of it holds; shape (p,) to shape (groups,)."""
        none = np.ones(self.groups)
        np.multiply.at(none, self.of, 1.0 - probability)
        whole = np.bincount(self.of, minlength=self.groups) == 1
        found: Reals = 1.0 - none
        alone = whole[self.of]
        found[self.of[alone]] = probability[alone]
        return found


def union_parts(clocks: EventClocks, clauses: Clauses) -> UnionParts:
    """The independent parts of every group."""
    problems, group = len(clauses.clause_offsets) - 1, clauses.group_of_problems
    problem, event = clauses.events()
    # An event or a clock is shared within a group alone.
    count = len(clocks.clock)
    clock = clocks.clock[event]
    stamped = np.flatnonzero(clock != NO_CLOCK)
    width = count + len(clocks.offsets.lower)
    chain = clocks.chain[clock[stamped]]
    names = np.concatenate([group[problem] * width + event, group[problem[stamped]] * width + count + chain])
    _, shared = np.unique(names, return_inverse=True)
    left = np.concatenate([problem, problem[stamped]])
    right = problems + shared.reshape(-1)
    label = connected(problems + int(shared.max(initial=-1)) + 1, left, right)[:problems]
    order = np.lexsort((np.arange(problems), label, group))
    fresh = np.ones(problems, dtype=bool)
    fresh[1:] = (np.diff(group[order]) != 0) | (np.diff(label[order]) != 0)
    starts = np.flatnonzero(fresh)
    parted = clauses.of_problems(order, np.append(starts, problems).astype(np.int64))
    return UnionParts(parted, group[order][starts], clauses.groups)


def occurrences_on_clocks(
    clocks: EventClocks,
    measuring: MeasuringClauses,
    events: Events,
    clauses: Clauses,
    refusing: Refusing | None,
) -> Occurrences:
    """Measure groups of rows whose events share clocks.

    Parameters
    ----------
    clocks
        Of all events.
    measuring
        How independent events are measured.
    events, clauses
        What the rows of each group ask of which events.
    refusing
        In which words a group is refused that needs its measure at too many offsets; None where it is NaN.

    Raises
    ------
    QueryTooLargeError
        If there is such a group, and it is refused.
    """
    parts = union_parts(clocks, clauses)
    frames = frames_of_clauses(clocks, parts.clauses)
    breakpoints, costly = breakpoints_of_clauses(frames, parts.clauses)

    def refuse_costly(what: str) -> None:
        if costly.any() and refusing is not None:
            first = int(np.flatnonzero(costly)[0])
            levels, chain = int(frames.levels[first]), frames.longest_chain(first)
            raise refused_at_offsets(refusing.what, what, levels, chain, *refusing.advice)

    refuse_costly(f"{MOST_BREAKPOINTS:,} breakpoints of an event")
    clauses_of = parts.clauses.clause_offsets[parts.clauses.problem_offsets]
    sizes = np.diff(parts.clauses.difference_offsets[clauses_of])
    total, certain = np.zeros(len(frames)), np.ones(len(frames), dtype=bool)
    figures = [np.zeros(parts.groups, dtype=np.int64) for _ in range(3)]
    few = np.flatnonzero(~costly)
    for nodes in nodes_in_blocks(frames, breakpoints, few, sizes, DIFFERENCES_AT_ONCE, costly):
        found = measuring(*_given_offsets(frames, nodes, events.id_rank, parts.clauses))
        np.add.at(total, nodes.match, nodes.weight * found.probability)
        certain[nodes.match[found.probability < 1.0]] = False
        unknown = np.flatnonzero(np.isnan(found.probability))
        for into, values in zip(figures, (found.separators, found.rows, found.products), strict=True):
            into[parts.of[nodes.match[unknown]]] = values[unknown]
    refuse_costly(f"{estimates.MOST_NODES:,} combinations of offsets")
    total[costly] = np.nan
    probability: Reals = np.where(certain & ~np.isnan(total), 1.0, np.minimum(total, 1.0))
    return Occurrences(parts.together(probability), *figures)


@dataclass(frozen=True)
class RowsOnClocks(Rows):
    """Rows of events whose `masses` say where they can be, wherever their `clocks` are."""

    clocks: EventClocks

    @classmethod
    def on(cls, clocks: EventClocks, masses: Masses, problems: Problems, *besides: Tied) -> RowsOnClocks:
        """Each problem as a row of its own."""
        return cls(masses, Rows.of(masses, problems, *besides).clauses, clocks)

    def probability(self) -> Reals:
        """As of points; raises QueryTooLargeError where a row needs its measure at too many offsets."""
        return occurrences_of_rows(self.clocks, self.masses, self.clauses).probability

    def ends(self, first: Indexes, last: Indexes) -> tuple[Ticks, Ticks]:
        """The earliest ticks of events `first` and the latest of `last`, as `ends_of` finds them."""
        return ends_of(self.clocks, self.clauses, first, last)


def occurrences_of_rows(clocks: EventClocks, masses: Masses, clauses: Clauses) -> Occurrences:
    """Measure rows of events that are in the order of their numbers.

    Raises
    ------
    QueryTooLargeError
        If a row needs its measure at too many offsets.
    """
    events = Events(masses, pl.DataFrame({"event_id": np.arange(len(masses.lower))}))
    return occurrences_on_clocks(clocks, occurrences, events, clauses, OF_ROWS)


def _given_offsets(
    frames: Frames, nodes: Nodes, id_rank: Indexes, clauses: Clauses
) -> tuple[Events, Clauses]:
    """The clauses of a part once for each of its nodes, and the independent events that they speak of.

    These are events where offsets put them, and offsets that stand for sharp events, after all others.
    """
    taken = clauses.of_groups(nodes.match)
    node = np.tile(taken.group_of_problems[taken.problem_of_differences], 2)
    event = np.concatenate([taken.left, taken.right])
    places = places_of(frames, nodes.match[node], event)
    known, shift = np.flatnonzero(event != NO_EVENT), np.zeros(len(event), dtype=np.int64)
    shift[known] = shifts(frames, nodes, node[known], event[known])[1]
    left, right = np.split(places.by + np.where(places.kind == LEVEL, shift, 0), 2)
    bound = moved_bounds(taken.bound, right - left)
    real = np.flatnonzero((places.kind == EVENT) | (places.kind == OFFSET))
    source = np.where(places.kind == OFFSET, -1 - places.variable, event)[real]
    moved = np.where(places.kind == EVENT, shift, 0)[real]
    rank = np.where(source < 0, len(id_rank) - source, id_rank[np.maximum(source, 0)])
    order = np.lexsort((moved, rank))
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (np.diff(rank[order]) != 0) | (np.diff(moved[order]) != 0)
    number = np.full(len(event), NO_EVENT, dtype=np.int64)
    number[real[order]] = np.cumsum(fresh) - 1
    chosen = order[fresh]
    masses = moved_masses(frames.clocks, source[chosen], moved[chosen])
    # They stand in the order of their ranks.
    variables = Events(masses, pl.DataFrame({"event_id": np.arange(len(chosen))}))
    left, right = np.split(number, 2)
    return variables, taken._replace(left=left, right=right, bound=bound)
