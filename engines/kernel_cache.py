"""Where compiled kernels are kept, so that only the first run on a machine compiles them.

Numba keeps them beside the modules; where that cannot be written, in the user's cache directory; where
that cannot be written either, as in some containers, it fails.  There a folder among the temporary files
takes their place, which belongs to this user alone: what it holds is run.

Runs before Numba is imported: imports the standard library only.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

VARIABLE = "NUMBA_CACHE_DIR"
_OTHERS = 0o077


def settle_kernel_cache() -> None:
    """Name a folder for compiled kernels where Numba would find none."""
    if not any(_can_be_written(folder) for folder in _numbas_folders()):
        os.environ[VARIABLE] = str(_own_folder())


def kernel_folder() -> Path | None:
    """The folder that compiled kernels are written to; None where there is none."""
    return next((folder for folder in _numbas_folders() if _can_be_written(folder)), None)


def _numbas_folders() -> list[Path]:
    """Where Numba looks, in its order."""
    named = os.environ.get(VARIABLE)
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    if sys.platform == "darwin":
        caches = "~/Library/Caches"
    return [
        *([Path(named)] if named else []),
        Path(__file__).parent / "__pycache__",
        Path(caches).expanduser() / "numba",
    ]


def _can_be_written(folder: Path) -> bool:
    """Try it, as Numba does: permissions do not tell of file systems that are read-only."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _own_folder() -> Path:
    folder = Path(tempfile.gettempdir(), f"cepctl-kernels-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if folder.is_dir() and found.st_uid == os.getuid() and not found.st_mode & _OTHERS:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="cepctl-kernels-"))
