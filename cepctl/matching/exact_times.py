"""Whether a match took every time as exact, so that no row could be in doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepctl.matching.run import types_read

if TYPE_CHECKING:
    from cepctl.engines.rows.kept import RowCounts
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan

_MOST_EVENTS = 1_000_000
"""Of more nobody looks: to read them once more would take longer than the note is worth."""


def exact_times(plan: Plan, inputs: EventInputs, counts: RowCounts) -> bool:
    """Whether the interval of each event that the query can read is one tick."""
    import pyarrow.compute as pc

    if counts.unlikely or counts.missed or inputs.count_events() > _MOST_EVENTS:
        return False
    types = types_read(plan)
    left = [each.left_behind.inexact for each in inputs.datasets if each.left_behind is not None]
    if any(inexact if types is None else inexact & types for inexact in left):
        return False
    table = inputs.read([], types)
    same = pc.all(pc.equal(table.column("lower"), table.column("upper")), min_count=0)
    found = inputs.schema.type_counts or {}
    return any(types is None or name in types for name in found) and bool(same.as_py())
