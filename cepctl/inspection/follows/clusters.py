"""Events of cases, cut where order is certain: clusters of events whose intervals overlap.

All events of a cluster happen before all of the next one.  So what lies between two clusters factorises:
`b` of the later one directly follows `a` of the earlier one exactly where `a` is last and `b` is first in
its own.  A cluster is plain where it has one order alone: one event, or several at one tick.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from cepctl.engines.columns.masses import Masses
from cepctl.numeric.arrays import Flags, Indexes, Ticks


@dataclass(frozen=True)
class ClusterMembers:
    """The events of one cluster, counted together where type and mass are the same.

    `kind`, `count`: type and number of events, shape (d,).  `supports`: of each the buckets (lo, hi, mass),
    ticks counted from the earliest of the cluster.  Two clusters that are alike are equal.
    """

    kind: tuple[int, ...]
    count: tuple[int, ...]
    supports: tuple[tuple[tuple[int, int, float], ...], ...]

    @property
    def size(self) -> int:
        """How many events there are."""
        return sum(self.count)


@dataclass(frozen=True)
class Clusters:
    """Events in the order of their clusters: `order` are their rows, cluster c has starts[c] : starts[c + 1].

    `case`, `plain`: of each cluster, shape (clusters,).
    """

    order: Indexes
    starts: Indexes
    case: Indexes
    plain: Flags

    def __len__(self) -> int:
        return len(self.case)


def clusters_of(case: Indexes, masses: Masses) -> Clusters:
    """Cut the events of each case where all earlier ones end before all later ones begin.

    `case`: of each event, shape (n,).  `masses`: of the same events.
    """
    frame = pl.DataFrame({"case": case, "lower": masses.lower, "upper": masses.upper}).with_row_index("row")
    frame = frame.sort("case", "lower", "upper", "row")
    reach = pl.col("upper").cum_max().shift(1).over("case")
    frame = frame.with_columns(begins=(pl.col("lower") > reach).fill_null(True))
    begins = frame["begins"].to_numpy()
    starts = np.append(np.flatnonzero(begins), len(begins))
    lower, upper = frame["lower"].to_numpy(), frame["upper"].to_numpy()
    first = starts[:-1]
    width = np.maximum.reduceat(upper, first) - lower[first] if len(first) else lower
    plain = (np.diff(starts) == 1) | (width == 0)
    return Clusters(frame["row"].to_numpy().astype(np.int64), starts, frame["case"].to_numpy()[first], plain)


def members_of(rows: Indexes, kind: Indexes, masses: Masses) -> ClusterMembers:
    """The events of one cluster, by their rows."""
    base = int(masses.lower[rows].min())
    counted: dict[tuple[int, tuple[tuple[int, int, float], ...]], int] = {}
    for row in rows:
        part = slice(masses.starts[row], masses.starts[row + 1])
        lo, hi = masses.lo[part], masses.hi[part]
        mass = masses.density[part] * _ticks(lo, hi)
        support = tuple(zip((lo - base).tolist(), (hi - base).tolist(), mass.tolist(), strict=True))
        key = (int(kind[row]), support)
        counted[key] = counted.get(key, 0) + 1
    keys = sorted(counted, key=lambda key: (key[1], key[0]))
    return ClusterMembers(
        tuple(key[0] for key in keys), tuple(counted[key] for key in keys), tuple(key[1] for key in keys)
    )


def _ticks(lo: Ticks, hi: Ticks) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return (hi - lo).astype(np.float64) + 1.0
