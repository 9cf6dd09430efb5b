"""A case that fails, made smaller: what can be left out, narrowed or made plain while it still fails alike.

Each pass offers cases that are smaller than the one in hand; one that still fails takes its place.  Passes
follow each other until none finds anything, or time is up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from tests.fuzzing.queries import Case
from tests.fuzzing.smaller_events import with_fewer_events, with_narrower_events, with_plainer_events
from tests.fuzzing.smaller_queries import (
    renamed,
    with_fewer_clauses,
    with_narrower_windows,
    with_smaller_patterns,
)

_PASSES: tuple[Callable[[Case], Iterator[Case]], ...] = (
    with_fewer_events,
    with_fewer_clauses,
    with_smaller_patterns,
    with_plainer_events,
    with_narrower_events,
    with_narrower_windows,
)


def smallest(case: Case, fails: Callable[[Case], bool], seconds: float) -> Case:
    """The smallest case that was found, within so many seconds, for which `fails` holds."""
    until = time.monotonic() + seconds
    before = None
    while case != before and time.monotonic() < until:
        before = case
        for smaller in _PASSES:
            case = _as_small_as(case, smaller, fails, until)
    plain = renamed(case)
    return plain if plain != case and fails(plain) else case


def _as_small_as(
    case: Case, smaller: Callable[[Case], Iterator[Case]], fails: Callable[[Case], bool], until: float
) -> Case:
    """What one pass makes of a case."""
    place, candidates = 0, list(smaller(case))
    while place < len(candidates) and time.monotonic() < until:
        candidate = candidates[place]
        if fails(candidate):
            # What stood before this place did not help the larger case, and seldom helps the smaller one.
            case, candidates = candidate, list(smaller(candidate))
        else:
            place += 1
    return case
