"""The events and queries that are timed: ZDI10's Appendix C, and a ragged stream beside it.

    appendix_c   values 1..1000 cycling, event i at tick i * spacing, interval of d ticks on either side
    irregular    the same but for random distances, which no two neighbourhoods have in common
    ragged       random gaps, one third points, the rest of mixed widths, every third a histogram

All are made with the same selectivities, so that one query fits each.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from cepctl.event_table import PMF_TYPE
from cepctl.schema import TimeUnit

if TYPE_CHECKING:
    from cepctl.plan.plan import Plan

WINDOW = 100
SEED = 20100913
COLUMNS = ("event_id", "event_type", "lower", "upper", "pmf", "val")


@dataclass(frozen=True)
class Pattern:
    """A chain of components over values: component j takes those with val % modulus = values[j]."""

    modulus: int
    values: tuple[int, ...]
    strategy: str = "skip_till_any_match"
    window: int = WINDOW

    @property
    def text(self) -> str:
        """The query."""
        names = "abcdefgh"[: len(self.values)]
        fits = " AND ".join(
            f"{name}.val % {self.modulus} = {value}" for name, value in zip(names, self.values, strict=True)
        )
        components = ", ".join(f"E {name}" for name in names)
        return f"PATTERN SEQ({components}) WHERE {fits} WITHIN {self.window} ticks STRATEGY {self.strategy}"

    @property
    def plan(self) -> Plan:
        """The query, resolved for these events."""
        return plan_for(self.text)

    def scaled(self, factor: int) -> Pattern:
        """The same with a window that is `factor` times as wide."""
        return replace(self, window=self.window * factor)


ONE_PERCENT = Pattern(100, (10, 20, 30))
FIVE_PERCENT = Pattern(20, (3, 9, 15))
FOUR = Pattern(20, (3, 7, 11, 15))
FEW = Pattern(1_000, (10, 20, 30))
FIVE = Pattern(20, (3, 7, 11, 15, 19))
NEXT = replace(FIVE_PERCENT, strategy="skip_till_next_match")
NEXT_ONE_PERCENT = replace(ONE_PERCENT, strategy="skip_till_next_match")


def plan_for(text: str) -> Plan:
    """The plan of a query over the events of this page; a tick is one millisecond."""
    # A peer that is told the values of a pattern need not wait for the parser of its text.
    from cepctl.language.parser import parse
    from cepctl.plan.analyze import analyze
    from cepctl.plan.event_schema import EventSchema

    return analyze(parse(text), EventSchema({"val": pa.int64()}, TimeUnit(1000), None))


def appendix_c(count: int, half_width: int, spacing: int = 1) -> pa.Table:
    """Workload of ZDI10's Appendix C: event i = [i * spacing - d, i * spacing + d], uniform."""
    number = np.arange(count)
    tick = number * spacing
    return events_table(tick - half_width, tick + half_width, number % 1000 + 1, pa.nulls(count, PMF_TYPE))


def irregular(count: int, half_width: int, spacing: int = 1) -> pa.Table:
    """As `appendix_c`, at random distances of `spacing` ticks on average."""
    random = np.random.default_rng(SEED)
    tick = np.sort(random.integers(0, count * spacing, count))
    return events_table(
        tick - half_width, tick + half_width, np.arange(count) % 1000 + 1, pa.nulls(count, PMF_TYPE)
    )


def ragged(count: int, half_width: int) -> pa.Table:
    """Random gaps of one tick on average, widths from 0 to d on either side, histograms of 2 to 4 buckets.

    Values are drawn from 1..1000, so that patterns are as selective as on `appendix_c`.
    """
    random = np.random.default_rng(SEED)
    tick = np.cumsum(random.geometric(0.5, count) - 1)
    before, after = (random.integers(0, half_width + 1, count) for _ in range(2))
    certain = random.random(count) < 1 / 3
    before[certain] = after[certain] = 0
    lower, upper = tick - before, tick + after
    chosen = (np.arange(count) % 3 == 0) & (upper - lower >= 8)
    pmf = _histograms(lower, upper, chosen, random)
    order = np.lexsort((np.arange(count), lower))
    values = random.integers(1, 1001, count)
    return events_table(lower, upper, values, pmf).take(pa.array(order))


def _histograms(
    lower: np.ndarray, upper: np.ndarray, chosen: np.ndarray, random: np.random.Generator
) -> pa.Array:
    """Two to four adjoining buckets with random masses for the chosen events, null for the others."""
    count = np.where(chosen, random.integers(2, 5, len(lower)), 0)
    owner = np.repeat(np.arange(len(lower)), count)
    offsets = np.concatenate([[0], np.cumsum(count)])
    place = np.arange(len(owner)) - offsets[:-1][owner]
    width = (upper - lower + 1)[owner]
    begin = lower[owner] + width * place // count[owner]
    end = lower[owner] + width * (place + 1) // count[owner] - 1
    weight = random.random(len(owner)) + 0.1
    total = np.bincount(owner, weight, minlength=len(lower))
    buckets = pa.StructArray.from_arrays(
        [pa.array(begin), pa.array(end), pa.array(weight / total[owner])], fields=list(PMF_TYPE.value_type)
    )
    return pa.ListArray.from_arrays(
        pa.array(offsets, pa.int32()), buckets, type=PMF_TYPE, mask=pa.array(~chosen)
    )


def events_table(lower: np.ndarray, upper: np.ndarray, values: np.ndarray, pmf: pa.Array) -> pa.Table:
    """Events of the type E, numbered in this order."""
    return pa.table(
        {
            "event_id": pa.array(np.arange(len(lower))).cast(pa.string()),
            "event_type": pa.array(["E"]).take(pa.array(np.zeros(len(lower), dtype=np.int64))),
            "lower": lower,
            "upper": upper,
            "pmf": pmf,
            "val": values,
        }
    )


def stored(folder: Path, name: str, table: pa.Table) -> Path:
    """Write events as one Parquet file, and read it once so that the page cache holds it."""
    path = folder / f"{name}.parquet"
    pq.write_table(table, path)
    path.read_bytes()
    return path


def with_types(count: int, half_width: int, shares: dict[str, float]) -> pa.Table:
    """Event i at tick i, of a type drawn with the given shares; the rest are of the type Other."""
    random = np.random.default_rng(SEED)
    names = [*shares, "Other"]
    kind = random.choice(len(names), count, p=[*shares.values(), 1 - sum(shares.values())])
    events = appendix_c(count, half_width)
    types = pa.array(names).take(pa.array(kind))
    return events.set_column(events.column_names.index("event_type"), "event_type", types)
