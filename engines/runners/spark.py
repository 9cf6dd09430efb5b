"""The Spark runner: tasks that read their own part of the events, the partition function on each.

    a slice of time   its task reads the row groups that it needs, straight from Parquet
    a bucket of keys  events are read once by tasks of their own and sent to the group that needs them

What can matter is chosen where it is read, by the predicates that the local runner uses; matches come
back as whole Arrow batches, and a task holds no more than its own slice.  To filter in the Java process
and hand rows over took ten times as long.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa

from cepctl.atomic.folders import temporary_folder
from cepctl.datasets.row_groups import EventSource, RowGroups, row_groups
from cepctl.engines.event.match import found_batches, schema_for
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.groups import FoundRows
from cepctl.engines.rows.numbers import FoundBatch, with_columns
from cepctl.engines.rows.sorted import Gathered, SortedRows
from cepctl.engines.runners.progress import Progress
from cepctl.engines.runners.shuffle import (
    as_stream,
    refuse_repeated,
    repeated_id,
    sent_events,
    sent_ids,
    widest_begin,
)
from cepctl.engines.runners.slice_task import Owned, SliceTask
from cepctl.engines.runners.slices import Slicing, choose_slicing, group_slicing
from cepctl.plan.plan import Plan
from cepctl.spark.interrupts import undisturbed
from cepctl.spark.jobs import failing_once, failures_told
from cepctl.spark.session import HasContext, tasks_at_once
from cepctl.spark.settings import is_local

if TYPE_CHECKING:
    from pyspark import Accumulator, SparkContext

_RETURNED_BYTES = 1 << 18
"""Rows that a task hands to the driver as they are."""
Found = tuple[Owned, FoundBatch | None]
"""Which events a slice owns, and no matches; or some of its matches."""
File = tuple[int, int, list[int]]
"""Number of the input, number of the file in it, numbers of row groups."""


_NOTHING = Owned()


@dataclass(frozen=True)
class Part:
    """What a task tells: which events that can matter it `owned`, and its matches.

    These are an Arrow stream, or sorted runs in a folder that it shares with the driver.
    """

    owned: Owned = _NOTHING
    stream: bytes | None = None
    gathered: Gathered | None = None


def run(
    plan: Plan,
    sources: Sequence[EventSource],
    session: HasContext,
    options: MatchOptions | None = None,
    *,
    slicing: Slicing | None = None,
) -> pa.Table:
    """The rows of `collect` as one table."""
    options = options or MatchOptions()
    with temporary_folder() as folder:
        rows = SortedRows(schema_for(plan, options), options.wanted, options.memory, folder)
        collect(plan, sources, session, rows, options, slicing=slicing)
        return rows.table()


def collect(
    plan: Plan,
    sources: Sequence[EventSource],
    session: HasContext,
    rows: FoundRows,
    options: MatchOptions,
    *,
    slicing: Slicing | None = None,
    progress: Progress | None = None,
) -> None:
    """Run a plan on stored events; adds to `rows`.

    `slicing` is chosen from statistics where it is None; it changes no row.

    Raises
    ------
    JobError
        If the Spark job fails.
    CepctlError
        What the partition function raised in a task.
    """
    progress = progress or Progress()
    context = session.sparkContext
    groups = row_groups(sources)
    if plan.never is not None or not len(groups):
        return
    slicing = slicing or _chosen_slicing(groups, plan, context.defaultParallelism)
    progress.slicing = slicing
    own = replace(options, memory=options.memory.shared_by(tasks_at_once(context)))
    task = SliceTask(plan, own, tuple(sources), groups)
    in_runs = rows if isinstance(rows, SortedRows) else None
    shared = None
    if in_runs is not None and (in_runs.shared or is_local(str(context.master))):
        shared = in_runs.folder
    with failures_told(), ExitStack() as stack:
        job = _Job(task, slicing, _copied(sources, context, stack), context.accumulator(0), shared)
        undisturbed(partial(_refuse_repeated, job, context))
        if task.may_bind_ends and slicing.tasks > 1 and undisturbed(partial(job.binds_ends, context)):
            job = replace(job, task=task.of_intervals())
        stack.enter_context(progress.watching(context, job.matches))
        parts = undisturbed(partial(job.sent if slicing.sent else job.by_slice, context))
    progress.relevant = sum(part.owned.events for part in parts)
    progress.impossible = sum(part.owned.impossible for part in parts)
    for part in parts:
        if part.stream is not None:
            for batch in pa.ipc.open_stream(part.stream):
                rows.add(batch)
        if part.gathered is not None and in_runs is not None:
            in_runs.adopt(part.gathered)
    options.check_count(rows.found)


def _chosen_slicing(groups: RowGroups, plan: Plan, parallelism: int) -> Slicing:
    if plan.group_by is None:
        return choose_slicing(groups, plan, parallelism)
    return group_slicing(groups, plan, parallelism)


@dataclass(frozen=True)
class _Job:
    """What goes to the workers; `prefix` begins the names of files that Spark has copied to them.

    `matches` counts for those who watch; a task that is run again counts again.  `shared` is a folder that
    all of them see, where they run on this machine.
    """

    task: SliceTask
    slicing: Slicing
    prefix: str | None
    matches: Accumulator[int]
    shared: Path | None

    def by_slice(self, context: SparkContext) -> list[Part]:
        """Every slice reads what it needs."""
        numbers = range(len(self.slicing.slices))
        return context.parallelize(numbers, len(numbers)).flatMap(self.match_slice).collect()

    def sent(self, context: SparkContext) -> list[Part]:
        """Every event is read once, and sent to each group that needs it."""
        files = list(self.task.groups.files())
        spread = context.parallelize(files, len(files))
        widest = spread.map(self.widest).max() if len(self.slicing.slices) > 1 else 0
        pieces = spread.flatMap(lambda file: self.send(widest, file))
        return pieces.partitionBy(self.slicing.tasks, int).mapPartitions(self.match_sent).collect()

    def binds_ends(self, context: SparkContext) -> bool:
        """Whether some event that can matter lasts."""
        files = list(self.task.groups.files())
        return any(context.parallelize(files, len(files)).map(self.lasts).collect())

    def lasts(self, file: File) -> bool:
        """The same of one file."""
        with failing_once():
            return self.here().binds_ends(*file)

    def here(self) -> SliceTask:
        """The task in the process of a worker, which has its own copies of some files."""
        if self.prefix is None:
            return self.task
        from pyspark import SparkFiles

        directory, prefix = SparkFiles.getRootDirectory(), self.prefix
        sources = (each.copied(directory, prefix) if each.shipped else each for each in self.task.sources)
        return replace(self.task, sources=tuple(sources))

    def match_slice(self, number: int) -> Iterator[Part]:
        """The matches of one slice."""
        with failing_once():
            yield from self._parts(self.here().run(self.slicing.slices[number]))

    def widest(self, file: File) -> int:
        """The widest interval in a file that can begin a match."""
        with failing_once():
            return widest_begin(self.here(), *file)

    def send(self, widest: int, file: File) -> Iterator[tuple[int, bytes]]:
        """The events of a file, to the groups that need them."""
        with failing_once():
            yield from sent_events(self.here(), self.slicing, widest, *file)

    def match_sent(self, pieces: Iterable[tuple[int, bytes]]) -> Iterator[Part]:
        """The matches of the groups whose events were sent here."""
        with failing_once():
            yield from self._parts(self._matched(pieces))

    def _matched(self, pieces: Iterable[tuple[int, bytes]]) -> Iterator[Found]:
        by_group: dict[int, list[pa.Table]] = {}
        for group, piece in pieces:
            by_group.setdefault(group, []).append(pa.ipc.open_stream(piece).read_all())
        for group in sorted(by_group):
            own = self.slicing.slices[group // self.slicing.buckets]
            events = self.task.in_order(by_group.pop(group))
            yield Owned.of(self.task.plan, own, events), None
            for batch in found_batches(self.task.plan, events, self.task.options, own.owned):
                yield _NOTHING, batch

    def _parts(self, found: Iterator[Found]) -> Iterator[Part]:
        """What goes to the driver: few rows as they are, many as runs in a folder where that is seen."""
        plan, options = self.task.plan, self.task.options
        rows, size = None, 0
        for owned, batch in found:
            if batch is None:
                yield Part(owned)
                continue
            self.matches.add(batch.num_rows)
            if rows is None:
                whole = with_columns(batch)
                size += whole.nbytes
                if self.shared is None or size <= _RETURNED_BYTES:
                    yield Part(stream=as_stream(pa.Table.from_batches([whole])))
                    continue
                rows = SortedRows(schema_for(plan, options), options.wanted, options.memory, self.shared)
            rows.add(batch)
        if rows is not None:
            yield Part(gathered=rows.gathered())


def _copied(sources: Sequence[EventSource], context: SparkContext, stack: ExitStack) -> str | None:
    """Let Spark copy to the workers of a cluster what only this machine can read; the copies' prefix."""
    files = [part for each in sources for part in each.shipped]
    if not files or is_local(str(context.master)):
        return None
    # Spark tells files apart by their names alone, for as long as its session lives.
    prefix = f"{uuid4().hex}-"
    directory = stack.enter_context(temporary_folder())
    for part in files:
        copy = directory / f"{prefix}{PurePosixPath(part).name}"
        shutil.copyfile(part, copy)
        context.addFile(str(copy))
    return prefix


def _refuse_repeated(job: _Job, context: SparkContext) -> None:
    if len(job.task.sources) < 2:
        return
    files = [(source, part) for source, part, _ in job.task.groups.files()]
    buckets = max(context.defaultParallelism, len(files))
    pieces = context.parallelize(files, len(files)).flatMap(
        lambda file: sent_ids(job.here().sources[file[0]].ids(file[1]), buckets)
    )
    repeated = pieces.partitionBy(buckets, int).mapPartitions(
        lambda pieces: [repeated_id(pa.ipc.open_stream(piece).read_all().column(0) for _, piece in pieces)]
    )
    refuse_repeated(min(filter(None, repeated.collect()), default=None))
