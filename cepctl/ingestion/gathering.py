"""The chunks of one file: its records gathered, given their intervals, and written in order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from uuid import uuid4

import numpy as np
import pyarrow as pa

from cepctl.datasets.arrow_files import SUFFIX
from cepctl.datasets.marker import PARQUET
from cepctl.errors import UncertaintyModelError
from cepctl.ingestion.chunk_files import MOST_ARROW_BYTES, ROWS_OF_GROUP, read_chunk, write_chunk
from cepctl.ingestion.chunk_steps import interpreted, possible
from cepctl.ingestion.chunks import (
    AttributeFacts,
    Chunk,
    attribute_facts,
    bytes_of_values,
    joined,
    joined_facts,
    sorted_events,
)
from cepctl.ingestion.clocks import unstamped_notes
from cepctl.ingestion.ends import end_notes
from cepctl.ingestion.intervals import with_intervals
from cepctl.ingestion.kinds_read import KindsRead, ReadAs
from cepctl.ingestion.needed import ToldIds, Unneeded, needed_events
from cepctl.ingestion.results import TimesSeen
from cepctl.ingestion.room import is_little
from cepctl.ingestion.sieve import ChunkSieve, Sifted
from cepctl.ingestion.task import ReadTask
from cepctl.ingestion.writer_names import Writing
from cepctl.ingestion.written_units import EXACT, EndTimes, WrittenOtherwiseError
from cepctl.io.contract.reader import ReadReport
from cepctl.schema import TimeUnit
from cepctl.uncertainty.assign import DAY

_FEWER_ROWS_OF_GROUP = 8_192
_CELL_BYTES = 8


@dataclass
class GatheredChunks:
    """The chunks of one file: tables wait until they make one, and are written with their intervals."""

    task: ReadTask
    kinds: KindsRead
    report: ReadReport
    writing: Writing
    sieve: ChunkSieve | None = None
    ids_given: bool = False
    may_leave_behind: bool = False
    pending: list[pa.Table] = field(default_factory=list)
    _columns: set[str] = field(default_factory=set)
    _rows: int = 0
    _bytes: int = 0
    chunks: list[Chunk] = field(default_factory=list)
    times: TimesSeen = field(default_factory=TimesSeen)
    units: Counter[int] = field(default_factory=Counter)
    size: int = 0
    flushed: bool = False
    ends: EndTimes | None = None
    unneeded: Unneeded = field(default_factory=Unneeded)

    def __post_init__(self) -> None:
        self.written, self.whole = self.task.written, self.task.written.whole
        self._ids = ToldIds(self.task.scratch, ascending=False) if self.sieve is None else self.sieve.ids

    @property
    def holds_some(self) -> bool:
        """Whether something waits to be written, or to be told."""
        return any(map(len, self.pending)) or (self.sieve is not None and self.sieve.holds_some)

    def add(self, table: pa.Table) -> None:
        """Take in more events."""
        if self.sieve is not None and len(table):
            self.sieve.require_asked()
        if len(table) or not self.pending:
            self.pending.append(table)
        self._columns.update(table.column_names)
        self._rows += len(table)
        self._bytes += table.nbytes

    def fill_a_chunk(self, most_rows: int, most_bytes: int) -> bool:
        """Whether what waits makes a chunk; every column takes memory in all rows, also without a value."""
        cells = self._rows * len(self._columns)
        return self._rows >= most_rows or max(self._bytes, cells * _CELL_BYTES) >= most_bytes

    def settle(self) -> None:
        """At the end of the file, let it be read again where its chunks were written otherwise than it is.

        Raises
        ------
        WrittenOtherwiseError
            If what is known of all of it says otherwise than what was known of its first chunk.
        """
        if self.flushed and self.written.whole != self.whole:
            known = replace(self.written, settled=self.written.whole)
            raise WrittenOtherwiseError(known, [chunk.path for chunk in self.chunks])
        self.unneeded = self.unneeded.with_others(self._ids.written())

    def flush(self) -> None:
        """Write what waits."""
        task, report = self.task, self.report
        table = joined(self.pending)
        self.pending.clear()
        self._columns.clear()
        self._rows = self._bytes = 0
        known = self.written.after(table)
        if self.flushed and known.unit != self.written.unit:
            raise WrittenOtherwiseError(known.anew(), [chunk.path for chunk in self.chunks])
        if not self.flushed:
            self.whole = known.whole
        self.written, self.flushed = known, True
        read_as = self.kinds.of_next(table)
        if read_as is None:
            return
        before, own = self.ends, EndTimes.of(table)
        self.ends = own if before is None else before.before(own)
        last = None if before is None else before.last
        try:
            table, units, assigned = interpreted(
                table, task, known, self.whole, read_as, self.writing, report, last
            )
        except UncertaintyModelError as problem:
            if self.kinds.known is not None:
                raise
            self.kinds.problem = problem
            return
        found, counts = np.unique(units[~assigned.ruled], return_counts=True)
        self.units.update(dict(zip(found.tolist(), counts.tolist(), strict=True)))
        report.rules |= assigned.rules
        report.notes.update(unstamped_notes(assigned.unstamped, task.model.rules))
        table = possible(table, known.unit, report, task.file.name)
        sifted = None if self.sieve is None else self.sieve.take()
        if not len(table) and sifted is None:
            return
        report.notes.update(end_notes(table))
        self.times.add(table)
        facts = attribute_facts(table)
        if sifted is not None:
            facts = joined_facts(facts, sifted.facts)
            self._add(sifted)
        unread = {} if self.sieve is None else self.sieve.take_unread()
        facts = joined_facts(facts, unread)
        self.unneeded = self.unneeded.with_others(Unneeded(unread=frozenset(unread)))
        kept = self._needed(table, facts)
        self.size += bytes_of_values(kept)
        in_arrow = task.in_arrow and self.size <= MOST_ARROW_BYTES
        chunk = _write(task, kept, len(self.chunks), table, facts, in_arrow=in_arrow)
        self.chunks.append(chunk if sifted is None else _with_ends_of(chunk, table, sifted))

    def _add(self, sifted: Sifted) -> None:
        """Take account of rows that never became events."""
        self.unneeded = self.unneeded.with_others(sifted.unneeded)
        self.units[EXACT] += sifted.unneeded.events
        self.ids_given = self.ids_given or sifted.ids_given

    def _needed(self, table: pa.Table, facts: Mapping[str, AttributeFacts]) -> pa.Table:
        """The events of a chunk that are not left behind."""
        if self.task.needed is None or not self.may_leave_behind:
            return table
        kept, unneeded = needed_events(table, facts, self.written.unit, self.task.needed)
        if self.ids_given:
            unneeded = unneeded.with_others(self._ids.add(table.column("event_id")))
        self.unneeded = self.unneeded.with_others(unneeded)
        return kept


def _with_ends_of(chunk: Chunk, table: pa.Table, sifted: Sifted) -> Chunk:
    """A chunk of these events that also tells the ends of those that never came to it."""
    first, last = sifted.first, sifted.unneeded.last_tick
    if not len(table):
        return replace(chunk, first=first, last=last)
    return replace(chunk, first=min(chunk.first, first), last=max(chunk.last, last))


def _write(
    task: ReadTask,
    table: pa.Table,
    number: int,
    whole: pa.Table,
    facts: Mapping[str, AttributeFacts],
    *,
    in_arrow: bool,
) -> Chunk:
    """Write one chunk, sorted; returns what later steps need to know of it, and of the `whole` before."""
    table = sorted_events(table)
    filesystem, directory = task.scratch.resolve()
    ending = SUFFIX if in_arrow else PARQUET
    # A name of its own: an attempt that was given up and still runs must not spoil a later one.
    path = f"{directory}/{task.number:06d}-{number:04d}-{uuid4().hex[:12]}{ending}"
    # Small chunks are many, and little is wanted of each at a time.
    groups = _FEWER_ROWS_OF_GROUP if is_little(task.memory) else ROWS_OF_GROUP
    return write_chunk(table, path, filesystem, groups, whole, facts)


def rewritten(task: ReadTask, chunk: Chunk, number: int, read_as: ReadAs, unit: TimeUnit) -> Chunk:
    """A chunk whose events that no rule fits have a granularity of one day."""
    filesystem, _ = task.scratch.resolve()
    table = read_chunk(chunk.path, filesystem)
    empty = pa.nulls(len(table), pa.int64())
    for name in ("lower", "upper", "end_lower", "end_upper"):
        table = table.set_column(table.column_names.index(name), name, empty)
    table = with_intervals(table, task.model, unit, read_as, DAY)[0]
    facts = chunk.attributes
    return _write(task, table, number, table, facts, in_arrow=chunk.path.endswith(SUFFIX))
