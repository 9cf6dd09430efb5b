"""Matching in this process: the partition function on all cores, without Java."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from cepctl.datasets.row_groups import EventSource, row_groups
from cepctl.engines.concurrency import OnProgress, usable_cores
from cepctl.engines.event.match import found_batches, match_events
from cepctl.engines.event.options import MatchOptions
from cepctl.engines.rows.groups import FirstRows
from cepctl.engines.rows.numbers import FoundBatch
from cepctl.engines.rows.order import ordered
from cepctl.engines.runners.progress import RunProgress
from cepctl.engines.runners.slices import Owned, SliceTask, TimeSlice, growing_slices
from cepctl.errors import EventSchemaError
from cepctl.plan.plan import Plan


def run(plan: Plan, events: pa.Table, options: MatchOptions | None = None) -> pa.Table:
    """Run a plan on an event table; rows as `cepctl.engines.rows.order.ordered` gives them."""
    options = replace(options or MatchOptions(), threads=usable_cores())
    return ordered(match_events(plan, events, options), options.top)


def batches(
    plan: Plan, events: pa.Table, options: MatchOptions, on_progress: OnProgress | None = None
) -> Iterator[FoundBatch]:
    """The rows of a plan on an event table, on all cores, as they are found; `on_progress` hears of it."""
    yield from found_batches(plan, events, replace(options, threads=usable_cores()), on_progress=on_progress)


def found_in_stored(
    plan: Plan,
    sources: Sequence[EventSource],
    options: MatchOptions | None = None,
    progress: RunProgress | None = None,
) -> Iterator[FoundBatch]:
    """The rows of a plan on stored events, as they are found; only events are held that can matter to it.

    Raises
    ------
    EventSchemaError
        If two inputs hold events with the same id.
    QueryTooLargeError
        If the events that can matter do not fit in memory.
    """
    options, progress = options or MatchOptions(), progress or RunProgress()
    if plan.never is not None:
        return
    _refuse_repeated(sources)
    own = replace(options, threads=usable_cores())
    task = SliceTask(plan, own, tuple(sources), row_groups(sources))
    events = task.read(task.groups, on_progress=progress.read)
    progress.relevant, progress.impossible = Owned.of(plan, TimeSlice(), events)
    progress.matching()
    yield from batches(plan, events, options, progress.matched)


def find_first(
    plan: Plan, sources: Sequence[EventSource], rows: FirstRows, options: MatchOptions, progress: RunProgress
) -> None:
    """Look for the first row of stored events, in ever longer slices, until no later one can be before it.

    Raises
    ------
    EventSchemaError
        If two inputs hold events with the same id.
    QueryTooLargeError
        If the events that can matter to one slice do not fit in memory.
    """
    groups = row_groups(sources)
    if plan.never is not None or not len(groups):
        return
    _refuse_repeated(sources)
    task = SliceTask(plan, replace(options, threads=usable_cores()), tuple(sources), groups)
    slices = growing_slices(groups, plan)
    if task.may_bind_ends and len(slices) > 1 and any(task.binds_ends(*file) for file in groups.files()):
        task = task.of_intervals()
    for own in slices:
        # A match begins no earlier than events matter to it.
        before = 0 if task.reach is None else task.reach.before
        if rows.start is not None and own.first - before > rows.start:
            return
        for owned, batch in task.run(own):
            progress.relevant = (progress.relevant or 0) + owned.events
            progress.impossible += owned.impossible
            if batch is not None:
                rows.add(batch)


def _refuse_repeated(sources: Sequence[EventSource]) -> None:
    """Raise EventSchemaError when two inputs hold events with the same id."""
    if len(sources) < 2:
        return
    files = sorted({(source, part) for source, part, _ in row_groups(sources).files()})
    refuse_repeated(repeated_id(sources[source].ids(part) for source, part in files))


def repeated_id(ids: Iterable[pa.ChunkedArray]) -> str | None:
    """The first id, in code-point order, that stands in more than one place."""
    chunks = [chunk for each in ids for chunk in each.chunks]
    counted = pc.value_counts(pa.chunked_array(chunks, pa.string()))
    repeated = counted.filter(pc.greater(counted.field("counts"), 1)).field("values")
    found: str | None = pc.min(repeated).as_py()
    return found


def refuse_repeated(found: str | None) -> None:
    """Raise EventSchemaError for an id that stands in more than one input."""
    if found is not None:
        raise EventSchemaError(
            f"event ids occur in more than one input, such as '{found}'; ingest the inputs together, or "
            "give each event an id of its own"
        )
