"""Pipes that are named are read, as a shell's <(command) is; those that lie in a directory are left out."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cepctl.cli import main
from cepctl.errors import LogFormatError
from cepctl.ingestion.jobs import ingest
from cepctl.ingestion.options import IngestOptions
from cepctl.matching.inputs import read_events

ROOT = Path(__file__).parents[2]
LOG = "event_id,event_type,lower,upper\na1,A,1,5\nb3,B,3,5\n"


def ids(*paths: Path) -> list[str]:
    found: list[str] = read_events([str(path) for path in paths]).column("event_id").to_pylist()
    return found


def test_a_named_pipe_is_read_and_events_are_called_after_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "feed")
    text = "event_type,lower,upper\nA,1,5\n"
    writer = threading.Thread(target=(tmp_path / "feed").write_text, args=(text,))
    writer.start()
    assert ids(tmp_path / "feed") == ["feed#1"]
    writer.join()


def test_process_substitution_is_read(tmp_path: Path) -> None:
    query = shlex.quote("PATTERN SEQ(A a, B b) WITHIN 4 ticks")
    cepctl = f"{shlex.quote(sys.executable)} -m cepctl"
    (tmp_path / "log.csv").write_text(LOG)
    done = subprocess.run(
        ["bash", "-c", f"{cepctl} match --runner local {query} <(head -2 log.csv) <(sed 2d log.csv)"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[1:]) == (
        0,
        ["0.5333333333333333,1970-01-01T00:00:00.001Z,1970-01-01T00:00:00.005Z,a1 b3"],
    ), done.stderr


def test_a_pipe_in_a_directory_is_left_out_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.csv").write_text(LOG)
    os.mkfifo(tmp_path / "logs" / "pipe")
    words = ["ingest", str(tmp_path / "logs"), "-o", str(tmp_path / "events"), "--runner", "local"]
    assert main(words) == 0
    told = capsys.readouterr().err
    assert "left out 1 of 2 files as unreadable:\n  pipe: a named pipe, not a file; name it as" in told
    assert ids(tmp_path / "events") == ["a1", "b3"]
    with pytest.raises(LogFormatError, match="pipe: a named pipe, not a file"):
        ingest([str(tmp_path / "logs")], str(tmp_path / "strict"), IngestOptions(strict=True))


def test_links_out_of_a_directory_are_followed_on_request(tmp_path: Path) -> None:
    for name in ("logs", "other"):
        (tmp_path / name).mkdir()
    (tmp_path / "logs" / "a.csv").write_text(LOG)
    (tmp_path / "other" / "c.csv").write_text("event_id,event_type,lower,upper\nc,C,1,5\n")
    (tmp_path / "logs" / "out").symlink_to("../other")
    words = ["ingest", str(tmp_path / "logs"), "--runner", "local", "--quiet", "-o"]
    assert main([*words, str(tmp_path / "events")]) == 0
    assert ids(tmp_path / "events") == ["a1", "b3"]
    assert main([*words, str(tmp_path / "all"), "--follow-links"]) == 0
    assert sorted(ids(tmp_path / "all")) == ["a1", "b3", "c"]
