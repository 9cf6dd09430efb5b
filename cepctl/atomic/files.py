"""Files that appear whole or not at all, where they really lie, and what is not finished yet."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cepctl.atomic.leftovers import hidden_name, lock_of_file, remove_leftovers_of

_begun: dict[Path, None] = {}


def begin(path: Path) -> None:
    """A file or folder is in the making."""
    _begun[path] = None


def finish(path: Path) -> None:
    """It is finished, or removed."""
    _begun.pop(path, None)


def remove_unfinished() -> None:
    """Remove all that is in the making; the process must end at once."""
    for path in list(_begun):
        with suppress(OSError):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)


_STICKY_FOR_ALL = stat.S_ISVTX | stat.S_IWOTH


def real_place(path: Path) -> Path:
    """The path that a link leads to; not followed is one that another has put into a folder for all.

    That is what Linux does where a file is opened (fs.protected_symlinks), but not where one is renamed.
    """
    if path.is_symlink():
        link, folder = path.lstat(), path.absolute().parent.stat()
        for_all = folder.st_mode & _STICKY_FOR_ALL == _STICKY_FOR_ALL
        if for_all and link.st_uid not in (os.geteuid(), folder.st_uid):
            return path.absolute()
    return Path(os.path.realpath(path))


def write_whole_file(file: Path, pieces: Iterable[bytes | memoryview], mode: int | None = None) -> None:
    """Write a file under a hidden name and rename it; what killed runs have left of it is removed first.

    A file that is there keeps its permissions unless `mode` gives others, and a link to it stays one.  What
    is not a file (a pipe, a terminal, /dev/null) is written to as it is.

    Raises
    ------
    OSError
        If it cannot be written; what was there is then as it was.
    """
    # Asked of the name itself: that of a pipe behind /dev/stdout leads nowhere.
    if file.exists() and not file.is_file():
        with file.open("wb") as stream:
            stream.writelines(pieces)
        return
    path = real_place(file)
    kept = stat.S_IMODE(path.stat().st_mode) if mode is None and path.is_file() else mode
    remove_leftovers_of(path)
    aside, handle = _locked_file(path)
    begin(aside)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.writelines(pieces)
            stream.flush()
            if kept is not None:
                os.fchmod(handle, kept)
            # Before the lock is given back with the handle: nobody may take it for a leftover.
            aside.replace(path)
    except BaseException:
        with suppress(OSError):
            aside.unlink()
        raise
    finally:
        finish(aside)


def _locked_file(path: Path) -> tuple[Path, int]:
    while True:
        aside = path.with_name(hidden_name(path.name))
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        if lock_of_file(handle, aside):
            return aside, handle
        os.close(handle)
