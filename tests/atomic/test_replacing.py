"""A folder takes the place of another at once, or so that whoever looks next finds it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from cepctl.atomic import replacing
from cepctl.atomic.folders import folder_beside
from cepctl.atomic.replacing import NEW, OLD, exchange, put_in_place, restore

# Dies after the first of two renames.
KILLED = """
import os, signal
from pathlib import Path
from cepctl.atomic import replacing
from cepctl.atomic.folders import folder_beside
replacing.exchange = lambda one, other: False
rename = Path.rename
def dying(path, other):
    rename(path, other)
    os.kill(os.getpid(), signal.SIGKILL)
Path.rename = dying
target = Path("events").absolute()
with folder_beside(target) as folder:
    (folder / "new").mkdir()
    (folder / "new" / "part").write_text("new")
    replacing.put_in_place(folder, target)
"""


@pytest.fixture
def target(tmp_path: Path) -> Path:
    (tmp_path / "events").mkdir()
    (tmp_path / "events" / "part").write_text("old")
    return tmp_path / "events"


def write_new(folder: Path) -> None:
    (folder / NEW).mkdir()
    (folder / NEW / "part").write_text("new")


def test_two_names_are_exchanged_in_one_step(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").write_text("a file")
    if not exchange(tmp_path / "a", tmp_path / "b"):
        pytest.skip("this filesystem cannot exchange names")
    assert (tmp_path / "b").is_dir()
    assert (tmp_path / "a").read_text() == "a file"


def test_an_exchange_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    if not hasattr(os, "O_TMPFILE"):
        pytest.skip("not on Linux")
    with pytest.raises(FileNotFoundError):
        exchange(tmp_path / "a", tmp_path / "b")


@pytest.mark.parametrize("can_exchange", [True, False])
def test_the_new_takes_the_place_of_the_old(
    target: Path, monkeypatch: pytest.MonkeyPatch, can_exchange: bool
) -> None:
    if not can_exchange:
        monkeypatch.setattr(replacing, "exchange", lambda one, other: False)
    with folder_beside(target) as folder:
        write_new(folder)
        put_in_place(folder, target)
        assert (target / "part").read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["events"]


def test_the_target_is_there_at_every_moment(target: Path) -> None:
    """With the exchange; a reader that only looks for the target is asked as fast as it can."""
    with folder_beside(target) as folder:
        write_new(folder)
        other = folder / OLD
        other.mkdir()
        if not exchange(folder / NEW, other):
            pytest.skip("this filesystem cannot exchange names")
        missing, done = [0], threading.Event()

        def look() -> None:
            while not done.is_set():
                missing[0] += not os.path.lexists(target)

        reader = threading.Thread(target=look)
        reader.start()
        for _ in range(2_000):
            put_in_place(folder, target)
        done.set()
        reader.join()
        assert missing == [0]


def test_what_was_killed_between_two_renames_is_finished_by_who_looks_next(target: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED], cwd=target.parent, check=False)
    assert not target.exists()
    restore(target)
    assert (target / "part").read_text() == "new"
    assert [path.name for path in target.parent.iterdir()] == ["events"]


def test_who_looks_between_the_two_renames_of_a_living_run_waits_for_the_second(target: Path) -> None:
    with folder_beside(target) as folder:
        write_new(folder)
        target.rename(folder / OLD)

        def second() -> None:
            time.sleep(0.2)
            (folder / NEW).rename(target)

        writer = threading.Thread(target=second)
        writer.start()
        restore(target)
        assert (target / "part").read_text() == "new"
        writer.join()


def test_what_never_was_is_not_waited_for(tmp_path: Path) -> None:
    restore(tmp_path / "nothing")
    assert list(tmp_path.iterdir()) == []
