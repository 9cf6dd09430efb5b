"""What each step of an ingest may hold in memory at a time, as shares of its budget.

    step                        holds at once                   copies of it that there are
    reading a file              a chunk of its events           about six: as read, joined, sorted, encoded;
                                                                and what its reader holds of its text
    finding repeated events     keys of a part of all events    about four
    writing a part              a piece of its events           about four

Where there is enough, from 2.3 GB on, chunks are of their full size, and nothing is done in pieces.

Steps that hold much at a time, in a process of their own where memory is little.

What such a step frees, allocators keep for what comes next; with the process it is given back for certain,
and a step that takes more than there is ends before the machine has to swap.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa

from cepctl.errors import JobError, QueryTooLargeError
from cepctl.process.memory import MemoryBudget, size_text
from cepctl.runners.apart import OUT_OF_MEMORY, run_apart

CHUNK_BYTES = 128 << 20
_LEAST_BYTES = 1 << 20
_CHUNKS_OF_ENOUGH = 16
# How GNU's malloc is set: one arena, larger blocks mapped by themselves, the rest given back early.
_GNU_MALLOC = {-8: 1, -3: 1 << 18, -1: 1 << 20}


def chunk_bytes(memory: MemoryBudget) -> int:
    """Bytes of events that reading gathers before it writes them to a chunk."""
    return min(CHUNK_BYTES, max(memory.own // _CHUNKS_OF_ENOUGH, _LEAST_BYTES))


def key_bytes(memory: MemoryBudget) -> int:
    """Bytes of keys among which repeated events are looked for at a time."""
    return max(memory.own // 8, _LEAST_BYTES)


def piece_bytes(memory: MemoryBudget) -> int:
    """Bytes of events that are put in order at a time when a part is written."""
    return max(memory.own // 8, _LEAST_BYTES)


def is_little(memory: MemoryBudget, at_once: int = 1) -> bool:
    """Whether so many tasks at once would have to keep their chunks smaller than with enough memory."""
    return memory.own // (at_once * _CHUNKS_OF_ENOUGH) < CHUNK_BYTES


def return_freed(memory: MemoryBudget) -> None:
    """Where memory is little, have this process give back what it frees, at some cost of time.

    Allocators keep what was freed for what comes next, and here that was as much again as is in use.
    """
    if not is_little(memory) or sys.platform != "linux":
        return
    pa.set_memory_pool(pa.system_memory_pool())
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for parameter, value in _GNU_MALLOC.items():
            library.mallopt(parameter, value)


Task = TypeVar("Task")
Result = TypeVar("Result")


def in_own_process(
    function: Callable[[Task], Result], task: Task, step: str, memory: MemoryBudget, *, local: bool
) -> Result:
    """What the function gives for the task; `step` is the name of what it does, for messages.

    Where memory suffices, or not all files are `local`, it runs here: a fork has the connections to a server,
    and not the threads that serve them.

    Raises
    ------
    QueryTooLargeError
        If the process takes more than `memory` gives to a task.
    JobError
        If it dies of something else.
    """

    def died(_: Task, cause: str) -> Result:
        if cause == OUT_OF_MEMORY:
            raise QueryTooLargeError(
                f"{step} takes more than the {size_text(memory.of_task)} of memory available to it; "
                "raise --max-memory"
            )
        raise JobError(f"{step}: the process that does it died ({cause}); is the machine out of memory?")

    if not local or not is_little(memory):
        return function(task)
    return run_apart(function, [task], died, memory.of_task)[0]
