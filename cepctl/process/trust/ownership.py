"""Whether a file or folder can have been changed by somebody else; imports the standard library only.

As ssh does with its configuration: it belongs to the user of this process or to root, and nobody else may
write it.  A group that may is accepted where it is the user's own and has no other member.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

_ROOT = 0
_PRIVATE = 0o700


def unsafe_because(path: Path, *, sticky: bool = False) -> str | None:
    """Why a file or folder may be another's work, as the end of a sentence about it; None if it cannot be.

    `sticky` bears a folder in which all may make files, but nobody may touch those of others, like /tmp.

    Raises
    ------
    OSError
        If it is not there, or cannot be looked at.
    """
    return fault_of(path.stat(), sticky=sticky)


def fault_of(found: os.stat_result, *, sticky: bool = False) -> str | None:
    """As `unsafe_because`, of what stat has found."""
    if found.st_uid not in (os.geteuid(), _ROOT):
        return f"belongs to {_name_of(found.st_uid)}"
    if sticky and found.st_mode & stat.S_ISVTX:
        return None
    if found.st_mode & stat.S_IWOTH:
        return "can be written by everybody"
    if found.st_mode & stat.S_IWGRP and not _is_own_group(found.st_gid):
        return "can be written by its group"
    return None


def make_private(folder: Path) -> None:
    """Make a folder that nobody else may read or write; one of this user becomes such.

    Raises
    ------
    OSError
        If it cannot be made, or is another's.
    """
    folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    found = folder.stat()
    if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) & ~_PRIVATE:
        folder.chmod(_PRIVATE)
    fault = unsafe_because(folder)
    if fault is not None:
        raise PermissionError(errno.EPERM, f"it {fault}", str(folder))


def _name_of(user: int) -> str:
    import pwd

    try:
        return f"the user {pwd.getpwuid(user).pw_name}"
    except KeyError:
        return f"the user {user}"


def _is_own_group(group: int) -> bool:
    """Whether a group is that of one user alone, as many systems give each user one of the same name."""
    import grp
    import pwd

    if group == _ROOT:
        return True
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:
        return False
    return (
        found.gr_gid == user.pw_gid and found.gr_name == user.pw_name and set(found.gr_mem) <= {user.pw_name}
    )
