"""The audit of a set of events: each source by its events, and by what its file told while it was read."""

from __future__ import annotations

from cepctl.inspection.auditing.findings import Audit, worst_first
from cepctl.inspection.auditing.neighbours import source_facts
from cepctl.inspection.auditing.source_findings import audit_of
from cepctl.inspection.clocks import ClockBound, clock_bounds
from cepctl.inspection.overview import observed_attributes, observed_events
from cepctl.matching.inputs import EventInputs
from cepctl.numeric.lengths import span_text
from cepctl.process.memory import MemoryBudget, reading_budget

_COPIES = 6
_SECOND = 1_000_000


def audit_events(inputs: EventInputs, memory: MemoryBudget | None = None) -> Audit:
    """Audit all events of the inputs.

    Raises
    ------
    QueryTooLargeError
        If they do not fit in memory.
    """
    inputs.require_room(observed_attributes(inputs), _COPIES, memory or reading_budget(), "audit")
    events, unit = observed_events(inputs), inputs.schema.time_unit
    times = {} if inputs.summary is None else {each.file: each for each in inputs.summary.times}
    skewed = [each for each in clock_bounds(events, unit) if each.provably_skewed and not each.covered]
    nodes = {
        str(source): set(part.get_column("node").drop_nulls().to_list())
        for (source,), part in events.group_by("source")
    }
    return worst_first(
        [
            audit_of(
                facts,
                times.get(facts.source),
                [_skew(each) for each in skewed if each.node in nodes[facts.source]],
                unit,
            )
            for facts in source_facts(events, unit)
        ]
    )


def _skew(bound: ClockBound) -> str:
    span = span_text(bound.lowest_microseconds / _SECOND, bound.highest_microseconds / _SECOND)
    return f"as that of {bound.node}, {bound.verdict} by {span}"
