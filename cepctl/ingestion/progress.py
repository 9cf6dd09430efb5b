"""How far the reading of logs is: bytes of all, their rate, the time left, events and rejects so far.

A file, or a part of a large one, counts when it is read.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cepctl.process.memory import size_text
from cepctl.runners.ahead import ahead_text
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from cepctl.ingestion.results import FileResult
    from cepctl.ingestion.task import ReadTask

Tell = Callable[[str], None]
_TELL: ContextVar[Tell | None] = ContextVar("tell", default=None)
_TOLD_EVERY = 0.2


@contextmanager
def reading_told(tell: Tell) -> Iterator[None]:
    """Have `tell` hear now and then, in a line for people, how far each reading within is."""
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)


@dataclass
class ReadingProgress:
    """What has been read of some tasks; `clock` gives seconds.

    Examples
    --------
    >>> ReadingProgress([10_000_000, 30_000_000], print, lambda: 0.0).line(5.0)
    'reading: 0 B of 40 MB (0 %)'
    """

    sizes: Sequence[int]
    tell: Tell | None
    clock: Callable[[], float] = time.monotonic
    size: int = 0
    events: int = 0
    rejects: int = 0
    _told: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def ended(self, number: int, result: FileResult) -> None:
        """Count what came of a task."""
        self.size += self.sizes[number]
        self.events += result.events
        self.rejects += result.rejected.total()
        self._say(self.line)

    def counted(self, done: int, tasks: int) -> None:
        """Say how many tasks are done, where nothing else is known of them."""
        self._say(lambda _: f"reading: {done:,} of {tasks:,} tasks")

    def line(self, seconds: float) -> str:
        """Where reading stands after so many seconds."""
        whole = sum(self.sizes)
        line = f"reading: {size_text(self.size)} of {size_text(whole)}"
        if whole:
            line += f" ({ahead_text(self.size, whole, seconds)})"
        if not self.size or seconds <= 0:
            return line
        rejects = f", {self.rejects:,} rejects" if self.rejects else ""
        return f"{line}, {size_text(int(self.size / seconds))}/s; {self.events:,} events{rejects}"

    def _say(self, line: Callable[[float], str]) -> None:
        """Tell a line, unless one was told just now; after one that failed there are no more."""
        now, tell = self.clock(), self.tell
        if tell is None or now - self._told < _TOLD_EVERY:
            return
        self._told = now

        def report() -> bool:
            tell(line(now - self._began))
            return True

        if not beside(SideFigure.PROGRESS, report, otherwise=False):
            self.tell = None


@contextmanager
def progress_of(tasks: Sequence[ReadTask]) -> Iterator[ReadingProgress | None]:
    """What counts these tasks as they end, and takes its line away in the end; None where nobody listens."""
    tell = _TELL.get()
    if tell is None or not tasks:
        yield None
        return
    progress = ReadingProgress([*map(_size, tasks)], tell)
    try:
        yield progress
    finally:
        if progress.tell is not None:
            beside(SideFigure.PROGRESS, lambda: tell(""), None)


def _size(task: ReadTask) -> int:
    part = task.file.part
    return (task.file.size or 0) if part is None else part.size
