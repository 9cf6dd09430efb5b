"""A file read in parts gives what the whole file gives, wherever its blocks end, to the last byte."""

from __future__ import annotations

import gzip
import io
import json
import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.ingestion import ordering, parts, reading
from cepctl.ingestion.bundles import MOST_FILES
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.ingestion.task import ReadTask
from cepctl.io.contract import line_records
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.source.locations import FilePart
from cepctl.io.tabular import row_ends
from cepctl.runners import apart
from cepctl.runners.local import LocalRunner
from cepctl.runners.runner import Runner
from cepctl.runners.spark.runner import FEWEST_SHARED, SparkRunner
from cepctl.uncertainty.model import parse_model
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.log4j_logs import CONSOLE, CONTAINER, DAEMON, OLD_HDFS

if TYPE_CHECKING:
    from cepctl.runners.spark.session import Session

BY_RULE = """rule = [{ where = "x = '7'", interval = { before = "1 s", after = "0 s" } }]"""
KEPT = ReadOptions(keep_unmatched=True)


@dataclass(frozen=True)
class Log:
    """A log and how it is read; `block_bytes` is the size of the blocks that it is cut by."""

    content: bytes
    block_bytes: int
    choices: dict[str, Any] = field(default_factory=dict)


def outcome(log: Log, runner: Runner, folder: Path, *, name: str = "a.log") -> object:
    """All that an ingest leaves behind, and what it says; the error where it fails."""
    source = folder / name
    source.write_bytes(log.content)
    files = {"rejects": str(folder / "rejects"), "report": str(folder / "report")}
    options = IngestOptions(**{"max_errors": 1_000, **files, **log.choices})
    said: object
    try:
        said = ingest([str(source)], str(folder / "events"), options, runner)
    except CepctlError as problem:
        said = f"{type(problem).__name__}: {problem}".replace(str(folder), "")
    return said, {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path != source
    }


def assert_same_in_parts(log: Log) -> None:
    with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as cut:
        expected = outcome(log, LocalRunner(), Path(whole))
        assert outcome(log, LocalRunner(log.block_bytes), Path(cut)) == expected


def read_here(monkeypatch: pytest.MonkeyPatch, noting: Callable[[ReadTask], Any]) -> None:
    """Let files be read by another function, in this process, where it can note what it is given."""
    monkeypatch.setattr(apart, "can_fork", lambda: False)
    monkeypatch.setattr("cepctl.ingestion.alike_files.read_file", noting)


def parts_of(log: Log, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """The bytes of the parts that a log is read in, without the headers put before them."""
    read: list[str] = []

    def noting(task: ReadTask) -> Any:
        part = task.file.part
        if isinstance(part, FilePart):
            read.append(log.content[part.start : part.stop].decode())
        return reading.read_file(task)

    read_here(monkeypatch, noting)
    outcome(log, LocalRunner(log.block_bytes), folder)
    return read


# --- random files ---------------------------------------------------------------------------

NEWLINES = st.sampled_from(["\n", "\r\n"])
TEXTS = [
    "",
    "x",
    '"a;b|c"',
    "ü漢",
    '5"',
    'a"b"c',
    '"a,b"',
    '"a\nb"',
    '"a\r\n\nb"',
    '""',
    '"""',
    '"say ""hi"""',
    '"a"b"',
]
NUMBERS = ["7", "-12", "0.5", "007", "1e3", "99999999999999999999", "true"]
TIMES = [
    "1000",
    "2024-05-01T10:00:00",
    "2024-05-01 10:00:00.250Z",
    "?",
    "",
    "1714557600000",
    "1714557600.25",
    "2024-03-31T02:30:00",
    "01.05.2024 10:00",
    "20240501",
]


@st.composite
def delimited(draw: st.DrawFn) -> Log:
    comma, newline = draw(st.sampled_from([",", "\t", ";", "|"])), draw(NEWLINES)
    names = draw(st.sampled_from([["event_type", "time", "x", "y"], ["x", "event_type", "event_id", "time"]]))
    values = {"time": TIMES, "event_type": ["A", "B", "A", ""], "event_id": ["", "", "i", "j", "7"]}

    def row() -> str:
        fields = [draw(st.sampled_from(values.get(name, TEXTS + NUMBERS))) for name in names]
        odd = draw(st.integers(0, 12))
        if odd == 0:
            return draw(st.sampled_from(["", "short", comma * 9, "\ufeff"]))
        return comma.join(fields if odd > 1 else [*fields, "more"]).replace("\n", newline)

    lines = [comma.join(names), *(row() for _ in range(draw(st.integers(0, 14))))]
    text = draw(st.sampled_from(["", "\ufeff"])) + newline.join(lines) + draw(st.sampled_from(["", newline]))
    return Log(spoiled(draw, text), blocks(draw, text), {"read": ReadOptions(time_zone="Europe/Berlin")})


MIXED_TIMES = [1000, 2, "2024-05-01T10:00:00", None, 1714557600, 1714557600000.5, "1714557600", "1.5.2024"]


@st.composite
def json_lines(draw: st.DrawFn) -> Log:
    newline = draw(NEWLINES)
    values: list[object] = [None, 1, 2, -5, 0.5, 1e300, True, "x", "ü\n", 2**60, 2**70, [1], {"a": "b"}]
    names = draw(st.sets(st.sampled_from(["x", "y", "event_id", "note"])))

    def line() -> str:
        odd = draw(st.integers(0, 14))
        if odd < 3:
            return draw(st.sampled_from(["", "{", "[1]"]))
        record = {"event_type": "A", "time": draw(st.sampled_from(MIXED_TIMES))}
        more = {name: draw(st.sampled_from(values)) for name in sorted(names) if draw(st.booleans())}
        return json.dumps(record | more, ensure_ascii=draw(st.booleans()))

    first = json.dumps({"event_type": "A", "time": draw(st.sampled_from([7, 1714557600]))})
    text = newline.join([first, *(line() for _ in range(draw(st.integers(0, 14))))])
    text = draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", newline]))
    return Log(spoiled(draw, text), blocks(draw, text))


@st.composite
def log4j(draw: st.DrawFn) -> Log:
    newline = draw(NEWLINES)
    lines = [
        *(CONTAINER, DAEMON, CONSOLE, OLD_HDFS),
        "2015-10-18 18:01:47,978 INFO [main] org.apache.hadoop.mapred.MapTask: Processing split: f:0+9",
        "2015-02-30 18:01:47,978 WARN a.B: no such day",
        "2015-10-18 18:01:48,000 is no header",
        *("\tat a.B.c(B.java:1)", "Caused by: größer 漢", "", "\0\0", f"\0{DAEMON}", "\ufeff"),
    ]
    text = newline.join(draw(st.lists(st.sampled_from(lines), max_size=16)))
    text = draw(st.sampled_from(["", "\ufeff"])) + text + draw(st.sampled_from(["", newline]))
    choices = {"read": draw(st.sampled_from([KEPT, ReadOptions()])), "input_format": "log4j"}
    return Log(spoiled(draw, text), blocks(draw, text), choices)


@st.composite
def row_groups(draw: st.DrawFn) -> Log:
    columns: dict[str, tuple[pa.DataType, list[object]]] = {
        "event_type": (pa.string(), ["A", "B", None]),
        "time": draw(
            st.sampled_from(
                [
                    (pa.int64(), [1000, 2, 1714557600000, None]),
                    (pa.string(), [*TIMES]),
                    (pa.float64(), [0.5, 7.0]),
                ]
            )
        ),
        "event_id": (pa.string(), [None, None, "i", "j"]),
        "x": draw(st.sampled_from([(pa.string(), [*TEXTS]), (pa.int64(), [1, None])])),
    }
    rows = draw(
        st.lists(st.fixed_dictionaries({n: st.sampled_from(v) for n, (_, v) in columns.items()}), max_size=14)
    )
    schema = pa.schema([(name, kind) for name, (kind, _) in columns.items()])
    held = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema), held, row_group_size=draw(st.integers(1, 5)))
    content = held.getvalue()
    spoilt = draw(st.integers(0, 4 * len(content)))
    content = content[:spoilt] + content[spoilt : spoilt + 1].replace(b"A", b"B") + content[spoilt + 1 :]
    return Log(content, draw(st.integers(1, len(content))))


def blocks(draw: st.DrawFn, text: str) -> int:
    return draw(st.integers(1, max(len(text) // 2, 1)))


def spoiled(draw: st.DrawFn, text: str) -> bytes:
    """The text, sometimes with bytes that are not UTF-8."""
    place = draw(st.integers(0, 4 * len(text)))
    return text[:place].encode() + b"\xff\xe2\x82" * (place < len(text)) + text[place:].encode()


@pytest.mark.parametrize(
    "logs",
    [delimited(), json_lines(), log4j(), row_groups()],
    ids=["delimited", "json lines", "log4j", "Parquet"],
)
def test_a_file_in_parts_gives_what_the_whole_file_gives(logs: st.SearchStrategy[Log]) -> None:
    check(logs, assert_same_in_parts, FEW_EXAMPLES)


# --- where a file is cut --------------------------------------------------------------------

ROWS = 'event_type,time,x\nA,1,"one\ntwo"\nB,2,5" disk\nC,3,"a ""b"", c"\nD,4,\n'
TRACE = f"{DAEMON}\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)\n"


def test_line_breaks_inside_of_quotes_do_not_cut_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parts_of(Log(ROWS.encode(), 1), monkeypatch, tmp_path) == [
        'event_type,time,x\nA,1,"one\ntwo"\n',
        'B,2,5" disk\n',
        'C,3,"a ""b"", c"\n',
        "D,4,\n",
    ]


def test_the_lines_of_a_stack_trace_stay_with_their_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log((TRACE + TRACE + CONSOLE).encode(), len(DAEMON) + 9)
    assert parts_of(log, monkeypatch, tmp_path) == [TRACE, TRACE, CONSOLE]


def test_parquet_falls_into_its_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = io.BytesIO()
    events = pa.table({"event_type": ["A"] * 9, "time": range(9)})
    pq.write_table(events, held, row_group_size=2)
    read: list[tuple[int, int] | None] = []

    def noting(task: ReadTask) -> Any:
        read.append(task.reading.row_groups)
        return reading.read_file(task)

    read_here(monkeypatch, noting)
    outcome(Log(held.getvalue(), len(held.getvalue()) // 2), LocalRunner(len(held.getvalue()) // 2), tmp_path)
    assert read == [(0, 2), (2, 5)]


def test_a_file_that_is_no_larger_than_a_block_is_one_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parts_of(Log(ROWS.encode(), len(ROWS)), monkeypatch, tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(ROWS.encode(), mtime=0),
        ROWS.encode("utf-16"),
        ROWS.replace("\n", "\r").replace("\r", "\n", 1).encode(),
        (ROWS + 'E,5,"never closed\n').encode(),
        ("event_type,time," + ",".join(f"x{i}" for i in range(2_001)) + "\nA,1\nB,2\n").encode(),
        b"not,a,known\nformat,at,all\n" * 9,
    ],
    ids=["compressed", "UTF-16", "carriage returns", "an open quote", "too many columns", "unknown"],
)
def test_what_cannot_be_cut_is_read_as_a_whole(
    content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_same_in_parts(Log(content, 10))
    assert parts_of(Log(content, 10), monkeypatch, tmp_path) == []


def test_a_delimited_file_with_a_row_that_its_reader_may_not_bear_is_not_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for longest, count in ((15, 0), (16, 4)):  # the longest row has 16 bytes
        for module in (line_records, row_ends):
            monkeypatch.setattr(module, "LONGEST_ROW", longest)
        folder = tmp_path / str(longest)
        folder.mkdir()
        assert len(parts_of(Log(ROWS.encode(), 1), monkeypatch, folder)) == count


@pytest.mark.parametrize(
    ("content", "choices"),
    [
        (b'{"event_type":"A","time":1,"x":1}\n{"event_type":"A","time":2,"x":"one"}\n', {}),
        (b'{"event_type":"A","time":1,"x":1}\n{"event_type":"A","time":null,"x":0.5}\n', {}),
        (b"event_type,time\nA,?\nA,1\nA,?\n", {"max_errors": 1, "rejects": None}),
        (b"event_type,time,x\nA,1,7\nA,2,seven\n", {"model": parse_model(BY_RULE)}),
        (b"event_type,time\nA,1714557600\nA,1714557600000\nA,1714557601\n", {}),
        (b"event_type,time\nA,2024-05-01\nA,01.05.2024\nA,2024-05-02\n", {}),
    ],
    ids=["kinds", "kind of a reject", "too many rejects", "rule", "units", "forms"],
)
def test_a_file_whose_parts_do_not_tell_what_the_whole_does_is_read_again(
    content: bytes, choices: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(content, 5, choices)
    assert_same_in_parts(log)
    tasks: list[ReadTask] = []

    def noting(task: ReadTask) -> Any:
        tasks.append(task)
        return reading.read_file(task)

    read_here(monkeypatch, noting)
    outcome(log, LocalRunner(5), tmp_path)
    assert [task.file.part is None for task in tasks] == [*[False] * (len(tasks) - 1), True]
    assert len(tasks) > 2


def test_chunks_and_parts_of_a_dataset_do_not_show_where_its_file_was_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "CHUNK_EVENTS", 40)
    monkeypatch.setattr(ordering, "PART_EVENTS", 30)
    monkeypatch.setattr(ordering, "_SAMPLES_PER_PART", 15)
    rows = "".join(f"A,{(i * 37) % 500},{i}\n" for i in range(300))
    for block_bytes in (50, 333, 2_000):
        assert_same_in_parts(Log(f"event_type,time,x\n{rows}".encode(), block_bytes))


@pytest.mark.spark
def test_spark_reads_parts_to_the_bytes_of_a_whole_file_here(tmp_path: Path, spark: Session) -> None:
    for number, content in enumerate((ROWS, TRACE * 3 + CONTAINER, '{"event_type":"A","time":1}\n' * 9)):
        log = Log(content.encode(), 30, {"read": KEPT})
        here, there = tmp_path / f"here{number}", tmp_path / f"there{number}"
        here.mkdir()
        there.mkdir()
        assert outcome(log, SparkRunner(spark, 30), there) == outcome(log, LocalRunner(), here)


# --- many small files -----------------------------------------------------------------------


@pytest.mark.spark
@pytest.mark.slow
def test_thousands_of_small_files_share_spark_tasks(tmp_path: Path, spark: Session) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(4_000):
        (logs / f"{number}.csv").write_text(f"event_type,time\nA,{number}\n")
    tracker = spark.sparkContext.statusTracker()
    before = set(tracker.getJobIdsForGroup())
    summary = ingest([str(logs)], str(tmp_path / "events"), IngestOptions(), SparkRunner(spark))
    jobs = [tracker.getJobInfo(job) for job in set(tracker.getJobIdsForGroup()) - before]
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    assert (summary.files, summary.events) == (4_000, 4_000)
    bundles = -(-4_000 // MOST_FILES)
    assert max(stage.numTasks for stage in stages if stage is not None) == min(bundles, FEWEST_SHARED)


# --- a file that changes while it is read ---------------------------------------------------

LINES = "".join(f"A,{n},{n}\n" for n in range(600))


@pytest.mark.parametrize("block_bytes", [None, 500])
@pytest.mark.parametrize("left", [0, 2_000])
def test_a_file_that_is_cut_while_it_is_read_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int | None, left: int
) -> None:
    summary = changed(tmp_path, monkeypatch, block_bytes, lambda file: os.truncate(file, left))
    size = len("event_type,time,x\n") + len(LINES)
    assert f"had {size:,} bytes when it was found and has {left:,} now" in " ".join(summary.notices)
    assert summary.events < 600


@pytest.mark.parametrize("block_bytes", [None, 500])
def test_a_file_that_grows_while_it_is_read_loses_nothing_that_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int | None
) -> None:
    def grow(file: Path) -> None:
        with file.open("a") as log:
            log.write("A,601,7\nA,6")

    summary = changed(tmp_path, monkeypatch, block_bytes, grow)
    assert summary.events in (600, 601)
    assert "when it was found" not in " ".join(summary.notices)


def changed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, block_bytes: int | None, change: Callable[[Path], None]
) -> IngestSummary:
    """What an ingest says of a file that changes when it has been found, and before it is read."""
    file = folder / "a.csv"
    file.write_text("event_type,time,x\n" + LINES)
    run = parts._run

    def late(runner: Runner, tasks: Any) -> Any:
        monkeypatch.setattr(parts, "_run", run)
        change(file)
        return run(runner, tasks)

    monkeypatch.setattr(parts, "_run", late)
    return ingest([str(file)], str(folder / "events"), IngestOptions(), LocalRunner(block_bytes))
