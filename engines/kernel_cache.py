"""Where compiled kernels are kept, so that only the first run on a machine compiles them.

Numba keeps them beside the modules; where that cannot be written, in the user's cache directory; where
that cannot be written either, as in some containers, it fails.  What the folder holds is run, so one that
somebody else could have written is passed over.  Where none is left, a folder among the temporary files takes
their place, which belongs to this user alone.

Runs before Numba is imported: imports the standard library only.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from cepctl.errors import UsageError
from cepctl.trust import whose_fault

VARIABLE = "NUMBA_CACHE_DIR"
_CONFIGURATION = ".numba_config.yaml"
_BESIDE_MODULES = "__pycache__"
_PRIVATE, _OTHERS = 0o700, 0o077
_passed_over: dict[Path, str] = {}


def settle_kernel_cache() -> None:
    """Name a folder for compiled kernels where Numba would find none, or one that others may have filled.

    Raises
    ------
    UsageError
        If Numba would obey a configuration in the working directory that is another's.
    """
    _refuse_configuration(Path(_CONFIGURATION).absolute())
    usable = [folder for folder in _numbas_folders() if _can_be_written(folder)]
    faults = {folder: whose_fault(folder) for folder in usable}
    _passed_over.update({folder: fault for folder, fault in faults.items() if fault is not None})
    trusted = [folder for folder in usable if faults[folder] is None]
    if not trusted:
        os.environ[VARIABLE] = str(_own_folder())
    elif trusted[0] != usable[0]:
        os.environ[VARIABLE] = str(trusted[0])


def kernel_folder() -> Path | None:
    """The folder that compiled kernels are written to; None where there is none."""
    return next((folder for folder in _numbas_folders() if _can_be_written(folder)), None)


def passed_over() -> list[str]:
    """Which folders are not used because others may have filled them, and why."""
    return [f"{folder} is not used: it {fault}" for folder, fault in _passed_over.items()]


def _refuse_configuration(file: Path) -> None:
    try:
        fault = whose_fault(file) or whose_fault(file.parent, sticky=True)
    except OSError:
        return
    if fault is not None:
        raise UsageError(
            f"{file} would be obeyed when matches are computed, and it, or its directory, {fault}; remove "
            "it, or run cepctl in another directory"
        )


def _numbas_folders() -> list[Path]:
    """Where Numba looks, in its order."""
    named = os.environ.get(VARIABLE)
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    if sys.platform == "darwin":
        caches = "~/Library/Caches"
    return [
        *([Path(named)] if named else []),
        Path(__file__).parent / _BESIDE_MODULES,
        Path(caches).expanduser() / "numba",
    ]


def _can_be_written(folder: Path) -> bool:
    """Try it, as Numba does: permissions do not tell of file systems that are read-only."""
    try:
        # Other users import from beside the modules, too.
        folder.mkdir(mode=0o777 if folder.name == _BESIDE_MODULES else _PRIVATE, parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _own_folder() -> Path:
    folder = Path(tempfile.gettempdir(), f"cepctl-kernels-{os.getuid()}")
    try:
        folder.mkdir(mode=_PRIVATE, exist_ok=True)
        found = folder.lstat()
        if folder.is_dir() and found.st_uid == os.getuid() and not found.st_mode & _OTHERS:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="cepctl-kernels-"))
