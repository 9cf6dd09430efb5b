"""Small files that are written alike, read at once as one text; what comes of each is what it gives alone.

The files of a bundle whose lines are all records of one form (io/contract/alike.py) are joined, and the steps
that every chunk goes through run once for all of their events.  Then each file gets its own rows, facts and
account.  That holds where nothing was rejected or noted of some of them, and what is known of the times is
the same of all: else they are read in halves, and at last alone.

    one step for all            by file
    types, attributes, times    numbers and ids of records, how fine and how coarse the times are
    intervals, writers          first and last tick, bytes and kinds of values
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.datasets.arrow_files import SUFFIX, write_batches
from cepctl.datasets.kinds import Kind, kinds_of_field
from cepctl.errors import CepctlError
from cepctl.ingestion.bundles import is_small
from cepctl.ingestion.chunk_files import path_of_one
from cepctl.ingestion.chunk_steps import interpreted, possible
from cepctl.ingestion.chunks import (
    RAW_WRITER,
    RAW_ZONE,
    SORT_KEYS,
    Chunk,
    has_column,
    is_attribute,
    raw_table,
)
from cepctl.ingestion.facts_by_file import bytes_by_file, facts_by_file
from cepctl.ingestion.in_time import with_times
from cepctl.ingestion.reading import read_file
from cepctl.ingestion.results import STEPS, FileResult, TimesSeen
from cepctl.ingestion.task import ReadTask
from cepctl.ingestion.written_units import ends_by_file, written_by_file
from cepctl.io.contract.log_format import LogFormat
from cepctl.io.contract.reader import NO_ZONE, ReadReport
from cepctl.io.formats import OpenLog, format_named, open_log
from cepctl.numeric.arrays import Numbers

_FEWEST = 2
_FILE = "file"


@dataclass(frozen=True)
class Small:
    """A small file that may be read with others: its text, and the forms of its times."""

    task: ReadTask
    text: bytes
    forms: Mapping[str, str]


def read_bundle(bundle: Sequence[ReadTask]) -> list[FileResult]:
    """Read neighbouring files, as `read_file` does each of them; raises as it does."""
    found: dict[int, FileResult] = {}
    if len(bundle) >= _FEWEST:
        for known, places, files in _alike(bundle):
            found.update(zip(places, _read(known, files), strict=True))
    return [found[place] if place in found else read_file(task) for place, task in enumerate(bundle)]


def whole_text(task: ReadTask, log: OpenLog) -> bytes | None:
    """The text of a small open file; None where it is longer, or has to be undone from something first."""
    is_whole = is_small(task) and len(log.head) == task.file.size
    return log.head if is_whole and log.stream.seekable() and not log.damage else None


def _small(task: ReadTask) -> Small | None:
    if not is_small(task):
        return None
    try:
        with open_log(task.file.location) as log:
            text = whole_text(task, log)
    except CepctlError:
        return None  # reading it will say what is wrong
    return Small(task, text, dict(task.file.time_forms)) if text else None


def _alike(bundle: Sequence[ReadTask]) -> list[tuple[LogFormat, list[int], list[Small]]]:
    """The files that may be read at once, with their places among all."""
    groups: dict[Hashable, tuple[LogFormat, list[int], list[Small]]] = {}
    for place, task in enumerate(bundle):
        if not _is_plain(task) or task.input_format is None:
            continue
        known = format_named(task.input_format)
        if known.alike is None or (file := _small(task)) is None:
            continue
        form = known.alike.form(file.text, file.forms)
        if form is not None:
            _, places, files = groups.setdefault((known.name, form), (known, [], []))
            places.append(place)
            files.append(file)
    return [group for group in groups.values() if len(group[1]) >= _FEWEST]


def _is_plain(task: ReadTask) -> bool:
    """Whether nothing looks at single events of a file, and nobody wants to see all rejects.

    What is not needed may be left behind, and need not.
    """
    rules = (*task.model.rules, *task.writing.rules)
    told_apart = task.type_names or task.options.patterns
    return not rules and not told_apart and not task.declares_unit and not task.keep_rejects


def _read(known: LogFormat, files: Sequence[Small]) -> list[FileResult]:
    """What comes of files of one form."""
    if len(files) < _FEWEST:
        return [read_file(file.task) for file in files]
    found = _read_at_once(known, files)
    if found is None:
        middle = len(files) // 2
        return [*_read(known, files[:middle]), *_read(known, files[middle:])]
    return found


def _read_at_once(known: LogFormat, files: Sequence[Small]) -> list[FileResult] | None:
    """What comes of files of one form; None where not all of them have gone the same way."""
    assert known.alike is not None
    first, report = files[0].task, ReadReport()
    batch = known.alike.read([file.text for file in files], files[0].forms, first.reading, report)
    counts = np.array([file.text.removesuffix(b"\n").count(b"\n") + 1 for file in files])
    if batch is None or report.rejects or report.records != len(batch) or counts.sum() != len(batch):
        return None
    bounds = np.append(0, np.cumsum(counts))
    table = raw_table(_named(batch, files, counts), first.file)
    table = with_times(table, report, "")
    if report.rejects:
        return None
    written = written_by_file(first.written, table, bounds)
    if written is None:
        return None
    ends = ends_by_file(table, bounds)
    writing = replace(first.writing, of_lines=first.writing.of_lines and known.appended)
    table, units, assigned = interpreted(
        table, first, written[0], written[0].whole, {}, writing, report, None
    )
    noted = _notes_by_file(report, counts)
    table = possible(table, written[0].unit, report, "")
    if noted is None or report.rejects or report.warnings or report.skipped or assigned.rules:
        return None
    times = _times_by_file(table, bounds)
    sizes = bytes_by_file(table, bounds)
    chunks = _chunks(first, table, bounds)
    named = _named_kinds(table)
    return [
        FileResult(
            file.task.file.name,
            known.name,
            (chunks[place],),
            options=frozenset(known.options),
            repeats=known.repeats,
            records=int(counts[place]),
            named=named,
            notes=noted[place],
            first=chunks[place].first,
            last=chunks[place].last,
            times=times[place],
            written=written[place],
            units=_counted(units[bounds[place] : bounds[place + 1]]),
            size=sizes[place],
            time_forms=dict(sorted({**known.alike.forms_read(file.forms), **written[place].forms}.items())),
            ends=ends[place],
        )
        for place, file in enumerate(files)
    ]


def _named(batch: pa.RecordBatch, files: Sequence[Small], counts: Numbers) -> pa.RecordBatch:
    """Events of several files with their numbers, ids and sources."""
    names = pa.array([file.task.file.name for file in files])
    ids = pa.array([file.task.file.id_name or file.task.file.name for file in files])
    of_row = pa.array(np.repeat(np.arange(len(files)), counts))
    numbers = pa.array(np.arange(len(batch)) - np.repeat(np.cumsum(counts) - counts, counts) + 1)
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    fields = {field.name: field for field in batch.schema}
    columns["number"] = numbers
    columns["event_id"] = pc.binary_join_element_wise(ids.take(of_row), numbers.cast(pa.string()), "#")
    columns["source"] = names.take(of_row)
    fields["source"] = pa.field("source", pa.string())
    return pa.RecordBatch.from_arrays([columns[name] for name in fields], schema=pa.schema(fields.values()))


def _notes_by_file(report: ReadReport, counts: Numbers) -> list[Counter[str]] | None:
    """What is noted of each file; None where that is more than one thing of all records."""
    noted = +report.notes
    if not noted:
        return [Counter() for _ in counts]
    if noted != Counter({NO_ZONE: int(counts.sum())}):
        return None
    return [Counter({NO_ZONE: count}) for count in counts.tolist()]


def _times_by_file(table: pa.Table, bounds: Numbers) -> list[TimesSeen]:
    """How coarse the times of each file are."""
    column = table.column("time")
    per_count = 1 if column.type.unit == "ns" else 1_000
    times = np.asarray(column.cast(pa.int64()).to_numpy(), np.int64)
    times = times + table.column(RAW_ZONE).to_numpy() * (STEPS["1 s"] // per_count)
    seen = [TimesSeen() for _ in bounds[1:]]
    for each, start, stop in zip(seen, bounds[:-1], bounds[1:], strict=True):
        each.add_times(times[start:stop], per_count)
    return seen


def _counted(units: Numbers) -> Counter[int]:
    found, counts = np.unique(units, return_counts=True)
    return Counter(dict(zip(found.tolist(), counts.tolist(), strict=True)))


def _named_kinds(table: pa.Table) -> dict[str, frozenset[Kind]]:
    return {field.name: kinds_of_field(field) for field in table.schema if is_attribute(field.name)}


def _chunks(task: ReadTask, table: pa.Table, bounds: Numbers) -> list[Chunk]:
    """Write the events of each file, sorted, as a chunk of its own in one file of all."""
    filesystem, directory = task.scratch.resolve()
    path = f"{directory}/{task.number:06d}-{uuid4().hex[:12]}{SUFFIX}"
    facts = facts_by_file(table, bounds)
    starts = bounds[:-1]
    zoned = np.logical_or.reduceat(table.column(RAW_ZONE).to_numpy() != 0, starts)
    first = np.minimum.reduceat(table.column("lower").to_numpy(), starts)
    last = np.maximum.reduceat(table.column("upper").to_numpy(), starts)
    written = np.zeros(len(starts), np.bool_)
    if has_column(table, RAW_WRITER):
        known = pc.is_valid(table.column(RAW_WRITER)).to_numpy()
        written = np.logical_or.reduceat(known, starts)
    write_batches(_sorted(table, bounds), path, filesystem, bounds.tolist())
    rows = np.diff(bounds)
    return [
        Chunk(
            path_of_one(path, place),
            int(rows[place]),
            facts[place],
            zoned=bool(zoned[place]),
            ended=False,
            first=int(first[place]),
            last=int(last[place]),
            written=bool(written[place]),
        )
        for place in range(len(starts))
    ]


def _sorted(table: pa.Table, bounds: Numbers) -> pa.Table:
    """Rows of each file by (lower, event_id), as `sorted_events` has them."""
    file = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    keys = table.select(["lower", "event_id"]).append_column(_FILE, pa.array(file))
    order = pc.sort_indices(keys, sort_keys=[(_FILE, "ascending"), *SORT_KEYS])
    return table.take(order)
