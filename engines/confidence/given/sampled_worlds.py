"""Confidence of matches of tied events by sampling, where exact sums would cost too much.

Worlds are drawn as if nothing were given, and those that contradict it are left out, until there are as
many as Hoeffding's bound asks.  A match needs the events of its components, and of no others.  At most
MOST_DRAWN times as many worlds are drawn; what then lacks some is refused, with the share that remains.

The numbers are those of SplitMix64, seeded by the signature as in
`cepctl.engines.confidence.coupled.sampling`, and events are drawn in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepctl.arrays import Flags, Indexes, Reals, Ticks
from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.masses import Masses, ticks_between
from cepctl.engines.columns.ties import EventTies
from cepctl.engines.confidence.coupled.problem import NO_VARIABLE, Problems, owned
from cepctl.engines.confidence.coupled.sampled_conditions import Conditions, conditions_of
from cepctl.engines.confidence.coupled.sampling import STEP, Sampling, sample_size
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.errors import QueryTooLargeError

MOST_DRAWN = 100
"""How many worlds are drawn at most for each that is wanted."""
_TICKS_AT_ONCE = 1 << 20
_MOST_EVENTS = 1_000
_ENOUGH = 10_000
_MIX_1, _MIX_2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_SHIFT_1, _SHIFT_2, _SHIFT_3 = np.uint64(30), np.uint64(27), np.uint64(31)
_UNUSED_BITS = np.uint64(11)


@dataclass(frozen=True)
class TiedSampling(Sampling):
    """As `Sampling`, of events some of which are tied."""

    def probabilities(self, groups: Sequence[Group], problems: Sequence[Problems]) -> tuple[Indexes, Reals]:
        """As `Sampling.probabilities`, in the worlds that remain.

        Raises
        ------
        QueryTooLargeError
            If too few worlds remain, or events share clocks.
        """
        ties = self.events.tied
        if self.events.depends.on_clocks:
            raise QueryTooLargeError(
                "GIVEN of events that share clocks is not estimated by --approximate; say more in IF "
                "so that it ties fewer events, or leave it out"
            )
        conditions = conditions_of(problems, self.events.id_rank)
        if not ties.touches(conditions.events).any():
            return super().probabilities(groups, problems)
        seeds = self.seeds(groups, conditions.match)
        found = [
            _share(_Worlds.of(self.events, ties, conditions, number), int(seed), sample_size(self.error))
            for number, seed in enumerate(seeds)
        ]
        return conditions.match, np.array(found)


@dataclass(frozen=True)
class _Worlds:
    """What is drawn for one match: its events, then others that are tied to them; ties are between places."""

    conditions: Conditions
    number: int
    masses: Masses
    events: Indexes
    left: Indexes
    right: Indexes
    bound: Ticks

    @classmethod
    def of(cls, events: Events, ties: EventTies, conditions: Conditions, number: int) -> _Worlds:
        own = slice(*conditions.event_offsets[number : number + 2])
        bound = conditions.events[own]
        components = np.unique(ties.component[bound])
        components = components[components >= 0]
        members = ties.members[owned(ties.member_offsets, components)[0]]
        others = np.setdiff1d(members, bound)
        drawn = np.concatenate([bound, others[np.argsort(events.id_rank[others])]])
        at, _ = owned(ties.tie_offsets, components)
        order = np.argsort(drawn)
        left, right = (order[np.searchsorted(drawn[order], side[at])] for side in (ties.left, ties.right))
        return cls(conditions, number, events.masses, drawn, left, right, ties.bound[at])

    def drawn(self, state: int, count: int) -> tuple[Ticks, int]:
        """Ticks of all events in some worlds, shape (events, worlds), and the next state of the generator."""
        size = len(self.events)
        step = np.arange(1, size * count + 1, dtype=np.uint64)
        with np.errstate(over="ignore"):
            states = np.uint64(state) + step * np.uint64(STEP)
            mixed = (states ^ (states >> _SHIFT_1)) * _MIX_1
            mixed = (mixed ^ (mixed >> _SHIFT_2)) * _MIX_2
        mixed ^= mixed >> _SHIFT_3
        unit = ((mixed >> _UNUSED_BITS).astype(np.float64) * 2.0**-53).reshape(count, size)
        ticks = np.stack([_drawn(self.masses, int(e), unit[:, at]) for at, e in enumerate(self.events)])
        return ticks, int(states[-1])

    def possible(self, ticks: Ticks) -> Flags:
        """Which worlds what is given allows."""
        held = np.ones(ticks.shape[1], dtype=bool)
        for left, right, bound in zip(self.left, self.right, self.bound, strict=True):
            held &= ticks[left] - ticks[right] <= bound
        return held

    def holds(self, ticks: Ticks) -> Flags:
        """In which worlds some problem of the match holds."""
        offsets = self.conditions.problem_offsets
        found = np.zeros(ticks.shape[1], dtype=bool)
        for problem in range(int(offsets[self.number]), int(offsets[self.number + 1])):
            found |= self._problem_holds(problem, ticks)
        return found

    def _problem_holds(self, problem: int, ticks: Ticks) -> Flags:
        told = self.conditions
        own = told.variables[slice(*told.variable_offsets[problem : problem + 2])]
        held = np.ones(ticks.shape[1], dtype=bool)
        for place, lower, upper in own:
            held &= (ticks[place] >= lower) & (ticks[place] <= upper)
        for i, j, bound in told.edges[slice(*told.edge_spans[problem])]:
            if abs(int(bound)) < UNBOUNDED:
                held &= ticks[own[i, 0]] - ticks[own[j, 0]] <= bound
        for place, first, beyond in told.factors[slice(*told.factor_offsets[problem : problem + 2])]:
            for inside, begin, end in told.regions[first:beyond]:
                held &= self._is_inside(ticks, ticks[place], own, slice(begin, end)) == bool(inside)
        return held

    def _is_inside(self, ticks: Ticks, tick: Ticks, own: Indexes, bounds: slice) -> Flags:
        found = np.ones(len(tick), dtype=bool)
        for is_lower, variable, constant in self.conditions.bounds[bounds]:
            at = constant if variable == NO_VARIABLE else ticks[own[variable, 0]] + constant
            found &= tick >= at if is_lower else tick <= at
        return found


def _drawn(masses: Masses, event: int, unit: Reals) -> Ticks:
    """Ticks of an event from numbers below 1."""
    own = slice(int(masses.starts[event]), int(masses.starts[event + 1]))
    lo, hi, density = masses.lo[own], masses.hi[own], masses.density[own]
    before = np.concatenate([[0.0], np.cumsum(density * ticks_between(lo, hi))])
    bucket = np.clip(np.searchsorted(before, unit, side="right") - 1, 0, len(lo) - 1)
    within = np.maximum(unit - before[bucket], 0.0) / density[bucket]
    ticks: Ticks = lo[bucket] + np.minimum(within, ticks_between(lo, hi)[bucket] - 1).astype(np.int64)
    return np.minimum(ticks, hi[bucket])


def _share(worlds: _Worlds, state: int, wanted: int) -> float:
    """In which share of the first `wanted` worlds that remain the match holds."""
    size = len(worlds.events)
    if size > _MOST_EVENTS:
        raise QueryTooLargeError(
            f"GIVEN ties {size:,} events to a match, and worlds of at most {_MOST_EVENTS:,} are sampled; say "
            "more in IF so that it ties fewer events, narrow their intervals, or leave it out"
        )
    at_once = min(_TICKS_AT_ONCE // size, MOST_DRAWN * wanted)
    kept = hits = drawn = 0
    while kept < wanted:
        ticks, state = worlds.drawn(state, at_once)
        left = np.flatnonzero(worlds.possible(ticks))[: wanted - kept]
        kept, drawn = kept + len(left), drawn + at_once
        hits += int(worlds.holds(ticks[:, left]).sum())
        # So few of many that what is still to be drawn does not make up for it.
        hopeless = drawn >= max(wanted, _ENOUGH) and 2 * MOST_DRAWN * kept < drawn
        if kept < wanted and (hopeless or drawn >= MOST_DRAWN * wanted):
            raise QueryTooLargeError(
                f"--approximate draws worlds until {wanted:,} satisfy GIVEN, and only {kept:,} of "
                f"{drawn:,} do, where {size:,} events are of a match or tied to it; say more in IF so that "
                "it ties fewer events, narrow their intervals, allow a larger error, or leave it out"
            )
    return hits / wanted
