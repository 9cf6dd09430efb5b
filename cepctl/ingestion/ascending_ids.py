"""Ids that grow from event to event, as those of numbered events do: then all differ.

To see that is far cheaper than to look each of them up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Place = tuple[int, bytes]
"""Where an id stands among others: how long it is, and its text."""
Run = tuple[Place, Place]
"""The first and the last of ascending ids of one length."""
BEFORE_ALL: Place = (-1, b"")


def last_ascending(ids: pa.Array, before: Place = BEFORE_ALL) -> Place | None:
    """The last of some ids, each of which is longer than the one before, or as long and greater; else None.

    `before` is the one before the first; that of none is the last.

    Examples
    --------
    >>> last_ascending(pa.array(["e8", "e9", "e10"])), last_ascending(pa.array(["e10", "e9"]))
    ((3, b'e10'), None)
    """
    if not len(ids):
        return before
    if place_of(ids[0]) <= before:
        return None
    growth = np.diff(pc.binary_length(ids).to_numpy())
    if (growth < 0).any():
        return None
    falls = pc.greater_equal(ids[:-1], ids[1:])
    if pc.any(pc.and_(falls, pa.array(growth == 0))).as_py():
        return None
    return place_of(ids[-1])


def runs_of(ids: pa.Array, before: Sequence[Run] = ()) -> tuple[Run, ...]:
    """The runs of ascending ids behind others, whose last may go on: one for every length that occurs.

    Examples
    --------
    >>> runs_of(pa.array(["e8", "e9", "e10"]))
    (((2, b'e8'), (2, b'e9')), ((3, b'e10'), (3, b'e10')))
    """
    growth = np.flatnonzero(np.diff(pc.binary_length(ids).to_numpy())) + 1
    bounds = [0, *growth.tolist(), len(ids)]
    found = [*before]
    for begin, end in pairwise(bounds):
        first, last = place_of(ids[begin]), place_of(ids[end - 1])
        if found and found[-1][1][0] == last[0]:
            found[-1] = found[-1][0], last
        else:
            found.append((first, last))
    return tuple(found)


def are_apart(runs: Iterable[Run]) -> bool:
    """Whether no run begins before another one has ended."""
    return all(last < first for (_, last), (first, _) in pairwise(sorted(runs)))


def place_of(event_id: pa.Scalar) -> Place:
    """Where one id stands."""
    text = event_id.as_py().encode()
    return len(text), text
