"""A file appears whole or not at all, keeps what it was, and leaves nothing beside it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cepctl.atomic.files import write_whole_file

KILLED = """
import os, signal
from pathlib import Path
from cepctl.atomic.files import write_whole_file
def pieces():
    yield b"half of "
    os.kill(os.getpid(), signal.SIGKILL)
write_whole_file(Path("rows.csv"), pieces())
"""


def test_the_next_run_removes_what_a_killed_one_has_left(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("old")
    subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=False)
    assert (tmp_path / "rows.csv").read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    write_whole_file(tmp_path / "rows.csv", [b"new"])
    assert [path.name for path in tmp_path.iterdir()] == ["rows.csv"]
    assert (tmp_path / "rows.csv").read_text() == "new"


def test_two_runs_that_write_one_file_do_not_take_each_other_for_dead(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"one"
        write_whole_file(tmp_path / "rows.csv", [b"other"])

    write_whole_file(tmp_path / "rows.csv", pieces())
    assert (tmp_path / "rows.csv").read_text() == "one"


def test_what_fails_leaves_the_old_file(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"half"
        raise OSError("disk full")

    (tmp_path / "rows.csv").write_text("old")
    with pytest.raises(OSError, match="disk full"):
        write_whole_file(tmp_path / "rows.csv", pieces())
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_a_file_keeps_its_permissions_and_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "real.csv").write_text("old")
    (tmp_path / "real.csv").chmod(0o600)
    (tmp_path / "rows.csv").symlink_to("real.csv")
    write_whole_file(tmp_path / "rows.csv", [b"new"])
    assert (tmp_path / "rows.csv").readlink() == Path("real.csv")
    assert (tmp_path / "real.csv").read_text() == "new"
    assert (tmp_path / "real.csv").stat().st_mode & 0o777 == 0o600


def test_standard_output_has_a_name_that_can_be_written_to() -> None:
    program = "from pathlib import Path; from cepctl.atomic.files import *; "
    program += "write_whole_file(Path('/dev/stdout'), [b'a', b'b'])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout == b"ab"


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write_whole_file, args=(pipe, [b"a", b"b"]))
    writer.start()
    assert pipe.read_bytes() == b"ab"
    writer.join()
    assert pipe.is_fifo()
