"""Matches beside which no event of some kind may be: summed over the endpoints that its conditions name.

Those endpoints, and what open edges couple to them, become one problem of nested sums.  Groups apart from
these multiply as without rivals.  Only matches whose rivals are of the same kinds, of lengths that bend the
sums at the same places, are problems of one structure: what one match is summed over depends on its own
rivals, not on those of the matches that happen to be measured with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from cepctl.arrays import Indexes, Reals, Ticks
from cepctl.engines.columns.endpoints import UNBOUNDED_LENGTH, Endpoints
from cepctl.engines.confidence.coupled.nested_sums import IMPOSSIBLE
from cepctl.engines.confidence.coupled.solve import coupled_confidence, first_ticks, mirrored
from cepctl.engines.intervals.edges import Reached
from cepctl.engines.intervals.problems import Together, problems_of
from cepctl.engines.intervals.rivals import RivalList


def absent_confidence(
    endpoints: Endpoints, together: Together, endpoint: Indexes, left: Reached
) -> tuple[Reals, Ticks, Ticks]:
    """P(open edges, no rival) of n rows of endpoints; first and last tick of each place, both (n, m).

    What no world allows has the probability 0 and ranges that mean nothing.

    Raises
    ------
    QueryTooLargeError
        If a row takes too many products.
    """
    masses = endpoints.masses
    problems = problems_of(endpoints, together, endpoint, left.lower, left.upper)
    confidence, found = coupled_confidence(masses, problems)
    lower, upper = left.lower.copy(), left.upper.copy()
    never = found == IMPOSSIBLE
    lower[never], upper[never] = 1, 0
    possible = np.flatnonzero(~never)
    if not len(possible):
        return confidence, lower, upper
    some = replace(together, lists=tuple(each.taken(possible) for each in together.lists))
    rows = endpoint[possible], left.lower[possible], left.upper[possible]
    for place in together.places:
        lower[possible, place] = first_ticks(masses, problems_of(endpoints, some, *rows, (place, False)))
        last = problems_of(endpoints, some, *rows, (place, True))
        upper[possible, place] = -first_ticks(*mirrored(masses, last))
    return confidence, lower, upper


def alike_rivals(endpoints: Endpoints, lists: Sequence[RivalList], count: int) -> Indexes:
    """A number for each of `count` rows, the same for those whose rivals are alike."""
    found = list(_traits(endpoints, lists))
    if not found:
        return np.zeros(count, dtype=np.int64)
    row, number, length = (np.concatenate([each[side] for each in found]) for side in range(3))
    frame = pl.DataFrame({"row": row, "list": number, "length": length}).unique()
    text = pl.format("{} {}", "list", "length").sort_by("list", "length").str.join(",")
    of_row = frame.group_by("row").agg(text.alias("text"))
    alike = np.zeros(count, dtype=np.int64)
    alike[of_row.get_column("row").to_numpy()] = of_row.get_column("text").rank("dense").to_numpy()
    return alike


def _traits(endpoints: Endpoints, lists: Sequence[RivalList]) -> Iterator[tuple[Indexes, Indexes, Ticks]]:
    """Rows, the list that a rival of each stands in, and a bound of its length, or 0."""
    for number, each in enumerate(lists):
        of_list = np.full(len(each.row), number)
        yield each.row, of_list, np.zeros(len(each.row), dtype=np.int64)
        if each.kind.lasts:
            for bounds in (endpoints.shortest, endpoints.longest):
                length = bounds[each.event]
                yield each.row, of_list, np.where(length < UNBOUNDED_LENGTH, length, 0)
