"""A clock over calls of kernels that are interpreted: it can end one that would better be begun again.

A kernel that is interpreted goes on for as long as it has work.  One thread looks at all calls that are
under way, now and then, and asks each whether it should go on.  What should not is ended by an exception,
which the interpreter raises in the thread of the call between two of its steps.

So whatever that thread does from then on may be cut short, and a lock that is taken by code in Python would
stay locked: a call takes one of C alone, and what it leaves undone the clock does.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Lock, Thread, get_ident
from types import TracebackType
from typing import Self

_BETWEEN_LOOKS = 0.05  # seconds
_LOOKS_IN_VAIN = 40
"""After so many looks at no call the clock ends; the next call starts one."""
_ARRIVES_WITHIN = 1.0  # seconds; what was sent comes at one of the next steps
_raise_in_thread = ctypes.pythonapi.PyThreadState_SetAsyncExc
_calls: dict[int, Watched] = {}
_lock = Lock()
_watching: list[Thread] = []


class TooSlowError(Exception):
    """A call is to be begun again, compiled."""


class Watched:
    """A call under way, watched while the block lasts, and the question whether it has lasted too long.

    Raises
    ------
    TooSlowError
        As soon as the call should end; never after the block.
    """

    def __init__(self, should_end: Callable[[float], bool]) -> None:
        self.should_end = should_end
        self.over = self.sent = False
        self._clock = time.pthread_getcpuclockid(get_ident())
        self._began = time.thread_time()

    def seconds(self) -> float:
        """How much processor time it has taken, so that other work of the machine does not count."""
        try:
            return time.clock_gettime(self._clock) - self._began
        except OSError:  # its thread has just ended
            return 0.0

    def __enter__(self) -> Self:
        thread = get_ident()
        with _lock:
            if not (_watching and _watching[0].is_alive()):
                _watching[:] = [Thread(target=_look, daemon=True, name="kernels")]
                # Where no thread can be had the call goes on, watched by nobody.
                with suppress(RuntimeError):
                    _watching[0].start()
            _calls[thread] = self
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Have no exception come any more; one that was sent is awaited here.

        To call it back would leave a signal behind that the interpreter (3.11) never takes down: each of its
        steps takes longer from then on, and under a profiler it goes round in a circle.
        """
        try:
            with _lock:
                self.over = True
            until = time.monotonic() + _ARRIVES_WITHIN
            while self.sent and kind is not TooSlowError and time.monotonic() < until:
                time.sleep(0)
        except TooSlowError:
            pass


def _look() -> None:
    vain = 0
    while vain < _LOOKS_IN_VAIN:
        time.sleep(_BETWEEN_LOOKS)
        for thread, call in list(_calls.items()):
            if not call.over and call.should_end(call.seconds()):
                with _lock:
                    if not call.over:
                        call.over = call.sent = True
                        _raise_in_thread(ctypes.c_ulong(thread), ctypes.py_object(TooSlowError))
        with _lock:
            for thread, call in list(_calls.items()):
                if call.over:
                    del _calls[thread]
            vain = 0 if _calls else vain + 1
            if vain == _LOOKS_IN_VAIN:
                _watching.clear()
