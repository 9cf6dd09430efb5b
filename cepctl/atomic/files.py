"""A file that appears whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from cepctl.atomic.leftovers import hidden_name, lock_of_file, remove_leftovers_of
from cepctl.atomic.places import real_place
from cepctl.atomic.unfinished import begin, finish


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
