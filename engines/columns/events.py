"""The events of one partition, as the engines see them: masses, ids, types and attributes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.shared import Clocks
from cepctl.engines.columns.clocks import EventClocks, event_clocks
from cepctl.engines.columns.endpoints import (
    UNBOUNDED_LENGTH,
    Endpoints,
    endpoints_of,
    has_ends,
    masses_of_starts,
    of_points,
    own_endpoints,
)
from cepctl.engines.columns.masses import Masses, masses_of
from cepctl.engines.columns.numbering import numbers_of
from cepctl.engines.columns.ties import EndpointTies, EventTies, endpoint_ties, event_ties
from cepctl.language.ast import Probability
from cepctl.numeric.arrays import Flags, Indexes, Reals, Ticks
from cepctl.schema import CLOCK, END_PMF, END_TIME, LENGTH_LOWER, LENGTH_UPPER

if TYPE_CHECKING:
    from cepctl.engines.columns.clocks import EventClocks
    from cepctl.engines.columns.ties import EventTies
    from cepctl.engines.confidence.orders.under_laws import LawfulOrders


@dataclass(frozen=True)
class Dependence:
    """Nothing of it where each event is independent of all others.

    `clocks`: those that events share; `ties`: what is given of them; `orders`: what laws of order say.
    """

    clocks: EventClocks | None = None
    ties: EventTies | None = None
    orders: LawfulOrders | None = None

    @property
    def on_clocks(self) -> bool:
        """Whether events may share clocks."""
        return self.clocks is not None

    @property
    def given(self) -> bool:
        """Whether something is given of events."""
        return self.ties is not None

    @property
    def under_law(self) -> bool:
        """Whether laws weigh the orders of some events."""
        return self.orders is not None

    @property
    def weighs(self) -> bool:
        """Whether some worlds count for more than the masses of their ticks say, or not at all."""
        return self.given or self.under_law

    def but_for_ties(self) -> Dependence:
        """How events depend on each other where nothing is given."""
        return replace(self, ties=None)

    def but_for_clocks(self) -> Dependence:
        """How events depend on each other where they share no clocks."""
        return replace(self, clocks=None)

    def but_for_orders(self) -> Dependence:
        """How events depend on each other where no law speaks of their orders."""
        return replace(self, orders=None)


INDEPENDENT = Dependence()
"""That of events which share nothing."""


_MOST_TEXT = 1 << 31
"""Bytes that a column of strings holds, if its offsets have 32 bits."""
_FEW = 4
"""Of so many events one, at most: then they are taken one by one."""
ProbabilityFinder: TypeAlias = "Callable[[Events, Probability, Sequence[Indexes]], Reals]"
"""How `prob(...)` is found for rows that bind an event to each of its variables."""


@dataclass(frozen=True)
class FewNames:
    """Ids of events, of which few are taken."""

    ids: pl.Series

    def take(self, rows: pa.Array) -> pa.Array:
        """The ids of some events, as an array of them would give them."""
        return self.ids.gather(rows.to_numpy()).to_arrow().cast(pa.large_string())


@dataclass(frozen=True)
class Events:
    """n events in the order of a dataset, by `lower` and id; an event is known by its row number.

    Sums over events and products over rivals run in this order, whatever the order of the input.

    `frame` holds `event_id`, `event_type`, `lower`, `upper`, `time` where present, and the
    attributes, one row per event.  Where some event has a clock, `masses` say where events can be, and
    `clocks` how probable that is; `ends` then are of their own parts.  Where something is given that ties
    events, `ties` says what; `endpoint_ties`, where something is given beside events that last.  `orders`
    says which orders of events laws weigh, where there are such.
    """

    masses: Masses
    frame: pl.DataFrame
    clocks: EventClocks | None = None
    ties: EventTies | None = None
    ends: Endpoints | None = None
    probability: ProbabilityFinder | None = None
    endpoint_ties: EndpointTies | None = None
    orders: LawfulOrders | None = None

    def __len__(self) -> int:
        return len(self.masses.lower)

    def last(self, candidates: Iterable[Indexes]) -> bool:
        """Whether some of these events have an end."""
        if self.ends is None:
            return False
        is_lasting = np.zeros(len(self), dtype=bool)
        is_lasting[self.ends.lasting] = True
        return any(bool(is_lasting[each].any()) for each in candidates)

    def codes_of(self, name: str) -> Indexes:
        """The values of an attribute as numbers, as `value_codes` gives them; each is numbered once."""
        codes = self._codes.get(name)
        if codes is None:
            (codes,) = value_codes(self.frame.get_column(name))
            self._codes[name] = codes
        return codes

    @cached_property
    def _codes(self) -> dict[str, Indexes]:
        return {}

    @cached_property
    def key_codes(self) -> dict[tuple[str, ...], Indexes]:
        """Codes of several attributes together, as `cepctl.engines.columns.joins` has made them."""
        return {}

    @cached_property
    def endpoints(self) -> Endpoints:
        """Start and end of every event; those of a point are one.  Own parts, where events have clocks."""
        return of_points(self.stamps.own) if self.ends is None else self.ends

    @cached_property
    def stamps(self) -> EventClocks:
        """The clocks of all events; of those without any the masses are the own parts."""
        return self.clocks or EventClocks.none(self.masses)

    @cached_property
    def endpoint_stamps(self) -> EventClocks:
        """The clocks of all endpoints: one stamps both ends of an event."""
        ends, clock = self.endpoints, self.stamps.clock
        both = np.concatenate([clock, clock[ends.lasting]])
        return replace(self.stamps, clock=both, own=ends.masses)

    @property
    def endpoint_clocks(self) -> EventClocks | None:
        """The clocks of all endpoints, if events share some."""
        return self.clocks and self.endpoint_stamps

    @cached_property
    def tied(self) -> EventTies:
        """What is given of events; no ties where it is nothing, or tells of endpoints."""
        none = np.zeros(0, dtype=np.int64)
        return self.ties or event_ties(len(self), none, none, none)

    def is_tied(self, event: Indexes) -> Flags:
        """Which of some events are tied."""
        return self.tied.touches(event)

    @property
    def depends(self) -> Dependence:
        """How events depend on each other."""
        return Dependence(self.clocks, self.ties, self.orders)

    @property
    def independent(self) -> bool:
        """Whether no clock and nothing that is given makes events depend on each other."""
        return not (self.depends.on_clocks or self.depends.given)

    @cached_property
    def tied_endpoints(self) -> EndpointTies:
        """What is given of endpoints; no ties where it is nothing."""
        none = np.zeros(0, dtype=np.int64)
        return self.endpoint_ties or endpoint_ties(self.endpoints, none, none, none, self.endpoint_stamps)

    @cached_property
    def hulls(self) -> Masses:
        """All ticks from the first possible start of each event to its last possible end."""
        return replace(self.endpoints, masses=self.endpoint_stamps.envelopes).hulls

    @cached_property
    def happening(self) -> Indexes:
        """The events that can happen at all: one that lasts may have to end before its start."""
        return np.arange(len(self)) if self.ends is None else np.flatnonzero(self.ends.whole > 0.0)

    @cached_property
    def by_start(self) -> Events:
        """Events of which those that last have the law of their start alone for their masses.

        Raises
        ------
        QueryTooLargeError
            If that takes too many buckets.
        """
        if self.ends is None:
            return self
        own = masses_of_starts(self.ends, self.stamps.own)
        if own is self.stamps.own:
            return self
        stamps = replace(self.stamps, own=own)
        return replace(self, masses=stamps.envelopes, clocks=self.clocks and stamps)

    @cached_property
    def points(self) -> Endpoints:
        """Every event as a point, whatever its end."""
        return of_points(self.masses)

    @cached_property
    def stated_lower(self) -> Ticks:
        """The `lower` of each event as it is stored, shape (n,); ties may let it begin later."""
        return self.frame.get_column("lower").to_numpy().astype(np.int64)

    @property
    def ids(self) -> pl.Series:
        """Event ids, shape (n,)."""
        return self.frame.get_column("event_id")

    @cached_property
    def names(self) -> pa.Array:
        """Event ids as Arrow takes some of them most quickly, shape (n,)."""
        ids = self.ids.to_arrow()
        return ids.cast(pa.string() if ids.nbytes <= _MOST_TEXT else pa.large_string())

    def names_for(self, count: int) -> pa.Array | FewNames:
        """`names` for taking so many of them; where these are few, those of all events are not made."""
        return self.names if _FEW * count > len(self) or "names" in vars(self) else FewNames(self.ids)

    @cached_property
    def id_rank(self) -> Indexes:
        """Rank of each event's id in code-point order, shape (n,)."""
        return self.ids.rank("ordinal").to_numpy().astype(np.int64)

    @cached_property
    def begin_rank(self) -> Indexes:
        """Rank of each event by the earliest tick that it can have, then by its id, shape (n,)."""
        found = np.empty(len(self), dtype=np.int64)
        found[np.lexsort((self.id_rank, self.masses.lower))] = np.arange(len(self))
        return found


def events_of(table: pa.Table, clocks: Clocks | None = None) -> Events:
    """Take over an event table; raises EventSchemaError where an interval, pmf or clock is wrong."""
    table = _in_order(table)
    attributes = [name for name in table.column_names if name not in _NO_ATTRIBUTES]
    frame = pl.from_arrow(table.select(attributes))
    assert isinstance(frame, pl.DataFrame)
    stamped = event_clocks(table, clocks or {})
    masses = masses_of(table) if stamped is None else stamped.envelopes
    ends = None
    if has_ends(table):
        ends = endpoints_of(table, masses) if stamped is None else own_endpoints(table, stamped)
    if stamped is not None and stamped.is_tied.any():
        from cepctl.engines.columns.clocks import left_by_ties

        stamped = left_by_ties(stamped)
        masses = stamped.envelopes
    return Events(masses, _with_end_times(frame), stamped, ends=ends)


def _with_end_times(frame: pl.DataFrame) -> pl.DataFrame:
    """The logged end beside the logged time, which it is where an event does not last."""
    if "time" not in frame.columns:
        return frame
    lasts = pl.col("end_lower").is_not_null() if "end_lower" in frame.columns else pl.lit(False)
    logged = pl.col(END_TIME) if END_TIME in frame.columns else pl.lit(None, frame.schema["time"])
    return frame.with_columns(pl.when(lasts).then(logged).otherwise(pl.col("time")).alias(END_TIME))


_NO_ATTRIBUTES = ("pmf", END_PMF, CLOCK)


def _in_order(table: pa.Table) -> pa.Table:
    lower = table.column("lower")
    if lower.null_count or not len(lower):
        return table
    ticks = lower.to_numpy()
    ids = table.column("event_id")
    if (ticks[1:] < ticks[:-1]).any() or not _rise(ids, np.flatnonzero(ticks[1:] == ticks[:-1])):
        return table.sort_by([("lower", "ascending"), ("event_id", "ascending")])
    return table


def _rise(ids: pa.ChunkedArray, rows: Indexes) -> bool:
    """Whether the id after each of these rows is not smaller."""
    if not len(rows):  # Arrow copies all ids to take none of them.
        return True
    return not pc.any(pc.greater(ids.take(rows), ids.take(rows + 1))).as_py()


def value_codes(*columns: pl.Series) -> tuple[Indexes, ...]:
    """Number the values of some columns: equal values get equal codes, null gets -1.

    Columns of integers and floats compare as numbers; all columns must otherwise share a type.

    Examples
    --------
    >>> value_codes(pl.Series(["x", None, "y"]), pl.Series(["y", "z", "x"]))[0].tolist()
    [0, -1, 1]
    """
    renamed = [column.alias("value") for column in columns]
    if len({column.dtype for column in columns}) > 1 and all(c.dtype.is_numeric() for c in columns):
        renamed = [column.cast(pl.Float64) for column in renamed]
    ends = np.cumsum([len(column) for column in columns])[:-1]
    return tuple(np.split(numbers_of(pl.concat(renamed)), ends))


def impossible_events(events: pa.Table, clocks: Clocks) -> int:
    """How many events of a table leave no world to their start, end and length.

    Raises
    ------
    EventSchemaError
        If an interval or pmf is wrong.

    Examples
    --------
    >>> ticks = {"lower": [0, 5], "upper": [4, 9], "end_lower": [3, 1], "end_upper": [8, 3]}
    >>> events = pa.table({"event_id": ["a", "b"], "event_type": ["A", "A"], "pmf": pa.nulls(2), **ticks})
    >>> impossible_events(events, {})
    1
    """
    if not has_ends(events):
        return 0
    lasting = events.filter(pc.is_valid(events.column("end_lower")))
    start, end = ((_ticks(lasting, f"{side}lower"), _ticks(lasting, f"{side}upper")) for side in ("", "end_"))
    shortest = np.maximum(_ticks(lasting, LENGTH_LOWER, 0), 0)
    longest = _ticks(lasting, LENGTH_UPPER, UNBOUNDED_LENGTH)
    doubtful = (end[0] - start[1] < shortest) | (end[1] - start[0] > longest)
    if not doubtful.any():
        return 0
    found = events_of(lasting.filter(pa.array(doubtful)), clocks)
    return int((found.endpoints.whole == 0.0).sum())


def _ticks(events: pa.Table, name: str, missing: int = 0) -> Ticks:
    if name not in events.column_names:
        return np.full(len(events), missing, dtype=np.int64)
    return np.asarray(pc.fill_null(events.column(name), missing).to_numpy())
