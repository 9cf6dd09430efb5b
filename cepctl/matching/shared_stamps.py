"""Rows that are uncertain only because records of one source share a stamp: their order would settle them.

All events of such a row are of one source and stand in the order of their records, as the pattern asks; any
two of them have the same stamp and interval, or one ends before the other begins.  Nothing that the row does
not bind, and no window, has a part in its confidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.plan.open_rows import rests_on_absences
from cepctl.schema import RECORD, WRITTEN_ORDERS

if TYPE_CHECKING:
    from cepctl.engines.rows.groups import FoundRows
    from cepctl.engines.rows.kept import RowCounts
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan

_NO_STAMP = np.iinfo(np.int64).min
_MOST_ROWS, _MOST_EVENTS = 100_000, 200_000
"""Of more nobody looks: it would take longer than the note is worth."""


def settled_by_order(plan: Plan, inputs: EventInputs, rows: FoundRows, counts: RowCounts) -> int:
    """How many rows the order of the records of their source would make certain."""
    from cepctl.engines.rows.sorted import SortedRows

    if not _can_be_settled(plan) or not 0 < counts.rows <= _MOST_ROWS:
        return 0
    if not isinstance(rows, SortedRows) or rows.spilled:
        return 0
    found = rows.table()
    found = found.filter(pc.less(found.column("confidence"), 1.0))
    if not found.num_rows or inputs.count_events() > _MOST_EVENTS:
        return 0
    signature = pa.concat_arrays(found.column("signature").chunks)
    ids = signature.flatten().flatten()
    events = inputs.read_ids(ids.unique(), [RECORD])
    at = pc.index_in(ids, value_set=events.column("event_id").combine_chunks()).to_numpy()
    source = events.column("source").combine_chunks().dictionary_encode().indices.fill_null(-1)
    record = pc.fill_null(events.column(RECORD), -1).to_numpy()
    stamp = events.column("time").cast(pa.int64()).fill_null(_NO_STAMP).to_numpy()
    ends = [events.column(name).to_numpy() for name in ("lower", "upper")]
    # One event of each component, one row after the other.
    every = (each[at].reshape(found.num_rows, -1) for each in (source.to_numpy(), record, stamp, *ends))
    who, number, stamp, lower, upper = every
    one_source = (who >= 0).all(axis=1) & (who == who[:, :1]).all(axis=1)
    in_order = (number >= 0).all(axis=1) & (np.diff(number, axis=1) > 0).all(axis=1)
    settled = one_source & in_order
    for first in range(who.shape[1]):
        for second in range(first + 1, who.shape[1]):
            same = (stamp[:, first] == stamp[:, second]) & (stamp[:, first] != _NO_STAMP)
            same &= (lower[:, first] == lower[:, second]) & (upper[:, first] == upper[:, second])
            settled &= same | (upper[:, first] < lower[:, second])
    if plan.window is not None:
        settled &= upper.max(axis=1) - lower.min(axis=1) < plan.window
    return int(settled.sum())


def _can_be_settled(plan: Plan) -> bool:
    """Whether a plan asks for single events in order, and for nothing else of their times."""
    if any(each.text in WRITTEN_ORDERS for each in plan.given) or plan.group_by is not None or plan.lasting:
        return False
    if plan.clocks or plan.laws or plan.given or rests_on_absences(plan) or len(plan.alternatives) != 1:
        return False
    (alternative,) = plan.alternatives
    singles = all(len(block) == 1 for block in alternative.blocks)
    return singles and not alternative.timings and not any(each.kleene for each in alternative.components)
