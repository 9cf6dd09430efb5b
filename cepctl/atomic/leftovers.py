"""What killed runs left behind: a lock tells it apart from what is still worked on, and it is removed.

Whatever is not finished has a hidden name of its own and a lock (flock), which the system takes back when
its holder dies, however it dies.  A folder holds its lock in a file, a file is its own.  So what has the name
and no holder is a leftover.  A folder without the file is removed only when it is empty: nobody knows whose
it is.  Between making something and locking it another run may take it for a leftover; whoever made it then
finds the lock taken, or the name gone, and begins anew.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LOCK = "cepctl.lock"
_LONGEST_NAME_BYTES = 200
_DIGITS = 12


def hidden_name(name: str) -> str:
    """A new name for what is to be called `name` once it is finished: no input of another run."""
    return f"{_stem(name)}{os.urandom(_DIGITS // 2).hex()}"


def _stem(name: str) -> str:
    short = os.fsencode(name)[:_LONGEST_NAME_BYTES]
    return f".{os.fsdecode(short)}.partial-"


def unfinished(target: Path) -> Iterator[Path]:
    """What lies beside a target under names of `hidden_name`, of this user."""
    yield from _named(target.parent, _stem(target.name))


def _named(parent: Path, stem: str) -> Iterator[Path]:
    wanted = re.compile(re.escape(stem) + rf"[0-9a-f]{{{_DIGITS}}}")
    try:
        with os.scandir(parent) as entries:
            found = sorted(entry.name for entry in entries if wanted.fullmatch(entry.name))
    except OSError:
        return
    for name in found:
        with suppress(OSError):
            if (parent / name).lstat().st_uid == os.geteuid():
                yield parent / name


def remove_leftovers(parent: Path, stem: str) -> None:
    """Remove what killed runs left in a folder under names that begin so and end as `hidden_name` does."""
    for path in _named(parent, stem):
        _remove_leftover(path)


def remove_leftovers_of(target: Path) -> None:
    """Remove what killed runs left beside a target; what another run works on stays."""
    remove_leftovers(target.parent, _stem(target.name))


def _remove_leftover(path: Path) -> None:
    with suppress(OSError):
        kind = path.lstat().st_mode
        if stat.S_ISREG(kind):
            handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
            try:
                if _locked(handle) and is_at(handle, path):
                    path.unlink()
            finally:
                os.close(handle)
        elif stat.S_ISDIR(kind) and (path / LOCK).exists():
            if (held := lock_of_folder(path)) is not None:
                remove_folder(path, held)
        elif stat.S_ISDIR(kind):
            path.rmdir()


def lock_of_folder(folder: Path) -> int | None:
    """Lock a folder; the handle that holds the lock, None where another run has it or the folder is gone."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except FileNotFoundError:
        return None
    try:
        if _locked(handle) and is_at(handle, folder / LOCK):
            return handle
    except OSError:
        os.close(handle)
        raise
    os.close(handle)
    return None


def remove_folder(folder: Path, held: int) -> None:
    """Remove a folder whose lock is held, the lock last, and give the lock back."""
    try:
        for entry in folder.iterdir():
            if entry.name == LOCK:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
        (folder / LOCK).unlink(missing_ok=True)
        folder.rmdir()
    except OSError:
        return  # someone else writes there, too: the next run sees to it
    finally:
        os.close(held)


def _locked(handle: int) -> bool:
    """Whether the lock could be had; raises OSError where the filesystem has none."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_at(handle: int, path: Path) -> bool:
    """Whether what was opened is still what the path names."""
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except OSError:
        return False


def lock_of_file(handle: int, path: Path) -> bool:
    """Lock a file that was just made; False where another run has taken it for a leftover."""
    try:
        return _locked(handle) and is_at(handle, path)
    except OSError:
        return True  # a filesystem without locks: nobody removes leftovers there
