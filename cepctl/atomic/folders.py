"""Folders for what is not finished: locked while they are worked in, gone afterwards or with the next run."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cepctl.atomic.files import begin, finish
from cepctl.atomic.leftovers import (
    hidden_name,
    lock_of_folder,
    remove_folder,
    remove_leftovers,
    remove_leftovers_of,
)

_TEMPORARY = "cepctl-run"
_PRIVATE = 0o700


@contextmanager
def temporary_folder(parent: Path | None = None) -> Iterator[Path]:
    """A folder of this process that nobody else may read, among the temporary files or in `parent`.

    It is gone when the context ends.  What killed runs of this user have left there is removed first.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    place = Path(tempfile.gettempdir()) if parent is None else parent
    remove_leftovers(place, f".{_TEMPORARY}.partial-")
    yield from _worked_in(place / _TEMPORARY, _PRIVATE)


@contextmanager
def folder_beside(target: Path) -> Iterator[Path]:
    """A hidden folder beside a target, on the same filesystem, for what is to be renamed to it.

    It is gone when the context ends.  What killed runs have left of the same target is removed first.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    remove_leftovers_of(target)
    yield from _worked_in(target, 0o777)


def _worked_in(target: Path, mode: int) -> Iterator[Path]:
    folder, held = _locked_folder(target, mode)
    begin(folder)
    try:
        yield folder
    finally:
        remove_folder(folder, held)
        finish(folder)


def _locked_folder(target: Path, mode: int) -> tuple[Path, int]:
    while True:
        folder = target.with_name(hidden_name(target.name))
        folder.mkdir(mode=mode, parents=True)
        try:
            held = lock_of_folder(folder)
        except OSError:
            # A filesystem without locks: nobody removes leftovers there.
            return folder, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        if held is not None:
            return folder, held
