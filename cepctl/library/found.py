"""What a run has found, for whoever shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.engines.rows.groups import FoundRows
    from cepctl.library.summary import MatchSummary
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class Found:
    """What a run has found: rows in their one order, and what they were found in.

    `behind` finds the matches that the rows of GROUP BY are about, as rows of their own; None without it.
    """

    query: str
    plan: Plan
    inputs: EventInputs
    rows: FoundRows
    summary: MatchSummary
    behind: Callable[[], FoundRows] | None = None


def without_raw_times(rows: pa.Table) -> pa.Table:
    """Rows without what only the summary looks at."""
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES

    return rows.drop_columns([FOUND_AT_RAW_TIMES]) if FOUND_AT_RAW_TIMES in rows.column_names else rows
