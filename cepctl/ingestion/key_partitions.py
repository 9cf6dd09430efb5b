"""Keys of all events in partitions that fit in memory: what has equal keys is in the same one.

Where all keys fit, there is one partition and nothing is written; else each is a file in the folder of the
chunks, filled in one pass over them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import fs

from cepctl.ingestion.chunk_files import bytes_of_columns, read_chunk
from cepctl.ingestion.chunks import Chunk

PLACE, ROW = "cepctl.place", "cepctl.row"
"""Of every row of a partition, the place of its chunk, and its row there."""
_ROW_BYTES = 48
_MOST_PARTITIONS = 500
Rows = npt.NDArray[np.int64]


def key_partitions(
    chunks: Sequence[tuple[int, Chunk]],
    columns: Sequence[str],
    equal: Sequence[str],
    filesystem: fs.FileSystem,
    room: int,
) -> Iterator[pa.Table]:
    """The columns of all events, with PLACE and ROW, in partitions of about `room` bytes.

    `chunks`: each with its place, in ascending order; so rows come in every partition.  `columns`, `equal`:
    what is read, and in which of these columns two rows of different partitions never agree.  `filesystem`,
    `room`: where the chunks are, and how many bytes may be in memory.
    """
    needed = sum(_bytes_of(chunk, columns, filesystem) for _, chunk in chunks)
    count = min(-(-needed // room), _MOST_PARTITIONS)
    tables = (_keys(place, chunk, columns, filesystem) for place, chunk in chunks)
    if count <= 1:
        yield pa.concat_tables(tables)
        return
    folder = chunks[0][1].path.rpartition("/")[0]
    paths = [f"{folder}/{uuid4().hex}.keys" for _ in range(count)]
    schema = None
    with ExitStack() as opened:
        writers: list[pa.RecordBatchFileWriter] = []
        for table in tables:
            if schema is None:
                schema = table.schema
                writers = [_writer(opened, path, schema, filesystem) for path in paths]
            partition = _partition_of(table, equal, count)
            order = np.argsort(partition, kind="stable")
            bounds = np.searchsorted(partition[order], np.arange(count + 1)).tolist()
            ordered = table.take(pa.array(order)).cast(schema).combine_chunks()
            for writer, start, stop in zip(writers, bounds, bounds[1:], strict=False):
                if start < stop:
                    writer.write_table(ordered.slice(start, stop - start))
    for path in paths:
        with filesystem.open_input_file(path) as file:
            yield pa.ipc.open_file(file).read_all()
        filesystem.delete_file(path)


def _writer(
    opened: ExitStack, path: str, schema: pa.Schema, filesystem: fs.FileSystem
) -> pa.RecordBatchFileWriter:
    stream = opened.enter_context(filesystem.open_output_stream(path))
    return opened.enter_context(pa.ipc.new_file(stream, schema))


def _bytes_of(chunk: Chunk, columns: Sequence[str], filesystem: fs.FileSystem) -> int:
    """About how much memory the columns of a chunk take, with what looking for equal rows adds."""
    return bytes_of_columns(chunk, columns, filesystem) + _ROW_BYTES * chunk.rows


def _keys(place: int, chunk: Chunk, columns: Sequence[str], filesystem: fs.FileSystem) -> pa.Table:
    table = read_chunk(chunk.path, filesystem, columns)
    table = table.append_column(PLACE, pa.repeat(pa.scalar(place, pa.int32()), len(table)))
    return table.append_column(ROW, pa.array(np.arange(len(table), dtype=np.int64)))


def _partition_of(table: pa.Table, equal: Sequence[str], count: int) -> Rows:
    # Needed only here, and importing it takes a while.
    import polars as pl

    texts = table.select(list(equal)).cast(pa.schema([(name, pa.string()) for name in equal]))
    hashes = pl.DataFrame(pl.from_arrow(texts)).hash_rows(seed=0)
    return (hashes.to_numpy() % np.uint64(count)).astype(np.int64)
