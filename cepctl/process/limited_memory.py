"""What a process does where its memory is limited (`ulimit -v`): it never ends without a word of why.

Libraries written in C, C++ and Rust end the process where they get no memory, with words of their own or with
none, and Python calls a library whose code finds no room one that is not installed.  So libraries are not
imported where there is hardly room for them, and a small process beside this one tells what happened where it
ends before it could say so itself.

Without a limit nothing of this is done.  Imports little: it is imported before all else.
"""

import atexit
import os
import signal
import sys
from contextlib import suppress

_LIBRARIES = {"numpy": 128 << 20, "pyarrow": 288 << 20, "polars": 400 << 20, "numba": 192 << 20}
"""How much each takes while it is imported, generously: in bytes of addresses."""
_MUCH = 4 << 30
"""A limit beyond this leaves room for what libraries set aside for each thread, and do not use."""
_FEW_ADDRESSES = {
    "MALLOC_ARENA_MAX": "2",
    "OPENBLAS_NUM_THREADS": "1",
    "POLARS_MAX_THREADS": "1",
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
_M_ARENA_MAX = -8
_LITTLE = 1 << 30
"""Where less than this is left of the limit, what fails may have failed for want of memory."""
_OUT_OF_MEMORY = ("failed to map segment", "can't start new thread", "annot allocate memory", "bad_alloc")
_watched_by: list[int] = []


def limit() -> int | None:
    """How many bytes of addresses this process may have, None for any number."""
    if sys.platform != "linux":
        return None
    import resource

    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    return None if soft == resource.RLIM_INFINITY else soft


def beware() -> None:
    """Where memory is limited: look for room before libraries are imported, and have the end explained."""
    if limit() is None:
        return
    if (limit() or 0) < _MUCH:
        _take_few_addresses()
    sys.meta_path.insert(0, _RoomFirst())
    _watch()


def ends_by_itself() -> None:
    """Tell whoever watches this process that it ends as it should, and that no more need be said."""
    for writing in _watched_by:
        os.write(writing, b".")
    _watched_by.clear()


def may_be_want_of_memory(problem: BaseException | None) -> bool:
    """Whether an exception, or one that it came of, is that memory is limited, as far as one can tell."""
    allowed = limit()
    if allowed is None:
        return False
    try:
        if allowed - _most_taken() < _LITTLE:
            return True
    except MemoryError:
        return True  # there is no room to look it up
    while problem is not None:
        if isinstance(problem, MemoryError) or any(words in str(problem) for words in _OUT_OF_MEMORY):
            return True
        problem = problem.__cause__ or problem.__context__
    return False


def want_of_memory(what: str) -> str:
    """An error, and what to do."""
    return (
        f"error: not enough memory: {what}; ulimit -v allows {(limit() or 0) >> 20:,} MB of addresses\n"
        "hint: raise it (ulimit -v unlimited); --max-memory bounds what a run keeps beside its libraries\n"
    )


def _take_few_addresses() -> None:
    """Have the libraries set aside little: a small match then takes 0.9 GB of addresses instead of 2.4."""
    import ctypes

    for name, value in _FEW_ADDRESSES.items():
        os.environ.setdefault(name, value)
    # The C library has read its variable when Python begins.
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, int(_FEW_ADDRESSES["MALLOC_ARENA_MAX"]))


class _RoomFirst:
    """Finds no library; raises MemoryError where one would find no room."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        needed = _LIBRARIES.get(name)
        if needed is None:
            return
        import mmap

        try:
            mmap.mmap(-1, needed, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ).close()
        except OSError:
            raise MemoryError(f"there is no room for the library {name}") from None


def _most_taken() -> int:
    """The most bytes of addresses that this process has had."""
    with open("/proc/self/status") as status:  # noqa: PTH123
        for line in status:
            if line.startswith("VmPeak:"):
                return int(line.split()[1]) << 10
    return 0


def _watch() -> None:
    """Start a process that waits for the end of this one, and tells of it where that came unannounced."""
    reading, writing = os.pipe()
    if os.fork():
        os.close(reading)
        _watched_by.append(writing)
        os.register_at_fork(after_in_child=_watched_by.clear)
        atexit.register(ends_by_itself)
        return
    os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGTSTP):
        signal.signal(number, signal.SIG_IGN)
    os.close(writing)
    os.closerange(0, 2)
    if os.read(reading, 1) == b"":
        os.write(2, want_of_memory("a library or the system ended this run before its end").encode())
    os._exit(0)
