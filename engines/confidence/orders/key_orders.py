"""Which events a law of order leaves in doubt: steps, factors, and the clusters in which orders are open.

Open runs of a key (`cepctl.engines.order_laws.pieces`) with no other event between them make a cluster: what
comes right before and right after it is known, so the orders of a key are those of its clusters, each by
itself.

    name here      meaning
    code           number of a step among those that the law names, 0 for every other
    cluster        -1 for an event of no open run: what is before it and after it is certain, or no law says
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from cepctl.arrays import Flags, Indexes, Reals
from cepctl.engines.columns.masses import Masses, alike_events, shapes_of
from cepctl.engines.confidence.orders.cells import LawTables
from cepctl.engines.confidence.orders.steps import key_of_event, steps_of
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.order_laws.keys import Keys
from cepctl.engines.order_laws.pieces import OpenRuns
from cepctl.engines.order_laws.table import sets_alive
from cepctl.order_laws.law import BEGIN, END, OrderLaw

MOST_EVENTS = 1_000
"""Of one cluster: each row passes through all of it."""


@dataclass(frozen=True)
class Factors:
    """The factors of one law by codes of steps, shape (codes, codes); BEGIN and END have codes as well."""

    codes: dict[str, int]
    following: Reals
    before: Reals

    @classmethod
    def of(cls, law: OrderLaw) -> Factors:
        """The factors that a law states, 1 for all others."""
        named = dict.fromkeys(
            [BEGIN, END, *(step for pair in (*law.following, *law.before) for step in pair)]
        )
        codes = {step: number for number, step in enumerate(named, start=1)}
        following, before = np.ones((2, len(codes) + 1, len(codes) + 1))
        for table, stated in ((following, law.following), (before, law.before)):
            for (first, second), factor in stated.items():
                table[codes[first], codes[second]] = factor
        return cls(codes, following, before)


@dataclass(frozen=True)
class KeyOrders:
    """The events of a partition under laws of order.

    `cluster`, shape (n,): the number of each event's cluster.  `order` lists the events of clusters by these,
    those of cluster c from `starts`[c] on.  `codes`, `law`, shape (n,): code of each event's step, and number
    of its law, -1 for none.  `before`, `after`, per cluster: the codes of the steps that surround it.
    `names`: for each law the attribute that makes its keys.
    """

    masses: Masses
    cluster: Indexes
    order: Indexes
    starts: Indexes
    codes: Indexes
    law: Indexes
    before: Indexes
    after: Indexes
    factors: tuple[Factors, ...]
    names: tuple[pl.Series, ...]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def events_of(self, number: int) -> Indexes:
        """The events of a cluster."""
        return self.order[self.starts[number] : self.starts[number + 1]]

    @cached_property
    def sets(self) -> Reals:
        """How many sets of events may have happened in one cell of time, at most, shape (clusters,)."""
        return sets_alive(Keys(self.masses.take(self.order), self.starts, self.codes[self.order]))

    @cached_property
    def speaks(self) -> Flags:
        """Whether an order of a cluster has more weight than another, shape (clusters,)."""
        found = np.zeros(len(self), dtype=bool)
        law = self.law[self.order[self.starts[:-1]]]
        columns = self.starts, self.codes[self.order], law, self.before, self.after
        _find_speaking(self.tables, *columns, found)
        return found

    def beyond(self, limit: int) -> Flags:
        """Clusters in which the law weighs an order, and of which a cell has more sets alive than the limit.

        Calibrate judges pairs by the same (`cepctl.engines.order_laws.pieces`).  Of too many events each row
        would take too long.
        """
        return np.asarray(self.speaks & ((self.sets > limit) | (np.diff(self.starts) > MOST_EVENTS)))

    @cached_property
    def alike(self) -> Indexes:
        """For every event the first one with its mass."""
        return alike_events(self.masses)

    @cached_property
    def shapes(self) -> Indexes:
        """For every event the first one whose mass is the same, moved in time."""
        return alike_events(shapes_of(self.masses))

    @cached_property
    def tables(self) -> LawTables:
        """The factors of all laws."""
        step = np.repeat(np.arange(len(self)), np.diff(self.starts)), self.codes[self.order]
        _, repeats = np.unique(np.column_stack(step), axis=0, return_counts=True)
        return _tables_of(self.factors, int(repeats.max(initial=1)))

    def name_of(self, number: int) -> str:
        """The key of a cluster."""
        event = int(self.order[self.starts[number]])
        values = self.names[self.law[event]]
        return f"{values.name} = {values[event]}"


def key_orders(laws: Sequence[OrderLaw], frame: pl.DataFrame, masses: Masses) -> KeyOrders | None:
    """Events under these laws, by their attributes and masses; None where no order is open.

    Raises
    ------
    EventSchemaError
        If two laws speak of one event.
    """
    law, key = key_of_event(laws, frame)
    factors = tuple(Factors.of(each) for each in laws)
    codes = np.zeros(len(law), dtype=np.int64)
    for number, each in enumerate(laws):
        own = np.flatnonzero(law == number)
        texts = steps_of(each, frame[own])
        known = pl.DataFrame(
            {"text": list(factors[number].codes), "code": list(factors[number].codes.values())}
        )
        found = pl.DataFrame({"text": texts}).join(known, on="text", how="left", maintain_order="left")
        codes[own] = found.get_column("code").fill_null(0).to_numpy()
    under = np.flatnonzero(key >= 0)
    order = under[np.lexsort((masses.upper[under], masses.lower[under], key[under]))]
    if not len(order):
        return None
    is_open = OpenRuns.of(key[order], masses.lower[order], masses.upper[order], codes[order]).is_open
    if not is_open.any():
        return None
    first = is_open.copy()
    first[1:] &= (key[order[1:]] != key[order[:-1]]) | ~is_open[:-1]
    numbers = np.cumsum(first)[is_open] - 1
    cluster = np.full(len(law), -1, dtype=np.int64)
    cluster[order[is_open]] = numbers
    begins, sizes = np.flatnonzero(first), np.bincount(numbers)
    ends = begins + sizes - 1
    return KeyOrders(
        masses,
        cluster,
        order[is_open],
        np.concatenate([[0], np.cumsum(sizes)]),
        codes,
        law,
        _neighbours(key, order, codes, law, factors, begins, -1),
        _neighbours(key, order, codes, law, factors, ends, 1),
        factors,
        tuple(frame.get_column(each.by) for each in laws),
    )


def _tables_of(factors: Sequence[Factors], most: int) -> LawTables:
    """The factors of laws by number and codes, and their roots up to the degree `most`."""
    size = max(len(each.before) for each in factors)
    following, before = np.ones((2, len(factors), size, size))
    alike = np.zeros((len(factors), size), dtype=np.int64)
    for number, each in enumerate(factors):
        codes = len(each.before)
        following[number, :codes, :codes], before[number, :codes, :codes] = each.following, each.before
        _, first, same = np.unique(each.following, axis=0, return_index=True, return_inverse=True)
        alike[number, :codes] = first[same.reshape(-1)]
    values, value = np.unique(before, return_inverse=True)
    # Python's own power is the same on every machine, which NumPy's is not.
    roots = [[float(each) ** (1.0 / max(degree, 1)) for each in values] for degree in range(most + 1)]
    return LawTables(following, alike, value.reshape(before.shape), np.array(roots))


@kernel
def _find_speaking(laws, starts, codes, law, before, after, found):
    """Fill which clusters have an order of more weight than another."""
    for cluster in range(len(found)):
        own = np.unique(codes[starts[cluster] : starts[cluster + 1]])
        following, number = laws.following[law[cluster]], law[cluster]
        for one in own:
            speaks = following[before[cluster], one] != 1.0 or following[one, after[cluster]] != 1.0
            for other in own:
                speaks = speaks or following[one, other] != 1.0
                speaks = speaks or laws.roots[1, laws.value[number, one, other]] != 1.0
            found[cluster] = found[cluster] or speaks


def _neighbours(
    key: Indexes, order: Indexes, codes: Indexes, law: Indexes, factors: Sequence[Factors], edge: Indexes,
    step: int,
) -> Indexes:  # fmt: skip
    """The code of what stands beside the first or last event of each cluster."""
    place = edge + step
    inside = (place >= 0) & (place < len(order))
    beside = order[np.where(inside, place, edge)]
    outer = np.array([each.codes[BEGIN if step < 0 else END] for each in factors])[law[order[edge]]]
    same = inside & (key[beside] == key[order[edge]])
    return np.asarray(np.where(same, codes[beside], outer))
