"""What raw times alone would have missed of the rows of a match."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cepctl.matching.run import types_read
from cepctl.notices import QUERY, tell
from cepctl.side_figures import SideFigure, beside, left_out

if TYPE_CHECKING:
    from cepctl.engines.event.raw_time_counts import RawTimeCounts
    from cepctl.engines.rows.groups import FoundRows
    from cepctl.engines.rows.kept import RowCounts
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan


def counts_of_rows(plan: Plan, inputs: EventInputs, rows: FoundRows, *, judged: bool) -> RowCounts:
    """Counts of the rows that are kept; where an engine has not judged them by raw times, it is done now."""
    from cepctl.engines.event.raw_time_counts import missed_by_raw_times
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES

    counts = rows.counts
    if not judged:
        return counts
    if FOUND_AT_RAW_TIMES in rows.schema.names:
        return tell_unjudged(counts)

    def judge() -> RawTimeCounts:
        return missed_by_raw_times(plan, rows.table(), inputs.read(plan.attributes, types_read(plan)))

    found = beside(SideFigure.RAW_TIMES, judge, None)
    if found is None:
        return replace(counts, unjudged=counts.rows)
    return replace(counts, judged=found.judged, missed=found.missed, untimed=found.untimed)


def tell_unjudged(counts: RowCounts) -> RowCounts:
    """Say why rows were not judged by raw times, where some were not; returns the counts."""
    if counts.unjudged:
        because = counts.why_unjudged or "its worker failed"
        tell(QUERY, "note", left_out(SideFigure.RAW_TIMES, because))
    return counts
