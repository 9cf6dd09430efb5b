"""When events are, in one world: from start to end, which are one tick for events that do not last.

The law of an interval event is that of two independent stamps, given that the end is not before the start
and that the length lies within its bounds.  Source: docs/what-lasts.md, "What a probability says".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

Value: TypeAlias = object
Row: TypeAlias = Mapping[str, Value]
"""The columns of one event."""
Span: TypeAlias = tuple[int, int]
"""The ticks of start and end."""
Mass: TypeAlias = tuple[tuple[int, int], ...]
"""The ticks of positive mass of one event or clock, each with its weight, a whole number."""
SpanMass: TypeAlias = tuple[tuple[Span, int], ...]
"""The same of an event that may last."""


class Times(tuple[int, ...]):
    """The start of every event in one world, and the `ends` beside them."""

    ends: tuple[int, ...]

    @classmethod
    def of(cls, spans: Sequence[Span]) -> Times:
        """From start and end of every event."""
        times = cls(start for start, _ in spans)
        times.ends = tuple(end for _, end in spans)
        return times


def lasts(row: Row) -> bool:
    """Whether an event has an end of its own."""
    return row.get("end_lower") is not None


def end_buckets(row: Row) -> list[tuple[int, int, float]]:
    """The mass of the end of an event that lasts, as buckets."""
    given = cast("list[Mapping[str, float]] | None", row.get("end_pmf"))
    if given:
        return [(int(b["lo"]), int(b["hi"]), b["p"]) for b in given]
    return [(cast(int, row["end_lower"]), cast(int, row["end_upper"]), 1.0)]


def point_mass(starts: Mass) -> SpanMass:
    """An event that does not last."""
    return tuple(((tick, tick), weight) for tick, weight in starts)


def lasting_mass(row: Row, starts: Mass, ends: Mass) -> SpanMass:
    """The law of an event that lasts; empty where it cannot happen."""
    bounds: Mapping[str, Any] = row
    shortest = max(0, bounds.get("length_lower") or 0)
    longest = bounds.get("length_upper")
    return tuple(
        ((start, end), weight * other)
        for start, weight in starts
        for end, other in ends
        if shortest <= end - start and (longest is None or end - start <= longest)
    )
