"""What is said where something needs its measure at too many offsets of clocks."""

from __future__ import annotations

from cepctl.engines.confidence.work import AT_OFFSETS, BY_EPOCH, NARROW, too_costly
from cepctl.errors import QueryTooLargeError

MOST_NODES = 200_000
"""Combinations of offsets at which one match may be measured.

Not products: at each of them a whole match is measured, and all are in memory at once.  Chains of sharp
events take products alone: 20,000,000 of them, one for each offset at each combination (tied_sums.py).
"""
MOST_SEGMENTS = 6
"""Clocks of one chain whose offsets are summed over."""


def too_many_offsets(
    levels: int, chain: tuple[int, str] = (0, ""), nodes: int = MOST_NODES
) -> QueryTooLargeError:
    """Why a match is refused that needs its measure at more than so many combinations of offsets, `nodes`.

    `chain`: how many clocks are tied in one chain, and which.
    """
    most = f"{nodes:,} combinations of offsets"
    return refused_at_offsets("the exact confidence of a match", most, levels, chain)


def refused_at_offsets(
    what: str, most: str, levels: int, chain: tuple[int, str], *remedies: str
) -> QueryTooLargeError:
    """Why something is refused that needs its measure at too many offsets of so many clocks."""
    segments, names = chain
    if segments > MOST_SEGMENTS:
        most = f"{MOST_SEGMENTS} segments of one clock"
    why = f"it sums over {levels} clocks of its events and of those that could break it"
    tied = f", {segments} of which, {names}, are segments tied by `jump`" if segments else ""
    by_epoch = [BY_EPOCH] if segments else []
    return too_costly(what, AT_OFFSETS, most, why + tied, *by_epoch, NARROW, *remedies)
