"""What was recorded of the clocks that stamped the events of a match."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cepctl.clock_checks.evidence import Evidence, OfClock
    from cepctl.engines.diagnosis.shown import OneMatch
    from cepctl.matching.inputs import EventInputs


def clock_evidence(match: OneMatch, inputs: EventInputs) -> Evidence | None:
    """The evidence of the events of a match; None where no table recorded clocks of its inputs."""
    from cepctl.clock_checks.evidence import evidence
    from cepctl.schema import META_CLOCK_RECORDS

    files: dict[str, str] = {}
    for dataset in inputs.datasets:
        files |= json.loads((dataset.schema.metadata or {}).get(META_CLOCK_RECORDS, b"{}"))
    return evidence(_on_clocks(match), files) if files else None


def _on_clocks(match: OneMatch) -> Iterator[OfClock]:
    """The events of a match that a clock stamped at a time of the log."""
    from cepctl.clock_checks.evidence import OfClock
    from cepctl.clock_ties import names_in_order
    from cepctl.engines.columns.clocks import NO_CLOCK

    events, names = match.events, names_in_order(match.plan.clocks)
    for member in match.members:
        shown = member.event
        (row,) = (events.ids == shown.event_id).arg_true()
        clock = int(events.stamps.clock[row])
        if clock != NO_CLOCK and shown.raw_nanoseconds is not None:
            yield OfClock(shown.event_id, names[clock], shown.raw_nanoseconds)
