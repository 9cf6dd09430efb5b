"""Hosts with hidden clocks: what these show at true times, and events whose order is known.

A clock is ahead by `offset` at the instant 0 and gains `drift` of what passes.  All is in nanoseconds, and
exact: readings are whole, and true times fractions.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from fractions import Fraction

import pyarrow as pa

from cepctl.clocks.hulls.pairs import HostEvents, host_events
from cepctl.clocks.hulls.table import HullChoices, Hulls, hull_tables, hulls
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.given import stated
from cepctl.schema import NANOSECOND

ORDER = "SEQ(Before x, After y) IF x.pair = y.pair"
PPM = 1_000


@dataclass(frozen=True)
class HiddenClock:
    """By how much a clock is ahead; `drift` in nanoseconds per second."""

    offset: int
    drift: int

    @property
    def pace(self) -> Fraction:
        return 1 + Fraction(self.drift, 10**9)

    def reading(self, instant: int) -> int:
        """What the clock shows, in whole nanoseconds."""
        return int((instant * self.pace + self.offset) // 1)

    def instant(self, reading: int) -> Fraction:
        """When the clock shows it."""
        return (reading - self.offset) / self.pace

    def ahead(self, reading: int) -> Fraction:
        """How far it is ahead then."""
        return reading - self.instant(reading)


RIGHT = HiddenClock(0, 0)


@dataclass
class Log:
    """Ordered pairs of events of hosts; the clock of the host `r` is right.

    `slack`: the intervals of events reach so many nanoseconds, drawn anew, to both sides of their readings.
    """

    clocks: dict[str, HiddenClock]
    draw: random.Random
    slack: int = 0
    rows: list[dict[str, object]] = field(default_factory=list)

    def pair(self, first: str, instant: int, second: str, delay: int) -> None:
        """An event of one host, and one of another after it."""
        one = self.clocks[first].reading(instant)
        other = self.clocks[second].reading(instant + delay)
        if self.clocks[first].instant(one) >= self.clocks[second].instant(other):
            return
        number = len(self.rows) // 2
        for kind, host, reading in (("Before", first, one), ("After", second, other)):
            before, after = (self.draw.randint(0, self.slack) for _ in range(2))
            row = {"event_id": f"{kind} {number}", "event_type": kind, "node": host, "pair": number}
            self.rows.append(row | {"lower": reading - before, "upper": reading + after, "pmf": None})

    @property
    def events(self) -> pa.Table:
        table = pa.Table.from_pylist(self.rows)
        return table.sort_by([("lower", "ascending"), ("event_id", "ascending")])

    def hulls(self, window: int, drift: int = 200 * PPM, reference: str = "r") -> Hulls:
        """What the pairs say of the clocks."""
        schema = EventSchema({"node": pa.string(), "pair": pa.int64()}, NANOSECOND)
        own: HostEvents = host_events(self.events, "node", NANOSECOND, {}, 0)
        order = stated(ORDER, schema, NANOSECOND)
        return hulls(own, [order], own.hosts.index(reference), HullChoices(window, drift))


@dataclass(frozen=True)
class Piece:
    """A row of CLOCKS."""

    host: str
    first: int
    to: int
    ahead: int
    ahead_to: int
    low: int
    high: int
    epoch: int
    note: str

    def estimate(self, reading: int) -> Fraction:
        """How far the clock is ahead by the estimate."""
        part = Fraction(reading - self.first, self.to - self.first)
        return self.ahead + part * (self.ahead_to - self.ahead)


def pieces_of(found: Hulls) -> list[Piece]:
    """The rows of CLOCKS."""
    names = ("host", "from", "to", "ahead", "ahead_to", "low", "high", "epoch", "note")
    tables = pa.concat_tables(hull_tables(found, []))
    return [Piece(*(row[name] for name in names)) for row in tables.to_pylist()]
