"""What children would import is imported once, before they are forked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

LOOKED_AT = """
import sys
from cepctl.ingestion import templates
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions

found = templates.results_of
def told(*given):
    print("polars" in sys.modules)
    return found(*given)
templates.results_of = told
ingest(sys.argv[1:], "events", IngestOptions())
"""
SYSLOG = "2026-06-01T10:00:0{}Z host cron[1]: job {} done\n"


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ("".join(SYSLOG.format(place, place) for place in range(9)), "True"),
        ('198.51.100.7 - - [14/Jun/2026:08:15:02 +0200] "GET / HTTP/1.1" 200 7\n', "True"),
        ("id,time,event_type\n1,2026-06-01T10:00:00Z,a\n", "False"),
        ('{"time": "2026-06-01T10:00:00Z", "event_type": "a"}\n', "False"),
    ],
    ids=["messages", "lines", "table", "JSON lines"],
)
def test_polars_is_imported_before_the_children_where_it_parses_lines(
    text: str, imported: str, tmp_path: Path
) -> None:
    log = tmp_path / "a.log"
    log.write_text(text)
    command = [sys.executable, "-c", LOOKED_AT, str(log)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == imported


def test_a_first_file_that_is_no_log_is_told_of_as_before(tmp_path: Path) -> None:
    for name, content in {"a.log": b"\x1f\x8b broken", "b.log": SYSLOG.format(1, 1).encode()}.items():
        (tmp_path / name).write_bytes(content)
    command = [sys.executable, "-m", "cepctl", "ingest", str(tmp_path), "-o", str(tmp_path / "events")]
    command += ["--runner", "local"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "a.log" in done.stderr
    assert "Traceback" not in done.stderr
