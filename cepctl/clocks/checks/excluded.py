"""Known orders that hard bounds of clocks exclude: x comes before y, but cannot have been written before it.

    gap     earliest(x) - granularity - latest(y): by so much x is after y even at the extremes

The orders are those of SEQ in clauses of GIVEN, between events of two hosts; of an event that lasts, the end
comes before the start of the next.  What excludes a pair is the record of a clock, the stamp, or the clause.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.checks.stamps import Stamps
from cepctl.engines.columns.events import Events, events_of
from cepctl.engines.columns.masses import Masses
from cepctl.engines.confidence.given.edges import MOST_DIFFERENCES, combinations, spoken_of, too_many
from cepctl.engines.pattern.difference_constraints import UNBOUNDED
from cepctl.numeric.arrays import Flags, Indexes, Ticks
from cepctl.plan.plan import Given
from cepctl.schema import CLOCK, END_PMF, END_TIME, LENGTH_LOWER, LENGTH_UPPER, TimeUnit
from cepctl.uncertainty.clock_records import ClockRecords
from cepctl.uncertainty.stamping import nanoseconds_of

_LAWS = (CLOCK, END_PMF, LENGTH_LOWER, LENGTH_UPPER)
STAMP_COLUMNS = ("event", "host", "reading", "ahead", "least", "most", "source", "line")


@dataclass(frozen=True)
class Unchecked:
    """How many events that some order speaks of cannot be checked, by cause."""

    no_value: int
    no_host: int
    no_reading: int
    no_piece: int


@dataclass(frozen=True, eq=False)
class Check:
    """What was found.

    `excluded` has a row for each pair, the worst first: `given`, `gap`, and STAMP_COLUMNS of both events, as
    `first_event`, `second_event` and so on; times in nanoseconds.  `empty` are the clauses that speak of no
    event at all, as no event fits some component.
    """

    excluded: pl.DataFrame
    unchecked: Unchecked
    empty: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Stamped:
    """Events by row number, with the stamps of their starts and ends."""

    events: Events
    host: pa.Array
    start: Stamps
    end: Stamps


@dataclass(frozen=True)
class _ExcludedPairs:
    """Pairs of events by row number, the clause that orders each, and the gap in nanoseconds; shape (k,)."""

    first: Indexes
    second: Indexes
    clause: Indexes
    gap: Ticks


def check(
    table: pa.Table, by: str, unit: TimeUnit, given: Sequence[Given], records: ClockRecords, granularity: int
) -> Check:
    """The pairs of events that records of clocks exclude.

    `table`: events with `by`, the attribute that names the host, and what the clauses read.  `granularity`:
    for how many nanoseconds after its reading a stamp stands.

    Raises
    ------
    QueryTooLargeError
        If clauses speak of too many combinations of events.
    """
    stamped = _stamped(table, by, unit, records)
    found = [_ExcludedPairs(*(np.zeros(0, dtype=np.int64) for _ in range(4)))]
    spoken = spoken_of(given, stamped.events)
    for number, clause, fitting in spoken.clauses:
        found.extend(_of_clause(clause, number, fitting, stamped, granularity))
    names = _ExcludedPairs.__annotations__
    pairs = _ExcludedPairs(*(np.concatenate([getattr(part, name) for part in found]) for name in names))
    return Check(_shown(pairs, stamped, given), _unchecked(stamped, spoken.events), spoken.empty)


def _stamped(table: pa.Table, by: str, unit: TimeUnit, records: ClockRecords) -> _Stamped:
    # Which worlds there are does not matter here: masses are what the records of clocks leave.
    table = table.drop_columns([name for name in _LAWS if name in table.column_names])
    at = table.column_names.index("pmf")
    events = events_of(table.set_column(at, "pmf", pa.nulls(len(table), table.column("pmf").type)))
    host = events.frame.get_column(by).cast(pl.String).to_arrow().cast(pa.string())
    start, end = (_stamps(events.frame.get_column(name), host, unit, records) for name in ("time", END_TIME))
    sides = [(each.known, each.earliest, each.latest) for each in (start, end)]
    (knows_start, *ticks), (knows_end, *end_ticks) = sides
    ticks = [np.where(knows_start, one, other) for one, other in zip(ticks, end_ticks, strict=True)]
    end_ticks = [np.where(knows_end, other, one) for one, other in zip(ticks, end_ticks, strict=True)]
    neither = ~(knows_start | knows_end)
    lower = np.where(neither, 0, np.minimum(ticks[0], end_ticks[0]))
    upper = np.where(neither, 0, np.maximum(ticks[1], end_ticks[1]))
    masses = Masses(lower, upper, np.arange(len(lower) + 1), lower, upper, np.ones(len(lower)))
    return _Stamped(replace(events, masses=masses, ends=None), host, start, end)


def _stamps(times: pl.Series, host: pa.Array, unit: TimeUnit, records: ClockRecords) -> Stamps:
    has_time = times.is_not_null().to_numpy()
    instants = times.dt.cast_time_unit(unit.resolution).cast(pl.Int64).fill_null(0).to_numpy()
    return Stamps.of(records, host, nanoseconds_of(instants, unit), has_time)


def _of_clause(
    clause: Given, number: int, fitting: tuple[Indexes, ...], stamped: _Stamped, granularity: int
) -> Iterator[_ExcludedPairs]:
    count = len(fitting)
    system = np.full((count, count), UNBOUNDED, dtype=np.int64)
    np.fill_diagonal(system, 0)
    if count == 2:
        # Only what can be the wrong way round is looked at, and only where there are records.
        first, second = fitting
        fitting = first[stamped.end.known[first]], second[stamped.start.known[second]]
        system[1, 0] = -1
    kept = seen = 0
    for rows in combinations(clause, stamped.events, fitting, system):
        seen += len(rows)
        for i in range(count):
            for j in range(i + 1, count):
                pairs = _excluded(rows[:, i], rows[:, j], number, stamped, granularity)
                kept += len(pairs.first)
                yield pairs
        if kept > MOST_DIFFERENCES:
            raise too_many(clause, seen)


def _excluded(
    first: Indexes, second: Indexes, number: int, stamped: _Stamped, granularity: int
) -> _ExcludedPairs:
    gap = stamped.end.earliest[first] - stamped.start.latest[second] - granularity
    records, one, other = stamped.start.records, stamped.end.piece[first], stamped.start.piece[second]
    is_excluded = stamped.end.known[first] & stamped.start.known[second] & (gap > 0)
    is_excluded &= records.host[one] != records.host[other]
    kept = np.flatnonzero(is_excluded)
    return _ExcludedPairs(first[kept], second[kept], np.full(len(kept), number), gap[kept])


def _shown(pairs: _ExcludedPairs, stamped: _Stamped, given: Sequence[Given]) -> pl.DataFrame:
    texts = pl.Series([each.text for each in given], dtype=pl.String)
    columns = {"given": texts.gather(pairs.clause), "gap": pl.Series(pairs.gap)}
    for side, stamps, rows in (
        ("first", stamped.end, pairs.first),
        ("second", stamped.start, pairs.second),
    ):
        named = _stamp_columns(stamps, rows, stamped)
        columns |= {f"{side}_{name}": named[name] for name in STAMP_COLUMNS}
    frame = pl.DataFrame({**columns, "clause": pairs.clause})
    ids = ["first_event", "second_event"]
    # Several clauses, or combinations of a longer one, may say the same of two events.
    once = frame.sort("clause").unique(ids, keep="first", maintain_order=True).drop("clause")
    return once.sort("gap", *ids, descending=[True, False, False])


def _stamp_columns(stamps: Stamps, rows: Indexes, stamped: _Stamped) -> dict[str, pl.Series]:
    piece = stamps.piece[rows]
    assert stamps.records.evidence is not None
    evidence = pl.DataFrame(stamps.records.evidence)[piece]
    return {
        "event": stamped.events.ids.gather(rows),
        "host": pl.Series(stamped.host.take(pa.array(rows)), dtype=pl.String),
        **{
            name: pl.Series(values[rows])
            for name, values in (
                ("reading", stamps.reading),
                ("ahead", stamps.ahead),
                ("least", stamps.least),
                ("most", stamps.most),
            )
        },
        "source": evidence.get_column("source"),
        "line": evidence.get_column("line"),
    }


def _unchecked(stamped: _Stamped, spoken_of: Flags) -> Unchecked:
    start, end = stamped.start, stamped.end
    has_value = np.asarray(pc.is_valid(stamped.host).to_numpy(zero_copy_only=False), dtype=bool)
    has_reading = start.has_reading & end.has_reading
    causes = (
        ~has_value,
        has_value & ~start.has_host,
        start.has_host & ~has_reading,
        start.has_host & has_reading & ~(start.known & end.known),
    )
    return Unchecked(*(int((each & spoken_of).sum()) for each in causes))
