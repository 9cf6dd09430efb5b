"""Neighbouring small files as one task: to hand each to a process of its own costs as much as to read it.

What comes of a bundle is what comes of each of its files, in order.  Where a bundle kills the process that
has it, its files are tried again one by one, so that the one that does costs itself alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from cepctl.ingestion.task import ReadTask
from cepctl.io.source.first_lines import HEAD_BYTES
from cepctl.runners.runner import Runner, Watcher

Result = TypeVar("Result")
MOST_FILES = 500
_FEWEST_FILES, _FEWEST_BUNDLES = 100, 8
"""Of few files there are more bundles, so that every core has some."""
MOST_BYTES = 1 << 20


def in_bundles(tasks: Sequence[ReadTask]) -> list[tuple[ReadTask, ...]]:
    """The tasks in order, neighbours of small files together."""
    most = min(MOST_FILES, max(_FEWEST_FILES, len(tasks) // _FEWEST_BUNDLES))
    bundles: list[tuple[ReadTask, ...]] = []
    waiting: list[ReadTask] = []
    size = 0
    for task in tasks:
        own = task.file.size or 0
        if waiting and (not is_small(task) or len(waiting) >= most or size + own > MOST_BYTES):
            bundles.append(tuple(waiting))
            waiting, size = [], 0
        if is_small(task):
            waiting.append(task)
            size += own
        else:
            bundles.append((task,))
    return [*bundles, tuple(waiting)] if waiting else bundles


def is_small(task: ReadTask) -> bool:
    """Whether a file is all in its head, and this machine has it and what is made of it."""
    file = task.file
    is_whole = file.part is None and file.left_out is None and not file.records_before
    here = task.in_arrow and file.location.is_local and os.name == "posix"
    return here and is_whole and file.size is not None and file.size <= HEAD_BYTES


def results_of(
    runner: Runner,
    function: Callable[[Sequence[ReadTask]], list[Result]],
    tasks: Sequence[ReadTask],
    died: Callable[[ReadTask, str], Result] | None = None,
    most_bytes: int | None = None,
    watcher: Watcher | None = None,
) -> Iterator[Result]:
    """The result of every task, in order; `function` gives those of a bundle.  All else: `Runner.results`."""
    bundles = in_bundles(tasks)
    lost = None if died is None else _Lost(died)
    of_bundles = None if watcher is None else _OfBundles(watcher, bundles)
    found: Iterator[list[Result] | None] = runner.results(function, bundles, lost, most_bytes, of_bundles)
    for bundle, results in zip(bundles, found, strict=True):
        if results is not None:
            yield from results
            continue
        for one in runner.results(function, [(task,) for task in bundle], lost, most_bytes):
            yield from one or ()


@dataclass(frozen=True)
class _Lost(Generic[Result]):
    """What comes of a bundle that killed its process: None of several files, which are tried one by one."""

    died: Callable[[ReadTask, str], Result]

    def __call__(self, bundle: Sequence[ReadTask], cause: str) -> list[Result] | None:
        return [self.died(bundle[0], cause)] if len(bundle) == 1 else None


@dataclass
class _OfBundles:
    """Tells a watcher of tasks of those in bundles that ended."""

    whole: Watcher
    bundles: Sequence[Sequence[ReadTask]]

    def __post_init__(self) -> None:
        self._starts = [0]
        for bundle in self.bundles:
            self._starts.append(self._starts[-1] + len(bundle))

    def ended(self, number: int, result: Any) -> None:
        for place, each in enumerate(result or ()):
            self.whole.ended(self._starts[number] + place, each)

    def counted(self, done: int, tasks: int) -> None:
        self.whole.counted(self._starts[done], self._starts[-1])
