"""Who hears that kernels are being compiled: programs by the log, people by what shows progress.

A match interprets kernels, and has those that take long compiled by a process beside it; where there can be
none, it waits for them, some seconds or a minute.  What compiles says so here.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from cepctl.engines.kernels.folders import SUFFIX, folder_to_write


@dataclass
class _Compiling:
    """What this process has compiled: kernels begun and done, seconds of it, and when the one at work began.

    A kernel is begun within another where that calls it.
    """

    begun: int = 0
    done: int = 0
    seconds: float = 0.0
    since: float = 0.0

    def seconds_now(self) -> float:
        at_work = self.begun > self.done
        return self.seconds + (time.monotonic() - self.since if at_work else 0.0)


_state = _Compiling()
_listeners: list[Callable[[], None]] = []
_keepers: list[Callable[[], None]] = []


def compiling_begins() -> None:
    """Say that a kernel is not there and is compiled now."""
    if _state.begun == 0:
        import logging

        from cepctl.notices import KERNELS

        line = "kernels are compiled, since none are kept for this query; later runs find them"
        logging.getLogger(KERNELS).info(line)
    if _state.begun == _state.done:
        _state.since = time.monotonic()
    _state.begun += 1
    _tell()


def compiling_ended() -> None:
    """Say that a kernel is compiled."""
    seconds = _state.seconds_now()
    _state.done += 1
    if _state.begun == _state.done:
        _state.seconds = seconds
    _tell()


def kernel_kept() -> None:
    """Say that a compiled kernel is on disk, where another process finds it."""
    for keeper in [*_keepers]:
        keeper()


def compiling_seconds() -> float:
    """How long this process has compiled so far."""
    return _state.seconds_now()


@contextmanager
def hearing_of_kernels(listener: Callable[[int, float], None]) -> Iterator[None]:
    """Meanwhile tell how many kernels are compiled, and in how many seconds."""
    done, seconds = _state.done, _state.seconds_now()

    def heard() -> None:
        listener(_state.done - done, _state.seconds_now() - seconds)

    _listeners.append(heard)
    try:
        yield
    finally:
        _listeners.remove(heard)


@contextmanager
def hearing_of_kept_kernels(listener: Callable[[], None]) -> Iterator[None]:
    """Meanwhile tell of each kernel that is kept, also of one that another calls, which waits for it."""
    _keepers.append(listener)
    try:
        yield
    finally:
        _keepers.remove(listener)


def compiling_line(compiled: int, seconds: float) -> str:
    """Where compiling stands.

    Examples
    --------
    >>> compiling_line(12, 8.2)
    'compiling kernels, which later runs find: 12 so far, 8 s'
    """
    return f"compiling kernels, which later runs find: {compiled:,} so far, {seconds:.0f} s"


def beside_line(line: str, done: int, asked: int, seconds: float) -> str:
    """Where a match and the process stand that compiles kernels beside it.

    Examples
    --------
    >>> beside_line("matching: 25 %", 1, 3, 8.2)
    'matching: 25 % (compiling kernels beside it: 1 of 3, 8 s)'
    """
    return f"{line} (compiling kernels beside it: {done:,} of {asked:,}, {seconds:.0f} s)"


def kernels_written_since(moment: float) -> int:
    """How many kernels any process of this machine has kept since then, in seconds since 1970."""
    folder = folder_to_write()
    if folder is None:
        return 0
    try:
        with os.scandir(folder) as entries:
            return sum(each.name.endswith(SUFFIX) and each.stat().st_mtime >= moment for each in entries)
    except OSError:
        return 0


def _tell() -> None:
    for listener in [*_listeners]:
        listener()
