"""A format that is declared in one value, and named in the list, is read like any other; no more is told.

The toy is a log of doors, one line for each badge that went through: `1714557600 in 7`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cepctl.cli import main
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io import formats
from cepctl.io.contract.batches import EventBatches
from cepctl.io.contract.log_format import LogFormat, Repeats
from cepctl.io.contract.reader import ReadOptions, ReadReport, Reject
from cepctl.io.formats import recognised_format
from cepctl.io.source.plain_lines import plain_lines
from cepctl.io.source.streams import Chunks, numbered_lines
from cepctl.runners.local import LocalRunner
from tests.ingestion.test_parts import Log, assert_same_in_parts, parts_of
from tests.state.test_news import Taking

_LINE = re.compile(rb"(\d{1,10}) (in|out) (\d+)\r?")
LINES = [f"{1714557600 + number} {'out' if number % 2 else 'in'} {number // 2}\n" for number in range(6)]
DAYS = "1714521600 in 1\n1714608000 out 1\n"


class DoorLog:
    """Reader of the toy."""

    def recognises(self, head: bytes) -> bool:
        return _LINE.fullmatch(head.partition(b"\n")[0]) is not None

    def read(
        self, stream: IO[bytes], source: str, options: ReadOptions, report: ReadReport
    ) -> Iterator[pa.RecordBatch]:
        rows = EventBatches(options)
        for number, line in numbered_lines(Chunks(stream)):
            report.records += 1
            found = _LINE.fullmatch(line)
            if found is None:
                report.rejects.append(Reject(source, number, "not a line of a door", line))
                continue
            rows.add(
                found[2].decode(),
                int(found[1]) * 1_000_000,
                {"badge": int(found[3])},
                after=999_999,
                number=number,
            )
            if rows.full:
                yield rows.take()
        if len(rows):
            yield rows.take()


def first_of_each(events: pa.Table) -> tuple[pa.Table, int]:
    seen: set[tuple[object, ...]] = set()
    stay = [
        (key := (row["badge"], row["time"])) not in seen and not seen.add(key)  # type: ignore[func-returns-value]
        for row in events.to_pylist()
    ]
    return events.filter(pa.array(stay)), stay.count(False)


FORMAT = LogFormat(
    name="doors",
    description="badges at doors",
    events="in and out; badge",
    uncertainty="1 s",
    page="ingest.md",
    reader=DoorLog(),
    options={"epoch": "logs of doors"},
    lines=plain_lines,
    whole_days=True,
    repeats=Repeats(("badge", "time"), first_of_each, "repeated badge"),
)


@pytest.fixture(autouse=True)
def listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The one line: its place in the list of formats."""
    monkeypatch.setattr(formats, "FORMATS", (*formats.FORMATS, f"{__name__}:FORMAT"))


def rows(dataset: Path) -> list[tuple[object, ...]]:
    names = ["event_id", "event_type", "lower", "upper", "badge"]
    (part,) = dataset.glob("*.parquet")
    return [tuple(row.values()) for row in pq.read_table(part).select(names).to_pylist()]


def test_it_is_told_from_its_content_and_ingested_and_its_bad_lines_are_rejects(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("".join([*LINES[:2], "the door is stuck\n", *LINES[2:3]]))
    options = IngestOptions(rejects=str(tmp_path / "rejects"))
    summary = ingest([str(tmp_path / "a.log")], str(tmp_path / "events"), options)
    assert [(each.format, each.records, each.events) for each in summary.accounts] == [("doors", 4, 3)]
    assert rows(tmp_path / "events") == [
        ("a.log#1", "in", 1714557600000, 1714557600999, 0),
        ("a.log#2", "out", 1714557601000, 1714557601999, 0),
        ("a.log#4", "in", 1714557602000, 1714557602999, 1),
    ]
    assert json.loads((tmp_path / "rejects").read_text())["line"] == 3


@pytest.mark.parametrize("block_bytes", [1, 17, 40])
def test_a_large_file_is_read_in_parts_and_gives_what_the_whole_gives(block_bytes: int) -> None:
    lines = "".join([*LINES[:4], "stuck\n", *LINES[4:]])
    assert_same_in_parts(Log(lines.encode(), block_bytes))


def test_each_line_may_begin_a_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parts_of(Log("".join(LINES).encode(), 1), monkeypatch, tmp_path) == LINES


def test_runs_with_a_state_take_of_a_log_that_grows_what_is_new(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    runs = Taking((str(log),))
    taken = []
    for text in (LINES[0] + LINES[1][:7], LINES[1][7:], "".join(LINES[2:]).rstrip()):
        with log.open("a") as file:
            file.write(text)
        taken.append(runs.take())
    assert [*taken, runs.take(final=True)] == [
        ["a.log#1"],
        ["a.log#2"],
        ["a.log#3", "a.log#4", "a.log#5"],
        ["a.log#6"],
    ]


def test_what_the_declaration_says_of_days_repeats_and_options_holds(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text(DAYS)
    paths, out = [str(tmp_path / "a.log"), str(tmp_path / "b.log")], str(tmp_path / "events")
    summary = ingest(paths, out, IngestOptions(read=ReadOptions(epoch=0, intervals=True)), LocalRunner())
    assert (summary.events, summary.skipped) == (2, {"repeated badge": 2})
    assert [row[3] for row in rows(tmp_path / "events")] == [1714608000000 - 1, 1714694400000 - 1]
    assert [note for note in summary.notices if "not used" in note] == [
        "--intervals was not used: it is for logs of Zeek, Hadoop, XES, Spark, traces, MySQL and "
        "Kubernetes events, "
        "and there is none"
    ]


def test_its_name_is_an_answer_to_format_and_the_command_line_lists_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.log").write_text("stuck\n")
    command = ["ingest", str(tmp_path / "a.log"), "-o", str(tmp_path / "events"), "--runner", "local"]
    assert main(command) == 3
    assert "of no known format" in capsys.readouterr().err
    (tmp_path / "a.log").write_text("stuck\n" + LINES[0])
    assert main([*command, "--format", "doors"]) == 0
    assert main(["formats"]) == 0
    assert "doors  badges at doors\n    events: in and out; badge\n" in capsys.readouterr().out


def test_others_are_asked_before_it() -> None:
    assert recognised_format("".join(LINES).encode(), "a").name == "doors"
    assert recognised_format(b"event_type,time\nA,1\n", "a").name == "csv"
