"""A clock over calls of kernels that are interpreted: it can end one that would better be begun again.

A kernel that is interpreted goes on for as long as it has work.  One thread looks at all calls that are
under way, now and then, and asks each whether it should go on.  What should not is ended by an exception,
which the interpreter raises in the thread of the call between two of its steps.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread, get_ident

_BETWEEN_LOOKS = 0.05  # seconds
_raise_in_thread = ctypes.pythonapi.PyThreadState_SetAsyncExc


class TooSlowError(Exception):
    """A call is to be begun again, compiled."""


class Watched:
    """A call under way, and the question whether it has lasted too long."""

    def __init__(self, should_end: Callable[[float], bool]) -> None:
        self.should_end = should_end
        self.thread = get_ident()
        self.over = self.sent = self.arrived = False
        self._clock = time.pthread_getcpuclockid(self.thread)
        self._began = time.thread_time()

    def seconds(self) -> float:
        """How much processor time it has taken, so that other work of the machine does not count."""
        try:
            return time.clock_gettime(self._clock) - self._began
        except OSError:  # its thread has just ended
            return 0.0


_calls: dict[int, Watched] = {}
_lock = Lock()
_some = Event()
_watching: list[Thread] = []
_never = Event()


@contextmanager
def watch(call: Watched) -> Iterator[None]:
    """Watch a call while it lasts.

    Raises
    ------
    TooSlowError
        As soon as the call should end; never after.
    """
    with _lock:
        _calls[call.thread] = call
        if not (_watching and _watching[0].is_alive()):
            _watching[:] = [Thread(target=_look, daemon=True, name="kernels")]
            _watching[0].start()
    _some.set()
    try:
        yield
    except TooSlowError:
        call.arrived = True
        raise
    finally:
        _end(call)


def _end(call: Watched) -> None:
    """Have no exception come any more; one that was sent is awaited here.

    To call it back would leave a signal behind that the interpreter (3.11) never takes down: each of its
    steps takes longer from then on, and under a profiler it goes round in a circle.
    """
    while True:
        try:
            with _lock:
                call.over = True
                _calls.pop(call.thread, None)
                if not _calls:
                    _some.clear()
            while call.sent and not call.arrived:
                time.sleep(0)
        except TooSlowError:
            call.arrived = True
        else:
            return


def _look() -> None:
    while True:
        _some.wait()
        _never.wait(_BETWEEN_LOOKS)
        for call in list(_calls.values()):
            if call.should_end(call.seconds()):
                with _lock:
                    if not call.over:
                        call.over = call.sent = True
                        _raise_in_thread(ctypes.c_ulong(call.thread), ctypes.py_object(TooSlowError))
