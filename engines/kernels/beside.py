"""A process beside this one that compiles kernels: how it is asked, and who hears that kernels are compiled.

It is started when something is first to be compiled, and ends with this process, which goes on without the
kernels.  Where there can be no such process, a match waits for kernels, some seconds or a minute.  What
compiles says so here: programs hear it by the log, people by what shows progress.  What the compiler took a
process keeps, so it may hold no more than so much; then another takes over.

It is asked by the types of the arguments of a kernel: the signature that tells one compiled form of it from
another, a plain value that can be compared, named and sent to another process without Numba.

Runs before Numba is imported: imports the standard library and NumPy only.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from cepctl.engines.kernels.folders import SUFFIX, folder_to_write
from cepctl.process.trust.own_python import python_command

PROGRAM = "from cepctl.engines.kernels.compiling import main; main()"
_AT_ONCE = 4_096
Signature = tuple[Any, ...]
MOST_BYTES = 400 << 20
"""Of a process that compiles, beside a match in a container of 1 GB; one kernel takes up to 100 MB more."""
_PAGES = Path("/proc/self/statm")


@dataclass
class _Compiler:
    """A process that compiles, what it was asked for and has done, and since when it has been at work."""

    process: subprocess.Popen[bytes]
    asked: int = 0
    done: int = 0
    since: float = 0.0

    def ask(self, line: bytes) -> None:
        """Have a kernel compiled; raises OSError if the process has ended."""
        self.look()
        stream = self.process.stdin
        assert stream is not None
        stream.write(line)
        stream.flush()
        if self.asked == self.done:
            self.since = time.monotonic()
        self.asked += 1

    def look(self) -> None:
        """Count what it has done: it writes a byte for each kernel."""
        stream = self.process.stdout
        assert stream is not None
        with suppress(BlockingIOError):
            self.done += len(os.read(stream.fileno(), _AT_ONCE))


_lock = Lock()
_compilers: dict[int, _Compiler] = {}


def compile_beside(kernel: str, signature: Signature) -> bool:
    """Have a kernel compiled; False where no process can do that, or what it compiles cannot be kept."""
    if folder_to_write() is None:
        return False
    line = json.dumps([kernel, signature]).encode() + b"\n"
    with _lock:
        try:
            _compiler().ask(line)
        except OSError:
            return False
    return True


def is_at_work() -> bool:
    """Whether the process that was started for this one still lives."""
    found = _compilers.get(os.getpid())
    return found is not None and found.process.poll() is None


def compiling_beside() -> tuple[int, int, float] | None:
    """How many kernels are compiled of how many, and for how many seconds; None while none is compiled."""
    found = _compilers.get(os.getpid())
    if found is None or found.process.poll() is not None:
        return None
    with _lock:
        found.look()
        done, asked, since = found.done, found.asked, found.since
    return None if done == asked else (done, asked, time.monotonic() - since)


def _compiler() -> _Compiler:
    """The process of this one: what was forked has none of its own yet."""
    found = _compilers.get(os.getpid())
    if found is None:
        process = subprocess.Popen(
            python_command(PROGRAM),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        found = _compilers[os.getpid()] = _Compiler(process)
    return found


def signature_of(arguments: Sequence[Any]) -> Signature:
    """The types of some arguments.

    Examples
    --------
    >>> signature_of((np.arange(3), 2.5, (True, None)))
    (('<i8', 1, 'C', True), ('builtins', 'float'), (('builtins', 'tuple'), ('builtins', 'bool'), None))
    """
    return tuple([_kind_of(each) for each in arguments])


def _kind_of(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return value.dtype.str, value.ndim, layout, flags.writeable
    if value is None:
        return None
    kind = type(value)
    name = (kind.__module__, kind.__qualname__)
    return (name, *map(_kind_of, value)) if isinstance(value, tuple) else name


def size_of(arguments: Sequence[Any]) -> int:
    """How many values there are in the arrays of some arguments."""
    size = 0
    for each in arguments:
        if isinstance(each, np.ndarray):
            size += each.size
        elif isinstance(each, tuple):
            size += size_of(each)
    return size


def examples_of(signature: Signature) -> tuple[Any, ...]:
    """Arguments of these types."""
    return tuple(_example_of(kind) for kind in signature)


def _example_of(kind: Any) -> Any:
    if kind is None:
        return None
    first, *parts = kind
    if isinstance(first, tuple):
        values = [_example_of(each) for each in parts]
        made = _class_of(first)
        return tuple(values) if made is tuple else made(*values)
    if len(kind) == 4:
        return _array_of(*kind)
    return _class_of(kind)(1)


def _array_of(dtype: str, dimensions: int, layout: str, writeable: bool) -> np.ndarray:
    if layout == "A":
        made = np.zeros((4,) * dimensions, dtype)[(slice(None, None, 2),) * dimensions]
    else:
        made = np.zeros((2,) * dimensions, dtype, order="F" if layout == "F" else "C")
    made.flags.writeable = writeable
    return made


def _class_of(name: tuple[str, str]) -> Any:
    from importlib import import_module
    from operator import attrgetter

    return attrgetter(name[1])(import_module(name[0]))


def held_bytes() -> int:
    """Bytes that this process holds; where the system does not say, the most that it has held so far."""
    try:
        return int(_PAGES.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return held if sys.platform == "darwin" else held << 10


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
