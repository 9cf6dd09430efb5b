"""What every event of a batch of a history has, and the batch with hosts that become known later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from cepctl.arrays import Indexes
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.natural_columns import natural_array
from cepctl.io.contract.reader import RAW_COLUMNS, ReadOptions
from cepctl.io.hadoop.facts import Attempts

HOSTS = ("node", "node_raw")
Elsewhere = tuple[int, int, Attempts, str | None, str | None]
"""Events whose host another record names: the first, how many, the attempts of their task, of which the
event's own, and the one that its record calls successful."""


@dataclass
class EventColumns:
    """Types, times and hosts of the events of a batch, at places that are told with them."""

    elsewhere: list[Elsewhere] = field(default_factory=list)
    _timed: list[tuple[Indexes, Any, Indexes, Any]] = field(default_factory=list)
    _hosts: list[tuple[Indexes, Any]] = field(default_factory=list)

    def add(
        self, places: Indexes, types: str | Sequence[str], times: Indexes, timed: Sequence[bool] | bool
    ) -> None:
        """Types of events, their microseconds since the epoch, and whether they have a time at all."""
        self._timed.append((places, types, times, timed))

    def add_hosts(self, places: Indexes, hosts: Sequence[str | None], rows: Indexes) -> None:
        """Hosts as the history writes them, and which events ran on which of them."""
        texts = np.empty(len(hosts), object)
        texts[:] = hosts
        self._hosts.append((places, texts[rows]))

    def arrays(self, count: int, numbered: int) -> dict[str, pa.Array]:
        """The columns that all raw events have, but for ends; numbers follow those of earlier batches."""
        types, times, known = np.empty(count, object), np.zeros(count, np.int64), np.zeros(count, bool)
        for places, type_, time, timed in self._timed:
            types[places], times[places], known[places] = type_, time, timed
        nothing = pa.array(np.zeros(count, np.int64))
        return {
            "number": pa.array(np.arange(numbered + 1, numbered + 1 + count)),
            "event_id": pa.nulls(count, RAW_COLUMNS["event_id"]),
            "event_type": pa.array(types, RAW_COLUMNS["event_type"]),
            "time": pa.array(times, mask=~known).cast(RAW_COLUMNS["time"]),
        } | {name: nothing.cast(RAW_COLUMNS[name]) for name in ("zone_seconds", "before", "after")}

    def hosts(self, count: int) -> list[str | None]:
        """The hosts that are known already."""
        texts = np.empty(count, object)
        for places, hosts in self._hosts:
            texts[places] = hosts
        known: list[str | None] = texts.tolist()
        return known


@dataclass(frozen=True)
class HeldBatch:
    """A batch of events, of which some take their host from attempts that may still become known.

    Its columns of hosts are null; `hosts` are those that are known.
    """

    batch: pa.RecordBatch
    hosts: list[str | None]
    elsewhere: list[Elsewhere]

    def with_hosts(self, options: ReadOptions) -> pa.RecordBatch:
        """The batch with its hosts, as they are known by now."""
        hosts = list(self.hosts)
        for first, count, attempts, attempt, successful in self.elsewhere:
            raw = attempts.hosts.get(attempt) if attempt else attempts.host(successful)
            hosts[first : first + count] = [raw] * count
        raws = dict.fromkeys(hosts)
        places = dict(zip(raws, range(len(raws)), strict=True))
        rows = pa.array(np.fromiter(map(places.__getitem__, hosts), np.int64, len(hosts)))
        nodes = [node_name(raw, options.drop_domain) for raw in raws]
        batch = self.batch
        for name, values in zip(HOSTS, (nodes, list(raws)), strict=True):
            array = natural_array(values).take(rows)
            batch = batch.set_column(batch.schema.get_field_index(name), name, array)
        return batch
