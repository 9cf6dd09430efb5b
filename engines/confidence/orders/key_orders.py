"""Which events a law of order leaves in doubt: steps, factors, and the clusters in which orders are open.

A cluster is a piece of a key (`cepctl.engines.order_laws.keys`): what comes right before it and after it is
known, so the orders of a key are those of its clusters, each by itself.

    name here      meaning
    code           number of a step among those that the law names; the next one is that of all others, and
                   the one after that stands for both ends of a key
    cluster        -1 for an event of no open run: what is before it and after it is certain, or no law says
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl
import pyarrow as pa

from cepctl.engines.columns.masses import Masses, alike_events, shapes_of
from cepctl.engines.columns.numbering import numbers_of
from cepctl.engines.kernels.kernel import kernel
from cepctl.engines.order_laws.keys import Factors, Keys, LawTables, pieces_of
from cepctl.engines.order_laws.table import sets_alive
from cepctl.errors import EventSchemaError
from cepctl.laws.law import BEGIN, END, OrderLaw
from cepctl.numeric.arrays import Flags, Indexes, Reals

MOST_EVENTS = 1_000
"""Of one cluster: each row passes through all of it."""
_OTHERS = "$"
"""No step that is named can be this one."""


@dataclass(frozen=True)
class KeyOrders:
    """The events of a partition under laws of order.

    `cluster`, shape (n,): the number of each event's cluster.  `order` lists the events of clusters by these,
    those of cluster c from `starts`[c] on.  `codes`, `law`, shape (n,): code of each event's step, and number
    of its law, -1 for none.  `before`, `after`, per cluster: the codes of the steps that surround it.  For
    each law: its `factors`, the `steps` that it tells apart, in order of their codes, and in `names` the
    attribute that makes its keys.
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
    steps: tuple[list[str], ...]
    names: tuple[pl.Series, ...]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def events_of(self, number: int) -> Indexes:
        """The events of a cluster."""
        return self.order[self.starts[number] : self.starts[number + 1]]

    @property
    def keys(self) -> Keys:
        """The clusters as keys, which are measured each by itself."""
        order = self.order
        return Keys(self.masses.take(order), self.starts, self.codes[order], around=(self.before, self.after))

    @cached_property
    def sets(self) -> Reals:
        """How many sets of events may have happened in one cell of time, at most, shape (clusters,)."""
        return sets_alive(self.keys)

    @cached_property
    def speaks(self) -> Flags:
        """Whether an order of a cluster has more weight than another, shape (clusters,)."""
        found = np.zeros(len(self), dtype=bool)
        law = self.law[self.order[self.starts[:-1]]]
        columns = self.starts, self.codes[self.order], law, self.before, self.after
        _find_speaking(self.tables, *columns, found)
        return found

    def wide(self, limit: int) -> Flags:
        """Clusters in which the law weighs an order, with more sets alive in a cell than the limit."""
        return np.asarray(self.speaks & (self.sets > limit))

    def beyond(self, limit: int) -> Flags:
        """Clusters that are too much work for rows: wide ones, and those of too many events for each row.

        Calibrate leaves out pairs of those that are wide.
        """
        return np.asarray(self.wide(limit) | (self.speaks & (np.diff(self.starts) > MOST_EVENTS)))

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
        return LawTables.of(self.factors)

    def codes_of(self, law: int) -> dict[str, int]:
        """The code of each step that a law names, and of both ends of a key."""
        named = self.steps[law][:-1]
        return {step: code for code, step in enumerate(named)} | dict.fromkeys((BEGIN, END), len(named) + 1)

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
    law, key = _key_of_event(laws, frame)
    steps = tuple(_step_codes(each) for each in laws)
    factors = tuple(map(Factors.of_law, laws, steps))
    codes = np.zeros(len(law), dtype=np.int64)
    for number, each in enumerate(laws):
        own = np.flatnonzero(law == number)
        codes[own] = _codes_of(each, frame[own])
    under = np.flatnonzero(key >= 0)
    order = under[np.argsort(key[under], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(key[order]))])
    edge = np.array([each.steps for each in factors])[law[order]]
    pieces, event = pieces_of(Keys(masses.take(order), starts, codes[order]), edge)
    if not pieces.count or pieces.around is None:
        return None
    order = order[event]
    cluster = np.full(len(law), -1, dtype=np.int64)
    cluster[order] = pieces.key
    return KeyOrders(
        masses,
        cluster,
        order,
        pieces.starts,
        codes,
        law,
        *pieces.around,
        factors,
        steps,
        tuple(frame.get_column(each.by) for each in laws),
    )


@kernel
def _find_speaking(laws, starts, codes, law, before, after, found):
    """Fill which clusters have an order of more weight than another."""
    for cluster in range(len(found)):
        own = np.unique(codes[starts[cluster] : starts[cluster + 1]])
        following, preceding = laws.following[law[cluster]], laws.before[law[cluster]]
        for one in own:
            speaks = following[before[cluster], one] != 1.0 or following[one, after[cluster]] != 1.0
            for other in own:
                speaks = speaks or following[one, other] != 1.0 or preceding[one, other] != 1.0
            found[cluster] = found[cluster] or speaks


def _key_of_event(laws: Sequence[OrderLaw], frame: pl.DataFrame) -> tuple[Indexes, Indexes]:
    """Number of each event's law and of its key, -1 for none, shape (n,).

    Raises
    ------
    EventSchemaError
        If two laws speak of one event.
    """
    law, key = np.full((2, frame.height), -1, dtype=np.int64)
    known = 0
    for number, each in enumerate(laws):
        numbers = numbers_of(frame.get_column(each.by))
        under = numbers >= 0
        twice = np.flatnonzero(under & (law >= 0))
        if len(twice):
            first = laws[law[twice[0]]]
            raise EventSchemaError(
                f"event '{_id(frame, twice)}' has a {first.by} and a {each.by}, and is under the laws of "
                "order of both; leave one of the laws out"
            )
        law[under], key[under] = number, numbers[under] + known
        known += int(numbers.max(initial=-1)) + 1
    return law, key


def _steps_of(law: OrderLaw, frame: pl.DataFrame) -> pl.Series:
    """The step of each event: the texts of its attributes joined by +, a null empty.

    Raises
    ------
    EventSchemaError
        If a step means the begin or the end of a key.
    """
    texts = frame.select(_texts(frame.get_column(each)).alias(each) for each in law.step)
    steps = texts.select(pl.concat_str(pl.all(), separator="+").alias("step")).to_series()
    meant = np.flatnonzero(steps.is_in([BEGIN, END]).to_numpy())
    if len(meant):
        raise EventSchemaError(
            f"event '{_id(frame, meant)}' has the step '{steps[int(meant[0])]}', by which a law of order "
            "means the begin or the end of a key; rename it, or name other attributes as step"
        )
    return steps


def _step_codes(law: OrderLaw) -> list[str]:
    """The steps that a law tells apart, by their codes: those that it names, and one for all others."""
    named = {each for pair in (*law.following, *law.before) for each in pair} - {BEGIN, END}
    return [*sorted(named), _OTHERS]


def _codes_of(law: OrderLaw, frame: pl.DataFrame) -> Indexes:
    """The code of each event's step.

    Raises
    ------
    EventSchemaError
        If a step means the begin or the end of a key.
    """
    named = _step_codes(law)[:-1]
    steps = _steps_of(law, frame)
    return steps.replace_strict(
        named, range(len(named)), default=len(named), return_dtype=pl.Int64
    ).to_numpy()


def _texts(values: pl.Series) -> pl.Series:
    """The values as text, as calibrate and learn write them: by Arrow."""
    if values.dtype == pl.String:
        return values.fill_null("")
    return pl.Series(values.to_arrow().cast(pa.string())).fill_null("")


def _id(frame: pl.DataFrame, rows: Indexes) -> str:
    return str(frame.get_column("event_id")[int(rows[0])])
