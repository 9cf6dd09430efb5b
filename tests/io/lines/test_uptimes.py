"""Logs whose lines begin with seconds since a program began: read once it is said when that was."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from cepctl.errors import LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.ingestion.summary import IngestSummary
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.lines.recognition import is_log_of_lines

OLD = (
    b"0.345: [GC (Allocation Failure)  33280K->5104K(125952K), 0.0061 secs]\n"
    b"12.345: [GC (Allocation Failure)  38384K->5104K(125952K), 0.0012 secs]\n"
    b"  [Eden: 24.0M(24.0M)->0.0B(13.0M)]\n"
    b"192.168.0.1 asked\n"
)
UNIFIED = (
    b"[0.012s][info][gc] Using G1\n"
    b"[1.345s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) 24M->4M(256M) 2.104ms\n"
)
KERNEL = b"[    0.000000] Linux version 6.1\n[   12.345678] usb 1-1: new device number 2\n"
BEGAN = datetime(2026, 6, 14, 8, 0, tzinfo=UTC)
EPOCH = int(BEGAN.timestamp()) * 1_000_000


def taken(folder: Path, log: bytes) -> tuple[list[dict[str, Any]], IngestSummary]:
    path = folder / "x.log"
    path.write_bytes(log)
    options = IngestOptions(read=ReadOptions(epoch=EPOCH))
    summary = ingest([str(path)], str(folder / "e"), options)
    (part,) = (folder / "e").glob("*.parquet")
    return sorted(pq.read_table(part).to_pylist(), key=lambda row: row["time"]), summary


@pytest.mark.parametrize(
    ("log", "seconds", "attributes"),
    [
        (OLD, [0.345, 12.345], {"duration": "0.0061 secs"}),
        (UNIFIED, [0.012, 1.345], {"level": "info", "component": "gc"}),
        (KERNEL, [0.0, 12.345678], {}),
    ],
)
def test_times_count_from_the_instant_that_the_user_names(
    tmp_path: Path, log: bytes, seconds: list[float], attributes: dict[str, object]
) -> None:
    rows, _ = taken(tmp_path, log)
    assert [(row["time"] - BEGAN).total_seconds() for row in rows] == pytest.approx(seconds)
    assert {name: rows[0][name] for name in attributes} == attributes


def test_without_it_the_refusal_names_the_option_that_would_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_bytes(OLD)
    changed = BEGAN.timestamp() + 12.345
    os.utime(path, (changed, changed))
    with pytest.raises(LogFormatError) as refused:
        ingest([str(path)], str(tmp_path / "e"), IngestOptions())
    assert "--epoch 2026-06-14T08:00:00Z if its last line" in str(refused.value)
    assert str(refused.value).endswith(
        "(with it 2 of its first 2 records would become events of 1 type: GC (Allocation Failure))"
    )


def test_a_line_that_begins_with_an_address_is_part_of_the_record_before(tmp_path: Path) -> None:
    rows, summary = taken(tmp_path, OLD)
    assert (summary.events, summary.rejected.total()) == (2, 0)
    assert rows[-1]["message"].endswith("\n192.168.0.1 asked")


@pytest.mark.parametrize("text", [b"1.234 5.678\n2.345 6.789\n", b"10.001,7\n10.002,8\n", b"1.2: first\n"])
def test_columns_of_numbers_are_no_such_log(text: bytes) -> None:
    assert not is_log_of_lines(text)
