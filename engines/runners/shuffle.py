"""Shuffles events to the partitions that need them: a slice of time and, in it, a bucket of keys.

For what reading alone does not split: keys without a window, slices that hold too much, intervals so
wide that most slices would read them again.  Keys are numbered by a hash that is the same on every
machine; each event goes to every slice that it can take part in or decide.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.engines.columns.numbering import places_in_runs
from cepctl.engines.runners.reach import Reach
from cepctl.engines.runners.slice_task import SliceTask, last_ticks
from cepctl.engines.runners.slices import Slicing
from cepctl.errors import EventSchemaError
from cepctl.numeric.arrays import Hashes, Indexes, Ticks
from cepctl.schema import TICK_MAX, TICK_MIN

_FACTOR = np.uint64(1_099_511_628_211)  # the prime of the FNV hash


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


def sent_ids(ids: pa.ChunkedArray, buckets: int) -> Iterator[tuple[int, bytes]]:
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
