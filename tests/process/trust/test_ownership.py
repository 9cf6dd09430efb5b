"""What somebody else could have changed: files, folders, and what is made private."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

import pytest

from cepctl.process.trust.ownership import fault_of, make_private, unsafe_because

OTHER = 54_321


def given_to_another(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of another user: as root it is given away, else this process takes itself for somebody else."""
    if os.geteuid() == 0:
        os.chown(path, OTHER, -1)
    else:
        monkeypatch.setattr("cepctl.process.trust.ownership.os.geteuid", lambda: OTHER)


@pytest.mark.parametrize(
    ("mode", "fault"),
    [
        (0o600, None),
        (0o644, None),
        (0o755, None),
        (0o666, "can be written by everybody"),
        (0o1777, "everybody"),
    ],
)
def test_a_file_that_everybody_may_write_is_distrusted(tmp_path: Path, mode: int, fault: str | None) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)
    found = unsafe_because(path)
    assert (found is None) if fault is None else (found is not None and fault in found)


def test_a_folder_in_which_nobody_may_touch_the_files_of_others_is_accepted(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert unsafe_because(tmp_path) == "can be written by everybody"
    assert unsafe_because(tmp_path, sticky=True) is None


def test_what_belongs_to_another_is_distrusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.touch()
    given_to_another(path, monkeypatch)
    assert (unsafe_because(path) or "").startswith("belongs to the user ")


@pytest.mark.parametrize(
    ("name", "members", "fault"),
    [("ann", [], None), ("ann", ["ann"], None), ("ann", ["bob"], "its group"), ("staff", [], "its group")],
)
def test_a_group_of_ones_own_may_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, members: list[str], fault: str | None
) -> None:
    """Where the umask is 002, each user has a group of the same name."""
    user = pwd.struct_passwd(("ann", "x", os.geteuid(), 1_234, "", "", ""))
    monkeypatch.setattr(pwd, "getpwuid", lambda number: user)
    monkeypatch.setattr(grp, "getgrgid", lambda number: grp.struct_group((name, "x", 1_234, members)))
    found = os.stat_result((0o100_664, 0, 0, 1, os.geteuid(), 1_234, 0, 0, 0, 0))
    told = fault_of(found)
    assert (told is None) if fault is None else (told is not None and told.endswith(fault))


def test_a_folder_is_made_private(tmp_path: Path) -> None:
    make_private(tmp_path / "new" / "cache")
    assert (tmp_path / "new" / "cache").stat().st_mode & 0o777 == 0o700
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    make_private(tmp_path / "open")
    assert (tmp_path / "open").stat().st_mode & 0o777 == 0o700


def test_the_folder_of_another_cannot_be_made_private(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "cache").mkdir()
    given_to_another(tmp_path / "cache", monkeypatch)
    with pytest.raises(PermissionError, match="it belongs to the user"):
        make_private(tmp_path / "cache")
