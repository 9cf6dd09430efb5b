"""Steps that hold much at a time, in a process of their own where memory is little.

What such a step frees, allocators keep for what comes next; with the process it is given back for certain,
and a step that takes more than there is ends before the machine has to swap.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from cepctl.errors import JobError, QueryTooLargeError
from cepctl.ingestion.room import is_little
from cepctl.memory import MemoryBudget, size_text
from cepctl.runners.apart import OUT_OF_MEMORY, run_apart

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
