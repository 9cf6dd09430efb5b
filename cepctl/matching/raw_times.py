"""What raw times alone would have missed of the rows of a match."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepctl.matching.run import types_read

if TYPE_CHECKING:
    from cepctl.engines.rows.counts import RowCounts
    from cepctl.engines.rows.groups import FoundRows
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan


def counts_of_rows(plan: Plan, inputs: EventInputs, rows: FoundRows, *, judged: bool) -> RowCounts:
    """Counts of the rows that are kept; where an engine has not judged them by raw times, it is done now."""
    from cepctl.engines.event.raw_time_counts import missed_by_raw_times
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES

    counts = rows.counts
    if not judged or FOUND_AT_RAW_TIMES in rows.schema.names:
        return counts
    found = missed_by_raw_times(plan, rows.table(), inputs.read(plan.attributes, types_read(plan)))
    return replace(counts, judged=found.judged, missed=found.missed, untimed=found.untimed)
