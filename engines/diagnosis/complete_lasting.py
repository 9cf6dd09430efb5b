"""What becomes of complete bindings of events that last: groups, absences, worlds, and the threshold.

Their starts and ends can satisfy what is asked of them; of a group that was told of one member.  Each
negated component is checked alone, to tell which breaks a binding; a rival that certainly does is named.

Imports NumPy, Numba and Polars only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.diagnosis.complete_bindings import (
    BINDINGS,
    MOST_BREAKERS,
    Breaker,
    CompletionReport,
    Signature,
    absence_of,
    completed,
    losses_of_groups,
    signature_of,
    without_groups,
)
from cepctl.engines.diagnosis.conditions import Condition
from cepctl.engines.diagnosis.partial_matches import Loss
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.intervals.groups import by_size
from cepctl.engines.intervals.measure import BLOCK, IntervalMeasure
from cepctl.engines.intervals.rivals import FoundRivals
from cepctl.engines.intervals.search import IntervalSearch
from cepctl.plan.plan import Alternative, Plan
from cepctl.precision import CONFIDENCE_SLACK

_TOGETHER = Condition("timing", "the starts and ends of all events together")


def complete_lasting(
    plan: Plan, alternative: Alternative, events: Events, rows: Indexes, limit: int = BINDINGS
) -> CompletionReport:
    """Check complete bindings, shape (n, positive components), against what remains.

    One member of a Kleene group stands for it in `rows`.

    Raises
    ------
    QueryTooLargeError
        If a binding is too much work to measure.
    """
    prepared = PreparedAlternative.of(plan, alternative, events, MatchOptions(max_matches=limit))
    assert prepared.intervals is not None
    rows = without_groups(prepared, rows)
    chosen = rows[:: max(1, -(-len(rows) // limit))]
    batches, cut = completed(prepared, chosen)
    tally = _Tally(prepared)
    for bound in batches:
        for search, matches, at in by_size(prepared.intervals, [bound[i] for i in prepared.search.singles]):
            tally.add(_Checks.of(search, bound, at, matches))
    return CompletionReport(
        len(chosen), tally.complete, losses_of_groups(prepared, chosen), tally.losses(), tally.named(),
        tally.possible, tally.below, tally.best, tally.best_confidence, cut or len(chosen) < len(rows),
    )  # fmt: skip


@dataclass(frozen=True)
class _Checks:
    """Bindings whose groups are of the same sizes, with the events that may break them.

    `rows`: their single events and members, shape (n, l); they are the rows `at` of `bound`.
    """

    measure: IntervalMeasure
    bound: dict[int, Bindings]
    at: Indexes
    rows: Indexes
    rivals: list[FoundRivals]

    @classmethod
    def of(cls, search: IntervalSearch, bound: dict[int, Bindings], at: Indexes, rows: Indexes) -> _Checks:
        measure = search.measure
        return cls(measure, bound, at, rows, [] if measure.rivals is None else measure.rivals(rows))

    def measured(self, rivals: list[FoundRivals], rows: Indexes | None = None) -> Measured:
        """The bindings beside some of the events that may break them."""
        alone = replace(self.measure, rivals=(lambda _: rivals) if rivals else None)
        return alone.measured(self.rows if rows is None else rows)

    def lost_to(self, component: int, free: Flags) -> Flags:
        """The bindings, `free` without rivals, to which one negated component alone leaves no world."""
        own = [each for each in self.rivals if each[0].component == component]
        return free & ~_happens(self.measured(own)) if own else np.zeros(len(self.rows), dtype=bool)

    def certain(self, component: int, lost: Flags) -> Iterator[tuple[Indexes, Indexes]]:
        """Rows that are lost, each with an event that alone breaks it in every world."""
        for negation, row, event in self.rivals:
            if negation.component == component:
                pairs = np.flatnonzero(lost[row])[:BLOCK]
                alone = [(negation, np.arange(len(pairs)), event[pairs])] if len(pairs) else []
                chosen = pairs[~_happens(self.measured(alone, self.rows[row[pairs]]))]
                yield row[chosen], event[chosen]

    def signature(self, row: int) -> Signature:
        return signature_of(self.bound, int(self.at[row]))


class _Tally:
    """Counts over bindings whose groups are of different sizes."""

    def __init__(self, prepared: PreparedAlternative) -> None:
        self.prepared = prepared
        components = enumerate(prepared.alternative.components)
        self.lost = {i: 0 for i, each in components if each.negated}
        self.complete = self.possible = self.below = self.untimely = 0
        self.best: Signature | None = None
        self.best_confidence: float | None = None
        self.breakers: dict[tuple[int, int], tuple[int, Signature]] = {}

    def add(self, checks: _Checks) -> None:
        free = _happens(checks.measured([]))
        found = checks.measured(checks.rivals)
        happens = _happens(found)
        for component in self.lost:
            lost = checks.lost_to(component, free)
            self.lost[component] += int(lost.sum())
            for row, event in checks.certain(component, lost):
                self._name(component, checks, row, event)
        self.complete += len(free)
        self.untimely += int((~free).sum())
        self.possible += int(happens.sum())
        self._judge(checks, found, happens)

    def losses(self) -> tuple[Loss, ...]:
        """Bindings that happen in no world: for their times, or for one negated component alone."""
        untimely = [Loss(_TOGETHER, self.untimely)] if self.untimely else []
        absences = (Loss(self._absence(each), count) for each, count in self.lost.items())
        return (*untimely, *absences)

    def named(self) -> tuple[Breaker, ...]:
        """The events that certainly break most bindings."""
        found = [
            Breaker(self._absence(component), event, count, example)
            for (component, event), (count, example) in self.breakers.items()
        ]
        return tuple(sorted(found, key=lambda each: (-each.count, each.event))[:MOST_BREAKERS])

    def _absence(self, component: int) -> Condition:
        return absence_of(self.prepared.alternative, component)

    def _name(self, component: int, checks: _Checks, row: Indexes, event: Indexes) -> None:
        events, first, counts = np.unique(event, return_index=True, return_counts=True)
        for each, at, more in zip(events.tolist(), first.tolist(), counts.tolist(), strict=True):
            count, example = self.breakers.get((component, each), (0, checks.signature(int(row[at]))))
            self.breakers[component, each] = (count + more, example)

    def _judge(self, checks: _Checks, found: Measured, happens: Flags) -> None:
        least = self.prepared.plan.minimum_confidence
        if least is None:
            return
        below = np.flatnonzero(happens & (found.confidence < least - CONFIDENCE_SLACK))
        self.below += len(below)
        if len(below):
            at = int(below[np.argmax(found.confidence[below])])
            if self.best_confidence is None or found.confidence[at] > self.best_confidence:
                self.best, self.best_confidence = checks.signature(at), float(found.confidence[at])


def _happens(found: Measured) -> Flags:
    return np.asarray(found.start <= found.end)
