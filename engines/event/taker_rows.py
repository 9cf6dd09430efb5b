"""Rows of a summary whose groups rise in one value under next match: as probable as a sum over takers says.

That some of many groups matches is a union of matches which share nearly all of their events.  Where each is
taken by rule, worlds tell instead, tick by tick, who has taken last (`taker_sums`).  So it is for one event,
a group, and one event behind it, where conditions are asked of the first event or of single ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.columns.events import Events
from cepctl.engines.columns.join_keys import partition_codes
from cepctl.engines.columns.numbering import numbers_of
from cepctl.engines.columns.predicates import fitting_events
from cepctl.engines.event.taker_sums import Chances, TakerSums, TooManyStepsError
from cepctl.engines.pattern.rivals import link_holds_for_pairs
from cepctl.language.strategies import Absent
from cepctl.numeric.arrays import Indexes, Reals
from cepctl.plan.plan import Alternative, Plan, Scope
from cepctl.plan.rising_values import RisingValues, rising_values

MOST_TICKS = 1 << 14
"""Between the first and the last tick of a row; beyond that a sum over ticks takes too long."""
_BEFORE, _GROUP, _BEHIND = 0, 1, 2


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
