"""Shared clocks: one offset for all events that a clock stamped, as text, in metadata, in other units.

An event of a clock happens at its own tick plus the clock's offset.  `lower` and `upper` of an event are
all ticks at which it can happen, so its own part is [lower - first offset, upper - last offset].

An offset is a piecewise uniform mass: buckets (lo, hi, p) in ticks, both ends included, in order, disjoint,
of positive mass that sums to 1.  Clocks may be tied to each other (`cepctl.clocks.ties`).
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise

from cepctl.clocks.ties import (
    LARGEST,
    Clocks,
    Offset,
    rescaled_tie,
    tied,
    ties_in,
    ties_metadata,
    ties_of,
)
from cepctl.errors import EventSchemaError
from cepctl.schema import META_CLOCKS, TimeUnit

__all__ = ["LARGEST", "MASS_TOLERANCE", "Clocks", "Offset"]

MASS_TOLERANCE = 1e-6


def checked_offset(buckets: Iterable[tuple[int, int, float]]) -> Offset | None:
    """Buckets of positive mass in order, renormalised; None unless they are an offset.

    Examples
    --------
    >>> checked_offset([(1, 2, 0.5), (-3, 0, 0.5), (5, 9, 0.0)])
    ((-3, 0, 0.5), (1, 2, 0.5))
    """
    given = list(buckets)
    if any(lo > hi or not 0 <= p <= 1 + MASS_TOLERANCE for lo, hi, p in given):
        return None
    kept = sorted(bucket for bucket in given if bucket[2] > 0)
    total = math.fsum(p for _, _, p in kept)
    if abs(total - 1) > MASS_TOLERANCE or any(a[1] >= b[0] for a, b in pairwise(kept)):
        return None
    if kept[0][0] < -LARGEST or kept[-1][1] > LARGEST:
        return None
    return tuple((lo, hi, p / total) for lo, hi, p in kept)


@lru_cache(maxsize=1 << 12)
def parse_offset(text: str) -> Offset | None:
    """The offset written `lo:hi:p|lo:hi:p`; None where the text is not one.

    Examples
    --------
    >>> parse_offset("-2:2:1"), parse_offset("2:-2:1"), parse_offset("fast")
    (((-2, 2, 1.0),), None, None)
    """
    try:
        parts = [bucket.split(":") for bucket in text.split("|")]
        return checked_offset([(int(lo), int(hi), float(p)) for lo, hi, p in parts])
    except ValueError:
        return None


def offset_text(offset: Offset) -> str:
    """An offset as `lo:hi:p|lo:hi:p`, to the last bit.

    Examples
    --------
    >>> offset_text(((-2, 2, 1.0),))
    '-2:2:1.0'
    """
    return "|".join(f"{lo}:{hi}:{p!r}" for lo, hi, p in offset)


def extremes(offset: Offset) -> tuple[int, int]:
    """First and last tick of an offset."""
    return offset[0][0], offset[-1][1]


def clocks_of(metadata: Mapping[bytes, bytes] | None) -> Clocks:
    """The clocks that file metadata name, with their ties; none where they say nothing.

    Raises
    ------
    EventSchemaError
        If they are damaged.
    """
    known = metadata or {}
    written = known.get(META_CLOCKS)
    if written is None:
        return {}
    try:
        listed = json.loads(written)
        found = {name: checked_offset(map(tuple, buckets)) for name, buckets in listed.items()}
    except (ValueError, TypeError, AttributeError) as problem:
        raise EventSchemaError(f"the clocks in the file metadata are damaged: {problem}") from problem
    for name, offset in found.items():
        if offset is None:
            raise EventSchemaError(f"clock '{name}' in the file metadata has no mass that sums to 1")
    return tied({name: offset for name, offset in found.items() if offset is not None}, ties_in(known))


def clocks_metadata(clocks: Clocks) -> dict[bytes, bytes]:
    """What file metadata say of clocks: nothing where there are none."""
    if not clocks:
        return {}
    listed = {name: [list(bucket) for bucket in clocks[name]] for name in sorted(clocks)}
    return {META_CLOCKS: json.dumps(listed, ensure_ascii=False).encode(), **ties_metadata(clocks)}


def joined_clocks(parts: Sequence[Clocks]) -> Clocks:
    """All clocks of several inputs, with their ties.

    Raises
    ------
    EventSchemaError
        If a clock has two offsets, or ties to several others before or after it.
    """
    found: dict[str, Offset] = {}
    for clocks in parts:
        for name, offset in clocks.items():
            if found.setdefault(name, offset) != offset:
                raise EventSchemaError(two_offsets(name, found[name], offset))
    return tied(found, [tie for clocks in parts for tie in ties_of(clocks)])


def two_offsets(name: str, one: Offset, other: Offset) -> str:
    """What is said of a clock with two offsets."""
    return (
        f"clock '{name}' has two offsets, {offset_text(one)} and {offset_text(other)}; a clock has one: give "
        "both sources the same, or name the clocks apart"
    )


def rescaled_offset(offset: Offset, old: TimeUnit, new: TimeUnit) -> Offset:
    """An offset counted in another unit: a tick becomes all the ticks that it covers.

    Where two buckets meet in one tick of a coarser unit, it belongs to the earlier one.

    Examples
    --------
    >>> rescaled_offset(((-2, 2, 1.0),), TimeUnit(1_000), TimeUnit(500))
    ((-4, 5, 1.0),)
    """
    merged: list[tuple[int, int, float]] = []
    for lo, hi, p in offset:
        first = lo * old.microseconds // new.microseconds
        last = -(-(hi + 1) * old.microseconds // new.microseconds) - 1
        start = max(first, merged[-1][1] + 1) if merged else first
        if start <= last:
            merged.append((start, last, p))
        else:
            merged[-1] = (merged[-1][0], merged[-1][1], merged[-1][2] + p)
    return tuple(merged)


def rescaled_clocks(clocks: Clocks, old: TimeUnit, new: TimeUnit) -> Clocks:
    """Clocks, and their ties, counted in another unit."""
    if old == new:
        return clocks
    found = {name: rescaled_offset(offset, old, new) for name, offset in clocks.items()}
    return tied(found, [rescaled_tie(tie, old, new) for tie in ties_of(clocks)])


def empty_own_part(event: str, lower: int, upper: int, clock: str, offset: Offset) -> str:
    """What is said of an event whose interval is narrower than its clock's offset."""
    first, last = extremes(offset)
    return (
        f"{event} has the interval {lower}..{upper}, narrower than the offset {first}..{last} of its "
        f"clock '{clock}'; lower and upper are all ticks at which it can happen, so widen them or narrow the "
        "offset"
    )
