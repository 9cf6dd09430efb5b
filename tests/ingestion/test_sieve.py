"""Rows that never become events: all that a file tells is as if they had."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cepctl.ingestion import reading
from cepctl.ingestion.ascending_ids import BEFORE_ALL, Place, last_ascending
from cepctl.ingestion.chunk_files import read_chunk
from cepctl.ingestion.needed import all_ids_differ, need_hashes
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.read_tasks import read_tasks
from cepctl.ingestion.reading import read_file
from cepctl.ingestion.results import FileResult
from cepctl.ingestion.sieve import ChunkSieve
from cepctl.ingestion.task import ReadTask
from cepctl.io.source.locations import Location, list_inputs
from cepctl.io.tabular import delimited, files, json_lines
from cepctl.language.parser import parse
from cepctl.matching.needed import NeededByQuery
from cepctl.plan.analyze import analyze
from cepctl.process.memory import reading_budget
from cepctl.uncertainty.model import UncertaintyModel, parse_model

QUERIES = (
    "PATTERN SEQ(A a, B b) WHERE a.x > 1 WITHIN 8 ticks",
    "PATTERN SEQ(A a, !C c, B b) WHERE [word] AND c.x >= 2 WITHIN 9 ticks",
    "PATTERN SEQ(A a, A b) WHERE a.price < 1.5 AND b.good = true WITHIN 9 ticks",
    "PATTERN SEQ(* a, * b) WHERE a.x = 3 AND b.word = 'p' AND b.lower > 7 WITHIN 3 ticks",
)
TYPES = {
    **{"event_type": pa.string(), "event_id": pa.string(), "lower": pa.int64(), "upper": pa.int64()},
    **{"x": pa.int64(), "price": pa.float64(), "word": pa.string(), "good": pa.bool_()},
}


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Rows most of which are events: in every tenth table some have no type, no id or no interval."""
    odd = draw(st.integers(0, 9)) == 0
    rows = st.fixed_dictionaries(
        {
            "event_type": st.sampled_from(["A", "B", "C", "D", *([None, ""] if odd else [])]),
            "lower": st.integers(-5, 30),
            "wide": st.sampled_from([0, 0, 2, 5, *([-1, 2**62] if odd else [])]),
            "x": st.sampled_from([None, 1, 2, 3, -4, 2**53 + 1]),
            "price": st.sampled_from([None, 0.5, 1.25, 2.75]),
            "word": st.sampled_from([None, "p", "q r", "007x"]),
            "good": st.sampled_from([None, True, False]),
        }
    )
    found: list[dict[str, Any]] = draw(st.lists(rows, min_size=1, max_size=60))
    without_id = draw(st.sampled_from([1, 100, *([7] if odd else [])]))
    again = draw(st.sampled_from([20, 1_000]))
    for n, row in enumerate(found, 1):
        row["upper"] = row["lower"] + row.pop("wide")
        row["event_id"] = f"e{n % again}" if n % without_id else None
    return found


def written(rows: Sequence[dict[str, Any]], form: str, path: Path) -> Path:
    if form == "jsonl":
        named = [name for name in TYPES if any(row[name] is not None for row in rows)]
        path.write_text("".join(json.dumps({name: row[name] for name in named}) + "\n" for row in rows))
        return path
    names = [name for name in TYPES if name != "event_id" or any(row[name] for row in rows)]
    table = pa.Table.from_pylist(rows, schema=pa.schema(TYPES)).select(names)
    if form == "csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pq.write_table(table, path, row_group_size=23)
    return path


@contextmanager
def small_blocks(chunk: int) -> Iterator[None]:
    with ExitStack() as patched:
        patched.enter_context(patch.object(reading, "CHUNK_EVENTS", chunk))
        patched.enter_context(patch.object(files, "BLOCK_ROWS", 5))
        patched.enter_context(patch.object(delimited, "_BLOCK_BYTES", 512))
        patched.enter_context(patch.object(json_lines, "_BLOCK_BYTES", 600))
        yield


def task_for(path: Path, query: str, **options: Any) -> ReadTask:
    needed = NeededByQuery(lambda schema: analyze(parse(query), schema), "groups")
    scratch = Location.of(str(path.parent))
    tasks = read_tasks(list_inputs([str(path)]), scratch, IngestOptions(**options), reading_budget())
    return replace(tasks[0], needed=needed)


def read(task: ReadTask, *, sieved: bool, chunk: int = 17) -> FileResult:
    with small_blocks(chunk), ExitStack() as patched:
        if not sieved:
            patched.enter_context(patch.object(reading, "sieve_of", lambda *_: None))
        return read_file(task)


def _without_nulls(row: dict[str, Any]) -> str:
    return json.dumps(
        dict(sorted((name, value) for name, value in row.items() if value is not None)), default=str
    )


def told(result: FileResult, task: ReadTask, unread: frozenset[str] = frozenset()) -> dict[str, Any]:
    """All that is known of a file and of its events, but for values `unread`, however they are cut."""
    filesystem, _ = task.scratch.resolve()
    chunks = [read_chunk(chunk.path, filesystem).to_pylist() for chunk in result.chunks]
    rows = [{name: row[name] for name in row.keys() - unread} for chunk in chunks for row in chunk]
    plain = ("records", "rejected", "rejects", "warnings", "ids_given", "first", "last", "units", "ends")
    return {
        **{name: getattr(result, name) for name in (*plain, "named", "other_times", "time_forms", "events")},
        "size": None if unread else result.size,
        "notes": +result.notes,
        "written": result.written,
        "unneeded": replace(result.unneeded, ids=(), runs=(), identified=0, unread=unread),
        "attributes": {name: facts for name, facts in result.attributes().items() if facts.values},
        "texts": result.texts(),
        "chunks": [(chunk.zoned, chunk.ended, chunk.clocks, chunk.written) for chunk in result.chunks[:1]],
        "rows": sorted(map(_without_nulls, rows)),
    }


def ids_differ(result: FileResult, task: ReadTask) -> bool:
    filesystem, _ = task.scratch.resolve()
    return all_ids_differ([result.unneeded], result.events, filesystem, 1 << 30)


@given(
    rows=tables(),
    form=st.sampled_from(["parquet", "csv", "jsonl"]),
    query=st.sampled_from(QUERIES),
    chunk=st.sampled_from([17, 1_000]),
)
@settings(max_examples=60, deadline=None)
def test_a_file_tells_what_it_would_if_all_its_rows_became_events(
    rows: list[dict[str, Any]], form: str, query: str, chunk: int
) -> None:
    """Which rows of a chunk are kept depends on the kinds that it shows, so it is the same for one chunk."""
    assume(any(row["event_type"] for row in rows))
    with tempfile.TemporaryDirectory() as folder:
        task = task_for(written(rows, form, Path(folder, f"a.{form}")), query)
        results = [read(task, sieved=each, chunk=chunk) for each in (True, False)]
        sieved, whole = (told(result, task, results[0].unneeded.unread) for result in results)
        by_chunk = () if chunk > len(rows) else ("size", "unneeded", "rows")
        assert {**sieved, **dict.fromkeys(by_chunk)} == {**whole, **dict.fromkeys(by_chunk)}
        differ, differ_by_hashes = (ids_differ(result, task) for result in results)
        some_have_none = any(not row["event_id"] for row in rows)
        assert differ == differ_by_hashes or (some_have_none and not differ)


def held_back(monkeypatch: pytest.MonkeyPatch, task: ReadTask) -> int:
    """How many rows never became events."""
    rows = 0
    needed = ChunkSieve.needed

    def counting(self: ChunkSieve, columns: Any, *, inferred: bool) -> Any:
        nonlocal rows
        found = needed(self, columns, inferred=inferred)
        rows += 0 if found is None else int(np.count_nonzero(~found))
        return found

    monkeypatch.setattr(ChunkSieve, "needed", counting)
    read(task, sieved=True)
    return rows


PLAIN: list[dict[str, Any]] = [
    {
        **dict.fromkeys(TYPES),
        "event_type": "ABCD"[n % 4],
        "event_id": f"e{n}",
        "lower": n,
        "upper": n,
        "x": n % 3,
    }
    for n in range(40)
]


@pytest.mark.parametrize("form", ["parquet", "csv", "jsonl"])
def test_rows_that_fit_no_component_do_not_become_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    task = task_for(written(PLAIN, form, tmp_path / f"a.{form}"), QUERIES[0])
    assert held_back(monkeypatch, task) == 27  # 20 of C and D, 7 of A


def unread_of(path: Path, rows: Sequence[dict[str, Any]], query: str = QUERIES[0]) -> frozenset[str]:
    return read(task_for(written(rows, "parquet", path), query), sieved=True).unneeded.unread


def test_columns_of_numbers_that_a_query_does_not_name_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[tuple[str, ...]]()
    blocks = pq.ParquetFile.iter_batches

    def watched(self: pq.ParquetFile, *size: int, **options: Any) -> Any:
        asked.append(tuple(options["columns"]))
        return blocks(self, *size, **options)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", watched)
    rows = [row | {"price": 0.5, "good": True, "word": "p"} for row in PLAIN]
    assert unread_of(tmp_path / "a.parquet", rows) == {"price", "good"}
    assert asked == [("event_type", "event_id", "lower", "upper", "x", "word")]


def test_of_columns_that_are_not_read_row_groups_tell_how_many_values_they_have(tmp_path: Path) -> None:
    rows = [
        row | {"price": None if n % 4 else 0.5, "x": row["x"] if n > 9 else None}
        for n, row in enumerate(PLAIN)
    ]
    task = task_for(written(rows, "parquet", tmp_path / "a.parquet"), QUERIES[0])
    sieved, whole = (read(task, sieved=each) for each in (True, False))
    assert sieved.unneeded.unread == {"price", "good"}  # also where no row of a block has an x
    assert sieved.attributes()["price"] == whole.attributes()["price"]
    assert sieved.attributes()["price"].values == 10
    assert sieved.named == whole.named


def test_integers_that_floats_do_not_hold_are_read_for_they_are_told_of(tmp_path: Path) -> None:
    without_x = "PATTERN SEQ(A a, B b) WHERE a.price < 1 WITHIN 8 ticks"
    rows = [row | {"price": 0.5, "x": 1 << 53} for row in PLAIN]
    assert unread_of(tmp_path / "a.parquet", rows, without_x) == {"x", "good"}
    large = [row | {"price": 0.5, "x": (1 << 53) + 1} for row in PLAIN]
    assert unread_of(tmp_path / "b.parquet", large, without_x) == {"good"}


def test_a_row_that_is_no_event_is_told_of_with_all_its_columns(tmp_path: Path) -> None:
    rows = [row | {"price": 0.5} for row in PLAIN]
    result = read(
        task_for(written([*rows, PLAIN[0] | {"upper": -9}], "parquet", tmp_path / "a.parquet"), QUERIES[0]),
        sieved=True,
    )
    assert (result.unneeded.unread, result.rejected.total()) == (frozenset(), 1)
    assert result.attributes()["price"].values == len(rows)


@pytest.mark.parametrize(
    "options",
    [
        {"model": parse_model('[[rule]]\ninterval = { before = "1 ms", after = "0 s" }', "m.toml")},
        {"type_names": (("C", "A"),)},
        {"model": UncertaintyModel(), "writers": ()},
    ],
    ids=["rules", "names", "none"],
)
def test_what_changes_events_keeps_all_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    task = task_for(written(PLAIN, "csv", tmp_path / "a.csv"), QUERIES[0], **options)
    assert (held_back(monkeypatch, task) > 0) == ("writers" in options)


IDS = st.lists(st.sampled_from(["", "a", "b", "aa", "ab", "b1", "b2", "b10", "é", "éa", "zz"]), max_size=6)


@given(pieces=st.lists(IDS, max_size=4))
def test_ids_that_ascend_all_differ(pieces: list[list[str]]) -> None:
    last: Place | None = BEFORE_ALL
    for piece in pieces:
        last = None if last is None else last_ascending(pa.array(piece, pa.string()), last)
    every = [each.encode() for piece in pieces for each in piece]
    places = [(len(each), each) for each in every]
    assert (last is not None) == all(one < other for one, other in pairwise(places))


def read_in_parts(folder: Path, *parts: list[str]) -> tuple[list[ReadTask], list[FileResult]]:
    """What comes of files whose rows have these ids."""
    tasks, results = [], []
    for number, ids in enumerate(parts):
        rows = [{**PLAIN[0], "event_id": each} for each in ids]
        tasks.append(task_for(written(rows, "csv", folder / f"{number}.csv"), QUERIES[0]))
        results.append(read(tasks[-1], sieved=True))
    return tasks, results


@pytest.mark.parametrize(
    ("parts", "told", "differ"),
    [
        ([["a1", "a2"], ["a10", "b10"]], False, True),
        ([["a9", "a10"], ["b8", "b10"]], False, True),
        ([["b1", "b3"], ["b2", "b4"]], True, False),
        ([["b1", "b3"], ["a1", "a2", "b0"]], False, True),
        ([["b3", "b1"], ["b2", "b4"]], True, False),
        ([["b3", "b1"], ["b4", "b2"]], False, True),
    ],
    ids=[
        "one behind the other",
        "by another letter",
        "among each other",
        "one before the other",
        "one ascends",
        "none ascends",
    ],
)
def test_ids_of_several_files_are_compared_by_their_ends_or_by_hashes(
    tmp_path: Path, parts: list[list[str]], told: bool, differ: bool
) -> None:
    tasks, results = read_in_parts(tmp_path, *parts)
    found = [result.unneeded for result in results]
    filesystem, _ = tasks[0].scratch.resolve()
    assert need_hashes(found) == told
    assert all_ids_differ(found, sum(map(len, parts)), filesystem, 1 << 30) == differ
