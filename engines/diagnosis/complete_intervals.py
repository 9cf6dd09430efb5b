"""What becomes of complete bindings of interval events: groups, absences, worlds, and the threshold.

Their starts and ends can satisfy what is asked of them; of a group that was told of one member.  Each
clause of GIVEN is checked alone, and so is each negated component, to tell which breaks a binding; a rival
that certainly does is named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.diagnosis.complete_bindings import (
    BINDINGS,
    CompletionReport,
    Signature,
    Tally,
    absence_of,
    completed,
    happening,
    losses_of_groups,
    signature_of,
    without_groups,
)
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.worlds_left import WorldsLeft
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.intervals.independent import BLOCK
from cepctl.engines.intervals.measure import IntervalMeasure
from cepctl.engines.intervals.rivals import FoundRivals, Negation
from cepctl.engines.intervals.search import IntervalSearch, alike_in_size, of_sizes
from cepctl.engines.intervals.tied_matches import cases_without, measured, valid
from cepctl.errors import QueryTooLargeError
from cepctl.plan.plan import Alternative, Plan

_TOGETHER = Condition("timing", "the starts and ends of all events together")


def complete_intervals(
    plan: Plan, alternative: Alternative, worlds: WorldsLeft, rows: Indexes, limit: int = BINDINGS
) -> CompletionReport:
    """Check complete bindings, shape (n, positive components), against what remains.

    One member of a Kleene group stands for it in `rows`.

    Raises
    ------
    QueryTooLargeError
        If a binding is too much work to measure.
    """
    prepared, *others = _in_worlds(plan, alternative, worlds, MatchOptions(max_matches=limit))
    rows = without_groups(prepared, rows)
    chosen = rows[:: max(1, -(-len(rows) // limit))]
    batches, cut = completed(prepared, chosen)
    tally = _IntervalTally(prepared)
    searches = [each.intervals for each in (prepared, *others) if each.intervals is not None]
    for bound in batches:
        for sizes, matches, at in alike_in_size([bound[i] for i in prepared.search.singles]):
            tally.add(_Checks.of([of_sizes(each, sizes) for each in searches], bound, at, matches))
    groups = losses_of_groups(prepared, chosen)
    return tally.report(len(chosen), groups, sampled=cut or len(chosen) < len(rows))


def _in_worlds(
    plan: Plan, alternative: Alternative, worlds: WorldsLeft, options: MatchOptions
) -> Iterator[PreparedAlternative]:
    """The alternative in the worlds that remain, then, if something is given, in all and in each clause's."""
    freely = replace(plan, given=())
    every = [(plan, worlds.known)]
    if plan.given:
        every += [(freely, each) for each in (worlds.stamped, *worlds.alone)]
    for asked, events in every:
        yield PreparedAlternative.of(asked, alternative, events, options, of_intervals=True)


@dataclass(frozen=True)
class _Checks:
    """Bindings whose groups are of the same sizes, and how they are measured.

    `freely` measures them where nothing is given, `alone` where each clause is.  `rows`: their single events
    and members, shape (n, l); they are the rows `at` of `bound`.
    """

    measure: IntervalMeasure
    freely: IntervalMeasure
    alone: tuple[IntervalMeasure, ...]
    bound: dict[int, Bindings]
    at: Indexes
    rows: Indexes

    @classmethod
    def of(
        cls, searches: Sequence[IntervalSearch], bound: dict[int, Bindings], at: Indexes, rows: Indexes
    ) -> _Checks:
        """`searches` are in the order of `_in_worlds`."""
        measure, *others = (each.measure for each in searches)
        return cls(measure, others[0] if others else measure, tuple(others[1:]), bound, at, rows)

    def lost_to(self, component: int, free: Flags) -> Flags:
        """The bindings, `free` without rivals, to which one negated component alone leaves no world."""
        finder = self.measure.rivals
        if finder is None:
            return np.zeros(len(self.rows), dtype=bool)

        def own(matches: Indexes) -> list[FoundRivals]:
            return [each for each in finder(matches) if each[0].component == component]

        return free & ~happening(measured(replace(self.measure, rivals=own), self.rows))

    def certain(self, component: int, lost: Flags) -> Iterator[tuple[Indexes, Indexes]]:
        """Rows that are lost, each with an event that alone breaks it in every world."""
        for negation, row, event in self.measure.rivals(self.rows) if self.measure.rivals else ():
            if negation.component == component:
                pairs = np.flatnonzero(lost[row])[:BLOCK]
                chosen = pairs[self._broken(negation, self.rows[row[pairs]], event[pairs])]
                yield row[chosen], event[chosen]

    def _broken(self, negation: Negation, matches: Indexes, event: Indexes) -> Flags:
        """Which matches an event each breaks in every world."""
        if self.measure.ties is None:
            alone = [(negation, np.arange(len(event)), event)]
            return ~happening(measured(replace(self.measure, rivals=lambda _: alone), matches))
        # Ties take matches apart, with all that is tied to them: the event has to be one of theirs.
        own = matches.shape[1]
        # Where that is too much to tell, nobody is named.
        with suppress(QueryTooLargeError):
            cases = cases_without(self.measure.cases, [(negation, own)], own, own + 1)
            together = replace(self.measure, cases=cases, rivals=None)
            return ~possible(together, np.column_stack([matches, event]))
        return np.zeros(len(event), dtype=bool)

    def signature(self, row: int) -> Signature:
        return signature_of(self.bound, int(self.at[row]))


class _IntervalTally(Tally):
    """Of bindings whose groups are of different sizes; a rule of absence is that of a negated component."""

    def __init__(self, prepared: PreparedAlternative) -> None:
        components = enumerate(prepared.alternative.components)
        rules = {i: absence_of(prepared.alternative, i) for i, each in components if each.negated}
        super().__init__(prepared, _TOGETHER, rules)

    def add(self, checks: _Checks) -> None:
        freely, free = (possible(each, checks.rows) for each in (checks.freely, checks.measure))
        left_none = np.flatnonzero(freely & ~free)
        self.charged.charge(len(left_none), lambda at: possible(checks.alone[at], checks.rows[left_none]))
        found = measured(checks.measure, checks.rows)
        happens = free & happening(found)
        for component in self.rules:
            lost = checks.lost_to(component, free)
            self.broken[component] += int(lost.sum())
            for row, event in checks.certain(component, lost):
                self.blame(component, row, event, checks.signature)
        self.count(freely, happens)
        self.judge(found, happens, checks.signature)


def possible(measure: IntervalMeasure, matches: Indexes) -> Flags:
    """Which matches, shape (n, l), hold in some world, whoever may break them."""
    alone = replace(measure, rivals=None)
    if measure.clocks is not None:
        # What ends of masses leave tells little of offsets with holes.
        return happening(measured(alone, matches))
    lower, upper = valid(alone, matches)
    return np.asarray((lower <= upper).all(axis=1))
