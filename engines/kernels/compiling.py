"""The process that compiles kernels beside another: it reads which ones, and leaves them on disk.

Each line of its input is a kernel and the types of its arguments, as JSON.  For each it writes a byte when
it has compiled it.  It ends with its input, in the middle of a kernel if need be: files appear whole or not
at all.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import Any

from cepctl.engines.kernels.signatures import Signature, examples_of

_COLLECT_AFTER = (100_000, 50, 100)
"""A compiler makes many small objects, few of them in cycles: looking for those took a tenth of its time."""


def run() -> None:
    """Compile what is asked for, one after the other, until nobody asks any more."""
    asked: SimpleQueue[bytes] = SimpleQueue()
    Thread(target=_listen, args=(asked,), daemon=True).start()
    os.nice(5)
    told = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else prints is not counted
    gc.set_threshold(*_COLLECT_AFTER)
    while True:
        name, signature = json.loads(asked.get())
        compile_kernel(name, _tuples(signature))
        os.write(told, b".")


def compile_kernel(name: str, signature: Signature) -> None:
    """Compile a kernel for arguments of some types, which keeps it on disk."""
    import numba

    module, _, function = name.rpartition(".")
    dispatcher = getattr(import_module(module), function).dispatcher()
    type_of: Any = numba.typeof
    dispatcher.compile(tuple(type_of(each) for each in examples_of(signature)))


def _listen(asked: SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        asked.put(line)
    os._exit(0)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value


if __name__ == "__main__":
    run()
