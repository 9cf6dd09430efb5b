"""Rows of a summary whose groups rise in one value under next match: as probable as a sum over takers says.

That some of many groups matches is a union of matches which share nearly all of their events.  Where each is
taken by rule, worlds tell instead, tick by tick, who has taken last.  So it is for one event, a group, and
one event behind it, where conditions are asked of the first event or of single ones.

Between an event and the one that ends the run, events that fit take one after the other.  What fits at one
tick takes in any order, each in a run of its own.  Of all runs up to a tick it is enough to know the one that
has taken the *least* value last: who fits after the last of some run fits after that, and of those that fit
at the next tick it takes the least.

    members, at a tick       1     3, 5 at once    4    5, had it not been passed over
    least taken last         1     3               4    5

A state is this last taker, and which events that fit after it are gone: they came before the run began, or at
the tick of one of its takers.  Where that may be as far as their intervals go, is all that is remembered.
With the end it is alike: the first that fits after the first member ends all runs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.joins import partition_codes
from cepctl.engines.columns.numbering import numbers_of
from cepctl.engines.columns.predicates import fitting_events
from cepctl.engines.pattern.rivals import link_holds_for_pairs
from cepctl.language.strategies import Absent
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.plan.plan import Alternative, Plan, Scope
from cepctl.plan.rising_values import RisingValues, rising_values

MOST_STEPS = 1_000_000
"""Of a sum; where there are more, a few seconds of work, it is given up."""
_NONE = -1
_State = tuple[int, int, int]
"""The least last taker (_NONE before the first), the members and the ends that are gone, as bits."""
MOST_TICKS = 1 << 14
"""Between the first and the last tick of a row; beyond that a sum over ticks takes too long."""
_BEFORE, _GROUP, _BEHIND = 0, 1, 2


class TooManyStepsError(Exception):
    """The sum takes too long."""


@dataclass(frozen=True)
class Chances:
    """When n independent events happen, in order of ticks 0 .. t - 1.

    `at`: P(it happens at the tick), shape (n, t).
    """

    at: Reals

    @cached_property
    def since(self) -> list[list[float]]:
        """P(it happens at the tick or later), by event, one tick more."""
        later = np.cumsum(self.at[:, ::-1], axis=1)[:, ::-1]
        return _lists(np.concatenate([later, np.zeros((len(later), 1))], axis=1))

    @cached_property
    def behind(self) -> list[list[float]]:
        """P(it happens later than the tick), by event."""
        return [each[1:] for each in self.since]

    @cached_property
    def upto(self) -> list[list[float]]:
        """P(it happens at the tick or earlier), by event."""
        return _lists(np.cumsum(self.at, axis=1))

    @cached_property
    def now(self) -> list[list[float]]:
        """P(it happens at the tick, if not earlier), by event."""
        return self._share(self.at)

    @cached_property
    def stays(self) -> list[list[float]]:
        """P(it happens later than the tick, if not earlier), by event."""
        return self._share(np.asarray(self.since)[:, 1:])

    def gone(self, tick: int) -> Iterator[tuple[int, float]]:
        """Each set of them that may have happened by a tick, as bits, with its chance."""
        return _subsets(range(len(self.at)), tick, self.upto, self.behind)

    def _share(self, part: Reals) -> list[list[float]]:
        whole = np.asarray(self.since)[:, :-1]
        return _lists(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0))


@dataclass
class TakerSums:
    """P(there is a run), `exists`, and P(it is in one) of each member, shape (k,).

    `begin`: P(the event before the run is at the tick), shape (t,).  `members` by ascending values, those
    without one last; `following` are those whose value fits after each, as bits.  `ends`: what may end the
    run, that of this sum first.  `within`: the run must end so many ticks behind its begin, or sooner.

    Raises
    ------
    TooManyStepsError
        If there are more than MOST_STEPS.
    """

    begin: Reals
    members: Chances
    ends: Chances
    following: Sequence[int]
    within: int | None = None
    exists: float = 0.0
    _flow: dict[_State, float] = field(default_factory=dict)
    _ending: dict[tuple[int, ...], list[float]] = field(default_factory=dict)
    _steps: int = 0

    def __post_init__(self) -> None:
        self.member = np.zeros(len(self.following))
        begins = np.flatnonzero(self.begin)
        if self.within is None:
            self._sweep(self.begin, self.begin.size)
            return
        for tick in begins.tolist():
            self._ending.clear()
            self._sweep(np.where(np.arange(self.begin.size) == tick, self.begin, 0.0), tick + self.within + 1)

    def _sweep(self, begin: Reals, before: int) -> None:
        """Add what comes of these begins, of runs that end before a tick."""
        self._before, self._flow = before, {}
        some = begin + self.members.at.sum(axis=0) + self.ends.at.sum(axis=0)
        for tick in np.flatnonzero(some[:before]).tolist():
            found: dict[_State, float] = defaultdict(float)
            for state, chance in self._flow.items():
                self._step(tick, state, chance, found)
            if begin[tick]:
                for gone, chance in self.members.gone(tick):
                    self._keep(found, tick, (_NONE, gone, 0), begin[tick] * chance)
            self._flow = {state: chance for state, chance in found.items() if chance}

    def _step(self, tick: int, state: _State, chance: float, found: dict[_State, float]) -> None:
        """What happens at a tick in a state, as likely as `chance`."""
        last, gone, over = state
        fit = ~gone if last == _NONE else self.following[last] & ~gone
        now, stays = self.members.now, self.members.stays
        taking = [i for i in range(len(now)) if fit >> i & 1 and now[i][tick]]
        over_then = [(over, 1.0)]
        if last == _NONE:
            # Until the first member has come it does not matter which ends have.
            over_then = [*self.ends.gone(tick)] if taking else []
        else:
            for i in range(len(self.ends.at)):
                if not over >> i & 1 and self.ends.now[i][tick]:
                    chance *= self.ends.stays[i][tick]
        if not chance:
            return
        ended = sum(share * self._ends_later(tick, ends) for ends, share in over_then)
        rest = chance
        for number, taker in enumerate(taking):
            self.member[taker] += chance * now[taker][tick] * ended
            taken, rest = rest * now[taker][tick], rest * stays[taker][tick]
            if last == _NONE:
                self.exists += taken * ended
            for others, share in _subsets(taking[number + 1 :], tick, now, stays):
                for ends, likely in over_then:
                    self._keep(found, tick, (taker, gone | others | 1 << taker, ends), taken * share * likely)
        self._keep(found, tick, state, rest)

    def _keep(self, found: dict[_State, float], tick: int, state: _State, chance: float) -> None:
        """Count a state behind a tick, in which nothing is remembered that decides nothing any more."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise TooManyStepsError
        last, gone, over = state
        if last != _NONE:
            if over & 1:
                return
            gone &= self.following[last]
        found[last, gone & self._open(self.members, tick), over & self._open(self.ends, tick)] += chance

    def _open(self, events: Chances, tick: int) -> int:
        """The events that may happen behind a tick, as bits."""
        return sum(1 << i for i, since in enumerate(events.since) if since[tick + 1])

    def _ends_later(self, tick: int, over: int) -> float:
        """P(the end of this sum is behind the tick, and no other that is not gone before it)."""
        since = self.ends.since
        if over & 1 or not since[0][tick + 1]:
            return 0.0
        others = tuple(i for i in range(1, len(since)) if not over >> i & 1 and since[i][tick + 1])
        if others not in self._ending:
            likely = self.ends.at[0].copy()
            likely[self._before :] = 0.0
            for i in others:
                likely *= np.asarray(since[i][:-1])
            self._ending[others] = [*np.cumsum(likely[::-1])[::-1].tolist(), 0.0]
        known = since[0][tick + 1]
        for i in others:
            known *= since[i][tick + 1]
        return self._ending[others][tick + 1] / known


def _lists(chances: Reals) -> list[list[float]]:
    """As lists, whose values one by one are had in less time than those of arrays."""
    found: list[list[float]] = chances.tolist()
    return found


def _subsets(
    chosen: Sequence[int], tick: int, yes: Sequence[Sequence[float]], no: Sequence[Sequence[float]]
) -> Iterator[tuple[int, float]]:
    """Each set of some events of which something is true at a tick, as bits, with its chance.

    `yes`, `no`: the chances that it is and that it is not, by event and tick.
    """
    some = [i for i in chosen if yes[i][tick]]
    for bits in product((1, 0), repeat=len(some)):
        chance, found = 1.0, 0
        for bit, event in zip(bits, some, strict=True):
            chance *= (yes if bit else no)[event][tick]
            found |= bit << event
        if chance:
            yield found, chance


@dataclass(frozen=True)
class TakerRows:
    """The rows of a plan on its events, of which each is one sum.

    `rising`: the value in whose order members are; `ends`: the events that fit behind the group, alone.
    """

    plan: Plan
    events: Events
    rising: RisingValues
    ends: Indexes
    _known: dict[tuple[int, ...], tuple[float, Reals] | None] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan, events: Events) -> TakerRows | None:
        """None where the rows of a plan are no such sums."""
        (alternative,) = plan.alternatives
        rising = rising_values(alternative)
        if rising is None or not _takes_by_rule(plan, alternative):
            return None
        values = events.frame.get_column(rising.attribute)
        if values.dtype.is_float() and values.is_nan().any():
            return None
        return cls(plan, events, rising, fitting_events(events, alternative.components[_BEHIND]))

    def probabilities(self, before: int, behind: int, members: Indexes) -> tuple[float, Reals] | None:
        """P(there is a match) of a row, and P(it is in one) of each of its members; None where it takes long.

        `members`: all that are in some match.
        """
        key = (before, behind, *members.tolist())
        if key not in self._known:
            self._known[key] = self._sums(before, behind, members)
        return self._known[key]

    def _sums(self, before: int, behind: int, members: Indexes) -> tuple[float, Reals] | None:
        masses = self.events.masses
        order = np.argsort(self._rank[members], kind="stable")
        ends = self._ends(before, behind, int(masses.lower[members].min()))
        if np.isin(ends, members).any():
            return None
        every = np.concatenate([[before], members, ends])
        first, last = int(masses.lower[every].min()), int(masses.upper[behind])
        if last - first >= MOST_TICKS:
            return None
        chances = self._at(every, first, last)
        begin, taking, ending = np.split(chances, [1, 1 + len(members)])
        within = None if self.plan.window is None else self.plan.window - 1
        if within is not None and last - int(masses.lower[before]) <= within:
            within = None
        following = self._following(self._rank[members[order]])
        try:
            found = TakerSums(begin[0], Chances(taking[order]), Chances(ending), following, within)
        except TooManyStepsError:
            return None
        member = np.zeros(len(members))
        member[order] = found.member
        return found.exists, member

    @cached_property
    def _rank(self) -> Indexes:
        """Of each event the rank of its value, in the order in which members rise; nulls have the largest."""
        number = numbers_of(self.events.frame.get_column(self.rising.attribute))
        rank = -number if self.rising.falling else number
        return np.where(number < 0, np.iinfo(np.int64).max, rank)

    def _following(self, rank: Indexes) -> list[int]:
        """Which members may take after each, as bits; none after one without a value."""
        null = rank == np.iinfo(np.int64).max
        fits = rank[None, :] >= rank[:, None] if self.rising.equal else rank[None, :] > rank[:, None]
        fits &= ~null[None, :] & ~null[:, None]
        return [sum(1 << i for i in np.flatnonzero(each).tolist()) for each in fits]

    def _ends(self, before: int, behind: int, since: int) -> Indexes:
        """The event behind the group, and others that may take in its place, later than a tick."""
        (alternative,) = self.plan.alternatives
        masses, found = self.events.masses, self.ends
        found = found[(masses.upper[found] > since) & (masses.lower[found] < masses.upper[behind])]
        found = found[(found != before) & (found != behind)]
        if self.plan.partition_by:
            keys = partition_codes(self.plan.partition_by, self.events)
            found = found[keys[found] == keys[before]]
        for link in alternative.links:
            if link.components == (_BEFORE, _BEHIND):
                row = np.zeros(len(found), np.int64)
                bound: dict[int, Bindings] = {_BEFORE: np.array([before], np.int64)}
                keep = link_holds_for_pairs(alternative, self.events, link, _BEHIND, bound, row, found)
                found = found[keep]
        return np.concatenate([[behind], found])

    def _at(self, events: Sequence[int] | Indexes, first: int, last: int) -> Reals:
        """P(each event is at each tick from the first to the last, and P(it is later), shape (n, t + 1)."""
        masses = self.events.masses
        found = np.zeros((len(events), last - first + 2))
        for row, event in enumerate(np.asarray(events).tolist()):
            for bucket in range(int(masses.starts[event]), int(masses.starts[event + 1])):
                lo, hi, density = (each[bucket] for each in (masses.lo, masses.hi, masses.density))
                begin, end = int(lo) - first, min(int(hi), last) - first + 1
                found[row, begin:end] += density
                found[row, -1] += density * max(int(hi) - max(last, int(lo) - 1), 0)
        return found


def _takes_by_rule(plan: Plan, alternative: Alternative) -> bool:
    """Whether each event between two single ones is taken as soon as it fits by its value alone."""
    if plan.strategy.absent is not Absent.NEARER or plan.given or len(alternative.components) != _BEHIND + 1:
        return False
    single, group, last = alternative.components
    if any(each.negated or each.kleene for each in (single, last)):
        return False
    if not group.ordered or (group.least, group.most) != (1, None) or group.running:
        return False
    if alternative.timings or alternative.choices or alternative.member_timings:
        return False
    pairs = {(_BEFORE, _GROUP), (_BEFORE, _BEHIND)}
    return alternative.blocks == ((0,), (1,), (2,)) and all(
        link.components in pairs if link.scope is Scope.EVENT else link.scope is Scope.ORDER
        for link in alternative.links
    )
