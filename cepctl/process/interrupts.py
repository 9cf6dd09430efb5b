"""An interrupt ends a process soon, also while its main thread is in the middle of a long native call.

Python answers a signal between two steps of the main thread: then the command ends as after an error, and
removes what it has not finished.  A compiled kernel or a sort can keep it from its next step for long.  So a
thread of its own sees every signal as well; where the process is not over soon, it removes what is
unfinished, tells the processes that were started to end, and leaves.

Imports the standard library only.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from cepctl.atomic.files import remove_unfinished
from cepctl.process.limited_memory import ends_by_itself

PATIENCE_SECONDS = 1.0
"""How long the main thread has to end by itself."""
_LAST_WORDS_SECONDS = 0.5
"""How long it then has for what it says last."""
_words = threading.Lock()
"""Who holds it says that the process was interrupted; nobody gives it back."""
_main_has_words = threading.Event()
_NAME = "waits for signals"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def end_soon_after_signals(tell: Callable[[int], None]) -> None:
    """From now on such a signal ends this process within PATIENCE_SECONDS and a little more.

    `tell` is called with the signal's number before the process is left; the exit code is 128 + the number.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    sys.unraisablehook = _unless_interrupted
    threading.Thread(target=_watch, args=(reading, tell), name=_NAME, daemon=True).start()


def _unless_interrupted(problem: sys.UnraisableHookArgs) -> None:
    """Say nothing of an interrupt that came in a callback of a library, where Python cannot raise it.

    The thread that waits for signals ends the process all the same.
    """
    if not issubclass(problem.exc_type, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(problem)


def being_told() -> None:
    """The main thread has finished by itself, and is about to say so: once, whoever says it."""
    if _main_has_words.is_set():
        return
    if _words.acquire(blocking=False):
        _main_has_words.set()
        return
    while True:  # The other thread says it, and leaves.
        time.sleep(_LAST_WORDS_SECONDS)


def busy_threads() -> list[threading.Thread]:
    """Threads beside the current one that may hold a lock; the one that waits for signals holds none."""
    others = (each for each in threading.enumerate() if each is not threading.current_thread())
    return [each for each in others if each.name != _NAME]


def _watch(reading: int, tell: Callable[[int], None]) -> None:
    while True:
        number = os.read(reading, 1)[0]
        if number in SIGNALS:
            break
    time.sleep(PATIENCE_SECONDS)
    has_words = _words.acquire(blocking=False)
    if not has_words:
        time.sleep(_LAST_WORDS_SECONDS)
    _leave(number, tell if has_words else None)


def _leave(number: int, tell: Callable[[int], None] | None) -> None:
    """End this process as a signal asks for, whatever its other threads do."""
    for process in descendants(os.getpid()):
        with suppress(OSError):
            os.kill(process, signal.SIGTERM)
    remove_unfinished()
    if tell is not None:
        with suppress(Exception):
            tell(number)
    ends_by_itself()
    os._exit(128 + number)


def descendants(process: int) -> set[int]:
    """Processes that a process has started, and those that these have; none where the system does not say."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name stands in parentheses, and may hold any character.
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found, new = set[int](), {process}
    while new:
        new = {child for child, parent in parents.items() if parent in new} - found
        found |= new
    return found
