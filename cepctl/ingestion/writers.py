"""The order in which a process wrote its records, as evidence: who wrote, and which record began anew.

Events that agree in what is asked, such as their source, are of one *writer*, which appends its records as
things happen.  However coarse their stamps are, their order is known.  It is kept as two attributes, `writer`
and `record`, and as a condition on every world that such events come one after the other.

A record that cannot lie after all those before it, wherever these are, is a *step back*: the writer begins
anew with it.  Records that share a stamp need ticks to lie one after the other: the tick becomes so fine that
no unit in which times are written holds more than a thousandth of its ticks in records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from cepctl.arrays import Indexes, Ticks
from cepctl.datasets.kinds import Kind
from cepctl.errors import UsageError
from cepctl.ingestion.chunk_files import read_chunk, write_chunk
from cepctl.ingestion.chunks import RAW_NUMBER, Chunk, has_column
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.written_units import finest
from cepctl.schema import (
    ATTRIBUTE_PREFIX,
    MICROSECOND,
    MILLISECOND,
    NANOSECOND,
    PMF_TYPE,
    RECORD,
    WRITER,
    TimeUnit,
)

SOURCE = "source"
TICKS_OF_A_RECORD = 1_000
"""Of a written unit one tick in so many is a record's, at most."""
_SHOWN_STEPS = 3
_FEW = 64


@dataclass(frozen=True)
class Ordered:
    """Results whose chunks say who wrote their events, the unit of their ticks, and what is to be told."""

    results: list[FileResult]
    unit: TimeUnit
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Survey:
    """The n events of a file as they were written.

    `row`: their places, chunk by chunk; `writer`: a number of each, -1 for none, as in `names`; `era`: how
    often it has begun anew; `shares`: of how many records an interval is, `record` and interval as stored.
    """

    row: Indexes
    writer: Indexes
    names: tuple[str, ...]
    era: Indexes
    record: Indexes
    lower: Ticks
    upper: Ticks
    shares: Indexes
    steps: Indexes

    @property
    def finer(self) -> int:
        """How many ticks a tick must become so that all records have room."""
        shared = self.shares > 1
        width = np.where(shared, self.upper - self.lower + 1, 1)
        needed = np.where(shared, -(-TICKS_OF_A_RECORD * self.shares // width), 1)
        return int(needed.max(initial=1))


def in_written_order(
    results: list[FileResult], unit: TimeUnit, by: Sequence[str], files: fs.FileSystem, *, unit_is_given: bool
) -> Ordered:
    """Say of events who wrote them, and where a tick would hold too many, make it finer.

    `by`: what events of one writer share, the source or attributes.
    `unit_is_given`: the user said how long a tick is.

    Raises
    ------
    UsageError
        If no event has one of these attributes.
    """
    _require_known(results, by)
    surveys = {
        at: _survey(each, by, files)
        for at, each in enumerate(results)
        if any(chunk.rows for chunk in each.chunks)
    }
    needed = max((each.finer for each in surveys.values()), default=1)
    plain = all(_is_plain(chunk) for each in results for chunk in each.chunks)
    finer, unit_after = (1, unit) if unit_is_given or not plain else _finer_unit(needed, unit)
    rewritten = [
        _rewritten(each, surveys[at], finer, unit_after, files) if at in surveys else each
        for at, each in enumerate(results)
    ]
    room = [_crowded(needed, finer, unit_after)] if needed > finer else []
    if finer > 1:
        sharing = sum(int((each.shares > 1).sum()) for each in surveys.values())
        room.append(f"ticks of {unit_after}, so that {sharing:,} records have room that share a stamp")
    return Ordered(rewritten, unit_after, (*_told(surveys, results, unit), *room))


def _require_known(results: Sequence[FileResult], by: Sequence[str]) -> None:
    names = {SOURCE}.union(*(chunk.attributes for result in results for chunk in result.chunks))
    for name in by:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise UsageError(f"--writer {name}: no event has such an attribute{hint}")


def _survey(result: FileResult, by: Sequence[str], files: fs.FileSystem) -> Survey:
    tables = []
    for chunk in result.chunks:
        known = [name for name in by if name in chunk.attributes]
        table = read_chunk(chunk.path, files, [RAW_NUMBER, "lower", "upper", SOURCE, *known])
        columns = [table.column(name) for name in (RAW_NUMBER, "lower", "upper")]
        nothing = pa.nulls(len(table), pa.string())
        columns += [
            table.column(name).cast(pa.string()) if name in (SOURCE, *known) else nothing for name in by
        ]
        tables.append(pa.table(columns, names=[RECORD, "lower", "upper", *(f"by.{name}" for name in by)]))
    whole = pl.from_arrow(pa.concat_tables(tables))
    assert isinstance(whole, pl.DataFrame)
    texts = whole.select(pl.concat_str([f"by.{name}" for name in by], separator=" ")).to_series()
    names = texts.drop_nulls().unique(maintain_order=True)
    numbers = pl.DataFrame({"text": names, "number": np.arange(len(names))})
    code = texts.to_frame("text").join(numbers, on="text", how="left", maintain_order="left")
    writer = code.get_column("number").fill_null(-1).to_numpy()
    record, lower, upper = (whole.get_column(name).to_numpy() for name in (RECORD, "lower", "upper"))
    return _in_order(writer, record, lower, upper, tuple(names.to_list()))


def _in_order(writer: Indexes, record: Indexes, lower: Ticks, upper: Ticks, names: tuple[str, ...]) -> Survey:
    """The events by writer and record, with the steps back among them."""
    row = np.lexsort((record, writer))
    writer, record, lower, upper = (each[row] for each in (writer, record, lower, upper))
    new = np.ones(len(row), dtype=bool)
    new[1:] = writer[1:] != writer[:-1]
    steps, era = [], np.zeros(len(row), dtype=np.int64)
    for begin, end in zip(np.flatnonzero(new), np.append(np.flatnonzero(new)[1:], len(row)), strict=True):
        if writer[begin] >= 0:
            place = _places(record[begin:end])
            own = begin + np.fromiter(_steps(lower[begin:end] - place, upper[begin:end] - place), np.int64)
            steps.append(own)
            era[own] = 1
            era[begin:end] = np.cumsum(era[begin:end])
    shares = _shares(writer, lower, upper)
    every = np.concatenate([np.zeros(0, np.int64), *steps])
    return Survey(row, writer, names, era, record, lower, upper, shares, every)


def _places(record: Indexes) -> Indexes:
    """The place of each record among those of its writer; events of one record share it."""
    return np.cumsum(np.append(0, record[1:] != record[:-1]).astype(np.int64))


def _steps(earliest: Ticks, latest: Ticks) -> Iterator[int]:
    """Where a record cannot lie after all since the last step: looked for in stretches that grow.

    `earliest`, `latest`: ends of intervals less the places of their records, since each comes after the last.
    """
    begin, count, size = 0, len(earliest), _FEW
    reached, at = earliest[0], 1
    while at < count:
        end = min(at + size, count)
        so_far = np.maximum(np.maximum.accumulate(earliest[at:end]), reached)
        broken = np.flatnonzero(so_far > latest[at:end])
        if not len(broken):
            reached, at, size = so_far[-1], end, 2 * size
            continue
        begin = at + int(broken[0])
        yield begin
        reached, at, size = earliest[begin], begin + 1, _FEW


def _shares(writer: Indexes, lower: Ticks, upper: Ticks) -> Indexes:
    """How many events of a writer have the interval of each."""
    frame = pl.DataFrame({"writer": writer, "lower": lower, "upper": upper})
    counts = frame.select(pl.len().over("writer", "lower", "upper")).to_series().to_numpy()
    return np.where(writer >= 0, counts, 1).astype(np.int64)


def _finer_unit(needed: int, unit: TimeUnit) -> tuple[int, TimeUnit]:
    """By how much ticks become finer, and the unit that they have then."""
    if needed <= 1:
        return 1, unit
    finer = [
        each for each in (MILLISECOND, MICROSECOND, NANOSECOND) if unit.nanoseconds % each.nanoseconds == 0
    ]
    enough = [each for each in finer if unit.nanoseconds // each.nanoseconds >= needed] or [
        finest([unit, *finer])
    ]
    return unit.nanoseconds // enough[0].nanoseconds, enough[0]


def _is_plain(chunk: Chunk) -> bool:
    """Whether its ticks are those of points alone, which a finer unit multiplies."""
    return not (chunk.ended or chunk.lengths or chunk.clocks)


def _rewritten(
    result: FileResult, survey: Survey, finer: int, unit: TimeUnit, files: fs.FileSystem
) -> FileResult:
    """A result in a finer unit, whose chunks say who wrote their events."""
    begin, chunks, columns = 0, [], _columns(survey)
    for chunk in result.chunks:
        own = columns.slice(begin, chunk.rows)
        begin += chunk.rows
        table = _in_unit(read_chunk(chunk.path, files), finer, unit, own)
        for name in (RECORD, WRITER):
            values = own.get_column(name).to_arrow().cast(_TYPES[name])
            table = _renamed(table, name).append_column(name, values)
        stem, dot, ending = chunk.path.rpartition(".")
        chunks.append(write_chunk(table, f"{stem}-written{dot}{ending}", files, _ROWS))
        files.delete_file(chunk.path)
    first, last = result.first, result.last
    return replace(
        result,
        chunks=tuple(chunks),
        first=first if first is None else first * finer,
        last=last if last is None else last * finer + finer - 1,
        written=replace(result.written, unit=unit),
        named={**result.named, RECORD: frozenset({Kind.INT}), WRITER: frozenset({Kind.STRING})},
    )


def _renamed(table: pa.Table, name: str) -> pa.Table:
    """An attribute of the log that is called so gets the prefix of such attributes."""
    if not has_column(table, name):
        return table
    names = [f"{ATTRIBUTE_PREFIX}{each}" if each == name else each for each in table.column_names]
    return table.rename_columns(names)


def _columns(survey: Survey) -> pl.DataFrame:
    """What is said of each event, in the order of the chunks."""
    names = pl.Series([*survey.names, None], dtype=pl.String)
    writer = names.gather(np.where(survey.writer >= 0, survey.writer, len(survey.names)))
    era = pl.Series(survey.era)
    told = pl.DataFrame(
        {
            "row": survey.row,
            RECORD: survey.record,
            "writer": writer,
            "era": era,
            "shared": (survey.shares > 1) & (survey.lower == survey.upper),
        }
    )
    anew = pl.when(pl.col("era") > 0).then(pl.format("{} #{}", "writer", pl.col("era") + 1))
    return told.with_columns(anew.otherwise(pl.col("writer")).alias(WRITER)).sort("row")


def _in_unit(table: pa.Table, finer: int, unit: TimeUnit, told: pl.DataFrame) -> pa.Table:
    """A chunk in finer ticks: what is known to a tick stays so, unless another record shares its stamp."""
    if finer == 1:
        return table
    lower, upper = (table.column(name).to_numpy() for name in ("lower", "upper"))
    if table.column("pmf").null_count < len(table):
        table = _finer_masses(table, finer)
    wide = (upper > lower) | told.get_column("shared").to_numpy()
    for name, values in (("lower", lower * finer), ("upper", upper * finer + np.where(wide, finer - 1, 0))):
        table = table.set_column(table.column_names.index(name), name, pa.array(values))
    time = table.column("time").cast(pa.timestamp(unit.resolution, tz="UTC"))
    return table.set_column(table.column_names.index("time"), "time", time)


def _finer_masses(table: pa.Table, finer: int) -> pa.Table:
    masses = table.column("pmf").combine_chunks()
    buckets = masses.values
    lo, hi, p = (buckets.field(name) for name in ("lo", "hi", "p"))
    finer_hi = pc.add(pc.multiply(hi, finer), finer - 1)
    parts = pa.StructArray.from_arrays([pc.multiply(lo, finer), finer_hi, p], ["lo", "hi", "p"])
    told = pa.ListArray.from_arrays(masses.offsets, parts, mask=masses.is_null()).cast(PMF_TYPE)
    return table.set_column(table.column_names.index("pmf"), "pmf", told)


_TYPES = {RECORD: pa.int64(), WRITER: pa.string()}
_ROWS = 1 << 17


def _crowded(needed: int, finer: int, unit: TimeUnit) -> str:
    return (
        f"records of one writer share stamps, and have {finer / needed:.2g} of the ticks of {unit} that "
        "leave them room; let ticks be finer (--time-unit), or leave --writer out"
    )


def _told(surveys: Mapping[int, Survey], results: Sequence[FileResult], unit: TimeUnit) -> list[str]:
    """Where records step back, and which are of no writer."""
    notices = []
    for at, each in surveys.items():
        if len(each.steps):
            records = "1 record steps" if len(each.steps) == 1 else f"{len(each.steps):,} records step"
            notices.append(
                f"{results[at].name}: {records} back in time, and what "
                f"lies before and after is not ordered ({_worst(each, unit)})"
            )
        none = int((each.writer < 0).sum())
        if none:
            notices.append(f"{results[at].name}: events of no writer, where that is null: {none:,}")
    return notices


def _worst(survey: Survey, unit: TimeUnit) -> str:
    """The worst steps: line and by how much."""
    before = np.maximum.accumulate(survey.lower)
    by = before[np.maximum(survey.steps - 1, 0)] - survey.upper[survey.steps]
    chosen = np.argsort(-by, kind="stable")[:_SHOWN_STEPS]
    return ", ".join(
        f"record {survey.record[survey.steps[i]]:,} by {max(int(by[i]), 0) * unit.nanoseconds / 1e9:g} s"
        for i in chosen
    )
