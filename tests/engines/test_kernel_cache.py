"""Where compiled kernels are kept when the usual places cannot be written."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from cepctl.engines import kernel_cache
from cepctl.engines.kernel_cache import VARIABLE, kernel_folder, passed_over, settle_kernel_cache
from cepctl.errors import UsageError

ENGINES = Path(kernel_cache.__file__).parent


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An installation and a cache directory below a folder, and temporary files beside them."""
    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(kernel_cache, "__file__", str(tmp_path / "installed" / "kernel_cache.py"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(kernel_cache, "_passed_over", {})
    monkeypatch.setattr("sys.platform", "linux")
    yield tmp_path
    kernel_cache._compilers.cache_clear()


def read_only(path: Path) -> None:
    """A file where a folder would have to be: not even root can write below it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")


def settled() -> Path:
    """The folder that kernels are kept below, each state of the engines in one of its own."""
    settle_kernel_cache()
    folder = kernel_folder()
    assert folder is not None
    assert os.environ[VARIABLE] == str(folder)
    return folder.parent


def module(places: Path, text: str, nanoseconds: int = 0) -> None:
    """A module in a room of the engines, changed at some time."""
    file = places / "installed" / "room" / "sums.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    os.utime(file, ns=(nanoseconds, nanoseconds))


def test_kernels_lie_beside_the_modules(places: Path) -> None:
    assert settled() == places / "installed" / "__pycache__"


def test_a_change_of_any_module_gives_kernels_another_folder(places: Path) -> None:
    """A kernel holds copies of functions from other files, which Numba does not look at."""
    module(places, "MOST = 1")
    settled()
    before = kernel_folder()
    for text, nanoseconds in (("MOST = 10", 0), ("MOST = 2", 1)):
        module(places, text, nanoseconds)
        assert settled() == places / "installed" / "__pycache__"
        assert kernel_folder() != before
    module(places, "MOST = 1")
    settled()
    assert kernel_folder() == before


@pytest.mark.parametrize("package", ["llvmlite", "numba", "numpy"])
def test_every_version_of_the_compiler_has_kernels_of_its_own(
    places: Path, monkeypatch: pytest.MonkeyPatch, package: str
) -> None:
    """Two environments may share a checkout, and one cannot load what the other has compiled."""
    settled()
    before = kernel_folder()
    versions = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "0.1" if name == package else versions(name))
    kernel_cache._compilers.cache_clear()
    settled()
    assert kernel_folder() != before


def test_rooms_that_are_not_looked_at_for_changes_compile_nothing() -> None:
    rooms = [ENGINES / room for room in kernel_cache.WITHOUT_KERNELS if room != "__pycache__"]
    modules = [module for room in rooms for module in room.rglob("*.py")]
    assert len(modules) > len(rooms)
    assert [str(module) for module in modules if "njit" in module.read_text()] == []


def test_kernels_of_old_modules_are_removed_at_last(places: Path) -> None:
    for change in range(9):
        module(places, "", nanoseconds=change)
        folder = settled()
        assert kernel_folder() in set(folder.iterdir())
    assert len(list(folder.iterdir())) == 4


def test_a_read_only_installation_uses_the_cache_of_the_user(places: Path) -> None:
    read_only(places / "installed")
    assert settled() == places / "cache" / "numba"


def test_a_folder_of_ones_own_is_the_last_resort(places: Path) -> None:
    read_only(places / "installed")
    read_only(places / "cache")
    own = places / f"cepctl-kernels-{os.getuid()}"
    assert settled() == own
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
    used = Path(os.environ[VARIABLE]).parent
    assert used.parent == places
    assert used.name.startswith("cepctl-kernels-")
    assert used not in {taken, places / "elsewhere"}


def test_a_named_folder_that_can_be_written_is_kept(places: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(places / "named"))
    assert settled() == places / "named"


def test_a_process_uses_the_place_of_the_one_that_started_it(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(places / "named"))
    module(places, "MOST = 1")
    settled()
    module(places, "MOST = 10")
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
    used = places / "installed" / "__pycache__" if named else places / "cache" / "numba"
    assert settled() == used
    assert f"{folder} is not used: it can be written by everybody" in passed_over()


def test_a_cache_of_kernels_is_private(places: Path) -> None:
    read_only(places / "installed")
    settle_kernel_cache()
    assert (places / "cache" / "numba").stat().st_mode & 0o777 == 0o700


def test_a_configuration_of_numba_that_another_could_have_written_is_refused(
    places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It could name another folder of kernels."""
    (places / "work").mkdir()
    monkeypatch.chdir(places / "work")
    Path(".numba_config.yaml").write_text("cache_dir: /tmp/theirs\n")
    settle_kernel_cache()
    Path(".numba_config.yaml").chmod(0o666)
    with pytest.raises(
        UsageError, match=r"numba_config.yaml would be obeyed .* can be written by everybody; remove"
    ):
        settle_kernel_cache()
