"""Earliest and latest ticks of problems: the ends of time ranges, and whether there are any, searched for.

Their events may share clocks, or something may be given of them.

Own parts, offsets and present clauses are one system of difference constraints, which has a least solution.
Where that breaks absent clauses, of one of them some difference must not hold: each is tried, as long as the
ticks that are left allow it, of the clause that has the fewest such ways.

    name here      meaning
    node           of a problem: 0 stays at tick 0, then come its clocks and its events
    edge           t_x - t_y <= c, for nodes x and y
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepctl.engines.columns.clocks import NO_CLOCK, NO_TIE, EventClocks
from cepctl.engines.columns.tick_sums import plus
from cepctl.engines.confidence.coupled.problem import NO_EVENT, Clauses, owned
from cepctl.engines.confidence.work import AT_OFFSETS, NARROW, too_costly
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.difference_constraints import propagated
from cepctl.numeric.arrays import Indexes, Ticks

MOST_STEPS, MOST_EDGES = 200_000, 200_000_000
"""Systems that may be solved for one end of one problem, and edges of all of them."""
NEVER = np.iinfo(np.int64).max
_NEVER = NEVER


class _Systems(NamedTuple):
    """Of n problems the edges of present clauses, masses and offsets, and the absent clauses.

    `nodes`: how many each has, beside node 0.  Problem p owns the edges from edge_offsets[p] on, and the
    absent clauses from clause_offsets[p] on, each of which owns differences.
    """

    nodes: Indexes
    edge_offsets: Indexes
    edges: Ticks
    clause_offsets: Indexes
    difference_offsets: Indexes
    differences: Ticks


def ends_of(
    clocks: EventClocks, clauses: Clauses, first: Indexes, last: Indexes, method: str = AT_OFFSETS
) -> tuple[Ticks, Ticks]:
    """The earliest ticks of events `first` and the latest of events `last` of each problem.

    Shapes (problems,) or (problems, k).  What no world satisfies starts at NEVER and ends at -NEVER.
    `method`: in whose words too much work is refused.

    Raises
    ------
    QueryTooLargeError
        If there are too many ways in which rivals of a match can be away.
    """
    systems, nodes = _systems(clocks, clauses, np.concatenate([first.T.reshape(-1), last.T.reshape(-1)]))
    problems = np.arange(len(systems.nodes))
    earliest, latest = np.empty(first.T.shape, np.int64), np.empty(last.T.shape, np.int64)
    mirrored = systems._replace(
        edges=np.ascontiguousarray(systems.edges[:, [1, 0, 2]]),
        differences=np.ascontiguousarray(systems.differences[:, [1, 0, 2]]),
    )
    for found, way, events in ((earliest, systems, first.T), (latest, mirrored, last.T)):
        for ticks, event in zip(np.atleast_2d(found), np.atleast_2d(events), strict=True):
            if not _least_ticks(way, nodes.of(problems, event), ticks, MOST_STEPS, MOST_EDGES):
                why, most = "other events may be away in many ways", f"{MOST_STEPS:,} systems of differences"
                raise too_costly("the exact time range of a match", method, most, why, NARROW)
    return earliest.T, -latest.T


class _Nodes(NamedTuple):
    """Names of the nodes of all problems, ascending, and where those of each begin."""

    names: Indexes
    offsets: Indexes
    width: int
    clocks: int

    def of(self, problem: Indexes, event: Indexes) -> Indexes:
        """The nodes of events."""
        named = problem * self.width + self.clocks + event
        place: Indexes = np.searchsorted(self.names, named) - self.offsets[problem] + 1
        return np.where(event == NO_EVENT, 0, place)

    def of_clock(self, problem: Indexes, clock: Indexes) -> Indexes:
        """The nodes of clocks, node 0 for none."""
        place: Indexes = np.searchsorted(self.names, problem * self.width + clock) - self.offsets[problem] + 1
        return np.where(clock == NO_CLOCK, 0, place)


def _systems(clocks: EventClocks, clauses: Clauses, shown: Indexes) -> tuple[_Systems, _Nodes]:
    """The systems of all problems, in which stand the `shown` events of each, shape (k * problems,), too."""
    count, width = len(clauses.clause_offsets) - 1, len(clocks.offsets.lower)
    problem, event = clauses.events()
    events = len(clocks.clock)
    asked = np.tile(np.arange(count), len(shown) // max(count, 1)) * events + shown
    pairs = np.unique(np.concatenate([problem * events + event, asked[shown != NO_EVENT]]))
    problem, event = pairs // events, pairs % events
    clock = clocks.clock[event]
    stamped = np.flatnonzero(clock != NO_CLOCK)
    of_clocks = np.unique(problem[stamped] * (width + 1) + clock[stamped])
    owner, named = clocks.with_chains(of_clocks // (width + 1), of_clocks % (width + 1))
    names = np.unique(
        np.concatenate([problem * (width + events) + width + event, owner * (width + events) + named])
    )
    offsets = np.searchsorted(names // (width + events), np.arange(count + 1)).astype(np.int64)
    nodes = _Nodes(names, offsets, width + events, width)
    masses = [
        (owner, nodes.of_clock(owner, named), np.zeros(len(owner), np.int64), clocks.offsets, named),
        (problem, nodes.of(problem, event), nodes.of_clock(problem, clock), clocks.own, event),
    ]
    edges, holes = _of_ties(clocks, nodes, owner, named), []
    for whose, node, base, mass, row in masses:
        edges += [
            np.stack([whose, node, base, mass.upper[row]], axis=1),
            np.stack([whose, base, node, -mass.lower[row]], axis=1),
        ]
        of_bucket = np.repeat(np.arange(len(mass.lower)), np.diff(mass.starts))
        gap = np.flatnonzero((np.diff(of_bucket) == 0) & (mass.lo[1:] > mass.hi[:-1] + 1))
        order = np.argsort(row, kind="stable")
        at, begins = owned(np.searchsorted(row[order], np.arange(len(mass.lower) + 1)), of_bucket[gap])
        place, which = order[at], np.repeat(gap, np.diff(begins))
        ends = mass.hi[which] + 1, mass.lo[which + 1] - 1
        holes.append(np.stack([whose[place], node[place], base[place], *ends], axis=1))
    return _written(clauses, nodes, np.concatenate(edges), np.concatenate(holes)), nodes


def _of_ties(clocks: EventClocks, nodes: _Nodes, owner: Indexes, clock: Indexes) -> list[Ticks]:
    """How far apart the offsets of tied clocks can be; all of a chain are among the clocks of a problem."""
    after = np.flatnonzero(clocks.tie[clock] != NO_TIE)
    sides = nodes.of_clock(owner[after], clock[after]), nodes.of_clock(owner[after], clock[after] - 1)
    apart = clocks.tie[clock[after]]
    return [np.stack([owner[after], *each, apart], axis=1) for each in (sides, sides[::-1])]


def _written(clauses: Clauses, nodes: _Nodes, edges: Ticks, holes: Ticks) -> _Systems:
    """The systems of all problems; a hole (problem, node, base, first, last) is where a mass is not."""
    count = len(clauses.clause_offsets) - 1
    clause, of_clause = clauses.clause_of_differences, clauses.problem_of_clauses
    problem = of_clause[clause]
    rows = np.stack(
        [problem, nodes.of(problem, clauses.left), nodes.of(problem, clauses.right), clauses.bound], axis=1
    )
    is_absent = clauses.absent[clause]
    every = np.concatenate([edges, rows[~is_absent]])
    every = every[np.argsort(every[:, 0], kind="stable")]
    owner = np.concatenate([of_clause[clauses.absent], holes[:, 0]])
    sizes = np.concatenate([np.diff(clauses.difference_offsets)[clauses.absent], np.full(len(holes), 2)])
    # Inside of a hole: no later than its last tick, no earlier than its first.
    last = holes[:, [1, 2, 4]]
    first = np.stack([holes[:, 2], holes[:, 1], -holes[:, 3]], axis=1)
    of_holes = np.stack([last, first], axis=1).reshape(-1, 3)
    differences = np.concatenate([rows[is_absent][:, 1:], of_holes])
    order = np.argsort(owner, kind="stable")
    at, total = owned(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64), order)
    ends = np.arange(count + 1)
    return _Systems(
        np.diff(nodes.offsets), np.searchsorted(every[:, 0], ends).astype(np.int64),
        np.ascontiguousarray(every[:, 1:]), np.searchsorted(owner[order], ends).astype(np.int64),
        total, np.ascontiguousarray(differences[at]),
    )  # fmt: skip


@kernel
def _least_ticks(systems, node, found, most_steps, most_edges):
    """Fill the least tick of a node of each problem; False where a search takes too many steps."""
    for p in range(len(found)):
        found[p] = _least_tick(systems, p, node[p], most_steps, most_edges)
        if found[p] == -_NEVER:
            return False
    return True


@inner
def _least_tick(systems, p, node, most_steps, most_edges):
    size = systems.nodes[p] + 1
    own = systems.edges[systems.edge_offsets[p] : systems.edge_offsets[p + 1]]
    first, last = systems.clause_offsets[p], systems.clause_offsets[p + 1]
    depths = last - first + 1
    tick, latest = np.empty((depths + 1, size), np.int64), np.empty((depths + 1, size), np.int64)
    asked, tried = np.empty(depths + 1, np.int64), np.empty(depths + 1, np.int64)
    # A clause is asked once on a way: its differences hold up to one that does not.
    held = np.empty(
        (len(own) + systems.difference_offsets[last] - systems.difference_offsets[first], 3), np.int64
    )
    held[: len(own)] = own
    count = np.empty(depths + 1, np.int64)
    count[0] = len(own)
    tick[0, :], latest[0, :] = -_NEVER, _NEVER
    tick[0, 0] = latest[0, 0] = 0
    best, depth, steps, edges = _NEVER, 0, 0, 0
    fresh = True
    while depth >= 0:
        if fresh:
            steps += 1
            edges += count[depth]
            if steps > most_steps or edges > most_edges:
                return -_NEVER
            asked[depth], tried[depth] = -1, 0
            if propagated(held[: count[depth]], tick[depth], latest[depth]) and tick[depth, node] < best:
                clause, ways = _broken(systems, tick[depth], latest[depth], first, last)
                if clause < 0:
                    best = tick[depth, node]
                elif ways > 0:
                    asked[depth] = clause
            fresh = False
        clause = asked[depth]
        d = -1 if clause < 0 else systems.difference_offsets[clause] + tried[depth]
        if d < 0 or d == systems.difference_offsets[clause + 1] or tick[depth, node] >= best:
            depth -= 1
            continue
        tried[depth] += 1
        if not _can_be_broken(systems, d, tick[depth], latest[depth]):
            continue
        # Those before it hold, for the ways in which they do not have been tried; it does not: t_x - t_y > c.
        at = count[depth]
        for other in range(systems.difference_offsets[clause], d):
            if _can_be_broken(systems, other, tick[depth], latest[depth]):
                held[at] = systems.differences[other]
                at += 1
        held[at, 0], held[at, 1] = systems.differences[d, 1], systems.differences[d, 0]
        held[at, 2] = plus(-systems.differences[d, 2], np.int64(-1))
        depth += 1
        count[depth] = at + 1
        tick[depth], latest[depth] = tick[depth - 1], latest[depth - 1]
        fresh = True
    return best


@inner
def _broken(systems, tick, latest, first, last):
    """Of the absent clauses all of whose differences hold, the one with the fewest ways out, and how many.

    -1 where there is none.
    """
    found, fewest = -1, 0
    for clause in range(first, last):
        broken, ways = True, 0
        for d in range(systems.difference_offsets[clause], systems.difference_offsets[clause + 1]):
            x, y, c = systems.differences[d, 0], systems.differences[d, 1], systems.differences[d, 2]
            if tick[x] > plus(tick[y], c):
                broken = False
                break
            ways += _can_be_broken(systems, d, tick, latest)
        if broken and (found < 0 or ways < fewest):
            found, fewest = clause, ways
            if ways == 0:
                break
    return found, fewest


@inner
def _can_be_broken(systems, d, tick, latest):
    """Whether the ticks that are left allow that a difference does not hold."""
    x, y, c = systems.differences[d, 0], systems.differences[d, 1], systems.differences[d, 2]
    return latest[x] > plus(tick[y], c)
