"""The order in which processes wrote their records, as evidence that a dataset keeps.

Events of one source that agree in what is asked are of one *writer*, which appends its records as things
happen.  However coarse their stamps are, their order is known.  It is kept as two attributes, `writer` and
`record`, and as a condition on every world (`IN_WRITTEN_ORDER`).

Records that share a stamp need ticks to lie one after the other: the tick becomes so fine that no unit in
which times are written holds more than a thousandth of its ticks in records.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

from cepctl.datasets.kinds import Kind
from cepctl.errors import UsageError
from cepctl.ingestion.chunk_files import ROWS_OF_GROUP, read_chunk, write_chunk
from cepctl.ingestion.chunks import Chunk, has_column
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.written_records import WrittenRecords
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

_SOURCE = "source"
_SHOWN_STEPS = 3


@dataclass(frozen=True)
class Ordered:
    """Results whose chunks say who wrote their events, the unit of their ticks, and what is to be told."""

    results: list[FileResult]
    unit: TimeUnit
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Survey:
    """The records of a file, and what its writers are called."""

    records: WrittenRecords
    names: tuple[str, ...]


def in_written_order(
    results: list[FileResult],
    unit: TimeUnit,
    by: Sequence[str],
    files: fs.FileSystem,
    *,
    stored: Sequence[bool],
    unit_is_given: bool,
) -> Ordered:
    """Say of events who wrote them, and where a tick would hold too many, make it finer.

    Parameters
    ----------
    results, unit
        What came of the files, whose ticks are of this length.
    by
        What events of one writer share besides their source.
    files
        Where the chunks are.
    stored
        Whether each result is a part of a dataset, whose rows are in no order of writing.
    unit_is_given
        The user said how long a tick is.

    Raises
    ------
    UsageError
        If no event has one of these attributes.
    """
    _require_known(results, by)
    surveys = {
        at: _survey(each, by, files)
        for at, each in enumerate(results)
        if not stored[at] and any(chunk.rows for chunk in each.chunks)
    }
    fixed = (
        unit_is_given or any(stored) or any(not _is_plain(chunk) for each in results for chunk in each.chunks)
    )
    needed = max((int(each.records.needed.max()) for each in surveys.values()), default=1)
    finer, unit_after = (1, unit) if fixed else _finer_unit(needed, unit)
    rewritten = [
        _rewritten(each, surveys[at], finer, unit_after, files) if at in surveys else each
        for at, each in enumerate(results)
    ]
    notices = [*_told(surveys, results, unit), *_room(surveys, needed, finer, unit_after)]
    return Ordered(rewritten, unit_after, tuple(notices))


def _require_known(results: Sequence[FileResult], by: Sequence[str]) -> None:
    names = {_SOURCE}.union(*(chunk.attributes for result in results for chunk in result.chunks))
    for name in by:
        if name not in names:
            near = get_close_matches(name, names, 1)
            hint = f"; did you mean '{near[0]}'?" if near else ""
            raise UsageError(f"--writer {name}: no event has such an attribute{hint}")


def _survey(result: FileResult, by: Sequence[str], files: fs.FileSystem) -> _Survey:
    # The number of a record means something in its source alone.
    by = tuple(dict.fromkeys((_SOURCE, *by)))
    tables = []
    for chunk in result.chunks:
        known = [name for name in by if name == _SOURCE or name in chunk.attributes]
        table = read_chunk(chunk.path, files, [RECORD, "lower", "upper", *known])
        nothing = pa.nulls(len(table), pa.string())
        columns = {
            f"by.{name}": table.column(name).cast(pa.string()) if name in known else nothing for name in by
        }
        tables.append(pa.table({name: table.column(name) for name in (RECORD, "lower", "upper")} | columns))
    whole = pl.DataFrame(pa.concat_tables(tables))
    texts = whole.select(pl.concat_str([_quoted(f"by.{name}") for name in by], separator=" ")).to_series()
    names = texts.drop_nulls().unique(maintain_order=True)
    numbers = pl.DataFrame({"text": names, "number": np.arange(len(names))})
    code = texts.to_frame("text").join(numbers, on="text", how="left", maintain_order="left")
    writer = code.get_column("number").fill_null(-1).to_numpy()
    record, lower, upper = (whole.get_column(name).to_numpy() for name in (RECORD, "lower", "upper"))
    return _Survey(WrittenRecords.of(writer, record, lower, upper), tuple(names.to_list()))


def _quoted(column: str) -> pl.Expr:
    """Values without blanks, so that no two writers are called alike."""
    return pl.col(column).str.replace_all("%", "%25", literal=True).str.replace_all(" ", "%20", literal=True)


def _finer_unit(needed: int, unit: TimeUnit) -> tuple[int, TimeUnit]:
    """By how much ticks become finer, nanoseconds at most, and the unit that they have then."""
    if needed <= 1:
        return 1, unit
    finer = [
        each for each in (MILLISECOND, MICROSECOND, NANOSECOND) if unit.nanoseconds % each.nanoseconds == 0
    ]
    found = next((each for each in finer if unit.nanoseconds // each.nanoseconds >= needed), finer[-1])
    return unit.nanoseconds // found.nanoseconds, found


def _is_plain(chunk: Chunk) -> bool:
    """Whether its ticks are those of points alone, which a finer unit multiplies."""
    return not (chunk.ended or chunk.lengths or chunk.clocks)


def _rewritten(
    result: FileResult, survey: _Survey, finer: int, unit: TimeUnit, files: fs.FileSystem
) -> FileResult:
    """A result in a finer unit, whose chunks say who wrote their events."""
    begin, chunks, columns = 0, [], _columns(survey)
    for chunk in result.chunks:
        own = columns.slice(begin, chunk.rows)
        begin += chunk.rows
        table = _in_unit(read_chunk(chunk.path, files), finer, unit, own)
        writers = own.get_column(WRITER).to_arrow().cast(pa.string())
        table = _renamed(table, WRITER).append_column(WRITER, writers)
        stem, dot, ending = chunk.path.rpartition(".")
        chunks.append(write_chunk(table, f"{stem}-written{dot}{ending}", files, ROWS_OF_GROUP))
        files.delete_file(chunk.path)
    first, last = result.first, result.last
    return replace(
        result,
        chunks=tuple(chunks),
        first=first if first is None else first * finer,
        last=last if last is None else last * finer + finer - 1,
        written=replace(result.written, unit=unit),
        named={**result.named, WRITER: frozenset({Kind.STRING})},
    )


def _renamed(table: pa.Table, name: str) -> pa.Table:
    """An attribute of the log that is called so gets the prefix of such attributes."""
    if not has_column(table, name):
        return table
    names = [f"{ATTRIBUTE_PREFIX}{each}" if each == name else each for each in table.column_names]
    return table.rename_columns(names)


def _columns(survey: _Survey) -> pl.DataFrame:
    """What is said of each event, in the order of the chunks; a writer that began anew is another one."""
    records = survey.records
    names = pl.Series([*survey.names, None], dtype=pl.String)
    told = pl.DataFrame(
        {
            "row": records.row,
            RECORD: records.record,
            "name": names.gather(np.where(records.writer >= 0, records.writer, len(survey.names))),
            "era": records.era + 1,
            "shared": (records.sharing > 1) & (records.lower == records.upper),
        }
    )
    anew = pl.when(pl.col("era") > 1).then(pl.format("{} #{}", "name", "era")).otherwise(pl.col("name"))
    return told.with_columns(anew.alias(WRITER)).sort("row")


def _in_unit(table: pa.Table, finer: int, unit: TimeUnit, told: pl.DataFrame) -> pa.Table:
    """A chunk in finer ticks: what is known to a tick stays so, unless another record shares its stamp."""
    if finer == 1:
        return table
    lower, upper = (table.column(name).to_numpy() for name in ("lower", "upper"))
    wide = (upper > lower) | told.get_column("shared").to_numpy()
    columns = {
        "lower": pa.array(lower * finer),
        "upper": pa.array(upper * finer + np.where(wide, finer - 1, 0)),
        "pmf": _finer_masses(table.column("pmf").combine_chunks(), finer),
        "time": table.column("time").cast(pa.timestamp(unit.resolution, tz="UTC")),
    }
    for name, values in columns.items():
        table = table.set_column(table.column_names.index(name), name, values)
    return table


def _finer_masses(masses: pa.ListArray, finer: int) -> pa.Array:
    """Buckets in finer ticks, each of all that it covered."""
    if masses.null_count == len(masses):
        return masses
    lo, hi, p = masses.flatten().flatten()
    parts = [pc.multiply(lo, finer), pc.add(pc.multiply(hi, finer), finer - 1), p]
    lengths = pc.fill_null(pc.list_value_length(masses), 0).to_numpy(zero_copy_only=False)
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
    buckets = pa.StructArray.from_arrays(parts, ["lo", "hi", "p"])
    return pa.ListArray.from_arrays(offsets, buckets, mask=masses.is_null()).cast(PMF_TYPE)


def _told(surveys: Mapping[int, _Survey], results: Sequence[FileResult], unit: TimeUnit) -> list[str]:
    """Where records step back, and which are of no writer."""
    notices = []
    for at, each in surveys.items():
        count = len(each.records.steps)
        if count:
            step = "1 record steps" if count == 1 else f"{count:,} records step"
            notices.append(
                f"{results[at].name}: {step} back in time, and what lies before and after is not ordered "
                f"({_worst(each.records, unit)})"
            )
        none = int((each.records.writer < 0).sum())
        if none:
            notices.append(f"{results[at].name}: events of no writer, where that is null: {none:,}")
    return notices


def _worst(records: WrittenRecords, unit: TimeUnit) -> str:
    """The worst steps: which record, and by how much."""
    chosen = np.argsort(-records.behind, kind="stable")[:_SHOWN_STEPS]
    seconds = np.maximum(records.behind, 0) * (unit.nanoseconds / 1e9)
    return ", ".join(f"record {records.record[records.steps[i]]:,} by {seconds[i]:g} s" for i in chosen)


def _room(surveys: Mapping[int, _Survey], needed: int, finer: int, unit: TimeUnit) -> list[str]:
    """That ticks became finer, and where they are not as fine as they should be."""
    notices, every = [], [each.records for each in surveys.values()]
    if finer > 1:
        sharing = sum(int((each.sharing > 1).sum()) for each in every)
        notices.append(f"ticks of {unit}, so that {sharing:,} records have room that share a stamp")
    if needed > finer:
        tightest = max(every, key=lambda each: int(each.needed.max()))
        at = int(tightest.needed.argmax())
        ticks = int(tightest.upper[at] - tightest.lower[at] + 1) * finer
        notices.append(
            f"{tightest.sharing[at]:,} records of one writer share {ticks:,} ticks of {unit}, of which a "
            "thousandth should be theirs; let ticks be finer (--time-unit), or leave --writer out"
        )
    return notices
