"""Events that a query cannot need are left behind as plain files are read, and nobody sees a difference."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

import cepctl
from cepctl.errors import CepctlError
from cepctl.ingestion import read_tasks, reading
from cepctl.io.tabular import delimited, json_lines
from cepctl.io.tabular import files as plain_files
from cepctl.language.parser import parse
from cepctl.matching.inputs import open_events
from cepctl.matching.needed import NeededByQuery
from cepctl.notices import gathering
from cepctl.plan.analyze import analyze
from cepctl.plan.event_schema import EventSchema
from cepctl.plan.plan import Plan

ROWS = st.fixed_dictionaries(
    {
        "event_type": st.sampled_from(["A", "B", "C", "D"]),
        "event_id": st.sampled_from([None, *(f"e{n}" for n in range(40))]),
        "lower": st.integers(0, 30),
        "wide": st.sampled_from([0, 0, 2, 5, -1]),
        "x": st.sampled_from([None, 1, 2, 3, 4]),
        "text": st.sampled_from([None, "1", "2.5", "p", "q"]),
        "ends": st.sampled_from([None, None, None, 4]),
    }
)
QUERIES = (
    "PATTERN SEQ(A a, B b) WHERE a.x > 1 WITHIN 8 ticks",
    "PATTERN SEQ(A a, !C c, B b) WHERE [text] AND c.x >= 2 WITHIN 9 ticks STRATEGY skip_till_next_match",
    "PATTERN SEQ(A a, B b) WHERE a.x = b.x WITHIN 4 ticks STRATEGY strict_contiguity",
    "PATTERN AND(A a, D d) WHERE a.text = 'p' AND d.x IN (1, 2) WITHIN 9 ticks",
    "PATTERN SEQ(A a, C+ c) WHERE c[i].x <> 3 WITHIN 4 ticks STRATEGY skip_till_next_match",
    "PATTERN SEQ(A a, B b) WHERE a.text = 'nowhere' WITHIN 5 ticks",
    "PATTERN SEQ(A a, B b, !C c) WHERE a.x < 4 AND c.text = 'q' WITHIN 6 ticks",
    "PATTERN SEQ(A a, * b) WHERE a.x = 3 WITHIN 3 ticks RETURN a.text, b.event_type",
    "PATTERN SEQ(A a, B b) WHERE a.missing > 2 WITHIN 3 ticks",
    "PATTERN SEQ(A a, B b) WHERE a.x >= 2 WITHIN 8 ticks GROUP BY a.x",
)


@dataclass(frozen=True)
class Seen:
    """What somebody sees of a run: its rows, its summary without seconds, and what was told."""

    rows: list[dict[str, Any]]
    summary: str
    told: list[str]


@contextmanager
def chunks_of(events: int, least: int) -> Iterator[None]:
    with (
        patch.object(reading, "CHUNK_EVENTS", events),
        patch.object(read_tasks, "LEAST_LEFT_BEHIND", least),
        # A block with a row that is no event is read as ever, so there are several.
        patch.object(plain_files, "BLOCK_ROWS", 5),
        patch.object(delimited, "_BLOCK_BYTES", 256),
        patch.object(json_lines, "_BLOCK_BYTES", 600),
    ):
        yield


def seen(query: str, files: Sequence[Path], *, least: int) -> Seen | str:
    with chunks_of(7, least), gathering() as told:
        try:
            with cepctl.match(query, [str(file) for file in files], runner="local", time="ticks") as found:
                rows = found.arrow().to_pylist()
                summary = re.sub(r"[\d.]+ s(;|$)", "", str(found.summary))
                return Seen(rows, summary, [each.message for each in told])
        except CepctlError as problem:
            return f"{type(problem).__name__}: {problem}"


def written(rows: list[dict[str, Any]], form: str, path: Path) -> Path:
    events = [
        {**row, "upper": row["lower"] + row["wide"], "end": None if row["ends"] is None else row["lower"] + 9}
        for row in rows
    ]
    for row in events:
        del row["wide"], row["ends"]
    if form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in events))
        return path
    schema = pa.schema(
        {
            **{"event_type": pa.string(), "event_id": pa.string(), "lower": pa.int64(), "x": pa.int64()},
            **{"text": pa.string(), "upper": pa.int64(), "end": pa.int64()},
        }
    )
    table = pa.Table.from_pylist(events, schema=schema).drop_columns(["end"])
    if form == "csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    return path


@given(
    rows=st.lists(ROWS, min_size=1, max_size=40),
    form=st.sampled_from(["parquet", "csv", "jsonl"]),
    parts=st.integers(1, 2),
    query=st.sampled_from(QUERIES),
)
@settings(max_examples=20, deadline=None)
def test_rows_and_all_that_is_told_are_as_without_it(
    rows: list[dict[str, Any]], form: str, parts: int, query: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        cut = len(rows) // parts
        pieces = [piece for piece in (rows[:cut], rows[cut:]) if piece]
        files = [written(piece, form, Path(folder, f"{n}.{form}")) for n, piece in enumerate(pieces)]
        assert seen(query, files, least=0) == seen(query, files, least=1 << 60)


def test_a_table_beside_lines_of_a_writer_is_kept_whole(tmp_path: Path) -> None:
    table = plain(tmp_path / "a.csv", [*(f"A,,{n},{n},2" for n in range(9)), "D,,900,900,0"])
    log = tmp_path / "b.log"
    log.write_text("2026-06-14 10:00:01.250 B happened\n" * 4)
    query = "PATTERN SEQ(A a, !C c) WHERE a.x > 1 WITHIN 2 seconds"
    assert seen(query, [table, log], least=0) == seen(query, [table, log], least=1 << 60)


def plain(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(["event_type,event_id,lower,upper,x", *rows]) + "\n")
    return path


def held(query: str, *files: Path) -> list[str]:
    """The ids of the events that a query is run on."""
    with (
        chunks_of(3, 0),
        gathering(),
        cepctl.match(query, [str(file) for file in files], runner="local") as found,
    ):
        return sorted(found.found.inputs.read([]).column("event_id").to_pylist())


QUERY = "PATTERN SEQ(A a, B b) WHERE a.x > 1 WITHIN 8 ticks"
MANY = [f"{'AB'[n % 2]},e{n},{n},{n},{n % 3}" for n in range(12)]


def test_what_fits_no_component_is_left_behind(tmp_path: Path) -> None:
    kept = held(QUERY, plain(tmp_path / "a.csv", MANY))
    assert kept == sorted(["e2", "e8", *(f"e{n}" for n in range(1, 12, 2))])


def test_repeated_ids_are_seen_among_events_left_behind(tmp_path: Path) -> None:
    file = plain(tmp_path / "a.csv", [*MANY, "C,e4,40,40,1"])
    assert len(held(QUERY, file)) == 12
    assert seen(QUERY, [file], least=0) == seen(QUERY, [file], least=1 << 60)


def test_whole_numbers_that_are_fractions_in_another_file_keep_all_events(tmp_path: Path) -> None:
    files = plain(tmp_path / "a.csv", MANY), plain(tmp_path / "b.csv", ["B,e40,40,40,2.5"])
    assert len(held(QUERY, *files)) == 13


def test_a_column_of_numbers_that_ends_in_words_is_told_of_as_ever(tmp_path: Path) -> None:
    file = plain(tmp_path / "a.csv", [*MANY, "B,e40,40,40,high"])
    told = seen(QUERY, [file], least=0)
    assert "1 of its 13 values are no numbers: 'high' (e40)" in str(told)
    assert told == seen(QUERY, [file], least=1 << 60)


def test_events_of_a_writer_are_not_left_behind(tmp_path: Path) -> None:
    lines = [f"2026-06-14 10:00:0{n} web-1 sshd[7]: {'AB'[n % 2]} happened" for n in range(8)]
    file = tmp_path / "auth.log"
    file.write_text("\n".join(lines) + "\n")
    with chunks_of(3, 0), open_events([str(file)], needed=NeededByQuery(_planned, "groups")) as inputs:
        assert inputs.read([]).num_rows == 8


def _planned(schema: EventSchema) -> Plan:
    return analyze(parse("PATTERN SEQ(Z a, Z b)"), schema)


def test_an_attribute_that_was_not_read_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    rows = [{"event_type": "AB"[n % 2], "lower": n, "upper": n, "x": n, "y": n * 0.5} for n in range(12)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    query = "PATTERN SEQ(A a, B b) WHERE a.x > 7 AND b.x > 7 WITHIN 4 ticks"
    with chunks_of(3, 0), cepctl.match(query, str(tmp_path / "a.parquet"), runner="local") as found:
        inputs = found.found.inputs
        (dataset,) = inputs.datasets
        assert dataset.left_behind is not None and dataset.left_behind.unread == {"y"}
        ids = pa.array(["a.parquet#9", "a.parquet#10"])
        assert inputs.read_ids(ids, ["x"]).column("x").to_pylist() == [8, 9]
        assert inputs.read_ids(ids, ["y"]).column("y").to_pylist() == [4.0, 4.5]
        assert inputs.read(["x", "y"]).column("y").to_pylist() == [row["y"] for row in rows]


def test_all_events_can_be_read_again(tmp_path: Path) -> None:
    with (
        chunks_of(3, 0),
        cepctl.match(QUERY, str(plain(tmp_path / "a.csv", MANY)), runner="local") as found,
    ):
        inputs = found.found.inputs
        assert inputs.count_held() == 8
        assert inputs.count_events() == inputs.whole().count_held() == 12
