"""Matches that need no sum of their own: those that hold in every world, and those measured like others.

That order, window and timing hold in every world is known by the ends of intervals alone.  Where no rival can
decide such matches either, their confidence is 1, and no sum of rounded masses has to say so.

Where clocks are coarse, many events share one interval, and the matches that bind one or another of them are
one problem.  Where stamps are regular, as those of samples are, what happens around one match happens around
others at other times.  Each problem is measured once.  Two matches are alike where both lists agree:

    events bound alone   the shape of each and its distance from the first, in pattern order
    members, rivals      the same of each, and its group or the rules it may break, in the order of events

No method looks at more of an event than its mass and its place among others, and none knows of time but
distances, where no rule compares a rival's tick with a constant; so alike matches get the same number to the
last bit, and time ranges as far apart as they are.

Plain chains have only the first list, and are compared whole (`moved_matches`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from cepctl.engines.columns.bindings import Group
from cepctl.engines.columns.masses import Masses, mixed
from cepctl.engines.columns.numbering import distinct_rows
from cepctl.engines.columns.tick_sums import shifted
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.pattern.blocks import BlockKind, Shape
from cepctl.engines.pattern.rivals import BlockSpans, spans_of
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Timing


def certainly_in_order(shape: Shape, masses: Masses, groups: Sequence[Group]) -> Flags:
    """Which matches have their blocks in order, in the window and as timing wants, in all worlds.

    `groups` gives the members of every block; shape (n,).
    """
    spans = spans_of(masses, groups)
    certain = np.ones(len(spans.first_lower), dtype=bool)
    for before, after in pairwise(range(len(groups))):
        certain &= spans.last_upper[:, before] < spans.first_lower[:, after]
    if shape.window is not None:
        if len(groups) == 1:
            certain[_spread_beyond(masses, groups[0], shape.window - 1)] = False
        else:
            earliest, latest = spans.first_lower.min(axis=1), spans.last_upper.max(axis=1)
            certain &= latest <= shifted(earliest, shape.window - 1)
    for block, group in zip(shape.blocks, groups, strict=True):
        if block.kind is BlockKind.SEQUENCE:
            upper, lower = masses.upper[group.members[:-1]], masses.lower[group.members[1:]]
            owner = group.owner
            certain[owner[1:][(upper >= lower) & (owner[1:] == owner[:-1])]] = False
    if shape.member_timings or shape.outside:
        certain[:] = False  # as far as is looked here
    for timing in shape.timings:
        certain &= _certainly_timed(shape, masses, groups, spans, timing)
    return certain


def always_in_one_order(masses: Masses, groups: Sequence[Group]) -> Flags:
    """Which matches have all of their events in one order, whichever that is, in all worlds; shape (n,)."""
    owner = np.concatenate([group.owner for group in groups])
    event = np.concatenate([group.members for group in groups])
    order = np.lexsort((masses.upper[event], masses.lower[event], owner))
    owner, lower, upper = owner[order], masses.lower[event[order]], masses.upper[event[order]]
    found = np.ones(len(groups[0].offsets) - 1, dtype=bool)
    meet = (upper[:-1] >= lower[1:]) & (lower[:-1] < upper[1:])
    found[owner[1:][meet & (owner[1:] == owner[:-1])]] = False
    return found


def _spread_beyond(masses: Masses, group: Group, most: int) -> Indexes:
    """Owners of members that two of them can be farther apart than `most`, in either order.

    The ends of one member's interval say nothing of how far it is from others.
    """
    owner, upper = group.owner, masses.upper[group.members]
    order = np.lexsort((upper, owner))
    last = order[group.offsets[1:] - 1]
    before = order[np.maximum(group.offsets[1:] - 2, group.offsets[:-1])]
    latest_other = upper[last][owner]
    latest_other[last] = upper[before]
    limit = shifted(masses.lower[group.members], most)
    return np.asarray(owner[(latest_other > limit) & (group.sizes[owner] > 1)])


def _certainly_timed(
    shape: Shape, masses: Masses, groups: Sequence[Group], spans: BlockSpans, timing: Timing
) -> Flags:
    left_lower, left_upper = _side(shape, masses, groups, spans, timing.left)
    right_lower, right_upper = _side(shape, masses, groups, spans, timing.right)
    if not timing.not_equal:
        return np.asarray(left_upper <= shifted(right_lower, timing.bound))
    apart = left_upper < shifted(right_lower, timing.bound)
    return np.asarray(apart | (left_lower > shifted(right_upper, timing.bound)))


def _side(
    shape: Shape, masses: Masses, groups: Sequence[Group], spans: BlockSpans, component: int | None
) -> tuple[Ticks, Ticks]:
    """Earliest and latest tick of what a component binds; 0 for none."""
    if component is None:
        nothing = np.zeros(len(spans.first_lower), dtype=np.int64)
        return nothing, nothing
    number = shape.block_of(component)
    components = shape.blocks[number].components
    if len(components) == 1:
        return spans.first_lower[:, number], spans.last_upper[:, number]
    event = groups[number].members[groups[number].offsets[:-1] + components.index(component)]
    return masses.lower[event], masses.upper[event]


class PlacedShapes(NamedTuple):
    """For every event, the first one of the same shape, and the tick that this shape is placed at."""

    shape: Indexes
    place: Ticks


def placed_shapes(masses: Masses, *, movable: bool) -> PlacedShapes | None:
    """Shapes of all events; None where each has one of its own.

    Where matches are not `movable`, since something compares ticks with constants, places are part of shapes.
    """
    count = len(masses.lower)
    if movable and masses.can_be_moved:
        found = PlacedShapes(masses.shape_numbers, masses.upper)
    else:
        found = PlacedShapes(masses.numbers, np.zeros(count, dtype=np.int64))
    return None if (found.shape == np.arange(count)).all() else found


class MatchEvents(Protocol):
    """Pairs of a match and an event: rivals under one rule, or members in one place."""

    @property
    def row(self) -> Indexes: ...
    @property
    def event(self) -> Indexes: ...


def alike_matches(event: Indexes, others: Sequence[MatchEvents], shapes: PlacedShapes) -> Indexes:
    """For each of n matches the first one that is alike, shape (n,).

    Parameters
    ----------
    event
        Shape (n, l): the events of each match that components bind alone; l >= 1.
    others
        What else decides a match: the members of its groups, and rivals under every rule.
    shapes
        Those of all events, as `placed_shapes` gives them.
    """
    count, length = event.shape
    bits = len(others).bit_length()
    sizes = np.full(count, length, dtype=np.int64)
    for each in others:
        sizes += np.bincount(each.row, minlength=count)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    keys, places = np.empty((2, offsets[-1]), dtype=np.int64)
    begin = offsets[:-1] + length
    own = offsets[:-1, np.newaxis] + np.arange(length)
    keys[own] = shapes.shape[event]
    places[own] = shapes.place[event]
    at = begin.copy()
    for rule, each in enumerate(others):
        _put_rivals(each.row, each.event, rule, bits, at, keys)
    _name_by_shape(begin, offsets, shapes.shape, shapes.place, bits, keys, places)
    return first_alike(offsets, keys, places)


def first_alike(offsets: Indexes, keys: Indexes, places: Ticks) -> Indexes:
    """For each of n lists the first that is the same, shape (n,); list i is what stands from offsets[i] on.

    Examples
    --------
    >>> offsets, keys = np.array([0, 2, 4, 6]), np.array([7, 8, 7, 8, 7, 8])
    >>> first_alike(offsets, keys, np.array([0, 5, 0, 6, 0, 5])).tolist()
    [0, 1, 0]
    """
    count = len(offsets) - 1
    found = np.empty(count, dtype=np.int64)
    table = np.full(1 << max((2 * count).bit_length(), 1), -1, dtype=np.int64)
    _fill(offsets, keys, places, table, found)
    return found


@kernel
def _put_rivals(rows, events, rule, bits, at, keys):
    for i in range(len(rows)):
        keys[at[rows[i]]] = events[i] << bits | rule
        at[rows[i]] += 1


@kernel
def _name_by_shape(begin, offsets, shape, place, bits, keys, places):
    """Sort the rivals of each match by event and rule, name them by shape, and count places from the first.

    The same event under a further rule is told apart from another with the same mass by its sign.
    """
    for row in range(len(begin)):
        own = keys[begin[row] : offsets[row + 1]]
        for i in range(1, len(own)):
            if own[i - 1] > own[i]:
                own.sort()
                break
        since, before = places[offsets[row]], -1
        for i in range(offsets[row], begin[row]):
            places[i] -= since
        for i in range(len(own)):
            event = own[i] >> bits
            key = shape[event] << bits | (own[i] & ((1 << bits) - 1))
            own[i] = -1 - key if event == before else key
            places[begin[row] + i] = place[event] - since
            before = event


@kernel
def _fill(offsets, keys, places, table, found):
    """Look every match up in a hash table of those before it, of which half at least is free."""
    for row in range(len(found)):
        digest = np.uint64(0)
        for i in range(offsets[row], offsets[row + 1]):
            digest = mixed(digest ^ (np.uint64(keys[i]) + (np.uint64(places[i]) << np.uint64(24))))
        place = np.int64(digest & np.uint64(len(table) - 1))
        while table[place] >= 0 and not _same(offsets, keys, places, table[place], row):
            place = (place + 1) & (len(table) - 1)
        if table[place] < 0:
            table[place] = row
        found[row] = table[place]


@inner
def _same(offsets, keys, places, one, other):
    size = offsets[one + 1] - offsets[one]
    same = offsets[other + 1] - offsets[other] == size
    for i in range(size if same else 0):
        a, b = offsets[one] + i, offsets[other] + i
        same = same and keys[a] == keys[b] and places[a] == places[b]
    return same


_FEWEST = 1 << 8
"""Of fewer chains none is looked for."""
_TRIED = 1 << 10
"""After so many chains it is asked whether they repeat."""
_SLOTS = 1 << 14
"""Places for chains that differ, twice as many as may be taken: they stay in the cache of a core."""


def moved_matches(masses: Masses, matches: Indexes) -> Indexes | None:
    """For each of n chains, shape (n, l), the first that it is when moved, shape (n,).

    None where so many differ, or there are so few of them, that it is quicker to measure each.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from cepctl.engines.columns.masses import masses_of
    >>> ticks = list(range(0, 4000, 10))
    >>> events = pa.table({"event_id": [*map(str, ticks)], "lower": ticks, "upper": [t + 15 for t in ticks]})
    >>> pairs = np.array([[i, i + 1 + i % 2] for i in range(0, 398)])
    >>> moved_matches(masses_of(events), pairs)[:6].tolist()
    [0, 1, 0, 1, 0, 1]
    """
    if len(matches) < _FEWEST or not masses.can_be_moved or _mostly_differ(masses, matches[:_TRIED]):
        return None
    first = np.empty(len(matches), dtype=np.int64)
    matches = np.ascontiguousarray(matches)
    found = _first_alike(masses.buckets, matches, np.full(_SLOTS, -1, dtype=np.int64), _TRIED, first)
    return first if found else None


def _mostly_differ(masses: Masses, matches: Indexes) -> bool:
    """Whether most of some chains differ by the ends of their intervals alone, however the masses lie."""
    since = masses.lower[matches[:, :1]]
    ends = np.concatenate([masses.lower[matches] - since, masses.upper[matches] - since], axis=1)
    return 2 * len(distinct_rows(ends).first) > len(matches)


@kernel
def _first_alike(buckets, matches, slots, tried, first):
    """Fill `first`; False where most of the first `tried` chains differ, or half of the slots are taken."""
    different = 0
    for i in range(len(matches)):
        if i == tried and 2 * different > tried:
            return False
        slot = _hashed(buckets, matches[i]) & (len(slots) - 1)
        while slots[slot] >= 0 and not are_moved(buckets, matches[slots[slot]], matches[i]):
            slot = (slot + 1) & (len(slots) - 1)
        if slots[slot] < 0:
            slots[slot] = i
            different += 1
            if 2 * different >= len(slots):
                return False
        first[i] = slots[slot]
    return True


@inner
def _hashed(buckets, events):
    begin, mixed = buckets.lower[events[0]], 0
    for event in events:
        mixed = (mixed ^ (buckets.lower[event] - begin)) * 0x2545F4914F6CDD1D
        mixed ^= mixed >> 32
        mixed = (mixed ^ (buckets.upper[event] - begin)) * 0x2545F4914F6CDD1D
        mixed ^= mixed >> 29
    return mixed


@inner
def are_moved(buckets, events, others):
    """Whether some events are as far apart as others, with the same masses."""
    lower, upper, starts = buckets.lower, buckets.upper, buckets.starts
    moved = lower[others[0]] - lower[events[0]]
    for j in range(len(events)):
        event, other = events[j], others[j]
        if lower[other] - lower[event] != moved or upper[other] - upper[event] != moved:
            return False
        begin, end = starts[event], starts[event + 1]
        if starts[other + 1] - starts[other] != end - begin:
            return False
        for b in range(end - begin):
            one, another = begin + b, starts[other] + b
            if (
                buckets.lo[another] - buckets.lo[one] != moved
                or buckets.hi[another] - buckets.hi[one] != moved
            ):
                return False
            if buckets.density[another] != buckets.density[one]:
                return False
    return True
