"""Ctrl-C while Java works: never an answer cut short, never a Java that is left behind."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def undisturbed(work: Callable[[], T]) -> T:
    """Have another thread do work that waits for Java, while this one waits for that thread.

    An interrupt then never cuts an answer short, after which py4j could not even tell Spark to stop.
    Work that is left behind ends when the session does.
    """
    done: Future[T] = Future()

    def in_thread() -> None:
        try:
            done.set_result(work())
        except BaseException as problem:  # handed on
            done.set_exception(problem)

    threading.Thread(target=in_thread, daemon=True).start()
    return done.result()


@contextmanager
def own_interrupts() -> Iterator[None]:
    """Keep what this process does when it is interrupted, and its standard error free of traces.

    PySpark would send Java a command while another waits for its answer, and py4j logs every command
    that an interrupt cuts short.
    """
    logging.getLogger().addFilter(_is_not_from_py4j)
    ours = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, ours)


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Let what would interrupt this process wait: a Java that is left while it starts never ends."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    ours = [signal.signal(number, lambda number, frame: arrived.append(number)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, ours, strict=True):
            signal.signal(number, handler)
        if arrived:
            signal.raise_signal(arrived[0])


def _is_not_from_py4j(record: logging.LogRecord) -> bool:
    return Path(record.pathname).parent.name != "py4j"
