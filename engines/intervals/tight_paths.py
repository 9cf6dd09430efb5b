"""By how much two endpoints are apart where all conditions on some way between them hold with equality.

Whatever is summed over endpoints changes its polynomial only where a cut of one endpoint meets a cut of
another over such a way: `t_i - t_j <= c` is tight where `t_i = t_j + c`, and may be passed both ways.

Runs inside Spark workers: imports NumPy only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.tick_sums import FIRST, LAST
from cepctl.engines.intervals.conditions import Case, Edge
from cepctl.engines.intervals.skeletons import Lasting, skeleton_of
from cepctl.errors import QueryTooLargeError

MOST_WAYS = 20_000
"""Ways between endpoints that are followed."""
_FAR = 2**61


@dataclass(frozen=True)
class TightPaths:
    """Ways from place `source` to place `target`; the place after the last endpoint is the constant tick 0.

    `constant`, shape (w,), and `own`, shape (w, m): along way w the target is `constant` plus so many times
    each of a match's m own constants before the source.
    """

    source: int
    target: int
    constant: Ticks
    own: Indexes

    def distances(self, own: Ticks) -> Ticks:
        """t_source - t_target along every way of n matches with these constants, shape (n, w).

        A way that needs a bound which is none has the distance 0, as if it were direct.
        """
        bounded = np.abs(own) < _FAR
        found = self.constant + np.where(bounded, own, 0) @ self.own.T
        return np.where((~bounded).astype(np.int64) @ np.abs(self.own.T) > 0, 0, found)


@lru_cache(maxsize=256)
def tight_paths(cases: tuple[Case, ...], lasting: Lasting) -> tuple[TightPaths, ...]:
    """The ways between all places of matches that bind points at the same places, each distance once.

    Raises
    ------
    QueryTooLargeError
        If there are more than MOST_WAYS.
    """
    places, own = 2 * len(lasting), 2 * sum(lasting)
    distinct: dict[tuple[int, int], set[tuple[int, ...]]] = {}
    for case in cases:
        steps = _steps(case, lasting)
        for source in range(places + 1):
            for number, (target, distance) in enumerate(_ways(steps, source, own)):
                if number > MOST_WAYS:
                    raise QueryTooLargeError(
                        "the conditions on events that last tie their starts and ends in more than "
                        f"{MOST_WAYS:,} ways, too many where these share clocks; ask for fewer at once"
                    )
                if source < target:
                    distinct.setdefault((source, target), set()).add(distance)
    found = []
    for (source, target), distances in sorted(distinct.items()):
        table = np.array(sorted(distances), dtype=np.int64)
        found.append(TightPaths(source, target, table[:, 0], table[:, 1:]))
    return tuple(found)


_Step = tuple[int, int, tuple[int, ...]]
"""From a place to another, and how far the first is after the second: a constant, and own constants."""


def _steps(case: Case, lasting: Lasting) -> dict[int, list[_Step]]:
    """All edges of a case, both ways, by the place where they begin."""
    skeleton = skeleton_of(case, lasting)
    places, own = 2 * len(lasting), 2 * sum(lasting)
    edges: list[tuple[Edge, int | None]] = [
        ((int(i), int(j), int(bound)), number - skeleton.shared if number >= skeleton.shared else None)
        for number, (i, j, bound) in enumerate(skeleton.edges)
    ]
    for place, (first, last) in enumerate(skeleton.allowed.tolist()):
        edges += [((place, places, last), None)] if last != LAST else []
        edges += [((places, place, -first), None)] if first != FIRST else []
    steps: dict[int, list[_Step]] = {place: [] for place in range(places + 1)}
    for (i, j, bound), number in edges:
        for sign, source, target in ((1, i, j), (-1, j, i)):
            symbols = [sign * (each == number) for each in range(own)]
            steps[source].append((source, target, (0 if number is not None else sign * bound, *symbols)))
    return steps


def _ways(steps: dict[int, list[_Step]], source: int, own: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Where one gets from a place over others that are all different, and how far the place is after it."""
    waiting = [(source, frozenset({source}), (0,) * (own + 1))]
    while waiting:
        at, passed, distance = waiting.pop()
        yield at, distance
        for _, target, more in steps[at]:
            if target not in passed:
                further = tuple(a + b for a, b in zip(distance, more, strict=True))
                waiting.append((target, passed | {target}, further))
