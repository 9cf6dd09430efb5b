"""Which matches have rivals of the same kinds, of lengths that bend the sums at the same places.

Only such matches are problems of one structure: what one match is summed over depends on its own rivals, not
on those of the matches that happen to be measured with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from cepctl.arrays import Indexes, Ticks
from cepctl.engines.columns.endpoints import UNBOUNDED_LENGTH, Endpoints
from cepctl.engines.intervals.absence_problems import RivalList


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
