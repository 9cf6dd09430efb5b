"""Folders for what is not finished: gone afterwards, with the next run at the latest, never in use."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cepctl.atomic.folders import folder_beside, temporary_folder
from cepctl.atomic.leftovers import LOCK

KILLED = """
import os, signal
from pathlib import Path
from cepctl.atomic.folders import folder_beside, temporary_folder
with {folder} as folder:
    (folder / "chunks").mkdir()
    (folder / "chunks" / "half").write_text("of it")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed_in(folder: str, place: Path) -> None:
    """A process that dies while it works in a folder."""
    subprocess.run([sys.executable, "-c", KILLED.format(folder=folder)], cwd=place, check=False)


def test_a_folder_is_hidden_beside_its_target_and_gone_afterwards(tmp_path: Path) -> None:
    with folder_beside(tmp_path / "events") as folder:
        assert folder.parent == tmp_path
        assert folder.name.startswith(".events.partial-")
    assert list(tmp_path.iterdir()) == []


def test_the_next_run_removes_what_a_killed_one_has_left(tmp_path: Path) -> None:
    killed_in("folder_beside(Path('events').absolute())", tmp_path)
    (left,) = tmp_path.iterdir()
    assert (left / "chunks" / "half").exists()
    with folder_beside(tmp_path / "events"):
        assert not left.exists()


def test_what_another_run_works_on_stays(tmp_path: Path) -> None:
    with folder_beside(tmp_path / "events") as first:
        (first / "chunk").write_text("")
        with folder_beside(tmp_path / "events") as second:
            assert first != second
        assert (first / "chunk").exists()


def test_leftovers_of_another_target_stay(tmp_path: Path) -> None:
    killed_in("folder_beside(Path('events').absolute())", tmp_path)
    with folder_beside(tmp_path / "event"):
        assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("held", [[], [LOCK], ["notes.txt"]])
def test_a_folder_that_is_not_known_to_be_ours_stays_unless_it_is_empty(
    tmp_path: Path, held: list[str]
) -> None:
    alike = tmp_path / ".events.partial-0123456789ab"
    alike.mkdir()
    for name in held:
        (alike / name).write_text("")
    with folder_beside(tmp_path / "events"):
        assert alike.exists() == (held == ["notes.txt"])


def test_links_in_a_leftover_are_removed_and_not_what_they_lead_to(tmp_path: Path) -> None:
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "a.log").write_text("")
    left = tmp_path / ".events.partial-0123456789ab"
    left.mkdir()
    (left / LOCK).write_text("")
    (left / "link").symlink_to(tmp_path / "logs")
    with folder_beside(tmp_path / "events"):
        assert not left.exists()
    assert (tmp_path / "logs" / "a.log").exists()


def test_a_temporary_folder_is_private_and_clears_those_of_killed_runs_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    root = Path(__file__).parents[2]
    monkeypatch.setenv("PYTHONPATH", os.fspath(root))
    killed_in("temporary_folder()", tmp_path)
    assert len(list(tmp_path.iterdir())) == 1
    with temporary_folder() as folder:
        assert list(tmp_path.iterdir()) == [folder]
        assert folder.stat().st_mode & 0o777 == 0o700
    assert list(tmp_path.iterdir()) == []
