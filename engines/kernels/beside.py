"""A process beside this one that compiles kernels, while this one goes on without them: how it is asked.

It is started when something is first to be compiled, and ends with this process.  What the compiler took it
keeps, so it may hold no more than so much; then another takes over.

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
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from cepctl.engines.kernels.folders import folder_to_write
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
