"""Where compiled kernels are kept, so that only the first run on a machine compiles them.

They lie beside the modules, of an archive that is laid over an environment also beside those of the
environment; where that cannot be written, in the user's cache directory.  Where none is
left, as in some containers, a folder among the temporary files takes their place, which belongs to this
user alone.  Kernels are read from all of these places up to the first that can be written: those that came
with a read-only installation are used, and what they lack is kept elsewhere.

What such a folder holds is run, so one that somebody else could have written is passed over.

Runs before Numba is imported: imports the standard library only.
"""

from __future__ import annotations

import glob
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

from cepctl.errors import UsageError
from cepctl.process.trust.ownership import unsafe_because

VARIABLE = "NUMBA_CACHE_DIR"
SUFFIX = ".kernel"
_CONFIGURATION = ".numba_config.yaml"
_BESIDE_MODULES = "__pycache__"
_KERNELS = "cepctl-kernels"
_KEPT_OF_ONE = 24
"""Files of one kernel: several types of arguments, states of the code, versions of compilers."""
_PRIVATE, _OTHERS = 0o700, 0o077
_passed_over: dict[Path, str] = {}


def refuse_configuration() -> None:
    """Raise UsageError if Numba would obey a configuration that lies in the working directory.

    It may name what Numba runs and where, and nothing in a folder of logs is obeyed, whoever owns it.
    """
    file = Path(_CONFIGURATION).absolute()
    if os.path.lexists(file):
        raise UsageError(
            f"{file} would be obeyed when matches are computed; remove it, or run cepctl in another directory"
        )


def folders_to_read() -> Iterator[Path]:
    """The folders of kernels that nobody else can have filled, up to the first that can be written."""
    for place in _places():
        folder = place / _KERNELS
        writable = _can_be_written(folder)
        if _is_trusted(place, folder):
            yield folder
            if writable:
                return
    own = _own_folder()
    if own is not None:
        yield own


def folder_to_write() -> Path | None:
    """The folder that compiled kernels are written to; None where there is none."""
    folder = list(folders_to_read())[-1:]
    return folder[0] if folder and _can_be_written(folder[0]) else None


def passed_over() -> list[str]:
    """Which folders are not used because others may have filled them, and why."""
    return [f"{folder} is not used: it {fault}" for folder, fault in _passed_over.items()]


def forget_old_kernels(folder: Path, name: str) -> None:
    """Remove all but the latest files of a kernel; a process that needs one compiles it again."""
    files = list(folder.glob(f"{glob.escape(name)}-*{SUFFIX}"))
    if len(files) <= _KEPT_OF_ONE:
        return
    for old in sorted(files, key=_written)[:-_KEPT_OF_ONE]:
        with suppress(OSError):
            old.unlink()


def _written(file: Path) -> int:
    try:
        return file.lstat().st_mtime_ns
    except OSError:
        return 0


def _places() -> list[Path]:
    """Below which kernels may be kept, the first choice first."""
    named = os.environ.get(VARIABLE)
    caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    if sys.platform == "darwin":
        caches = "~/Library/Caches"
    return [
        *([Path(named)] if named else []),
        Path(__file__).parent / _BESIDE_MODULES,
        *_installed(),
        Path(caches).expanduser() / "cepctl",
    ]


@cache
def _installed() -> list[Path]:
    """Beside the modules of this environment, where they are taken from an archive laid over it."""
    import sysconfig

    place = Path(sysconfig.get_path("purelib"), *__name__.split(".")[:-1], _BESIDE_MODULES)
    return [place] if place.is_dir() and place.parent != Path(__file__).parent else []


def _is_trusted(place: Path, folder: Path) -> bool:
    """Whether a folder is there and nobody else can have filled it."""
    try:
        fault = unsafe_because(place) or unsafe_because(folder)
    except OSError:
        return False
    if fault is not None:
        _passed_over[place] = fault
    return fault is None


@cache
def _can_be_written(folder: Path) -> bool:
    """Try it: permissions do not tell of all file systems that are read-only."""
    try:
        # Other users import from beside the modules, too.
        mode = 0o777 if folder.parent.name == _BESIDE_MODULES else _PRIVATE
        folder.parent.mkdir(mode=mode, parents=True, exist_ok=True)
        folder.mkdir(mode=mode, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _own_folder() -> Path | None:
    """A folder of this user alone among the temporary files; a new one where that name is another's."""
    folder = Path(tempfile.gettempdir(), f"{_KERNELS}-{os.getuid()}")
    try:
        folder.mkdir(mode=_PRIVATE, exist_ok=True)
        found = folder.lstat()
        if folder.is_dir() and found.st_uid == os.getuid() and not found.st_mode & _OTHERS:
            return folder
        return _new_folder()
    except OSError:
        return None


@cache
def _new_folder() -> Path:
    return Path(tempfile.mkdtemp(prefix=f"{_KERNELS}-"))
