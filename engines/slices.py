"""How events are split into groups that can be matched apart: by key and by time.

A slice of time owns the matches whose first component's event has its `lower` in it (of a Kleene
group, the smallest `lower` of its members), and is given every event that can take part in them or
decide them: the first event happens at most its own interval later, all others, rivals and negated
events included, within the window of it, on either side.  A query without WITHIN is split by key only.

    name here    meaning
    origin       smallest `lower` of any event
    length       ticks that one slice owns
    first_width  largest `upper - lower` of an event that fits a first component
"""

from __future__ import annotations

from dataclasses import dataclass

EVENTS_PER_SLICE = 250_000
_OVERLAP_BOUND = 4
"""A slice owns at least so many times the ticks that it shares with its neighbours."""
_LONGEST = 2**60
"""Ticks further apart are not sliced: their differences and sums would leave int64."""


@dataclass(frozen=True)
class Slicing:
    """Slices of time, and buckets of keys beside them.

    Slice i owns the ticks from `origin + i * length` on; there are `count` of them and `buckets` of
    keys, so `count * buckets` groups.
    """

    origin: int
    length: int
    count: int
    reach_before: int
    reach_after: int
    buckets: int = 1

    def owned(self, index: int) -> tuple[int, int] | None:
        """First and last `lower` that slice `index` owns; None for all."""
        if self.count == 1:
            return None
        first = self.origin + index * self.length
        return first, first + self.length - 1


def choose_slicing(
    *,
    events: int,
    first_lower: int,
    last_lower: int,
    first_width: int,
    window: int | None,
    keyed: bool,
    parallelism: int,
    length: int | None = None,
) -> Slicing:
    """Choose slices from statistics of the events.

    Parameters
    ----------
    events, first_lower, last_lower, first_width
        Number of events that can matter, and extremes of their ticks.
    window
        W in ticks, None for none.
    keyed
        Whether all components share a key.
    parallelism
        How many tasks can run at once.
    length
        Ticks of a slice, None to choose.

    Examples
    --------
    >>> choose_slicing(events=1_000_000, first_lower=0, last_lower=999_999, first_width=20, window=100,
    ...                keyed=False, parallelism=2).count
    4
    """
    wanted = -(-events // EVENTS_PER_SLICE)
    if wanted > 1:
        wanted = max(wanted, parallelism)
    before, after = window or 0, first_width + (window or 0)
    span = last_lower - first_lower + 1
    if window is None or max(span, before + after, length or 0) > _LONGEST:
        buckets = wanted if keyed else 1
        return Slicing(first_lower, span, 1, 0, 0, buckets)
    if length is None:
        length = max(-(-span // wanted), _OVERLAP_BOUND * (before + after)) if wanted > 1 else span
    count = max(1, -(-span // length))
    buckets = max(1, -(-wanted // count)) if keyed else 1
    return Slicing(first_lower, length, count, before, after, buckets)
