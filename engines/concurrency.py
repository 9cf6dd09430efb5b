"""Parts of a job run by a few threads, their results taken as they come, in bounded memory.

The compiled kernels, Polars and Arrow release the interpreter's lock, so that threads keep all cores
busy without a second process or a copy of the events.

Runs inside Spark workers: imports the standard library only.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread
from typing import Generic, TypeVar

Item = TypeVar("Item")
Part = Callable[[], Iterator[Item]]

_WAITING_PER_THREAD = 2
_PATIENCE_SECONDS = 0.1


class _Finished:
    """Says that one thread has no more parts."""


def concurrently(parts: Sequence[Part[Item]], threads: int) -> Iterator[Item]:
    """Yield the items of all parts, in no particular order.

    Threads wait where their results are not taken: at most a few items per thread are held.  An
    exception in a part ends the others and is raised here.

    Examples
    --------
    >>> sorted(concurrently([lambda: iter("ab"), lambda: iter("c")], threads=2))
    ['a', 'b', 'c']
    """
    if threads <= 1 or len(parts) <= 1:
        for part in parts:
            yield from part()
        return
    crew = _Crew(parts, min(threads, len(parts)))
    try:
        yield from crew.items()
    except (KeyboardInterrupt, SystemExit):
        # The process ends: whoever is in a long step is not waited for.
        crew.abandon()
        raise
    except BaseException:
        crew.stop()
        raise
    crew.stop()


def telling(parts: Sequence[Part[Item]], told: Callable[[int, int], None] | None) -> Sequence[Part[Item]]:
    """The same parts; each that is done tells how many are, and of how many."""
    if told is None:
        return parts
    lock, done = Lock(), 0

    def watched(part: Part[Item]) -> Iterator[Item]:
        nonlocal done
        yield from part()
        with lock:
            done += 1
            told(done, len(parts))

    return [partial(watched, part) for part in parts]


class _Crew(Generic[Item]):
    """The threads, what is left to do, and what they have found."""

    def __init__(self, parts: Sequence[Part[Item]], threads: int) -> None:
        self._left = iter(parts)
        self._lock = Lock()
        self._stopped = Event()
        self._found: Queue[Item | BaseException | _Finished] = Queue(_WAITING_PER_THREAD * threads)
        self._threads = [Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def items(self) -> Iterator[Item]:
        working = len(self._threads)
        while working:
            found = self._found.get()
            if isinstance(found, _Finished):
                working -= 1
            elif isinstance(found, BaseException):
                raise found
            else:
                yield found

    def abandon(self) -> None:
        """Let the threads end at their next result."""
        self._stopped.set()

    def stop(self) -> None:
        """Let the threads end at their next result, and wait for them."""
        self.abandon()
        for thread in self._threads:
            while thread.is_alive():
                try:
                    self._found.get_nowait()
                except Empty:
                    thread.join(_PATIENCE_SECONDS)

    def _work(self) -> None:
        try:
            while (part := self._next_part()) is not None:
                for item in part():
                    if not self._put(item):
                        return
            self._put(_Finished())
        except BaseException as problem:
            self._put(problem)

    def _next_part(self) -> Part[Item] | None:
        with self._lock:
            return next(self._left, None)

    def _put(self, item: Item | BaseException | _Finished) -> bool:
        """Hand over an item; False when nobody wants it any more."""
        while not self._stopped.is_set():
            try:
                self._found.put(item, timeout=_PATIENCE_SECONDS)
            except Full:
                continue
            return True
        return False


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
