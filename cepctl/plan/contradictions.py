"""Queries that can never match, and why."""

from __future__ import annotations

from collections.abc import Sequence

from cepctl.plan.plan import Alternative


def never_matches(alternative: Alternative, partition_by: Sequence[str], window: int | None) -> str | None:
    """Why no events can match, None if they might."""
    if window == 0:
        return "WITHIN 0 leaves no room: the last tick minus the first must be less than 0"
    return None
