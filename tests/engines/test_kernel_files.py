"""Kernels that several processes compile at one time, and what reading one takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from threading import Barrier, BrokenBarrierError, Event, Thread
from typing import Any

import pytest

import cepctl.engines  # noqa: F401  they change how Numba keeps kernels

SOON = 0.2
"""Seconds that one process waits for another which may be waiting for it."""


def kept_in(folder: Path) -> Any:
    """The index and the files of code of one kernel, as one process sees them."""
    caching: Any = import_module("numba.core.caching")
    return caching.IndexDataCacheFile(str(folder), "sums.total", b"source")


def at_once(*calls: Callable[[], None]) -> None:
    threads = [Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_two_processes_that_compile_for_different_types_keep_each_its_own_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the worst order: both look for a free name, both name what they have, one writes after the other."""
    whole, fractions = kept_in(tmp_path), kept_in(tmp_path)
    named, written = Event(), Event()
    save_index, save_data = whole._save_index, fractions._save_data

    def name_last(kept: Any) -> None:
        named.wait(SOON)
        save_index(kept)

    def name_first(kept: Any) -> None:
        save_index(kept)
        named.set()

    def write_last(name: str, code: Any) -> None:
        written.wait()
        save_data(name, code)

    def save_whole() -> None:
        whole.save("whole numbers", "code for whole numbers")
        written.set()

    monkeypatch.setattr(whole, "_save_index", name_last)
    monkeypatch.setattr(fractions, "_save_index", name_first)
    monkeypatch.setattr(fractions, "_save_data", write_last)
    at_once(save_whole, lambda: fractions.save("fractions", "code for fractions"))
    assert kept_in(tmp_path).load("whole numbers") == "code for whole numbers"
    assert kept_in(tmp_path).load("fractions") == "code for fractions"


def test_of_what_two_processes_keep_at_once_nothing_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_have_read = Barrier(2)
    processes = [kept_in(tmp_path), kept_in(tmp_path)]
    for process in processes:

        def read(load: Callable[[], Any] = process._load_index) -> Any:
            found = load()
            with suppress(BrokenBarrierError):
                both_have_read.wait(SOON)
            return found

        monkeypatch.setattr(process, "_load_index", read)
    at_once(*(partial(process.save, key, key) for key, process in enumerate(processes)))
    assert [kept_in(tmp_path).load(key) for key in (0, 1)] == [0, 1]


def test_kernels_are_kept_where_folders_cannot_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no locks")

    monkeypatch.setattr("fcntl.flock", refuse)
    process = kept_in(tmp_path)
    process.save("whole numbers", 1)
    process.save("fractions", 2)
    process.save("whole numbers", 3)
    assert (kept_in(tmp_path).load("whole numbers"), kept_in(tmp_path).load("fractions")) == (3, 2)
    assert len(list(tmp_path.glob("*.nbc"))) == 2


@pytest.mark.parametrize("first", ["numba", "cepctl.engines"])
def test_every_process_that_imports_the_engines_keeps_kernels_so(first: str) -> None:
    code = (
        f"import {first}, numba.core.caching, cepctl.engines.kernel_files as files; "
        "assert numba.core.caching.IndexDataCacheFile.save is files._save"
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


def test_a_kernel_that_is_kept_is_loaded_without_what_compiling_needs() -> None:
    """And others can be compiled afterwards."""
    told = [
        subprocess.run([sys.executable, "-c", _A_CALL], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert told[-1] == "False\n"
