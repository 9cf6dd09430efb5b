"""Parts of a job run by a few threads, their results taken as they come, in bounded memory.

The compiled kernels, Polars and Arrow release the interpreter's lock, so that threads keep all cores
busy without a second process or a copy of the events.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from queue import Empty, Full, Queue
from threading import Condition, Event, Lock, Semaphore, Thread
from typing import Any, Generic, TypeAlias, TypeVar

Item = TypeVar("Item")
Part = Callable[[], Iterator[Item]]
OnProgress: TypeAlias = Callable[[int, int], None]
"""Hears how many parts of the work are done, and of how many."""

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


def in_turn(parts: Iterable[Callable[[], Item]], threads: int) -> Iterator[Item]:
    """Yield what parts give, in their order, while threads are at work on those that follow.

    The threads take parts themselves, so that what is made is yielded at once, however long the next part is
    waited for; at most a few results are held.  An exception ends the others and is raised in its turn.

    Examples
    --------
    >>> list(in_turn([lambda: "a", lambda: "b"], threads=2))
    ['a', 'b']
    """
    if threads <= 1:
        yield from (part() for part in parts)
        return
    queue = _Turns(iter(parts), threads)
    try:
        yield from queue.results()
    finally:
        queue.stop()


def telling(parts: Sequence[Part[Item]], on_progress: OnProgress | None) -> Sequence[Part[Item]]:
    """Parts of which each that is done tells how many are, and of how many."""
    if on_progress is None:
        return parts
    lock, done = Lock(), 0

    def watched(part: Part[Item]) -> Iterator[Item]:
        nonlocal done
        yield from part()
        with lock:
            done += 1
            on_progress(done, len(parts))

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


class _Turns(Generic[Item]):
    """The threads of `in_turn`, and what they have made, by its number."""

    def __init__(self, parts: Iterator[Callable[[], Item]], threads: int) -> None:
        self._parts = parts
        self._taking = Lock()
        self._changed = Condition()
        self._room = Semaphore(threads + _WAITING_PER_THREAD)
        self._made: dict[int, Item | BaseException | _Finished] = {}
        self._taken = 0
        self._stopped = False
        for _ in range(threads):
            Thread(target=self._work, daemon=True).start()

    def results(self) -> Iterator[Item]:
        number = 0
        while True:
            with self._changed:
                while number not in self._made:
                    self._changed.wait()
                made = self._made.pop(number)
            if isinstance(made, _Finished):
                return
            if isinstance(made, BaseException):
                raise made
            yield made
            self._room.release()
            number += 1

    def stop(self) -> None:
        """Let the threads end once they have made what they are at; nobody waits for them."""
        self._stopped = True
        self._room.release()

    def _work(self) -> None:
        while True:
            self._room.acquire()
            with self._taking:
                if self._stopped:
                    self._room.release()
                    return
                number, self._taken = self._taken, self._taken + 1
                try:
                    part = next(self._parts, None)
                except BaseException as problem:
                    part = partial(_raised, problem)
            made: Item | BaseException | _Finished
            try:
                made = _Finished() if part is None else part()
            except BaseException as problem:
                made = problem
            if part is None:
                self.stop()
            with self._changed:
                self._made[number] = made
                self._changed.notify_all()


def _raised(problem: BaseException) -> Any:
    raise problem


def usable_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
