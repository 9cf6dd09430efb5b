"""A process beside this one that compiles kernels, while this one goes on without them.

It is started when something is first to be compiled, and ends with this process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from threading import Lock

from cepctl.engines.kernels.folders import folder_to_write
from cepctl.engines.kernels.signatures import Signature

_lock = Lock()
_compilers: dict[int, subprocess.Popen[bytes]] = {}


def compile_beside(kernel: str, signature: Signature) -> bool:
    """Have a kernel compiled; False where no process can do that, or what it compiles cannot be kept."""
    if folder_to_write() is None:
        return False
    line = json.dumps([kernel, signature]).encode() + b"\n"
    with _lock:
        try:
            stream = _compiler().stdin
            assert stream is not None
            stream.write(line)
            stream.flush()
        except OSError:
            return False
    return True


def is_at_work() -> bool:
    """Whether the process that was started for this one still lives."""
    found = _compilers.get(os.getpid())
    return found is not None and found.poll() is None


def _compiler() -> subprocess.Popen[bytes]:
    """The process of this one: what was forked has none of its own yet."""
    found = _compilers.get(os.getpid())
    if found is None:
        found = _compilers[os.getpid()] = subprocess.Popen(
            [sys.executable, "-m", "cepctl.engines.kernels.compiling"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return found
