"""Where compiled kernels are kept when the usual places cannot be written."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from cepctl.engines import kernel_cache
from cepctl.engines.kernel_cache import VARIABLE, kernel_folder, settle_kernel_cache


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installation and a cache directory below a folder, and temporary files beside them."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel_cache, "__file__", str(tmp_path / "installed" / "kernel_cache.py"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path


def read_only(path: Path) -> None:
    """A file where a folder would have to be: not even root can write below it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")


def test_kernels_lie_beside_the_modules(places: Path) -> None:
    settle_kernel_cache()
    assert kernel_folder() == places / "installed" / "__pycache__"
    assert os.environ[VARIABLE] == ""


def test_a_read_only_installation_uses_the_cache_of_the_user(places: Path) -> None:
    read_only(places / "installed")
    settle_kernel_cache()
    assert kernel_folder() == places / "cache" / "numba"
    assert os.environ[VARIABLE] == ""


def test_a_folder_of_ones_own_is_the_last_resort(places: Path) -> None:
    read_only(places / "installed")
    read_only(places / "cache")
    settle_kernel_cache()
    own = places / f"cepctl-kernels-{os.getuid()}"
    assert os.environ[VARIABLE] == str(own)
    assert kernel_folder() == own
    assert own.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("foreign", ["open to all", "a link"])
def test_a_folder_that_others_may_have_filled_is_not_used(places: Path, foreign: str) -> None:
    read_only(places / "installed")
    read_only(places / "cache")
    taken = places / f"cepctl-kernels-{os.getuid()}"
    if foreign == "a link":
        (places / "elsewhere").mkdir(mode=0o700)
        taken.symlink_to(places / "elsewhere")
    else:
        taken.mkdir()
        taken.chmod(0o777)
    settle_kernel_cache()
    used = Path(os.environ[VARIABLE])
    assert used.parent == places
    assert used.name.startswith("cepctl-kernels-")
    assert used not in {taken, places / "elsewhere"}


def test_a_named_folder_that_can_be_written_is_kept(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(places / "named"))
    settle_kernel_cache()
    assert kernel_folder() == places / "named"
