"""A file of text that is nearly all NUL bytes is refused before anybody reads it to its end."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from cepctl.errors import LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.io.source import hollow_files
from cepctl.io.source.hollow_files import hollow

LINE = b"2026-06-14 06:15:04 INFO [w] x.Pool: task 7\n"


def test_a_sparse_file_behind_a_good_line_is_refused_by_name_at_once(tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(LINE)
    os.truncate(log, 200 << 30)
    begin = time.monotonic()
    with pytest.raises(
        LogFormatError, match=r"^a\.log: its 214,748,364,800 bytes are NUL bytes nearly every"
    ):
        ingest([str(log)], str(tmp_path / "events"), IngestOptions())
    assert time.monotonic() - begin < 20


def test_beside_other_files_it_is_left_out(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_bytes(LINE)
    os.truncate(tmp_path / "a.log", 200 << 30)
    summary = ingest([str(tmp_path)], str(tmp_path / "events"), IngestOptions())
    assert [account.file for account in summary.unreadable] == ["a.log"]
    assert summary.events == 1


@pytest.mark.parametrize("size", [1 << 20, hollow_files.HOLLOW_BYTES - 1])
def test_shorter_files_are_read(size: int, tmp_path: Path) -> None:
    log = tmp_path / "a.log"
    log.write_bytes(LINE)
    os.truncate(log, size)
    assert hollow(log, size, "a.log") is None


def test_a_file_of_which_an_eighth_was_written_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hollow_files, "HOLLOW_BYTES", 1 << 20)
    log = tmp_path / "a.log"
    log.write_bytes(LINE * 10_000)
    os.truncate(log, 8 * 10_000 * len(LINE))
    assert hollow(log, log.stat().st_size, "a.log") is None


def test_what_is_not_text_is_left_to_its_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hollow_files, "HOLLOW_BYTES", 1 << 20)
    log = tmp_path / "a.sqlite"
    log.write_bytes(b"SQLite format 3\0" + bytes(2 << 20))
    assert hollow(log, log.stat().st_size, "a.sqlite") is None
