"""What becomes of complete bindings of events that last: absences, worlds, and the threshold of confidence.

Their starts and ends can satisfy what is asked of them.  Each negated component is checked alone, to tell
which breaks a binding, and a rival that breaks it in every world is named.

Imports NumPy, Numba and Polars only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from cepctl.arrays import Flags, Indexes
from cepctl.engines.columns.events import Events
from cepctl.engines.confidence.measured import Measured
from cepctl.engines.diagnosis.complete_bindings import (
    BINDINGS,
    MOST_BREAKERS,
    Breaker,
    CompletionReport,
    Signature,
    absence_of,
)
from cepctl.engines.diagnosis.partial_matches import Loss
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.intervals.measure import BLOCK, IntervalMeasure
from cepctl.engines.intervals.rivals import FoundRivals
from cepctl.plan.plan import Alternative, Plan
from cepctl.precision import CONFIDENCE_SLACK


def complete_lasting(
    plan: Plan, alternative: Alternative, events: Events, rows: Indexes, limit: int = BINDINGS
) -> CompletionReport:
    """Check complete bindings, shape (n, positive components), against what remains.

    Raises
    ------
    QueryTooLargeError
        If a binding is too much work to measure.
    """
    prepared = PreparedAlternative.of(plan, alternative, events, MatchOptions())
    chosen = rows[:: max(1, -(-len(rows) // limit))]
    checks = _Checks.of(prepared, chosen)
    found = checks.measured(checks.rivals)
    happens = _happens(found)
    losses = [
        Loss(absence_of(alternative, each), int(checks.broken_by(each).sum())) for each in checks.absent
    ]
    below = np.zeros(len(chosen), dtype=bool)
    if plan.minimum_confidence is not None:
        below = happens & (found.confidence < plan.minimum_confidence - CONFIDENCE_SLACK)
    best = int(np.argmax(np.where(below, found.confidence, -1.0))) if below.any() else None
    return CompletionReport(
        len(chosen), len(chosen), (), tuple(losses), tuple(checks.breakers()),
        int(happens.sum()), int(below.sum()),
        None if best is None else _signature(chosen[best]),
        None if best is None else float(found.confidence[best]),
        len(chosen) < len(rows),
    )  # fmt: skip


@dataclass(frozen=True)
class _Checks:
    """Bindings with the events that may break them; `absent` are the negated components."""

    prepared: PreparedAlternative
    measure: IntervalMeasure
    rows: Indexes
    rivals: list[FoundRivals]
    broken: dict[int, Flags] = field(default_factory=dict)

    @classmethod
    def of(cls, prepared: PreparedAlternative, rows: Indexes) -> _Checks:
        assert prepared.intervals is not None
        measure = prepared.intervals.measure
        return cls(prepared, measure, rows, [] if measure.rivals is None else measure.rivals(rows))

    @property
    def absent(self) -> tuple[int, ...]:
        components = self.prepared.alternative.components
        return tuple(i for i, each in enumerate(components) if each.negated)

    def measured(self, rivals: list[FoundRivals], rows: Indexes | None = None) -> Measured:
        """The bindings beside some of the events that may break them."""
        alone = replace(self.measure, rivals=(lambda _: rivals) if rivals else None)
        return alone.measured(self.rows if rows is None else rows)

    def broken_by(self, component: int) -> Flags:
        """The bindings to which one negated component alone leaves no world."""
        if component not in self.broken:
            own = [each for each in self.rivals if each[0].component == component]
            self.broken[component] = ~_happens(self.measured(own)) if own else np.zeros(len(self.rows), bool)
        return self.broken[component]

    def breakers(self) -> list[Breaker]:
        """The events that certainly break most bindings."""
        found = []
        for negation, row, event in self.rivals:
            lost = np.flatnonzero(self.broken_by(negation.component)[row])[:BLOCK]
            pairs = [(negation, np.arange(len(lost)), event[lost])] if len(lost) else []
            certain = lost[~_happens(self.measured(pairs, self.rows[row[lost]]))]
            absence = absence_of(self.prepared.alternative, negation.component)
            for each in np.unique(event[certain]):
                breaks = certain[event[certain] == each]
                found.append(Breaker(absence, int(each), len(breaks), _signature(self.rows[row[breaks[0]]])))
        return sorted(found, key=lambda each: (-each.count, each.event))[:MOST_BREAKERS]


def _happens(found: Measured) -> Flags:
    return np.asarray(found.start <= found.end)


def _signature(row: Indexes) -> Signature:
    return tuple((int(event),) for event in row)
