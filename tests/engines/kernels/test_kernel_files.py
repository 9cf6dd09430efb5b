"""Files of compiled kernels: damaged ones are compiled anew, and reading whole ones compiles nothing."""

from __future__ import annotations

import errno
import logging
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from numba import njit

import cepctl.engines  # noqa: F401  they change how Numba keeps kernels
from cepctl.engines.columns.tick_sums import tick_count
from cepctl.engines.kernels import beside, files, folders
from cepctl.engines.kernels.beside import compiling_seconds, hearing_of_kernels, kernels_written_since
from cepctl.engines.kernels.files import (
    DamagedKernelError,
    KeptKernel,
    kernels_in,
    packed,
    unpacked,
)

KEY, CODE = "a kernel\nfor some types", bytes(range(256)) * 4
PLACES = 200


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that kernels are kept in."""
    monkeypatch.setenv(folders.VARIABLE, str(tmp_path))
    monkeypatch.setattr(files, "_warned", set())
    folder = folders.folder_to_write()
    assert folder is not None and folder.parent == tmp_path
    yield folder
    folders._can_be_written.cache_clear()


def fresh_kernel() -> Any:
    """A kernel as a new process has it: nothing of it is in memory."""
    kernel: Any = njit(nogil=True, cache=True)(tick_count.dispatcher().py_func)
    assert isinstance(kernel._cache, KeptKernel)
    return kernel


def hits_and_misses(kernel: Any) -> tuple[int, int]:
    """Call it; whether it was loaded, and whether it was compiled."""
    assert kernel(1, 5) == 5.0
    return sum(kernel.stats.cache_hits.values()), sum(kernel.stats.cache_misses.values())


def shortened(content: bytes) -> Iterator[bytes]:
    yield from (content[: len(content) * part // 9] for part in range(9))
    yield content[:-1]


def flipped(content: bytes) -> Iterator[bytes]:
    for place in range(0, len(content), max(1, len(content) // PLACES)):
        for bit in (0, 7):
            yield content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def test_what_was_packed_is_unpacked() -> None:
    assert unpacked(packed(KEY, CODE)) == (KEY, CODE)


@pytest.mark.parametrize("damaged", [shortened, flipped])
def test_no_damage_is_read(damaged: Callable[[bytes], Iterator[bytes]]) -> None:
    for content in (*damaged(packed(KEY, CODE)), packed(KEY, CODE) + b"\0"):
        with pytest.raises(DamagedKernelError):
            unpacked(content)


def test_a_kernel_is_compiled_once(kept: Path) -> None:
    assert [hits_and_misses(fresh_kernel()) for _ in range(2)] == [(0, 1), (1, 0)]


def test_every_damaged_file_is_compiled_anew_and_replaced(
    kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Among the bytes that are flipped are those of machine code."""
    hits_and_misses(fresh_kernel())
    (file,) = kept.glob("columns.tick_sums.tick_count-*")
    whole = file.read_bytes()
    machine_code = whole.index(b"\x7fELF") if sys.platform == "linux" else len(whole) // 2
    torn = [b"", whole[:1], whole[: len(whole) // 2], whole[:-1], bytes(len(whole)), b"\x80\x04N."]
    places = (0, 20, 60, len(whole) // 3, machine_code + 4, machine_code + 100, len(whole) - 2)
    for content in (*torn, *(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in places)):
        file.write_bytes(content)
        files._warned.clear()
        caplog.clear()
        assert hits_and_misses(fresh_kernel()) == (0, 1)
        assert f"the compiled kernel {file} is damaged; it is recompiled" in caplog.messages
        assert kernels_in(kept).faults == {}
        assert hits_and_misses(fresh_kernel()) == (1, 0)


def test_a_file_that_is_whole_but_cannot_be_loaded_is_compiled_anew(
    kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hits_and_misses(fresh_kernel())
    (file,) = kept.glob("columns.tick_sums.tick_count-*")
    key, _ = unpacked(file.read_bytes())
    for code in (b"", b"\x80\x04N.", b"no pickle"):
        file.write_bytes(packed(key, code))
        files._warned.clear()
        assert hits_and_misses(fresh_kernel()) == (0, 1)
        assert "cannot be loaded" in caplog.text
    assert hits_and_misses(fresh_kernel()) == (1, 0)


def test_a_file_for_something_else_is_not_loaded(kept: Path) -> None:
    """Such as one that was renamed."""
    hits_and_misses(fresh_kernel())
    (file,) = kept.glob("columns.tick_sums.tick_count-*")
    key, code = unpacked(file.read_bytes())
    file.write_bytes(packed(key.replace("tick_count", "plus"), code))
    assert hits_and_misses(fresh_kernel()) == (0, 1)


def test_a_file_that_somebody_else_could_have_written_is_not_loaded(
    kept: Path, caplog: pytest.LogCaptureFixture
) -> None:
    hits_and_misses(fresh_kernel())
    (file,) = kept.glob("columns.tick_sums.tick_count-*")
    file.chmod(0o666)
    assert kernels_in(kept).faults == {file: "can be written by everybody"}
    assert hits_and_misses(fresh_kernel()) == (0, 1)
    assert "can be written by everybody; it is recompiled" in caplog.text
    assert file.stat().st_mode & 0o777 == 0o644
    assert hits_and_misses(fresh_kernel()) == (1, 0)


def test_a_full_disk_is_a_warning(
    kept: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "write_whole_file", full)
    assert [hits_and_misses(fresh_kernel()) for _ in range(2)] == [(0, 1), (0, 1)]
    told = [record for record in caplog.records if record.name == "cepctl.kernels"]
    assert [(each.levelno, each.getMessage()) for each in told] == [
        (logging.WARNING, f"compiled kernels cannot be kept in {kept}: No space left on device")
    ]


def test_where_no_folder_is_left_a_kernel_is_compiled_in_every_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(files, "folders_to_read", lambda: iter(()))
    monkeypatch.setattr(files, "folder_to_write", lambda: None)
    assert [hits_and_misses(fresh_kernel()) for _ in range(2)] == [(0, 1), (0, 1)]


def test_who_waits_for_kernels_hears_how_many_and_the_log_hears_it_once(
    kept: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(beside, "_state", beside._Compiling())
    caplog.set_level(logging.INFO, "cepctl.kernels")
    began, heard = time.time() - 1, list[tuple[int, float]]()
    with hearing_of_kernels(lambda compiled, seconds: heard.append((compiled, seconds))):
        for _ in range(2):
            hits_and_misses(fresh_kernel())
        kernel_cache_emptied(kept)
        hits_and_misses(fresh_kernel())
    assert [compiled for compiled, _ in heard] == [0, 1, 1, 2]
    assert 0 < heard[1][1] <= compiling_seconds() <= time.time() - began
    told = [each.getMessage() for each in caplog.records if each.name == "cepctl.kernels"]
    assert told == ["kernels are compiled, since none are kept for this query; later runs find them"]
    assert kernels_written_since(began) == 1
    assert kernels_written_since(time.time() + 60) == 0


def kernel_cache_emptied(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


@pytest.mark.parametrize("first", ["numba", "cepctl.engines"])
def test_every_process_that_imports_the_engines_keeps_kernels_so(first: str) -> None:
    code = (
        f"import {first}; from cepctl.engines.columns.tick_sums import plus; "
        "assert type(plus.dispatcher()._cache).__name__ == 'KeptKernel'"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


_A_CALL = """
import sys
import numpy as np
from numba import njit
from cepctl.engines.columns.tick_sums import plus
assert plus(1, 2) == 3
print("numba.np.linalg" in sys.modules)
assert njit(lambda x: x.sum())(np.ones(3)) == 3
"""


@pytest.mark.slow
def test_a_kernel_that_is_kept_is_loaded_without_what_compiling_needs() -> None:
    """And others can be compiled afterwards."""
    told = [
        subprocess.run([sys.executable, "-c", _A_CALL], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert told[-1] == "False\n"
