"""Where compiled kernels are kept, so that only the first run on a machine compiles them.

They lie beside the modules; where that cannot be written, in the user's cache directory.  What the folder
holds is run, so one that somebody else could have written is passed over.  Where none is left, as in some
containers, a folder among the temporary files takes their place, which belongs to this user alone.

Numba compiles a kernel anew when its own file has changed.  But a kernel holds a copy of the functions and
constants of other files that it uses.  So every state of the engines has a folder for its kernels, and so
has every version of the compiler: one cannot read what another has written.

Runs before Numba is imported: imports the standard library only.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from cepctl.errors import UsageError
from cepctl.trust import whose_fault

VARIABLE = "NUMBA_CACHE_DIR"
_CONFIGURATION = ".numba_config.yaml"
_BESIDE_MODULES = "__pycache__"
WITHOUT_KERNELS = {_BESIDE_MODULES, "event", "measure", "point", "rows", "runners", "worlds"}
"""Rooms of the engines where nothing is compiled, and which no compiled code imports."""
_STATE = "cepctl-state-"
_COMPILERS = ("llvmlite", "numba", "numpy")
_KEPT_STATES = 4
_PRIVATE, _OTHERS = 0o700, 0o077
_passed_over: dict[Path, str] = {}


def settle_kernel_cache() -> None:
    """Name the folder for the compiled kernels of these engines, one that nobody else may have filled.

    Raises
    ------
    UsageError
        If Numba would obey a configuration in the working directory that is another's.
    """
    _refuse_configuration(Path(_CONFIGURATION).absolute())
    state = _state()
    for folder in _folders():
        fault = _fault_of(folder, state)
        if fault is None:
            os.environ[VARIABLE] = str(folder / state)
            return
        if fault:
            _passed_over[folder] = fault
    folder = _own_folder() / state
    folder.mkdir(mode=_PRIVATE, exist_ok=True)
    os.environ[VARIABLE] = str(folder)


def kernel_folder() -> Path | None:
    """The folder that compiled kernels are written to; None where there is none."""
    state = _state()
    return next((folder / state for folder in _folders() if _can_be_written(folder / state)), None)


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


def _state() -> str:
    """Names the kernels of these engines: other files, their sizes or times, or compilers give another."""
    digest = hashlib.blake2b(digest_size=8)
    for line in [*_compilers(), *sorted(_stamps(str(Path(__file__).parent)))]:
        digest.update(line.encode(errors="surrogateescape"))
    return _STATE + digest.hexdigest()


@cache
def _compilers() -> list[str]:
    return [f"{package} {metadata.version(package)}\0" for package in _COMPILERS]


def _stamps(folder: str) -> Iterator[str]:
    """Path, size and time of every module below a folder; nothing where modules are packed in a file."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(".py"):
            found = entry.stat()
            yield f"{entry.path}\0{found.st_size}\0{found.st_mtime_ns}\0"
        elif entry.name not in WITHOUT_KERNELS and entry.is_dir():
            yield from _stamps(entry.path)


def _fault_of(folder: Path, state: str) -> str | None:
    """Why kernels of a state cannot be kept below a folder; empty where it cannot be written."""
    fresh = not (folder / state).exists()
    if not _can_be_written(folder / state):
        return ""
    fault = whose_fault(folder) or whose_fault(folder / state)
    if fresh and fault is None:
        _forget_old_states(folder)
    return fault


def _forget_old_states(folder: Path) -> None:
    """Remove all but the latest few; a process that uses one compiles again what it misses."""
    states = sorted(folder.glob(f"{_STATE}*"), key=lambda each: each.lstat().st_mtime_ns)
    for old in states[:-_KEPT_STATES]:
        shutil.rmtree(old, ignore_errors=True)


def _folders() -> list[Path]:
    """Where kernels may be kept, in the order of Numba."""
    named = os.environ.get(VARIABLE)
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    if sys.platform == "darwin":
        caches = "~/Library/Caches"
    return [
        *([_without_state(Path(named))] if named else []),
        Path(__file__).parent / _BESIDE_MODULES,
        Path(caches).expanduser() / "numba",
    ]


def _without_state(folder: Path) -> Path:
    """What was named before a process, such as the one that started this, named a folder for its state."""
    return folder.parent if folder.name.startswith(_STATE) else folder


def _can_be_written(folder: Path) -> bool:
    """Try it, as Numba does: permissions do not tell of file systems that are read-only."""
    try:
        # Other users import from beside the modules, too.
        mode = 0o777 if folder.parent.name == _BESIDE_MODULES else _PRIVATE
        folder.parent.mkdir(mode=mode, parents=True, exist_ok=True)
        folder.mkdir(mode=mode, exist_ok=True)
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
