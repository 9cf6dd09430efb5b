"""Lines before the header of a table make no log of its rows: they are rejects, or the table is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from cepctl.errors import LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from tests.small_logs import SMALL_LOGS

STRAY = b"2026-06-14 08:15:00 INFO export begins\n"


def tables() -> list[str]:
    """Those with a header, in UTF-8."""
    kinds = ("csv", "tsv", "w3c", "zeek")
    known = [(name, data) for name, (kind, data) in SMALL_LOGS.items() if kind in kinds]
    return [name for name, data in known if b"\0" not in data and not data.startswith(b"\xef")]


@pytest.mark.parametrize("name", tables())
@pytest.mark.parametrize("lines", [1, 3])
def test_lines_before_the_header_of_a_table_are_its_only_rejects(
    name: str, lines: int, tmp_path: Path
) -> None:
    _, data = SMALL_LOGS[name]
    (tmp_path / "alone").write_bytes(data)
    alone = ingest([str(tmp_path / "alone")], str(tmp_path / "1"), IngestOptions())
    (tmp_path / "late").write_bytes(STRAY * lines + data)
    late = ingest([str(tmp_path / "late")], str(tmp_path / "2"), IngestOptions(max_errors=lines))
    assert late.events == alone.events
    assert late.rejected.total() == alone.rejected.total() + lines


@pytest.mark.parametrize("header", ["event_type,time,note", "event_type\ttime"])
def test_a_header_without_rows_behind_other_lines_is_refused_with_its_line(
    header: str, tmp_path: Path
) -> None:
    (tmp_path / "late").write_bytes(STRAY * 3 + header.encode() + b"\n")
    with pytest.raises(LogFormatError, match=r"its line 4 begins a table .[ct]sv., of which"):
        ingest([str(tmp_path / "late")], str(tmp_path / "events"), IngestOptions())


def test_a_log_of_lines_that_speaks_of_times_is_one(tmp_path: Path) -> None:
    lines = [f"2026-06-14 08:15:0{n} INFO time, event_type: job {n} ended\n" for n in range(9)]
    (tmp_path / "app.log").write_text("".join(lines))
    assert ingest([str(tmp_path / "app.log")], str(tmp_path / "events"), IngestOptions()).events == 9
