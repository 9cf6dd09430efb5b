"""What a run tells of itself while it works, and what its summary needs when it is done."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from cepctl.engines.slices import Slicing

_LOOK_SECONDS = 0.5


@dataclass
class Progress:
    """Facts of one run; `tell` is called now and then with tasks that are done and tasks there are.

    `slicing` and `relevant`, how many events can matter, are None until they are known.
    """

    tell: Callable[[int, int], None] | None = None
    slicing: Slicing | None = None
    relevant: int | None = None

    @contextmanager
    def watching(self, context: Any, slicing: Slicing) -> Iterator[None]:
        """Look at the tasks of a Spark context while a job runs."""
        self.slicing = slicing
        if self.tell is None:
            yield
            return
        done = threading.Event()
        watch = threading.Thread(target=self._watch, args=(context, done), daemon=True)
        watch.start()
        try:
            yield
        finally:
            done.set()
            watch.join()

    def _watch(self, context: Any, done: threading.Event) -> None:
        tracker = context.statusTracker()
        while not done.wait(_LOOK_SECONDS):
            stages = [tracker.getStageInfo(each) for each in tracker.getActiveStageIds()]
            running = [each for each in stages if each is not None]
            if running and self.tell is not None:
                self.tell(
                    sum(each.numCompletedTasks for each in running), sum(each.numTasks for each in running)
                )
