"""Stored events, matched by a runner: tasks that read their own part, the partition function on each.

    here              one task reads all that can matter, on all cores (local.py)
    a slice of time   its task reads the row groups that it needs, straight from Parquet
    a bucket of keys  events are read once by tasks of their own and sent to the group that needs them

What can matter is chosen where it is read; matches come back as whole Arrow batches, and a task holds no more
than its own slice.  To filter in the Java process of Spark and hand rows over took ten times as long.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import pyarrow as pa

from cepctl.atomic.folders import temporary_folder
from cepctl.datasets.row_groups import EventSource, RowGroups, row_groups
from cepctl.engines.event.match import found_batches, schema_for
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.first import FirstRows
from cepctl.engines.rows.groups import FoundRows
from cepctl.engines.rows.numbers import FoundBatch, with_columns
from cepctl.engines.rows.sorted import RunsOfProcess, SortedRows
from cepctl.engines.runners.local import find_first, found_in_stored
from cepctl.engines.runners.progress import RunProgress
from cepctl.engines.runners.shuffle import (
    as_stream,
    refuse_repeated,
    repeated_id,
    sent_events,
    sent_ids,
    widest_begin,
)
from cepctl.engines.runners.slice_task import Owned, SliceTask
from cepctl.engines.runners.slices import Slicing, choose_slicing, group_slicing, whole_slicing
from cepctl.plan.choices import KleeneRows
from cepctl.plan.plan import Plan
from cepctl.plan.summary import stands_alone
from cepctl.runners.runner import Copies, Counter, Piece, Runner

_RETURNED_BYTES = 1 << 18
"""Rows that a task hands to the driver as they are."""
Found = tuple[Owned, FoundBatch | None]
"""Which events a slice owns, and no matches; or some of its matches."""
File = tuple[int, int, list[int]]
"""Number of the input, number of the file in it, numbers of row groups."""


_NOTHING = Owned()


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
        return sent_ids(self.here().sources[file[0]].ids(file[1]), buckets)

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
