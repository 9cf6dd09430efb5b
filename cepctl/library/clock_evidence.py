"""What was recorded of the clocks that stamped the events of a match, or of many."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.clocks.checks.evidence import Evidence, OfClock
    from cepctl.engines.diagnosis.shown import OneMatch
    from cepctl.matching.inputs import EventInputs


def recorded_files(inputs: EventInputs) -> dict[str, str]:
    """The tables of recorded clocks that made the inputs, each with its digest."""
    from cepctl.schema import META_CLOCK_RECORDS

    files: dict[str, str] = {}
    for dataset in inputs.datasets:
        files |= json.loads((dataset.schema.metadata or {}).get(META_CLOCK_RECORDS, b"{}"))
    return files


def clock_evidence(match: OneMatch, inputs: EventInputs) -> Evidence | None:
    """The evidence of the events of a match; None where no table recorded clocks of its inputs."""
    from cepctl.clocks.checks.evidence import evidence

    files = recorded_files(inputs)
    return evidence(list(_on_clocks(match)), files) if files else None


def evidence_of_events(events: pa.Table, inputs: EventInputs) -> Evidence | None:
    """What was recorded of the clocks of a table of events that were read from the inputs."""
    from cepctl.clocks.checks.evidence import OfClock, evidence
    from cepctl.render.pictures.matched_events import nanoseconds
    from cepctl.schema import CLOCK

    files = recorded_files(inputs)
    if not files or CLOCK not in events.column_names:
        return None
    ids, clocks = (events.column(name).to_pylist() for name in ("event_id", CLOCK))
    stamped = [
        OfClock(event, clock, reading)
        for event, clock, reading in zip(ids, clocks, nanoseconds(events.column("time")), strict=True)
        if clock is not None and reading is not None
    ]
    return evidence(stamped, files)


def _on_clocks(match: OneMatch) -> Iterator[OfClock]:
    """The events of a match that a clock stamped at a time of the log."""
    from cepctl.clocks.checks.evidence import OfClock
    from cepctl.clocks.ties import names_in_order
    from cepctl.engines.columns.clocks import NO_CLOCK

    events, names = match.events, names_in_order(match.plan.clocks)
    for member in match.members:
        shown = member.event
        (row,) = (events.ids == shown.event_id).arg_true()
        clock = int(events.stamps.clock[row])
        if clock != NO_CLOCK and shown.raw_nanoseconds is not None:
            yield OfClock(shown.event_id, names[clock], shown.raw_nanoseconds)
