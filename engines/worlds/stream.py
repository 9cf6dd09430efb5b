"""What the worlds engine searches through: the events without their ticks, and when they are, in one world.

The law of an interval event is that of two independent stamps, given that the end is not before the start
and that the length lies within its bounds.  Source: docs/what-lasts.md, "What a probability says".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from cepctl.errors import QueryTooLargeError

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
        times = cls([start for start, _ in spans])
        times.ends = tuple([end for _, end in spans])
        return times


def lasts(row: Row) -> bool:
    """Whether an event has an end of its own."""
    return row.get("end_lower") is not None


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


MAX_WORK = 10_000_000
MAX_SETS = 100_000
"""Sets that the events which fit a Kleene component may form in one world, beside the same other events."""


@dataclass(frozen=True)
class Stream:
    """The events of the input without their ticks, numbered from 0 in code-point order of their ids.

    `keys[e]` holds the values of all `[attr]` of the query together, None if one of them is null.
    """

    rows: tuple[Row, ...]
    keys: tuple[tuple[object, ...] | None, ...]

    @classmethod
    def of(cls, rows: Iterable[Row], partition_by: Sequence[str]) -> Stream:
        ordered = tuple(sorted(rows, key=lambda row: str(row["event_id"])))
        return cls(ordered, tuple(_key(row, partition_by) for row in ordered))

    def __len__(self) -> int:
        return len(self.rows)


def _key(row: Row, partition_by: Sequence[str]) -> tuple[object, ...] | None:
    values = tuple(row[name] for name in partition_by)
    return None if None in values else values


@dataclass
class Work:
    """Groups tried so far, over all worlds; a Kleene component can try 2^n of n events in each."""

    tried: int = 0

    def require_few_sets(self, variable: str, events: int) -> None:
        """Raise QueryTooLargeError where so many events form more than MAX_SETS sets."""
        if 2**events - 1 > MAX_SETS:
            raise QueryTooLargeError(
                f"{events:,} events fit the Kleene group {variable}[] in one possible world, and form "
                f"2^{events:,} - 1 sets, the worlds engine lists at most {MAX_SETS:,}; use --engine event, "
                "fewer events, or a shorter WITHIN"
            )

    def spend(self) -> None:
        """Count one group; raises QueryTooLargeError above MAX_WORK."""
        self.tried += 1
        if self.tried > MAX_WORK:
            raise QueryTooLargeError(
                f"the search through the possible worlds takes more than {MAX_WORK:,} steps, the worlds "
                "engine does no more; use --engine event, fewer events, or a shorter WITHIN"
            )
