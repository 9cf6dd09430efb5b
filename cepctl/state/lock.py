"""One run at a time: a lock on the state directory that the system takes back when its holder dies."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cepctl.errors import JobError, StateError, StateHeldError

LOCK = "lock"
_PRIVATE = 0o700
_AS_IT_IS = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """Hold the state directory while the context lasts; makes the directory if there is none.

    Raises
    ------
    StateHeldError
        If another run holds it; says at once who.
    StateError
        If the lock is a link, a pipe, or a file that lies elsewhere, too.
    JobError
        If the directory cannot be written.
    """
    try:
        if not directory.is_dir():
            directory.parent.mkdir(parents=True, exist_ok=True)
            directory.mkdir(mode=_PRIVATE, exist_ok=True)
        # Neither a link to another's file nor a pipe without a writer.
        handle = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | _AS_IT_IS, 0o600)
        _require_own_file(directory / LOCK, handle)
    except OSError as problem:
        if problem.errno in (errno.ELOOP, errno.EMLINK):
            raise _foreign(directory / LOCK) from None
        raise JobError(
            f"cannot write the state {directory}: {problem.strerror}; let the user of this command "
            "write there, or name another directory with --state"
        ) from None
    with os.fdopen(handle, "r+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StateHeldError(f"the state {directory} is in use by {_holder(file.read())}") from None
        except OSError as problem:
            raise JobError(f"cannot lock the state {directory}: {problem.strerror}") from None
        _sign(file.fileno())
        yield


def _require_own_file(lock: Path, handle: int) -> None:
    """Refuse a lock that is not a file of the state alone: who holds it is written into it."""
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink != 1:
        os.close(handle)
        raise _foreign(lock)


def _foreign(lock: Path) -> StateError:
    return StateError(
        f"{lock} is a link, a pipe or the like, which no run has made; remove it if nobody needs it"
    )


def _sign(handle: int) -> None:
    """Write who holds the lock; a full disk does not keep a run from trying."""
    since = datetime.now(UTC).isoformat(timespec="seconds")
    who = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since})
    try:
        os.ftruncate(handle, 0)
        os.pwrite(handle, who.encode(), 0)
    except OSError:
        return


def _holder(text: str) -> str:
    try:
        who = json.loads(text)
        return f"process {who['pid']} on {who['host']} since {who['since']}; wait until it has ended"
    except (ValueError, KeyError, TypeError):
        return "another run; wait until it has ended"
