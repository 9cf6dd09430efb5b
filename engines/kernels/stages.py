"""When a kernel is compiled: as soon as that is cheaper than going on as it is.

    what is known of a kernel            what is done
    its compiled form is loaded          it is called
    it is kept on disk                   interpreted while that costs less than loading it
    it is not kept                       interpreted, while a process beside compiles it (beside.py)
    no process can compile and keep it   compiled here, by the call that needs it

Nobody knows how much work is left.  As with skis that are rented until the rent has cost as much as a pair,
what was spent says when to change, so that at most twice the least is paid.  Who knows that much is to come
says so (`foresee`), and nothing is rented.  A call that lasts too long is given up and begun again with the
compiled form as soon as there is one.

For a kernel that is interpreted goes on for as long as it has work.  One thread looks at all calls that are
under way, now and then, and asks each whether it should go on.  What should not is ended by an exception,
which the interpreter raises in the thread of the call between two of its steps.  So whatever that thread does
from then on may be cut short, and a lock that is taken by code in Python would stay locked: a call takes one
of C alone, and what it leaves undone the clock does.
"""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from threading import Lock, Thread, get_ident, local
from types import TracebackType
from typing import Any, Literal, Protocol, Self

import numpy as np

from cepctl.engines.kernels.beside import Signature, compile_beside, is_at_work, signature_of, size_of
from cepctl.engines.kernels.files import files_of

Mode = Literal["interpreted", "compiled", "whatever is cheaper"]
_TO_START_COMPILER = 0.4  # seconds: importing Numba
_TO_LOAD = 0.02  # seconds, of one kernel
_TO_COMPILE = 1.0  # seconds of all work that are worth a process beside
_TO_BE_COMPILED = 0.2  # seconds of work of one kernel that are worth its time
_PER_VALUE = 2e-6  # seconds, of the values in the arguments of a kernel: more than it takes to read each once
_BETWEEN_LOOKS = 0.05  # seconds
_LOOKS_IN_VAIN = 40
"""After so many looks at no call the clock ends; the next call starts one."""
_ARRIVES_WITHIN = 1.0  # seconds; what was sent comes at one of the next steps
_raise_in_thread = ctypes.pythonapi.PyThreadState_SetAsyncExc
_lock = Lock()
_watching: list[Thread] = []


class Runnable(Protocol):
    """A function that can be interpreted, loaded and compiled."""

    name: str

    @property
    def function(self) -> Callable[..., Any]:
        """What is interpreted."""
        ...

    def load(self, arguments: tuple[Any, ...]) -> bool:
        """Load what is kept of its compiled form for arguments of these types; False where nothing is."""
        ...

    def dispatcher(self) -> Any:
        """Its compiled form, which compiles what is not loaded."""
        ...


class _Inside(local):
    """Whether this thread is inside of a kernel that is interpreted."""

    kernel = False


INSIDE = _Inside()


class _Stage:
    """What this process has spent so far."""

    def __init__(self) -> None:
        self.mode: Mode = "whatever is cheaper"
        self.spent = 0.0
        self.foreseen = 0.0
        self.compiler_started = False
        self.forms: dict[tuple[str, Signature], KernelForm] = {}

    def least(self, seconds: float) -> float:
        """What all kernels take at least, of which one that is called takes so long."""
        return max(self.spent + seconds, self.foreseen)


_STAGE = _Stage()


class KernelForm:
    """A kernel for arguments of some types."""

    def __init__(self, kernel: Runnable, signature: Signature) -> None:
        self.kernel = kernel
        self.signature = signature
        self.spent = 0.0
        self.loaded = False
        self._taken: bool | None = None
        """Whether a process beside took it, to compile it; None while none was asked."""
        self._looked_at: frozenset[str] = frozenset()
        self._loading = Lock()

    def worth_changing(self, seconds: float) -> bool:
        """Whether a call that lasts so long is better compiled, and can be; else see that it can soon."""
        if self.loaded or self._loading.locked():  # by another thread
            return True
        if not self._worth_loading(seconds):
            return False
        if files_of(self.kernel.name.removeprefix("cepctl.engines.")) - self._looked_at:
            return True
        if _STAGE.least(seconds) < _TO_COMPILE or self.spent + seconds < _TO_BE_COMPILED:
            return False
        if self._taken is None:
            self._taken = compile_beside(self.kernel.name, self.signature)
        return self._is_refused()

    def _is_refused(self) -> bool:
        """Whether a process was asked for it in vain, or ended before it was there."""
        return self._taken is not None and not (self._taken and is_at_work())

    def _worth_loading(self, seconds: float) -> bool:
        """Whether it would have been cheaper to load it, if this call costs so much."""
        if _STAGE.compiler_started:
            return self.spent + seconds > _TO_LOAD
        return _STAGE.least(seconds) > _TO_START_COMPILER

    def change(self, arguments: tuple[Any, ...]) -> bool:
        """Load the compiled form; where none is kept that fits, and nobody compiles it, compile it here."""
        _STAGE.compiler_started = True
        with self._loading:
            return self.loaded or self._load(arguments)

    def _load(self, arguments: tuple[Any, ...]) -> bool:
        self._looked_at = files_of(self.kernel.name.removeprefix("cepctl.engines."))
        self.loaded = self.kernel.load(arguments) or self._is_refused()
        return self.loaded


def foresee(seconds: float) -> None:
    """Say that kernels which nobody has called yet will take so long at least, if they are interpreted."""
    _STAGE.foreseen += seconds


def run(kernel: Runnable, arguments: tuple[Any, ...]) -> Any:
    """Call a kernel in the way that is cheaper."""
    if _STAGE.mode == "compiled":
        return kernel.dispatcher()(*arguments)
    if _STAGE.mode == "interpreted" or _is_switched_off():
        return _interpreted(kernel, arguments)
    key = (kernel.name, signature_of(arguments))
    form = _STAGE.forms.get(key)
    if form is None:
        form = _STAGE.forms[key] = KernelForm(kernel, key[1])
    seconds = _PER_VALUE * size_of(arguments)
    while not form.loaded and not (form.worth_changing(seconds) and form.change(arguments)):
        try:
            return _interpreted_for_a_while(form, arguments)
        except TooSlowError:
            seconds = inf
    return kernel.dispatcher()(*arguments)


@contextmanager
def only(mode: Mode) -> Iterator[None]:
    """Run kernels in one way while this lasts, in all threads."""
    before = _STAGE.mode
    _STAGE.mode = mode
    try:
        yield
    finally:
        _STAGE.mode = before


def _is_switched_off() -> bool:
    return os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def _interpreted_for_a_while(form: KernelForm, arguments: tuple[Any, ...]) -> Any:
    began = time.thread_time()
    before = _copies(arguments)
    try:
        with Watched(form.worth_changing):
            return _interpreted(form.kernel, arguments)
    except TooSlowError:
        INSIDE.kernel = False
        _restore(arguments, before)
        raise
    finally:
        seconds = time.thread_time() - began
        form.spent += seconds
        _STAGE.spent += seconds


def _interpreted(kernel: Runnable, arguments: tuple[Any, ...]) -> Any:
    try:
        INSIDE.kernel = True
        with np.errstate(all="ignore"):  # whole numbers wrap, as compiled ones do
            return kernel.function(*arguments)
    finally:
        INSIDE.kernel = False


def _copies(arguments: tuple[Any, ...]) -> list[Any]:
    """What a kernel may write to, as it is before."""
    return [
        each.copy() if isinstance(each, np.ndarray) and each.flags.writeable
        else _copies(each) if isinstance(each, tuple)
        else None
        for each in arguments
    ]  # fmt: skip


def _restore(arguments: tuple[Any, ...], before: list[Any]) -> None:
    for each, copy in zip(arguments, before, strict=True):
        if isinstance(copy, np.ndarray):
            each[...] = copy
        elif isinstance(copy, list):
            _restore(each, copy)


_calls: dict[int, Watched] = {}


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
