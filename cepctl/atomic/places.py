"""Where an output really lies: what a link leads to is written, not the link."""

from __future__ import annotations

import os
import stat
from pathlib import Path

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
