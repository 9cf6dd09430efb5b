"""Ties that others imply: what says that one event comes before another, where one between them says so."""

from __future__ import annotations

import numpy as np
import polars as pl

from cepctl.arrays import Indexes
from cepctl.engines.given.edges import Differences

_MOST_WAYS = 50_000_000


def without_ways_round(found: Differences) -> Differences:
    """What says that one event comes before another is left out where one between them says so already."""
    return found.taken(ways_round(found))


def ways_round(found: Differences) -> Indexes:
    """Those that are kept then."""
    order = np.flatnonzero(found.bound == -1)
    degree = np.bincount(found.right[order], minlength=int(found.left.max(initial=0)) + 1)
    if int(degree[found.left[order]].sum()) > _MOST_WAYS:
        return np.arange(len(found))
    first = pl.DataFrame({"from": found.left[order], "to": found.right[order]})
    ways = first.join(first.rename({"from": "to", "to": "end"}), on="to").select("from", "end").unique()
    ways = ways.rename({"end": "to"})
    implied = first.with_row_index("row").join(ways, on=["from", "to"], how="semi")
    kept = np.ones(len(found), dtype=bool)
    kept[order[implied.get_column("row").to_numpy()]] = False
    return np.flatnonzero(kept)
