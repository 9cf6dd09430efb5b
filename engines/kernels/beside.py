"""A process beside this one that compiles kernels, while this one goes on without them.

It is started when something is first to be compiled, and ends with this process.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock

from cepctl.engines.kernels.folders import folder_to_write
from cepctl.engines.kernels.signatures import Signature
from cepctl.process.trust.own_python import python_command

PROGRAM = "from cepctl.engines.kernels.compiling import main; main()"
_AT_ONCE = 4_096


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
