"""What this process has begun and not finished, so that it can be removed by whoever ends the process."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

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
