"""Compares what tells in which stretches of a stream types occur: bits, making, asking, what is left in vain.

    .venv-test/bin/python scripts/compare_sketch_structures.py [--events 300000] [--log DATASET]

Bloom tree      Baltus (TU Eindhoven, 2021): a Bloom filter over the types of each window of C events; those
                of two neighbours are united, up to the root.  All filters have the same bits, as many as give
                the root, with all types, the false positives that are asked for.  MurmurHash3, as there.
fuse filters    a binary fuse filter of 8 bits over the types of each window (pyfusefilter, xxhash<4); these
                cannot be united, so that each is asked
Parquet         the Bloom filters that DuckDB writes for each row group, of 2,048 events at least (duckdb)
span lists      of each type the windows that hold it, as DELTA_BINARY_PACKED Parquet
sketch          `cepctl sketch`

The streams are Zipf, of few and many types and of two skews, and those of a dataset.  Of each, sequences of
two types within a time are asked for: does it occur (of how many that do not occur is that left open), where
(in how many windows too many), and all (how much has to be read).  pyfusefilter and duckdb are left out where
they are not installed.  All times are those of the processor.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cepctl

WINDOW = 1024
QUERIES = 40
TICKS_BETWEEN = 50
STREAMS = {"D1": (100, 1.2), "D2": (1_000, 1.2), "D3": (1_000, 1.6), "D4": (10_000, 1.2)}


@dataclass(frozen=True)
class Stream:
    """Events in order of time: the number of the type and the tick of each, and the names of the types."""

    types: np.ndarray
    ticks: np.ndarray
    names: list[str]

    def windows(self, size: int) -> np.ndarray:
        """The window of each event."""
        return np.arange(len(self.types)) // size


@dataclass(frozen=True)
class Structure:
    """Something that was made: `holding` tells the windows, of `window` events, that can hold a type."""

    name: str
    bits: float
    seconds: float
    window: int
    holding: Callable[[int], np.ndarray]


def zipf_stream(count: int, types: int, skew: float, seed: int) -> Stream:
    """A stream whose types are Zipf with a bounded number of them."""
    random = np.random.default_rng(seed)
    share = np.arange(1, types + 1) ** -skew
    numbers = random.choice(types, count, p=share / share.sum())
    ticks = np.sort(random.integers(0, count * TICKS_BETWEEN, count))
    return Stream(numbers, ticks, [f"T{number:05d}" for number in range(types)])


def logged_stream(path: Path, count: int) -> Stream:
    """The first events of a dataset."""
    table = pq.read_table(path, columns=["event_type", "lower"]).sort_by("lower").slice(0, count)
    types = table.column("event_type").combine_chunks().dictionary_encode()
    return Stream(
        types.indices.to_numpy().astype(np.int64),
        table.column("lower").to_numpy(),
        types.dictionary.to_pylist(),
    )


def murmur3(data: bytes, seed: int) -> int:
    """MurmurHash3_x86_32 (Appleby)."""

    def mixed(block: int) -> int:
        block = block * 0xCC9E2D51 & 0xFFFFFFFF
        return (block << 15 | block >> 17) * 0x1B873593 & 0xFFFFFFFF

    whole = len(data) // 4 * 4
    for start in range(0, whole, 4):
        seed ^= mixed(int.from_bytes(data[start : start + 4], "little"))
        seed = ((seed << 13 | seed >> 19) * 5 + 0xE6546B64) & 0xFFFFFFFF
    seed ^= mixed(int.from_bytes(data[whole:], "little")) ^ len(data)
    seed = (seed ^ seed >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    seed = (seed ^ seed >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return seed ^ seed >> 16


def bloom_tree(stream: Stream, window: int, false_positives: float) -> Structure:
    """The tree of Bloom filters over windows."""
    distinct = len(np.unique(stream.types))
    bits = math.ceil(-distinct * math.log(false_positives) / math.log(2) ** 2)
    hashes = max(1, round(bits / distinct * math.log(2)))
    began = time.process_time()
    places = np.empty((len(stream.names), hashes), dtype=np.int64)
    for number, name in enumerate(stream.names):
        first = murmur3(name.encode(), 0)
        second = murmur3(name.encode(), first) | 1
        places[number] = [(first + at * second) % bits for at in range(hashes)]
    of_event = stream.windows(window)
    level = np.zeros((of_event[-1] + 1, bits), dtype=np.bool_)
    held = np.unique(of_event * len(stream.names) + stream.types)
    level[(held // len(stream.names))[:, None], places[held % len(stream.names)]] = True
    levels = [level]
    while len(level) > 1:
        padded = np.concatenate([level, np.zeros((len(level) % 2, bits), dtype=np.bool_)])
        level = padded[::2] | padded[1::2]
        levels.append(level)
    seconds = time.process_time() - began

    def holding(number: int) -> np.ndarray:
        nodes = np.zeros(1, dtype=np.int64)
        for depth in range(len(levels) - 1, -1, -1):
            nodes = nodes[levels[depth][nodes][:, places[number]].all(axis=1)]
            if depth:
                nodes = (2 * nodes[:, None] + [0, 1]).ravel()
                nodes = nodes[nodes < len(levels[depth - 1])]
        return nodes

    size = sum(each.size for each in levels) / len(stream.types)
    return Structure(f"Bloom tree, C = {window}, {false_positives:.0%}", size, seconds, window, holding)


def span_lists(stream: Stream, folder: Path) -> Structure:
    """Of each type its windows."""
    began = time.process_time()
    of_event = stream.windows(WINDOW)
    held = np.unique(stream.types * (of_event[-1] + 1) + of_event)
    types, windows = np.divmod(held, of_event[-1] + 1)
    table = pa.table({"type": pa.array(types, pa.int32()), "window": pa.array(windows, pa.int32())})
    encoding = dict.fromkeys(table.column_names, "DELTA_BINARY_PACKED")
    pq.write_table(
        table, folder / "lists.parquet", compression="zstd", use_dictionary=False, column_encoding=encoding
    )
    seconds = time.process_time() - began
    bits = 8 * (folder / "lists.parquet").stat().st_size / len(stream.types)
    edges = np.searchsorted(types, np.arange(len(stream.names) + 1))
    return Structure(
        "span lists", bits, seconds, WINDOW, lambda number: windows[edges[number] : edges[number + 1]]
    )


def fuse_filters(stream: Stream) -> Structure | None:
    """Of each window a binary fuse filter."""
    try:
        library = importlib.import_module("pyfusefilter")
    except ImportError:
        return None
    began = time.process_time()
    of_event = stream.windows(WINDOW)
    filters = []
    for window in range(of_event[-1] + 1):
        held = [
            stream.names[each] for each in np.unique(stream.types[window * WINDOW : (window + 1) * WINDOW])
        ]
        made = library.Fuse8(len(held))
        made.populate(held)
        filters.append(made)
    seconds = time.process_time() - began
    bits = 8 * sum(each.size_in_bytes() for each in filters) / len(stream.types)

    def holding(number: int) -> np.ndarray:
        return np.array(
            [at for at, each in enumerate(filters) if each.contains(stream.names[number])], dtype=np.int64
        )

    return Structure("fuse filters", bits, seconds, WINDOW, holding)


def parquet_filters(stream: Stream, folder: Path) -> Structure | None:
    """The Bloom filters of row groups."""
    try:
        library = importlib.import_module("duckdb")
    except ImportError:
        return None
    path, connection = folder / "filtered.parquet", library.connect()
    connection.execute("SET threads = 1")
    connection.register("events", pa.table({"type": pa.array(stream.names).take(pa.array(stream.types))}))
    began = time.process_time()
    connection.execute(
        f"COPY events TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 2048, DICTIONARY_SIZE_LIMIT 2048)"
    )
    seconds = time.process_time() - began
    (size,) = connection.execute(
        f"SELECT sum(bloom_filter_length) FROM parquet_metadata('{path}')"
    ).fetchall()[0]

    def holding(number: int) -> np.ndarray:
        found = connection.execute(
            f"SELECT row_group_id FROM parquet_bloom_probe('{path}', 'type', ?) "
            "WHERE NOT bloom_filter_excludes ORDER BY 1",
            [stream.names[number]],
        ).fetchall()
        return np.array([row for (row,) in found], dtype=np.int64)

    return Structure("Parquet, row groups of 2,048", 8 * size / len(stream.types), seconds, 2048, holding)


@dataclass(frozen=True)
class Query:
    """`SEQ(first, second) WITHIN within`, and the ticks of the events that match."""

    first: int
    second: int
    within: int
    ticks: np.ndarray


def queries_of(stream: Stream) -> list[Query]:
    """Pairs of types of all frequencies, those that are rare more often."""
    random = np.random.default_rng(3)
    known, counts = np.unique(stream.types, return_counts=True)
    share = 1 / counts
    found = []
    for _ in range(QUERIES):
        first, second = random.choice(known, 2, replace=False, p=share / share.sum())
        median = max(int(np.median(np.diff(stream.ticks))), 1)
        within = 20 * median
        earlier, later = (stream.ticks[stream.types == each] for each in (first, second))
        has_later = np.searchsorted(later, earlier + within, "left") > np.searchsorted(
            later, earlier, "right"
        )
        has_earlier = np.searchsorted(earlier, later, "left") > np.searchsorted(
            earlier, later - within, "right"
        )
        ticks = np.concatenate([earlier[has_later], later[has_earlier]])
        found.append(Query(int(first), int(second), within, ticks))
    return found


def left_by(structure: Structure, stream: Stream, query: Query) -> np.ndarray:
    """The windows that hold a type of the query, and one of the other near enough."""
    starts = np.arange(0, len(stream.ticks), structure.window)
    lower = stream.ticks[starts]
    upper = stream.ticks[np.minimum(starts + structure.window, len(stream.ticks)) - 1]
    one, other = structure.holding(query.first), structure.holding(query.second)
    if not len(one) or not len(other):
        return one[:0]
    ended = np.searchsorted(upper[other], lower[one], "left")
    kept_one = ended < np.searchsorted(lower[other], upper[one] + query.within, "right")
    ended = np.searchsorted(upper[one], lower[other] - query.within, "left")
    kept_other = ended < np.searchsorted(lower[one], upper[other], "right")
    return np.union1d(one[kept_one], other[kept_other])


def rows_of(structures: Iterator[Structure | None], stream: Stream) -> Iterator[str]:
    """A line of the table for each structure."""
    queries = queries_of(stream)
    for structure in structures:
        if structure is None:
            continue
        began = time.process_time()
        left = [left_by(structure, stream, query) for query in queries]
        asking = (time.process_time() - began) / len(queries)
        true = [
            np.unique(np.searchsorted(stream.ticks, query.ticks) // structure.window) for query in queries
        ]
        yield line(structure, stream, asking, [len(each) for each in left], [len(each) for each in true])


def line(structure: Structure, stream: Stream, asking: float, left: list[int], true: list[int]) -> str:
    """What was measured of one structure."""
    windows = -(-len(stream.types) // structure.window)
    never = [mine for mine, real in zip(left, true, strict=True) if not real]
    vain = sum(mine > 0 for mine in never)
    false = sum(max(mine - real, 0) for mine, real in zip(left, true, strict=True)) / len(left)
    return (
        f"| {structure.name} | {structure.bits:.1f} | {len(stream.types) / structure.seconds / 1e6:.1f} | "
        f"{1000 * asking:.2f} | {vain} of {len(never)} | {false:.1f} | "
        f"{sum(left) / len(left) / windows:.1%} |"
    )


def sketch_row(stream: Stream, folder: Path) -> str:
    """The same of `cepctl sketch`; a window is left where a row of the probe touches it."""
    table = {
        "event_type": pa.array(stream.names).take(pa.array(stream.types)),
        "lower": stream.ticks,
        "upper": stream.ticks,
    }
    pq.write_table(pa.table(table), folder / "events.parquet")
    cepctl.ingest(folder / "events.parquet", folder / "dataset", runner="local")
    began = time.process_time()
    (made,) = cepctl.sketch(folder / "dataset")
    seconds = time.process_time() - began
    starts = np.arange(0, len(stream.ticks), WINDOW)
    ends = np.minimum(starts + WINDOW, len(stream.ticks)) - 1
    lower, upper = stream.ticks[starts], stream.ticks[ends]
    left, true, asking = [], [], 0.0
    for query in queries_of(stream):
        names = stream.names[query.first], stream.names[query.second]
        text = f"PATTERN SEQ('{names[0]}' a, '{names[1]}' b) WITHIN {query.within} ticks"
        began = time.process_time()
        rows = cepctl.probe(text, made).rows
        asking += time.process_time() - began
        begin, end = (rows.column(name).to_numpy() for name in ("start", "end"))
        touched = np.searchsorted(begin, upper, "right") > np.searchsorted(end, lower, "left")
        left.append(int(touched.sum()))
        true.append(len(np.unique(np.searchsorted(stream.ticks, query.ticks) // WINDOW)))
    structure = Structure("sketch", 8 * made.size / len(stream.types), seconds, WINDOW, lambda _: starts)
    return line(structure, stream, asking / QUERIES, left, true)


def compare(name: str, stream: Stream) -> None:
    """Print the table of one stream."""
    say(f"\n{name}: {len(stream.types):,} events, {len(np.unique(stream.types)):,} types\n")
    say("| structure | bits/event | M events/s | ms/query | in vain | windows too many | to be read |")
    say("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)

        def structures() -> Iterator[Structure | None]:
            yield bloom_tree(stream, WINDOW, 0.01)
            yield bloom_tree(stream, 4 * WINDOW, 0.01)
            yield bloom_tree(stream, WINDOW, 0.1)
            yield fuse_filters(stream)
            yield parquet_filters(stream, folder)
            yield span_lists(stream, folder)

        for row in rows_of(structures(), stream):
            say(row)
        say(sketch_row(stream, folder))


def say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=300_000)
    parser.add_argument("--log", type=Path, metavar="DATASET")
    given = parser.parse_args()
    for number, (called, (types, skew)) in enumerate(STREAMS.items()):
        compare(f"{called}, Zipf {skew}", zipf_stream(given.events, types, skew, number))
    if given.log is not None:
        compare(given.log.name, logged_stream(given.log, given.events))
