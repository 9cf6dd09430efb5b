"""PATHs that can be read once, and by this process alone: pipes, terminals, a shell's <(command)."""

from __future__ import annotations

import os
import stat
from pathlib import Path

_OF_THIS_PROCESS = ("/dev/fd/", "/dev/stdin", "/proc/")


def is_pipe(path: Path) -> bool:
    """Whether a path of this machine is such a one; devices are not, but for terminals and /dev/null."""
    place = path.absolute()
    try:
        mode = place.stat().st_mode
    except OSError:
        return False
    if stat.S_ISCHR(mode):
        return str(place) == os.devnull or _is_terminal(place)
    if stat.S_ISREG(mode):
        return str(place).startswith(_OF_THIS_PROCESS)
    return stat.S_ISFIFO(mode)


def _is_terminal(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        return os.isatty(handle)
    finally:
        os.close(handle)
