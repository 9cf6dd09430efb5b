"""The process that compiles kernels beside another: it reads which ones, and leaves them on disk.

Each line of its input is a kernel and the types of its arguments, as JSON.  For each it writes a byte when
it has compiled it.  It ends with its input, in the middle of a kernel if need be: files appear whole or not
at all.  It also ends where a kernel cannot be kept, as on a full disk: whoever asked compiles it then.
Where it holds much, it begins anew, with what is still to be done as its arguments: it finds what it has
compiled, also of a kernel that is not whole.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from queue import Empty, SimpleQueue
from select import select
from threading import Lock, Thread
from typing import Any

from cepctl.engines.kernels.beside import (
    MOST_BYTES,
    PROGRAM,
    Signature,
    examples_of,
    hearing_of_kept_kernels,
    held_bytes,
)
from cepctl.process.trust.own_python import python_command

_COLLECT_AFTER = (100_000, 50, 100)
"""A compiler makes many small objects, few of them in cycles: looking for those took a tenth of its time."""
_INPUT = 0
_READ_BYTES = 1 << 16


class AskedLines:
    """The lines of the input, read as they come; the first ones, and part of a line, were read before."""

    def __init__(self, before: Sequence[str]) -> None:
        *lines, self._rest = before or [""]
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._reading = Lock()
        for line in lines:
            self._lines.put(line)

    def listen(self) -> None:
        """Read until the input ends, and end the process with it."""
        while True:
            select([_INPUT], [], [])
            with self._reading:
                data = os.read(_INPUT, _READ_BYTES)
                if not data:
                    os._exit(0)
                *lines, self._rest = (self._rest + data.decode("ascii")).split("\n")
                for line in lines:
                    self._lines.put(line)

    def next(self) -> str:
        """The next line, once there is one."""
        return self._lines.get()

    def left(self) -> list[str]:
        """What was read and is still to be done; nothing more is read from now on."""
        self._reading.acquire()
        lines = []
        while True:
            try:
                lines.append(self._lines.get_nowait())
            except Empty:
                return [*lines, self._rest]


def run(channel: int | None = None, before: Sequence[str] = ()) -> None:
    """Compile what is asked for, one after the other, until nobody asks any more or nothing can be kept.

    One that begins anew knows where it writes bytes (`channel`), and what was read `before`.
    """
    asked = AskedLines(before)
    Thread(target=asked.listen, daemon=True).start()
    if channel is None:
        channel = os.dup(sys.stdout.fileno())
        os.set_inheritable(channel, True)
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else prints is not counted
    gc.set_threshold(*_COLLECT_AFTER)
    while True:
        line = asked.next()
        name, signature = json.loads(line)
        with hearing_of_kept_kernels(partial(_make_room, channel, line, asked)):
            if not compile_kernel(name, _tuples(signature)):
                return
        os.write(channel, b".")


def _make_room(channel: int, line: str, asked: AskedLines) -> None:
    """Begin anew where too much is held; what is kept by now is found then."""
    if held_bytes() > MOST_BYTES:
        command = python_command(PROGRAM, str(channel), line, *asked.left())
        os.execv(command[0], command)


def compile_kernel(name: str, signature: Signature) -> bool:
    """Compile a kernel for arguments of some types; returns whether it is kept on disk."""
    import numba

    module, _, function = name.rpartition(".")
    dispatcher = getattr(import_module(module), function).dispatcher()
    type_of: Any = numba.typeof
    types = tuple(type_of(each) for each in examples_of(signature))
    dispatcher.compile(types)
    return bool(dispatcher._cache.is_kept(types, dispatcher.targetctx))


def _tuples(value: Any) -> Any:
    return tuple(_tuples(each) for each in value) if isinstance(value, list) else value


def main() -> None:
    """What the process does, by the arguments that it was started with."""
    run(int(sys.argv[1]) if sys.argv[1:] else None, sys.argv[2:])
