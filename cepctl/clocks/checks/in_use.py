"""Recorded clocks of a dataset: the tables that it was made with, what they say of it, what they do not.

Everything is read again: the tables, and the rules of the model as the dataset keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.clocks.checks.stamps import Stamps
from cepctl.clocks.checks.tables import NamedTable, OnClocks, named_tables
from cepctl.errors import UncertaintyModelError
from cepctl.numeric.arrays import Flags, Ticks
from cepctl.process.trust.toml_text import toml_document
from cepctl.schema import CLOCK, TimeUnit
from cepctl.uncertainty.assign import fitted
from cepctl.uncertainty.model import UncertaintyModel, parse_model
from cepctl.uncertainty.recorded_offsets import RecordedOffset
from cepctl.uncertainty.stamping import LookUp, nanoseconds_of


@dataclass(frozen=True)
class HostInUse:
    """What was recorded of the events of one host.

    `ahead_least_nanoseconds` and `ahead_most_nanoseconds` are the ends of their estimates,
    `worst_nanoseconds` is how far the clock of some event can have been off at most, and `source` and `line`
    say where that stands, None where the table does not tell.
    """

    host: str
    events: int
    ahead_least_nanoseconds: int
    ahead_most_nanoseconds: int
    worst_nanoseconds: int
    source: str | None
    line: int | None


@dataclass(frozen=True)
class TableInUse:
    """A table by its file, what became of it (Fate), and the hosts of events; `lost` is a sentence on it."""

    file: str
    fate: str
    hosts: tuple[HostInUse, ...]
    lost: str | None = None


@dataclass(frozen=True)
class Unfit:
    """Events that a rule with a table passes over: how many, and why (cepctl.uncertainty.stamping)."""

    file: str
    by: str
    why: str
    events: int


@dataclass(frozen=True)
class ClocksInUse:
    """The tables of a dataset; on how many events of recorded clocks none of them tells; who has no clock.

    `unfit` is None where the rules cannot be applied again, as tables are not as they were.
    """

    tables: tuple[TableInUse, ...]
    untold: int
    unfit: tuple[Unfit, ...] | None


def clocks_in_use(
    events: pa.Table, unit: TimeUnit, files: Mapping[str, str], model: UncertaintyModel | None
) -> ClocksInUse:
    """What the tables of a dataset say of its events.

    `events`: all of them, with the columns that the rules of the model read.  `files`: the digest of each
    table by its file.  `model`: as `model_in_use` gives it.
    """
    readings, known = _readings(events, unit)
    tables = named_tables(files)
    clocks = pa.nulls(len(events), pa.string())
    if CLOCK in events.column_names:
        clocks = pa.chunked_array([*events.column(CLOCK).chunks], pa.string()).combine_chunks()
    on_clocks = OnClocks.of(clocks)
    left, found = on_clocks.recorded & known, []
    for table in tables:
        hosts: tuple[HostInUse, ...] = ()
        if table.records is not None:
            stamps, stamped = on_clocks.stamps(table.records, readings, left)
            left, hosts = left & ~stamped, tuple(_hosts(stamps, stamped))
        found.append(_in_use(table, hosts))
    unfit = None if model is None else _unfit(model, events, known, readings)
    return ClocksInUse(tuple(found), int(left.sum()), unfit)


def joined(found: Sequence[ClocksInUse]) -> ClocksInUse:
    """What several datasets have, one after the other."""
    each_unfit = [each.unfit for each in found if each.unfit is not None]
    complete = len(each_unfit) == len(found)
    return ClocksInUse(
        tuple(table for each in found for table in each.tables),
        sum(each.untold for each in found),
        tuple(unfit for each in each_unfit for unfit in each) if complete else None,
    )


def _readings(events: pa.Table, unit: TimeUnit) -> tuple[Ticks, Flags]:
    """The logged times in nanoseconds, and which events have one."""
    times = events.column("time")
    known = np.asarray(pc.is_valid(times).to_numpy(), dtype=np.bool_)
    instants = np.asarray(pc.fill_null(times.cast(pa.int64()), 0).to_numpy(), dtype=np.int64)
    return nanoseconds_of(instants, unit), known


def _in_use(table: NamedTable, hosts: tuple[HostInUse, ...]) -> TableInUse:
    return TableInUse(table.file, table.fate.value, hosts, None if table.records is not None else table.lost)


def _hosts(stamps: Stamps, known: Flags) -> Iterator[HostInUse]:
    """The hosts of the events of which a table tells, by name."""
    assert stamps.records.evidence is not None
    rows = np.flatnonzero(known)
    piece = stamps.piece[rows]
    least, most = stamps.least[rows], stamps.most[rows]
    frame = pl.DataFrame(
        {
            "host": stamps.records.host[piece],
            "ahead": stamps.ahead[rows],
            "worst": np.maximum(np.abs(least), np.abs(most)),
            "piece": piece,
        }
    ).sort("host", "worst", "piece", descending=[False, True, False])
    hosts = frame.group_by("host", maintain_order=True).agg(
        pl.len(),
        pl.col("ahead").min().alias("least"),
        pl.col("ahead").max().alias("most"),
        pl.col("worst").first(),
        pl.col("piece").first(),
    )
    places = stamps.records.evidence.take(pa.array(hosts.get_column("piece").to_numpy()))
    lines = zip(*(places.column(name).to_pylist() for name in ("source", "line")), strict=True)
    for (host, events, ahead, ahead_to, worst, _), (source, line) in zip(
        hosts.iter_rows(), lines, strict=True
    ):
        yield HostInUse(stamps.records.hosts[host], events, ahead, ahead_to, worst, source, line)


def model_in_use(text: str, files: Mapping[str, str]) -> UncertaintyModel | None:
    """The model of a dataset from its text, None where some table is not as it was.

    The dataset does not keep where the file of the model was: it is a folder in which it names these files.
    """
    for folder in _folders(text, files):
        try:
            model = parse_model(text, str(folder / "model.toml"))
        except UncertaintyModelError:
            continue
        if model.records == files:
            return model
    return None


def _folders(text: str, files: Mapping[str, str]) -> Iterator[Path]:
    """Where the file of a model can have been."""
    yield Path()
    for rule in toml_document(text).get("rule", []):
        clock = rule.get("clock")
        named = Path(clock["from"]).parts if isinstance(clock, dict) and "from" in clock else ()
        for parts in (Path(file).parts for file in files):
            if named and parts[-len(named) :] == named:
                yield Path(*parts[: -len(named)])


def _unfit(
    model: UncertaintyModel, events: pa.Table, known: Flags, readings: Ticks
) -> tuple[Unfit, ...] | None:
    """The events that rules with a table pass over; None where a condition does not hold for merged types."""
    columns = {name: events.column(name) for name in events.column_names}
    try:
        _, passed = fitted(model.rules, LookUp(columns, readings), known)
    except UncertaintyModelError:
        return None
    clocks = {rule.number: rule.clock for rule in model.rules}
    return tuple(
        Unfit(clock.offset.records.file, clock.by or "", why.value, count)
        for (number, why), count in passed.items()
        if (clock := clocks[number]) is not None and isinstance(clock.offset, RecordedOffset)
    )
