"""What several readings of OR that bind the same events say of these together: the row that a match has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cepctl.engines.columns.bindings import Bindings
from cepctl.engines.event.alternative import PreparedAlternative
from cepctl.engines.event.union import united
from cepctl.errors import QueryTooLargeError


class AllReadings(NamedTuple):
    """Time range, in ticks, and confidence of a signature that some of its readings returns."""

    start: int
    end: int
    confidence: float


def all_readings(
    prepared: Sequence[PreparedAlternative], bound: Sequence[dict[int, Bindings]]
) -> AllReadings | None:
    """The row of one signature that each of some alternatives can return; None where it costs too much."""
    try:
        batches = [[each.measured(of_each, None)] for each, of_each in zip(prepared, bound, strict=True)]
        ((_, row),) = united(prepared, batches)
    except QueryTooLargeError:
        return None
    return AllReadings(int(row.start[0]), int(row.end[0]), float(row.confidence[0]))
