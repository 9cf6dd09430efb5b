"""One run at a time: a lock on the state directory that the system takes back when its holder dies."""

from __future__ import annotations

import fcntl
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cepctl.errors import JobError, StateHeldError

LOCK = "lock"


@contextmanager
def held(directory: Path) -> Iterator[None]:
    """Hold the state directory while the context lasts; makes the directory if there is none.

    Raises
    ------
    StateHeldError
        If another run holds it; says at once who.
    JobError
        If the directory cannot be written.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
        handle = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as problem:
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
