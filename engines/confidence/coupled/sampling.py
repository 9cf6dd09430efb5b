"""Confidence by sampling worlds, with a guaranteed error, where exact sums would cost too much.

A sampled world gives every event of a match and every rival a tick from its own mass; the match holds
in it when one of the match's coupled problems does.  Hoeffding (1963, Theorem 2): the mean of n such
answers is further than `error` from the probability with a probability of at most 2 exp(-2 n error^2).
Worlds that contradict what is given are left out, until there are as many as that asks.

The generator is SplitMix64 (Steele, Lea, Flood 2014), seeded by the signature; events are drawn in
code-point order of their ids.  So a match has the same estimate wherever and beside whatever it is
sampled.  A world draws the offset of each clock of a group, those of tied clocks anew until their ties hold,
and then every event's own tick.  A group needs the events of its components, and of no others.  Records of a
unit of time are drawn in their order at once, which leaves out no world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import ceil, log
from typing import NamedTuple, TypeAlias

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.clocks import NO_CLOCK, NO_TIE, EventClocks
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.tick_sums import plus, tick_count
from cepctl.engines.columns.ties import EventTies, Units
from cepctl.engines.confidence.coupled.problem import NO_EVENT, Clauses, Problems, clauses_of, owned
from cepctl.engines.kernels.kernel import inlined, inner, kernel
from cepctl.engines.pattern.offset_bounds import stamps_of
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes, Reals, Ticks

Seeds: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint64]]
FAILURE_PROBABILITY = 1e-6
"""How probable it is at most that a sampled confidence is further off than the error it carries."""
_MOST_EVENTS = 1_000
_PRODUCTS_OF_WORLD = 8
MOST_DRAWN = 100
"""How many worlds are drawn at most for each that is wanted."""
STEP = np.uint64(0x9E3779B97F4A7C15)
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
_UNUSED_BITS = np.uint64(11)
_UNIT = 2.0**-53
_IN_UNIT = -2
"""The clock of what is drawn in order with others of its unit."""
_ENOUGH = 10_000
"""Worlds after which it is told how many remain."""
_MOST_DRAWN, _STEP, _NO_TIE = MOST_DRAWN, STEP, NO_TIE


@dataclass(frozen=True)
class Sampling:
    """That confidences may be sampled: the error allowed to them, and the events they speak of."""

    error: float
    events: Events

    @property
    def affordable(self) -> int:
        """So many products take as long as the worlds of an estimate."""
        return _PRODUCTS_OF_WORLD * sample_size(self.error)

    def probabilities(self, groups: Sequence[Group], problems: Sequence[Problems]) -> tuple[Indexes, Reals]:
        """Probability that at least one problem of a match holds, for every match that has any.

        Parameters
        ----------
        groups
            Members of every block, by match.
        problems
            What is to be estimated; `match` says to which match a problem belongs.

        Returns
        -------
        The matches, ascending, and an estimate for each, shape (k,).

        Raises
        ------
        QueryTooLargeError
            If too few worlds remain, or something is given of events that share clocks.
        """
        events = self.events
        if events.depends.given and events.depends.on_clocks:
            raise QueryTooLargeError(
                "GIVEN of events that share clocks is not estimated by --approximate; say more in IF "
                "so that it ties fewer events, or leave it out"
            )
        matches = np.unique(np.concatenate([each.match for each in problems]))
        worlds = self.worlds(problems, matches)
        hits, failed = np.zeros(len(matches), dtype=np.int64), np.zeros(3, dtype=np.int64)
        count = sample_size(self.error)
        seeds = self.seeds(groups, matches)
        state = count_hits(worlds, stamps_of(events.stamps), seeds, count, hits, failed)
        if state == CLOCKS_CONTRADICT:
            raise QueryTooLargeError(
                f"--approximate draws offsets of clocks until {count:,} satisfy the ties of their segments, "
                f'and fewer than one of {MOST_DRAWN} does; write residual = "epoch" in the rule of the clock'
            )
        if state == TOO_FEW_REMAIN:
            raise _too_few_remain(worlds, count, *failed.tolist())
        return matches, hits / count

    def worlds(self, problems: Sequence[Problems], groups: Indexes) -> Worlds:
        """What is drawn for groups of problems, whose `match` is one of these, ascending.

        Raises
        ------
        QueryTooLargeError
            If what is given ties too many events to those of a group.
        """
        numbered = [replace(each, match=np.searchsorted(groups, each.match)) for each in problems]
        clauses = clauses_of(numbered, len(groups), limited=True)
        events = self.events
        worlds = worlds_of(clauses, events.stamps, events.tied, events.id_rank)
        sizes = np.diff(worlds.event_offsets)
        for size in sizes[(np.diff(worlds.given_offsets) > 0) & (sizes > _MOST_EVENTS)][:1].tolist():
            raise QueryTooLargeError(
                f"GIVEN ties {size:,} events to a match, and worlds of at most {_MOST_EVENTS:,} are sampled; "
                "say more in IF so that it ties fewer events, narrow their intervals, or leave it out"
            )
        return worlds

    def seeds(self, groups: Sequence[Group], rows: Indexes) -> Seeds:
        """A number for each of some matches that follows from its signature alone."""
        return np.array([self.seed(groups, int(row)) for row in rows], dtype=np.uint64)

    def seed(self, groups: Sequence[Group], row: int) -> int:
        """A number that follows from the signature alone."""
        ids = self.events.ids
        blocks = [ids.gather(each.members[each.offsets[row] : each.offsets[row + 1]]) for each in groups]
        text = "\n".join("\t".join(block.to_list()) for block in blocks)
        return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def sample_size(error: float) -> int:
    """Worlds to sample for this error, at a probability of failure of FAILURE_PROBABILITY.

    Examples
    --------
    >>> sample_size(0.01)
    72544
    """
    return ceil(log(2.0 / FAILURE_PROBABILITY) / (2.0 * error * error))


def _too_few_remain(worlds: Worlds, wanted: int, group: int, kept: int, drawn: int) -> QueryTooLargeError:
    events = int(np.diff(worlds.event_offsets)[group])
    return QueryTooLargeError(
        f"--approximate draws worlds until {wanted:,} satisfy GIVEN, and only {kept:,} of {drawn:,} do, "
        f"where {events:,} events are of a match or tied to it; say more in IF so that it ties fewer events, "
        "narrow their intervals, allow a larger error, or leave it out"
    )


class Worlds(NamedTuple):
    """What is drawn for each group, as nested offsets: its clocks, then its events; and its clauses.

    `clocks`, shape (c, 2): each, and its tie to the one before it.  `events`, shape (e, 2): each, and the
    place of its clock in the group, or -1; first those that the clauses speak of, then others that are tied
    to these, both by the rank of their ids.  `units`, shape (u, 4): the first tick, the number of ticks, and
    which of `records` are in it, events by their places in the group, in order.  `clauses`, shape (k, 3):
    whether absent, the first difference, and the one after the last; those of problems, and then those that
    are `given` of each group.
    `differences`, shape (d, 3): t_left - t_right <= bound, events by their places in the group.
    """

    clock_offsets: Indexes
    clocks: Indexes
    event_offsets: Indexes
    events: Indexes
    unit_offsets: Indexes
    units: Ticks
    records: Indexes
    given_offsets: Indexes
    problem_offsets: Indexes
    clause_offsets: Indexes
    clauses: Indexes
    differences: Ticks


def worlds_of(clauses: Clauses, clocks: EventClocks, ties: EventTies, id_rank: Indexes) -> Worlds:
    """What is drawn for the groups of these clauses."""
    ends, of_problem, width = np.arange(clauses.groups + 1), clauses.group_of_problems, len(id_rank) + 1
    event_of_rank = np.empty(width, dtype=np.int64)
    event_of_rank[id_rank] = np.arange(len(id_rank))
    problem, event = clauses.events()
    own = np.unique(of_problem[problem] * width + id_rank[event])
    group, component = _components(ties, own // width, event_of_rank[own % width])
    at, begins = owned(ties.member_offsets, component)
    members = np.repeat(group, np.diff(begins)) * width + id_rank[ties.members[at]]
    drawn = np.concatenate([own, np.setdiff1d(members, own)])
    drawn = drawn[np.argsort(drawn // width, kind="stable")]
    whose, events = drawn // width, event_of_rank[drawn % width]
    event_offsets = np.searchsorted(whose, ends).astype(np.int64)
    order = np.argsort(drawn)

    def placed(group: Indexes, side: Indexes) -> Indexes:
        found, known = np.full(len(side), NO_EVENT), np.flatnonzero(side != NO_EVENT)
        named = group[known] * width + id_rank[side[known]]
        found[known] = order[np.searchsorted(drawn, named, sorter=order)] - event_offsets[group[known]]
        return found

    stamped = np.flatnonzero(clocks.clock[events] != NO_CLOCK)
    many = len(clocks.tie) + 1
    of_clocks = np.unique(whose[stamped] * many + clocks.clock[events[stamped]])
    owner, chained = clocks.with_chains(of_clocks // many, of_clocks % many)
    clock_offsets = np.searchsorted(owner, ends).astype(np.int64)
    place = np.full(len(events), -1, dtype=np.int64)
    wanted = whose[stamped] * many + clocks.clock[events[stamped]]
    place[stamped] = np.searchsorted(owner * many + chained, wanted) - clock_offsets[whose[stamped]]
    known = _units_of(ties)
    in_units = known.are(component)
    whole = np.flatnonzero(in_units)
    at, begins = owned(ties.member_offsets, component[whole])
    records = placed(np.repeat(group[whole], np.diff(begins)), ties.members[at])
    place[np.repeat(event_offsets[group[whole]], np.diff(begins)) + records] = _IN_UNIT
    ticks = (known.records + known.spare)[component[whole]]
    units = np.stack([known.begin[component[whole]], ticks, begins[:-1], begins[1:]], axis=1)
    at, begins = owned(ties.tie_offsets, component[~in_units])
    tied = np.repeat(group[~in_units], np.diff(begins))
    of_difference, offsets = of_problem[clauses.problem_of_differences], clauses.difference_offsets
    sides = (placed(of_difference, each) for each in (clauses.left, clauses.right))
    of_problems = np.stack([*sides, clauses.bound], axis=1)
    given = np.stack([placed(tied, ties.left[at]), placed(tied, ties.right[at]), ties.bound[at]], axis=1)
    first = np.concatenate([offsets, offsets[-1] + np.arange(1, len(given) + 1)])
    absent = np.concatenate([clauses.absent, np.zeros(len(given), dtype=bool)])
    return Worlds(
        clock_offsets, np.stack([chained, clocks.tie[chained]], axis=1),
        event_offsets, np.stack([events, place], axis=1),
        np.searchsorted(group[whole], ends).astype(np.int64), units, records,
        len(clauses.absent) + np.searchsorted(tied, ends).astype(np.int64),
        clauses.problem_offsets, clauses.clause_offsets, np.stack([absent, first[:-1], first[1:]], axis=1),
        np.concatenate([of_problems, given]),
    )  # fmt: skip


def _components(ties: EventTies, group: Indexes, event: Indexes) -> tuple[Indexes, Indexes]:
    """Pairs of a group and a component that it touches, each once."""
    component, many = ties.component[event], max(len(ties.sizes), 1)
    pairs = np.unique((group * many + component)[component >= 0])
    return pairs // many, pairs % many


def _units_of(ties: EventTies) -> Units:
    """Which components are records of a unit: none where nothing stands in series."""
    if ties.series is not None:
        return ties.series.found().units
    none = np.zeros(len(ties.sizes), dtype=np.int64)
    return Units(none, none, none)


REMAIN, CLOCKS_CONTRADICT, TOO_FEW_REMAIN = range(3)
"""What is known of worlds: enough remain, or too few in which ties of clocks, or what is given, hold."""
_REMAIN, _CLOCKS_CONTRADICT, _TOO_FEW_REMAIN = REMAIN, CLOCKS_CONTRADICT, TOO_FEW_REMAIN


@kernel
def count_hits(worlds, stamps, seeds, count, hits, failed):
    """Per group, in how many of `count` worlds one of its problems holds.

    Returns whether enough worlds remain; where not, `failed` is the group, how many it has, and were drawn.
    """
    # Taken apart before the loop: each look into a value of arrays counts references.
    starts, lo, hi, density = stamps.own.starts, stamps.own.lo, stamps.own.hi, stamps.own.density
    offsets, clause_offsets = stamps.offsets, worlds.clause_offsets
    clauses, differences = worlds.clauses, worlds.differences
    for group in range(len(seeds)):
        clocks = worlds.clocks[worlds.clock_offsets[group] : worlds.clock_offsets[group + 1]]
        events = worlds.events[worlds.event_offsets[group] : worlds.event_offsets[group + 1]]
        units = worlds.units[worlds.unit_offsets[group] : worlds.unit_offsets[group + 1]]
        given, beyond = worlds.given_offsets[group], worlds.given_offsets[group + 1]
        first, last = worlds.problem_offsets[group], worlds.problem_offsets[group + 1]
        offset, tick = np.empty(len(clocks), dtype=np.int64), np.empty(len(events), dtype=np.int64)
        state, broken, kept, tried = seeds[group], 0, 0, 0
        while kept < count:
            tried += 1
            if len(clocks) > 0:
                state, more = _draw_offsets(offsets, clocks, state, offset, _MOST_DRAWN * count)
                broken += more
            state = draw_events(starts, lo, hi, density, events, state, offset, tick)
            state = _draw_units(units, worlds.records, state, tick)
            if clauses_hold(clauses, differences, given, beyond, tick):
                kept += 1
                for p in range(first, last):
                    if clauses_hold(clauses, differences, clause_offsets[p], clause_offsets[p + 1], tick):
                        hits[group] += 1
                        break
            # So few of many that what is still to be drawn does not make up for it.
            hopeless = tried >= max(count, _ENOUGH) and 2 * _MOST_DRAWN * kept < tried
            if broken > _MOST_DRAWN * count or hopeless or (tried == _MOST_DRAWN * count and kept < count):
                failed[0], failed[1], failed[2] = group, kept, tried
                return _CLOCKS_CONTRADICT if broken > _MOST_DRAWN * count else _TOO_FEW_REMAIN
    return _REMAIN


@inner
def _draw_offsets(offsets, clocks, state, offset, most):
    """Fill the offsets of all clocks; returns the next state, and how many ties broke, `most` or fewer."""
    broken, c = 0, 0
    while c < len(clocks) and broken <= most:
        state += _STEP
        offset[c] = drawn(state, clocks[c, 0], offsets.starts, offsets.lo, offsets.hi, offsets.density)
        if clocks[c, 1] != _NO_TIE and abs(offset[c] - offset[c - 1]) > clocks[c, 1]:
            broken += 1
            # All of a chain are drawn again.
            while clocks[c, 1] != _NO_TIE:
                c -= 1
        else:
            c += 1
    return state, broken


@inlined
def draw_events(starts, lo, hi, density, events, state, offset, tick):
    """Fill the ticks of all events of a group; returns the next state."""
    for e in range(len(events)):
        if events[e, 1] == _IN_UNIT:
            continue
        state += _STEP
        tick[e] = drawn(state, events[e, 0], starts, lo, hi, density)
        if events[e, 1] >= 0:
            tick[e] += offset[events[e, 1]]
    return state


@inner
def _draw_units(units, records, state, tick):
    """Fill the ticks of all records of units; returns the next state.

    Every choice of so many ticks is equally probable: Floyd's sampling (Bentley, Floyd, CACM 1987), sorted.
    """
    for u in range(len(units)):
        begin, ticks, first, end = units[u, 0], units[u, 1], units[u, 2], units[u, 3]
        for i in range(first, end):
            largest = ticks - (end - i)
            state += _STEP
            own = begin + min(np.int64(unit_of(state) * (largest + 1.0)), largest)
            at = i
            while at > first and tick[records[at - 1]] > own:
                at -= 1
            if at > first and tick[records[at - 1]] == own:
                at, own = i, begin + largest
            for k in range(i, at, -1):
                tick[records[k]] = tick[records[k - 1]]
            tick[records[at]] = own
    return state


@inlined
def clauses_hold(clauses, differences, first, last, tick):
    """Whether all of these clauses hold."""
    held = True
    for k in range(first, last):
        every = True
        for d in range(clauses[k, 1], clauses[k, 2]):
            x, y = differences[d, 0], differences[d, 1]
            left = np.int64(0) if x < 0 else tick[x]
            right = np.int64(0) if y < 0 else tick[y]
            if left > plus(right, differences[d, 2]):
                every = False
                break
        if every == (clauses[k, 0] != 0):
            held = False
            break
    return held


@inlined
def unit_of(state):
    """A number from 0 to 1, from a state of the generator."""
    mixed = (state ^ (state >> _SHIFT_1)) * _MIX_1
    mixed = (mixed ^ (mixed >> _SHIFT_2)) * _MIX_2
    mixed = mixed ^ (mixed >> _SHIFT_3)
    return np.float64(mixed >> _UNUSED_BITS) * _UNIT


@inlined
def drawn(state, event, starts, lo, hi, density):
    """A tick of an event, from its mass and a state of the generator."""
    left = unit_of(state)
    last = starts[event + 1] - 1
    for b in range(starts[event], last):
        mass = density[b] * tick_count(lo[b], hi[b])
        if left < mass:
            return within(left, lo[b], hi[b], density[b])
        left -= mass
    return within(left, lo[last], hi[last], density[last])


_FARTHEST = 2.0**63 - 1024.0  # The greatest float that int64 holds.


@inlined
def within(left, lo, hi, density):
    """The tick of a bucket up to which it has so much mass."""
    return min(plus(lo, np.int64(min(left / density, _FARTHEST))), hi)
