"""A file read in parts gives what the whole file gives, wherever its blocks end, to the last byte."""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import strategies as st

from cepctl.errors import CepctlError
from cepctl.ingest import parts, reading
from cepctl.ingest.jobs import IngestOptions, ingest
from cepctl.ingest.runners import LocalRunner, Runner
from cepctl.io.reading import ReadOptions
from tests.engines.agreement import FEW_EXAMPLES, check
from tests.log4j_logs import CONSOLE, CONTAINER, DAEMON, OLD_HDFS

if TYPE_CHECKING:
    pass

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
    options = IngestOptions(
        rejects=str(folder / "rejects"), report=str(folder / "report"), **{"max_errors": 1_000, **log.choices}
    )
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


def parts_of(log: Log, monkeypatch: pytest.MonkeyPatch, folder: Path) -> list[str]:
    """The bytes of the parts that a log is read in, without the headers put before them."""
    read: list[str] = []

    def noting(task: reading.ReadTask) -> Any:
        part = task.file.part
        if part is not None:
            read.append(log.content[part.start : part.stop].decode())
        return reading.read_file(task)

    monkeypatch.setattr(parts, "read_file", noting)
    outcome(log, LocalRunner(log.block_bytes), folder)
    return read


# --- random files ---------------------------------------------------------------------------

NEWLINES = st.sampled_from(["\n", "\r\n"])
TEXTS = ["", "x", "ü漢", '5"', 'a"b"c', '"a,b"', '"a\nb"', '"a\r\n\nb"', '""', '"""', '"say ""hi"""', '"a"b"']
NUMBERS = ["7", "-12", "0.5", "007", "1e3", "99999999999999999999", "true"]
TIMES = [
    "1000",
    "2024-05-01T10:00:00",
    "2024-05-01 10:00:00.250Z",
    "?",
    "",
    "1714557600000",
    "2024-03-31T02:30:00",
]


@st.composite
def delimited(draw: st.DrawFn) -> Log:
    comma, newline = draw(st.sampled_from([",", "\t"])), draw(NEWLINES)
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


@st.composite
def json_lines(draw: st.DrawFn) -> Log:
    newline = draw(NEWLINES)
    values: list[object] = [None, 1, 2, -5, 0.5, 1e300, True, "x", "ü\n", 2**60, 2**70, [1], {"a": "b"}]
    names = draw(st.sets(st.sampled_from(["x", "y", "event_id", "note"])))

    def line() -> str:
        odd = draw(st.integers(0, 14))
        if odd < 3:
            return draw(st.sampled_from(["", "{", "[1]"]))
        record = {"event_type": "A", "time": draw(st.sampled_from([1000, 2, "2024-05-01T10:00:00", None]))}
        more = {name: draw(st.sampled_from(values)) for name in sorted(names) if draw(st.booleans())}
        return json.dumps(record | more, ensure_ascii=draw(st.booleans()))

    first = '{"event_type": "A", "time": 7}'
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


def blocks(draw: st.DrawFn, text: str) -> int:
    return draw(st.integers(1, max(len(text) // 2, 1)))


def spoiled(draw: st.DrawFn, text: str) -> bytes:
    """The text, sometimes with bytes that are no UTF-8."""
    place = draw(st.integers(0, 4 * len(text)))
    return text[:place].encode() + b"\xff\xe2\x82" * (place < len(text)) + text[place:].encode()


@pytest.mark.parametrize(
    "logs", [delimited(), json_lines(), log4j()], ids=["delimited", "json lines", "log4j"]
)
def test_a_file_in_parts_gives_what_the_whole_file_gives(logs: st.SearchStrategy[Log]) -> None:
    check(logs, assert_same_in_parts, FEW_EXAMPLES)
