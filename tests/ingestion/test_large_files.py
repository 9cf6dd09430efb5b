"""A file of many megabytes gives as many times the events of a small one, wherever its blocks end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.formats import known_formats
from cepctl.runners.local import LocalRunner

BYTES = 9_600_000
"""More than two of the largest blocks that a reader takes at a time."""
TIME = "2026-06-14T08:15:04Z"
ROWS = {
    "quoted": f'"A","{TIME}","17","text"',
    "of several lines": f'A,{TIME},1,"two\nlines, and ""more"""',
    "with blank lines": f'"A","{TIME}","a\n\nb","c, ""d"" e"',
    "with a quote that is a character": f'A,{TIME},5" disk,z',
    "not ASCII": f'"A","{TIME}","ü漢","größer"',
    "empty": f'"A","{TIME}","",""',
}


def read(folder: Path, content: bytes, name: str) -> IngestSummary:
    folder.mkdir()
    (folder / name).write_bytes(content)
    options = IngestOptions(max_errors=1_000_000)
    return ingest([str(folder / name)], str(folder / "events"), options, LocalRunner())


def assert_alike(folder: Path, head: bytes, body: bytes, name: str = "a.log") -> None:
    few, many = 3, BYTES // len(body)
    small, large = (read(folder / str(n), head + body * n, name) for n in (few, many))
    assert small.events
    assert not small.rejected
    assert not large.rejected
    assert large.events * few == small.events * many


@pytest.mark.slow
@pytest.mark.parametrize("line_break", ["\n", "\r\n"], ids=["newline", "both"])
@pytest.mark.parametrize("between", [",", ";", "\t"])
@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_no_row_of_a_large_table_is_lost(tmp_path: Path, row: str, between: str, line_break: str) -> None:
    head, body = (
        text.replace(",", between).encode() + line_break.encode() for text in ("event_type,time,x,y", row)
    )
    assert_alike(tmp_path, head, body, "a.tsv" if between == "\t" else "a.csv")


def logs() -> Iterator[tuple[str, bytes, bytes]]:
    """Formats of lines, each with the head of a file and lines that may come any number of times."""
    for known in known_formats():
        example = known.example.encode()
        records = None if known.lines is None or not example else known.lines(example, ReadOptions())
        if records is not None and known.recognises_patterned is None:
            yield known.name, records.header, example[len(records.header) :]


@pytest.mark.slow
@pytest.mark.parametrize(("head", "body"), [pytest.param(*log, id=name) for name, *log in logs()])
def test_no_line_of_a_large_log_is_lost(tmp_path: Path, head: bytes, body: bytes) -> None:
    assert_alike(tmp_path, head, body)
