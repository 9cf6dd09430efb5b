"""Stored events, matched by a runner: tasks that read their own part, the partition function on each.

    here              one task reads all that can matter, on all cores (local.py)
    a slice of time   its task reads the row groups that it needs, straight from Parquet
    a bucket of keys  events are read once by tasks of their own and sent to the group that needs them

What can matter is chosen where it is read; matches come back as whole Arrow batches, and a task holds no more
than its own slice.  To filter in the Java process of Spark and hand rows over took ten times as long.

Buckets are for what reading alone does not split: keys without a window, slices that hold too much, intervals
so wide that most slices would read them again.  Keys are numbered by a hash that is the same on every
machine; each event goes to every slice that it can take part in or decide.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.atomic.folders import temporary_folder
from cepctl.datasets.row_groups import EventSource, RowGroups, row_groups
from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.event.match import found_batches, schema_for
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.groups import FirstRows, FoundRows
from cepctl.engines.rows.numbers import FoundBatch, with_columns
from cepctl.engines.rows.sorted import RunsOfProcess, SortedRows
from cepctl.engines.runners.local import find_first, found_in_stored, refuse_repeated, repeated_id
from cepctl.engines.runners.progress import RunProgress
from cepctl.engines.runners.reach import Reach
from cepctl.engines.runners.slices import (
    Owned,
    SliceTask,
    Slicing,
    choose_slicing,
    group_slicing,
    last_ticks,
    whole_slicing,
)
from cepctl.numeric.arrays import Hashes, Indexes, Ticks
from cepctl.plan.choices import KleeneRows
from cepctl.plan.plan import Plan
from cepctl.plan.summary import stands_alone
from cepctl.runners.runner import Copies, Counter, Piece, Runner
from cepctl.schema import TICK_MAX, TICK_MIN

_RETURNED_BYTES = 1 << 18
"""Rows that a task hands to the driver as they are."""
Found = tuple[Owned, FoundBatch | None]
"""Which events a slice owns, and no matches; or some of its matches."""
File = tuple[int, int, list[int]]
"""Number of the input, number of the file in it, numbers of row groups."""
_NOTHING = Owned()
_FACTOR = np.uint64(1_099_511_628_211)  # the prime of the FNV hash


@dataclass(frozen=True)
class SliceFound:
    """What a task tells: which events that can matter it `owned`, and its matches.

    These are an Arrow stream, or sorted runs in a folder that it shares with the driver.
    """

    owned: Owned = _NOTHING
    stream: bytes | None = None
    gathered: RunsOfProcess | None = None


def run(
    plan: Plan,
    sources: Sequence[EventSource],
    runner: Runner,
    options: MatchOptions | None = None,
    *,
    slicing: Slicing | None = None,
) -> pa.Table:
    """The rows of `collect` as one table."""
    options = options or MatchOptions()
    with temporary_folder() as folder:
        rows = SortedRows(schema_for(plan, options), options.wanted, options.memory, folder)
        collect(plan, sources, runner, rows, options, slicing=slicing)
        return rows.table()


def collect(
    plan: Plan,
    sources: Sequence[EventSource],
    runner: Runner,
    rows: FoundRows,
    options: MatchOptions | None = None,
    *,
    slicing: Slicing | None = None,
    progress: RunProgress | None = None,
) -> None:
    """Run a plan on stored events; adds to `rows`.

    `slicing` is chosen from statistics where it is None; it changes no row.

    Raises
    ------
    JobError
        If the runner cannot run the tasks.
    CepctlError
        What the partition function raised in a task.
    """
    options, progress = options or MatchOptions(), progress or RunProgress()
    if runner.here and isinstance(rows, FirstRows):
        find_first(plan, sources, rows, options, progress)
        return
    if runner.here:
        whole = partial(_found_here, sources=sources, options=options, progress=progress)
        for batch in runner.stream(whole, [plan]):
            rows.add(batch)
            progress.found = rows.found
        return
    groups = row_groups(sources)
    if plan.never is not None or not len(groups):
        return
    progress.slicing = slicing or _chosen_slicing(groups, plan, options.kleene, runner.parallelism)
    own = replace(options, memory=options.memory.shared_by(runner.tasks_at_once))
    task = SliceTask(plan, own, tuple(sources), groups)
    in_runs = rows if isinstance(rows, SortedRows) else None
    shared = None
    if in_runs is not None and (in_runs.shared or runner.shares_disk):
        shared = in_runs.folder
    with runner.copied([part for each in sources for part in each.shipped]) as copies:
        job = _Job(task, progress.slicing, copies, runner.counter(), shared)
        _refuse_repeated(job, runner)
        if task.may_bind_ends and job.slicing.tasks > 1 and job.binds_ends(runner):
            job = replace(job, task=task.of_intervals())
        for part in job.parts(runner, progress):
            progress.relevant = (progress.relevant or 0) + part.owned.events
            progress.impossible += part.owned.impossible
            if part.stream is not None:
                for batch in pa.ipc.open_stream(part.stream):
                    rows.add(batch)
            if part.gathered is not None and in_runs is not None:
                in_runs.adopt(part.gathered)
    options.check_count(rows.found)


def _found_here(
    plan: Plan, sources: Sequence[EventSource], options: MatchOptions, progress: RunProgress
) -> Iterator[FoundBatch]:
    return found_in_stored(plan, sources, options, progress)


def _chosen_slicing(groups: RowGroups, plan: Plan, rows: KleeneRows, parallelism: int) -> Slicing:
    if rows == "summary" and any(stands_alone(each) for each in plan.alternatives):
        return whole_slicing(groups)
    if plan.group_by is None:
        return choose_slicing(groups, plan, parallelism)
    return group_slicing(groups, plan, parallelism)


@dataclass(frozen=True)
class _Job:
    """What goes to the workers, with `copies` of what they cannot read.

    `matches` counts for those who watch.  `shared` is a folder that all of them see, where there is one.
    """

    task: SliceTask
    slicing: Slicing
    copies: Copies | None
    matches: Counter
    shared: Path | None

    def parts(self, runner: Runner, progress: RunProgress) -> Iterator[SliceFound]:
        """What all tasks tell: each slice reads what it needs, or is sent what other tasks have read."""
        listener = progress.of_tasks(self.matches)
        if not self.slicing.sent:
            return runner.stream(self.match_slice, range(len(self.slicing.slices)), listener)
        files = self.files
        widest = 0 if len(self.slicing.slices) == 1 else max(runner.stream(self.widest, files), default=0)
        return runner.exchange(
            partial(self.send, widest), files, self.match_sent, self.slicing.tasks, listener
        )

    @property
    def files(self) -> list[File]:
        """The files of all inputs."""
        return list(self.task.groups.files())

    def binds_ends(self, runner: Runner) -> bool:
        """Whether some event that can matter lasts."""
        return any(runner.stream(self.lasts, self.files))

    def lasts(self, file: File) -> Iterator[bool]:
        """Whether some event of one file lasts that can matter."""
        yield self.here().binds_ends(*file)

    def here(self) -> SliceTask:
        """The task in the process of a worker, which has its own copies of some files."""
        if self.copies is None:
            return self.task
        directory, prefix = self.copies.directory(), self.copies.prefix
        sources = (each.copied(directory, prefix) if each.shipped else each for each in self.task.sources)
        return replace(self.task, sources=tuple(sources))

    def match_slice(self, number: int) -> Iterator[SliceFound]:
        """The matches of one slice."""
        return self._parts(self.here().run(self.slicing.slices[number]))

    def widest(self, file: File) -> Iterator[int]:
        """The widest interval in a file that can begin a match."""
        yield widest_begin(self.here(), *file)

    def send(self, widest: int, file: File) -> Iterator[Piece]:
        """The events of a file, to the groups that need them."""
        return sent_events(self.here(), self.slicing, widest, *file)

    def match_sent(self, group: int, pieces: list[bytes]) -> Iterator[SliceFound]:
        """The matches of a group whose events were sent here."""
        return self._parts(self._matched(group, pieces))

    def _matched(self, group: int, pieces: list[bytes]) -> Iterator[Found]:
        own = self.slicing.slices[group // self.slicing.buckets]
        events = self.task.in_order([pa.ipc.open_stream(piece).read_all() for piece in pieces])
        pieces.clear()
        yield Owned.of(self.task.plan, own, events), None
        for batch in found_batches(self.task.plan, events, self.task.options, own.owned):
            yield _NOTHING, batch

    def send_ids(self, buckets: int, file: File) -> Iterator[Piece]:
        """The ids of a file, to the buckets in which equal ones meet."""
        return _sent_ids(self.here().sources[file[0]].ids(file[1]), buckets)

    def _parts(self, found: Iterator[Found]) -> Iterator[SliceFound]:
        """What goes to the driver: few rows as they are, many as runs in a folder where that is seen."""
        plan, options = self.task.plan, self.task.options
        rows, size = None, 0
        for owned, batch in found:
            if batch is None:
                yield SliceFound(owned)
                continue
            self.matches.add(batch.num_rows)
            if rows is None:
                whole = with_columns(batch)
                size += whole.nbytes
                if self.shared is None or size <= _RETURNED_BYTES:
                    yield SliceFound(stream=as_stream(pa.Table.from_batches([whole])))
                    continue
                rows = SortedRows(schema_for(plan, options), options.wanted, options.memory, self.shared)
            rows.add(batch)
        if rows is not None:
            yield SliceFound(gathered=rows.gathered())


def _refuse_repeated(job: _Job, runner: Runner) -> None:
    if len(job.task.sources) < 2:
        return
    buckets = max(runner.parallelism, len(job.files))
    repeated = runner.exchange(partial(job.send_ids, buckets), job.files, _repeated_id, buckets)
    refuse_repeated(min(repeated, default=None))


def _repeated_id(bucket: int, pieces: list[bytes]) -> Iterator[str]:
    found = repeated_id(pa.ipc.open_stream(piece).read_all().column(0) for piece in pieces)
    if found is not None:
        yield found


def widest_begin(task: SliceTask, source: int, part: int, numbers: Sequence[int]) -> int:
    """The most ticks from `lower` to the last tick of an event in some row groups that can begin a match."""
    widest = 0
    for events in task.relevant(source, part, numbers):
        begins = events.filter(task.relevance.begins(events))
        wide = last_ticks(begins) - begins.column("lower").to_numpy()
        # A difference that leaves int64 comes out negative, and is as wide as it gets.
        widest = max(widest, TICK_MAX if (wide < 0).any() else int(wide.max(initial=0)))
    return widest


def sent_events(
    task: SliceTask, slicing: Slicing, widest: int, source: int, part: int, numbers: Sequence[int]
) -> Iterator[tuple[int, bytes]]:
    """The events of some row groups that can matter, as Arrow streams under the numbers of their groups.

    `widest` bounds the ticks from `lower` to the last one of the events that can begin a match.
    """
    for events in task.relevant(source, part, numbers):
        rows, places = _slices_of(events, slicing, task.reach, widest)
        groups = places * slicing.buckets
        if slicing.buckets > 1:
            keys = [events.column(name) for name in task.plan.partition_by]
            groups = groups + (key_hashes(keys) % np.uint64(slicing.buckets)).astype(np.int64)[rows]
        order = np.argsort(groups, kind="stable")
        together = events.take(rows[order])
        edges = [*np.flatnonzero(np.diff(groups[order], prepend=-1)), len(order)]
        for first, end in itertools.pairwise(edges):
            yield int(groups[order[first]]), as_stream(together.slice(first, end - first))


def _sent_ids(ids: pa.ChunkedArray, buckets: int) -> Iterator[tuple[int, bytes]]:
    """Ids as Arrow streams under the number of their bucket; equal ids have the same."""
    bucket = (key_hashes([ids]) % np.uint64(buckets)).astype(np.int64)
    table = pa.table({"event_id": ids})
    for number in np.unique(bucket).tolist():
        yield number, as_stream(table.filter(pa.array(bucket == number)))


def key_hashes(columns: Sequence[pa.ChunkedArray]) -> Hashes:
    """A number for each row, equal where the values of all columns are; the same on every machine.

    Examples
    --------
    >>> x, y = key_hashes([pa.chunked_array([["n1", "n1"]]), pa.chunked_array([[0.0, -0.0]])])
    >>> bool(x == y)
    True
    """
    hashes = np.zeros(len(columns[0]), np.uint64)
    for column in columns:
        if pa.types.is_floating(column.type):
            column = pc.add(column, 0.0)  # minus zero is zero  # noqa: PLW2901
        text = pc.fill_null(column.cast(pa.large_string()), "").combine_chunks()
        if isinstance(text, pa.ChunkedArray):
            text = pa.concat_arrays(text.chunks) if text.num_chunks else pa.array([], pa.large_string())
        hashes = hashes * _FACTOR + _text_hashes(text)
    return hashes


def _text_hashes(text: pa.Array) -> Hashes:
    """The bytes of each text, weighted by their places, summed; sums wrap."""
    lengths = pc.binary_length(text).to_numpy().astype(np.int64)
    ends = np.cumsum(lengths)
    held = text.buffers()[2]
    begin = 0 if not len(text) else int(np.frombuffer(text.buffers()[1], np.int64)[text.offset])
    octets = np.frombuffer(held if held is not None else b"", np.uint8)[begin : begin + int(lengths.sum())]
    place = places_in_runs(lengths)[1]
    weights = np.cumprod(np.full(int(lengths.max(initial=0)) + 1, _FACTOR, np.uint64))
    weighted = (octets.astype(np.uint64) + np.uint64(1)) * weights[place]
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(weighted)])
    mixed = sums[ends] - sums[ends - lengths]
    # The last digits of a sum of odd weights depend on few bytes.
    return np.asarray(mixed ^ (mixed >> np.uint64(29)))


def as_stream(table: pa.Table) -> bytes:
    """A table as an Arrow stream."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _slices_of(
    events: pa.Table, slicing: Slicing, reach: Reach | None, widest: int
) -> tuple[Indexes, Indexes]:
    """Rows of events and the slices that need them, one entry for each pair."""
    lower, upper = events.column("lower").to_numpy(), last_ticks(events)
    if reach is None or len(slicing.slices) == 1:
        return np.arange(len(lower)), np.zeros(len(lower), np.int64)
    first = _ticks(max(each.first - reach.before, TICK_MIN) for each in slicing.slices)
    last = _ticks(min(each.last + reach.after + widest, TICK_MAX) for each in slicing.slices)
    least = np.searchsorted(last, lower, "left")
    most = np.searchsorted(first, upper, "right") - 1
    counts = most - least + 1
    rows, within = places_in_runs(counts)
    return rows, least[rows] + within


def _ticks(values: Iterable[int]) -> Ticks:
    return np.fromiter(values, dtype=np.int64)
