"""Where compiled kernels are kept, and which folders are passed over."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cepctl.engines.kernels import folders
from cepctl.engines.kernels.folders import (
    SUFFIX,
    VARIABLE,
    folder_to_write,
    folders_to_read,
    forget_old_kernels,
    passed_over,
    refuse_configuration,
)
from cepctl.errors import UsageError


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installation and a cache directory below a folder, and temporary files beside them."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(folders, "__file__", str(tmp_path / "installed" / "folders.py"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(folders, "_passed_over", {})
    monkeypatch.setattr("sys.platform", "linux")
    yield tmp_path
    folders._can_be_written.cache_clear()
    folders._new_folder.cache_clear()


def cannot_be_written(path: Path) -> None:
    """A file where a folder would have to be: not even root can write below it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")


def settled() -> Path:
    """The folder that the one which kernels are written to lies in."""
    folder = folder_to_write()
    assert folder is not None
    return folder.parent


def test_kernels_lie_beside_the_modules(places: Path) -> None:
    assert settled() == places / "installed" / "__pycache__"


def test_a_read_only_installation_uses_the_cache_of_the_user(places: Path) -> None:
    cannot_be_written(places / "installed")
    assert settled() == places / "cache" / "cepctl"


def test_a_folder_of_ones_own_is_the_last_resort(places: Path) -> None:
    cannot_be_written(places / "installed")
    cannot_be_written(places / "cache")
    own = places / f"cepctl-kernels-{os.getuid()}"
    assert folder_to_write() == own
    assert own.stat().st_mode & 0o777 == 0o700


def test_where_nothing_can_be_written_nothing_is_kept(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("installed", "cache", "temporary"):
        cannot_be_written(places / place)
    monkeypatch.setattr(tempfile, "tempdir", str(places / "temporary"))
    assert list(folders_to_read()) == []
    assert folder_to_write() is None


def test_kernels_of_a_read_only_installation_are_read_and_others_kept_elsewhere(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    came_with_it = folder_to_write()
    writable = folders._can_be_written
    monkeypatch.setattr(
        folders, "_can_be_written", lambda folder: folder != came_with_it and writable(folder)
    )
    kept = places / "cache" / "cepctl" / "cepctl-kernels"
    assert list(folders_to_read()) == [came_with_it, kept]
    assert folder_to_write() == kept
    monkeypatch.undo()
    writable.cache_clear()


def test_of_each_kernel_the_latest_files_are_kept(places: Path) -> None:
    names = [f"room.sums.total-{number}{SUFFIX}" for number in range(40)]
    for seconds, name in enumerate(names):
        (places / name).touch()
        os.utime(places / name, (seconds, seconds))
    (places / f"room.sums.total_of-0{SUFFIX}").touch()
    forget_old_kernels(places, "room.sums.total")
    left = {file.name for file in places.glob(f"*{SUFFIX}")}
    assert left == {*names[-24:], f"room.sums.total_of-0{SUFFIX}"}


@pytest.mark.parametrize("foreign", ["open to all", "a link"])
def test_a_folder_that_others_may_have_filled_is_not_used(places: Path, foreign: str) -> None:
    cannot_be_written(places / "installed")
    cannot_be_written(places / "cache")
    taken = places / f"cepctl-kernels-{os.getuid()}"
    if foreign == "a link":
        (places / "elsewhere").mkdir(mode=0o700)
        taken.symlink_to(places / "elsewhere")
    else:
        taken.mkdir()
        taken.chmod(0o777)
    (used,) = folders_to_read()
    assert used.parent == places
    assert used.name.startswith("cepctl-kernels-")
    assert used not in {taken, places / "elsewhere"}


def test_a_named_folder_that_can_be_written_is_kept(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(places / "named"))
    assert settled() == places / "named"


@pytest.mark.parametrize("named", [False, True])
def test_a_folder_that_somebody_else_could_have_filled_is_passed_over(
    places: Path, monkeypatch: pytest.MonkeyPatch, named: bool
) -> None:
    """What is in it is unpickled and run."""
    folder = places / "named" if named else places / "installed" / "__pycache__"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    if named:
        monkeypatch.setenv(VARIABLE, str(folder))
    used = places / "installed" / "__pycache__" if named else places / "cache" / "cepctl"
    assert settled() == used
    assert f"{folder} is not used: it can be written by everybody" in passed_over()


def test_a_cache_of_kernels_is_private(places: Path) -> None:
    cannot_be_written(places / "installed")
    settled()
    assert (places / "cache" / "cepctl").stat().st_mode & 0o777 == 0o700


def test_a_configuration_of_numba_in_the_folder_of_the_logs_is_refused(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could name another folder of kernels; what was unpacked belongs to who unpacked it."""
    (places / "work").mkdir()
    monkeypatch.chdir(places / "work")
    refuse_configuration()
    Path(".numba_config.yaml").write_text("cache_dir: /tmp/theirs\n")
    with pytest.raises(UsageError, match=r"numba_config.yaml would be obeyed when .*; remove it, or run"):
        refuse_configuration()


def test_modules_in_an_archive_find_the_kernels_of_the_environment_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernels = tmp_path / "cepctl" / "engines" / "kernels" / "__pycache__"
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(tmp_path))
    folders._installed.cache_clear()
    assert folders._installed() == []
    kernels.mkdir(parents=True)
    folders._installed.cache_clear()
    assert folders._installed() == [kernels]
    folders._installed.cache_clear()
