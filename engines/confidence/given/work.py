"""What is said where the events that are tied to a match need too much work."""

from __future__ import annotations

from cepctl.engines.confidence.given.units import MOST_OF_UNIT
from cepctl.engines.confidence.occurrence.rows import most_allowed
from cepctl.engines.confidence.work import ALLOW, BESIDE_GIVEN, LEAVE_OUT, SAY_MORE, too_costly
from cepctl.errors import QueryTooLargeError
from cepctl.numeric.arrays import Indexes

MOST_TIED = 64
"""Events of one component that are summed together."""

MOST_STEPS = 4_000_000_000
"""Steps of the passes over all series: some seconds of one core."""


def require_few(sizes: Indexes) -> None:
    """Raise QueryTooLargeError where one of these numbers of events is more than MOST_TIED."""
    if len(sizes) and int(sizes.max()) > MOST_TIED:
        raise _too_many(
            f"{MOST_TIED} variables",
            f"GIVEN ties {int(sizes.max()):,} events to each other, some of which it needs",
        )


def require_uncrowded(records: Indexes) -> None:
    """Raise QueryTooLargeError where a unit of time has more records than can be summed."""
    if len(records) and int(records.max()) > MOST_OF_UNIT:
        why = f"a match needs one of {int(records.max()):,} that share their stamp"
        raise _too_many(f"{MOST_OF_UNIT:,} records in order", why)


def overlapping_too_much(tied: int) -> QueryTooLargeError:
    """That events of a series overlap so many others that what these leave to each is not found."""
    why = f"GIVEN orders {tied:,} events, each of which overlaps many others"
    return _too_many(f"{MOST_STEPS:,} steps", why)


def too_many_together(tied: int) -> QueryTooLargeError:
    """That so many tied events take too much work."""
    return _too_many(most_allowed(), f"GIVEN ties {tied:,} events that have to be summed together")


def _too_many(most: str, why: str) -> QueryTooLargeError:
    what = "the exact confidence of a match"
    return too_costly(what, BESIDE_GIVEN, most, why, SAY_MORE, "narrow their intervals", ALLOW, LEAVE_OUT)
