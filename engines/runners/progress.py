"""What a run tells of itself while it works, and what its summary needs when it is done."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from cepctl.engines.concurrency import OnProgress
from cepctl.engines.kernels.beside import beside_line, compiling_beside, compiling_line, kernels_written_since
from cepctl.engines.runners.slices import Slicing
from cepctl.runners.ahead import ahead_text
from cepctl.runners.runner import Counter
from cepctl.side_figures import SideFigure, beside

_LOOK_SECONDS = 0.5


@dataclass
class RunProgress:
    """Facts of one run; `tell` takes a line for people now and then.

    `slicing` and `relevant`, how many events can matter, are None until they are known; the local runner
    does not slice.  `impossible` of these end before their start.  `found` are the rows so far, `began` when
    matching began on the `clock`, in seconds.
    """

    tell: Callable[[str], None] | None = None
    slicing: Slicing | None = None
    relevant: int | None = None
    impossible: int = 0
    found: int = 0
    clock: Callable[[], float] = time.monotonic
    began: float | None = None
    _line: str = field(default="", init=False)

    def read(self, done: int, pieces: int) -> None:
        """Say how much of the files has been read."""
        self._say(lambda: f"reading: {100 * done // pieces} % of the events")

    def matching(self) -> None:
        """Say that all is read."""
        self.began = self.clock()
        self._say(lambda: f"matching: {self.relevant:,} events that can matter")

    def matched(self, done: int, parts: int) -> None:
        """Say how much of the matching is done, and how long the rest takes at this pace."""
        self._say(lambda: f"matching: {self._ahead(done, parts)}, {self.found:,} rows so far")

    def compiling(self, compiled: int, seconds: float) -> None:
        """Say that kernels are compiled, which this run waits for."""
        self._say(lambda: compiling_line(compiled, seconds))

    def writing(self, rows: int) -> None:
        """Say that all is matched, and how many rows are to be written."""
        self.found, self.began = rows, self.clock()
        self._say(lambda: f"writing: {rows:,} rows")

    def wrote(self, done: int, parts: int) -> None:
        """Say how much is written, and how long the rest takes at this pace."""
        self._say(lambda: f"writing: {self._ahead(done, parts)}, {self.found:,} rows")

    def _ahead(self, done: int, parts: int) -> str:
        return ahead_text(done, parts, 0.0 if self.began is None else self.clock() - self.began)

    def _say(self, line: Callable[[], str]) -> None:
        """Tell a line; after one that failed there are no more."""
        tell = self.tell
        if tell is None:
            return

        def report() -> bool:
            self._line = line()
            tell(_with_compiler(self._line))
            return True

        if not beside(SideFigure.PROGRESS, report, otherwise=False):
            self.tell = None

    @contextmanager
    def watching_compiler(self) -> Iterator[None]:
        """Look now and then at the process that compiles kernels beside this one; while it does, say so."""
        if self.tell is None:
            yield
            return
        done = threading.Event()
        watch = threading.Thread(target=self._watch_compiler, args=(done,), daemon=True)
        watch.start()
        try:
            yield
        finally:
            done.set()
            watch.join()

    def _watch_compiler(self, done: threading.Event) -> None:
        """Say the last line again, with where the compiler stands, and once without when it has done all."""
        said = False
        while not done.wait(_LOOK_SECONDS):
            compiles = compiling_beside() is not None
            if compiles or said:
                self._say(lambda: self._line)
            said = compiles

    def of_tasks(self, matches: Counter) -> OnProgress | None:
        """What hears how many tasks are done, while `matches` counts in them; None where nobody looks."""
        if self.tell is None:
            return None
        began, since = self.clock(), time.time()

        def report(done: int, tasks: int) -> None:
            slicing = self.slicing
            compiled = 0 if done else kernels_written_since(since)
            if compiled:
                # By the workers of this machine; others are not seen.
                self.compiling(compiled, self.clock() - began)
            elif slicing is not None:
                ahead = partial(ahead_text, done, tasks, self.clock() - began)
                self._say(lambda: f"{stage_line(done, tasks, matches.value, slicing)}, {ahead()}")

        return report

    def of_writers(self) -> OnProgress | None:
        """The progress of tasks that write rows."""
        return None if self.tell is None else self.wrote


def _with_compiler(line: str) -> str:
    """A line, and where the process stands that compiles beside this one, if there is one."""
    found = compiling_beside()
    return line if found is None else beside_line(line, *found)


def stage_line(done: int, tasks: int, matches: int, slicing: Slicing) -> str:
    """Where a stage stands.

    Examples
    --------
    >>> from cepctl.engines.runners.slices import TimeSlice
    >>> stage_line(1, 4, 20, Slicing((TimeSlice(),), events=8_000, most_read=2_000))
    '1 of 4 tasks, about 2,000 of 8,000 events, 20 matches so far'
    """
    events = slicing.events * done // tasks
    read = f"about {events:,} of {slicing.events:,} events"
    return f"{done:,} of {tasks:,} tasks, {read}, {matches:,} matches so far"
