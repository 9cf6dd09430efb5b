"""A folder put in the place of another: in one step where the filesystem can, else so that nothing is lost.

Linux exchanges two names with renameat2(2), macOS with renamex_np(2).  Where neither works, the old folder is
renamed aside and the new one to its place.  A run that is killed between the two leaves both in its hidden
folder, under names that say so, and whoever next looks for the place finishes the step.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
import time
from pathlib import Path

from cepctl.atomic.leftovers import lock_of_folder, remove_folder, unfinished

NEW, OLD = "new", "old"
_AT_WORKING_DIRECTORY = -100
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2
# Kernels, filesystems and sandboxes that do not know the exchange.
_CANNOT = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EPERM}
_WAIT_SECONDS = 5.0
_LOOK_EVERY_SECONDS = 0.01


def put_in_place(folder: Path, target: Path) -> None:
    """Put the folder NEW in a `folder_beside(target)` in the target's place; what was there ends in `folder`.

    Raises
    ------
    OSError
        If it cannot be; the target is then as it was.
    """
    new = folder / NEW
    if not os.path.lexists(target):
        new.rename(target)
    elif not exchange(new, target):
        target.rename(folder / OLD)
        try:
            new.rename(target)
        except OSError:
            (folder / OLD).rename(target)
            raise


def exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; False where system or filesystem cannot."""
    libc = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin" and hasattr(libc, "renamex_np"):
        failed = libc.renamex_np(*names, _RENAME_SWAP)
    elif hasattr(libc, "renameat2"):
        here = _AT_WORKING_DIRECTORY
        failed = libc.renameat2(here, names[0], here, names[1], _RENAME_EXCHANGE)
    else:
        return False
    if not failed:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), os.fspath(other))


def restore(target: Path) -> None:
    """Finish the replacing of a target that is not there because a run was killed between its two steps.

    Where that run is still at work, its second step is waited for.
    """
    until = time.monotonic() + _WAIT_SECONDS
    while not os.path.lexists(target) and (torn := _torn(target)):
        for folder in torn:
            _finish(folder, target)
        if os.path.lexists(target) or time.monotonic() > until:
            return
        time.sleep(_LOOK_EVERY_SECONDS)


def _torn(target: Path) -> list[Path]:
    """Folders of runs that are, or were, between the two steps."""
    return [each for each in unfinished(target) if all(os.path.lexists(each / name) for name in (NEW, OLD))]


def _finish(folder: Path, target: Path) -> None:
    try:
        held = lock_of_folder(folder)
    except OSError:
        return
    if held is None:
        return
    try:
        if not os.path.lexists(target):
            (folder / NEW).rename(target)
    except OSError:
        os.close(held)  # not ours to write: the old one stays for who may
        return
    remove_folder(folder, held)
