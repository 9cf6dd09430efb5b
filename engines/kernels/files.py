"""How compiled kernels are written and read: what is damaged is never run, and reading one compiles nothing.

A kernel has one file for every combination of types that it was called with.  Its name follows from all
that its code follows from (`keys.py`), so that no index names files, and processes that compile at
the same time write either different files or the same.  A file holds

    bytes     content
    16        what kind of file it is
    32        a checksum of the rest (BLAKE2b)
    4         the length of the key, the least byte first
    ...       the key
    ...       the code as Numba pickles it

Nothing is unpickled, let alone run, before the checksum holds.  Whatever cannot be loaded is compiled anew
and written again.  What cannot be written is compiled in every run; both are logged as warnings of
`cepctl.kernels`, and no match fails for it.

Before Numba loads a kernel it fills the tables that compiling needs: a tenth of the time of a small match.
Compiled code needs none of them but the functions that count references.

Runs before Numba is imported: imports the standard library only.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from cepctl.atomic.files import write_whole_file
from cepctl.engines.kernels.beside import compiling_begins, compiling_ended, kernel_kept
from cepctl.engines.kernels.folders import SUFFIX, folder_to_write, folders_to_read, forget_old_kernels
from cepctl.engines.kernels.keys import (
    UnknownContentError,
    any_processor,
    is_unchanged,
    key_of,
    name_of,
    name_uniquely,
    use_of,
)
from cepctl.process.trust.ownership import fault_of

_DISPATCHER = "numba.core.dispatcher"
_OURS = "cepctl.engines."
_KIND = b"cepctl kernel 1\n"
_CHECKSUM, _LENGTH = 32, 4
_MODE = 0o644
_warned: set[str] = set()


class DamagedKernelError(Exception):
    """A file is not what was written."""


def packed(key: str, code: bytes) -> bytes:
    """The content of a file."""
    name = key.encode(errors="surrogatepass")
    rest = len(name).to_bytes(_LENGTH, "little") + name + code
    return _KIND + hashlib.blake2b(rest, digest_size=_CHECKSUM).digest() + rest


def unpacked(content: bytes) -> tuple[str, bytes]:
    """Key and code of a file; raises DamagedError where a byte is missing, new or another."""
    begin = len(_KIND) + _CHECKSUM
    rest = content[begin:]
    checksum = hashlib.blake2b(rest, digest_size=_CHECKSUM).digest()
    if content[:begin] != _KIND + checksum:
        raise DamagedKernelError
    size = int.from_bytes(rest[:_LENGTH], "little")
    key = rest[_LENGTH : _LENGTH + size].decode(errors="surrogatepass")
    return key, rest[_LENGTH + size :]


def read_kernel(path: Path) -> tuple[str, bytes]:
    """Key and code of a file that nobody else can have written.

    Raises
    ------
    OSError
        If it is not there or cannot be read.
    DamagedError
        If its checksum does not hold.
    PermissionError
        If somebody else could have written it.
    """
    with path.open("rb") as stream:
        fault = fault_of(os.fstat(stream.fileno()))
        if fault is not None:
            raise PermissionError(f"{path.name} {fault}")
        return unpacked(stream.read())


@dataclass(frozen=True)
class Kernels:
    """The kernels of a folder: how many are of each use (`keys.use_of`), and why others cannot be used."""

    uses: Counter[str]
    faults: dict[Path, str]


def kernels_in(folder: Path) -> Kernels:
    """Look at each file of a folder."""
    uses, faults = Counter[str](), dict[Path, str]()
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            uses[use_of(read_kernel(path)[0])] += 1
        except DamagedKernelError:
            faults[path] = "is damaged"
        except PermissionError as problem:
            faults[path] = str(problem).removeprefix(f"{path.name} ")
        except OSError as problem:
            faults[path] = f"cannot be read: {problem.strerror}"
    return Kernels(uses, faults)


def files_of(name: str) -> frozenset[str]:
    """The files of a kernel, for whatever types, compilers and processors."""
    found = set[str]()
    for folder in folders_to_read():
        with suppress(OSError), os.scandir(folder) as entries:
            found.update(each.path for each in entries if each.name.rpartition("-")[0] == name)
    return frozenset(found)


def remove_unusable_kernels() -> None:
    """Remove what is damaged, or another's, from the folder that kernels are written to."""
    folder = folder_to_write()
    for path in kernels_in(folder).faults if folder is not None else ():
        with suppress(OSError):
            path.unlink()


class KeptKernel:
    """What is kept of a kernel: stands where Numba has a cache of its own."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel

    @property
    def cache_path(self) -> str | None:
        """Where it would be written."""
        folder = folder_to_write()
        return None if folder is None else str(folder)

    def load_overload(self, signature: Any, target: Any) -> Any:
        """What `kept` finds; where it finds nothing, Numba compiles the kernel next."""
        loaded = self.kept(signature, target)
        if loaded is None:
            compiling_begins()
        return loaded

    def kept(self, signature: Any, target: Any) -> Any:
        """The code for arguments of some types; None where nothing is kept, or what is cannot be loaded."""
        from numba.core.runtime.nrt import rtsys

        rtsys.initialize(target)
        for path, key in self._places(signature, target):
            loaded = _loaded(path, key, target)
            if loaded is not None:
                return loaded
        return None

    def is_kept(self, signature: Any, target: Any) -> bool:
        """Whether there is a file for arguments of some types, whatever is in it."""
        return any(path.exists() for path, _ in self._places(signature, target))

    def _places(self, signature: Any, target: Any) -> Iterator[tuple[Path, str]]:
        """Where the code for arguments of some types may be kept, with the key of each file."""
        processor = target.codegen().magic_tuple()
        keys = [self._key(signature, each) for each in (processor, any_processor(processor))]
        for folder in folders_to_read():
            for key in filter(None, keys):
                yield folder / self._file_name(key), key

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep what was compiled, where anything can be kept."""
        compiling_ended()
        if compiled.library.has_dynamic_globals or any(not each.can_cache for each in compiled.lifted):
            return
        key = self._key(signature, compiled.codegen.magic_tuple())
        folder = folder_to_write()
        if key is None or folder is None or not is_unchanged(self._kernel):
            return
        serialize: Any = import_module("numba.core.serialize")
        path = folder / self._file_name(key)
        try:
            write_whole_file(path, [packed(key, serialize.dumps(compiled._reduce()))], mode=_MODE)
            forget_old_kernels(folder, name_of(self._kernel))
        except OSError as problem:
            _warn_once(f"compiled kernels cannot be kept in {folder}: {problem.strerror or problem}")
            return
        kernel_kept()

    def flush(self) -> None:
        """Numba asks for this before it compiles a kernel anew, which then is written again."""

    def _key(self, signature: Any, processor: Sequence[object]) -> str | None:
        try:
            return key_of(self._kernel, signature, processor)
        except UnknownContentError:
            return None

    def _file_name(self, key: str) -> str:
        digest = hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=16).hexdigest()
        return f"{name_of(self._kernel)}-{digest}{SUFFIX}"


def _loaded(path: Path, key: str, target: Any) -> Any:
    """The code of a file, made ready to be called; None where that cannot be."""
    compiler: Any = import_module("numba.core.compiler")
    try:
        kept, code = read_kernel(path)
        if kept != key:
            raise DamagedKernelError
        parts = pickle.loads(code)
        return compiler.CompileResult._rebuild(target, *parts)
    except FileNotFoundError:
        return None
    except Exception as problem:
        fault = "is damaged" if isinstance(problem, DamagedKernelError) else f"cannot be loaded: {problem}"
        _warn_once(f"the compiled kernel {path} {fault}; it is recompiled")
        return None


def _warn_once(message: str) -> None:
    if message not in _warned:
        from cepctl.notices import KERNELS, tell

        _warned.add(message)
        tell(KERNELS, "warning", message)


def amend_numba() -> None:
    """Have Numba keep kernels so: at once if it is there, else as soon as it is imported."""
    if _DISPATCHER in sys.modules:
        _amend(sys.modules[_DISPATCHER])
    else:
        sys.meta_path.insert(0, _WhenImported())


class _WhenImported(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname == _DISPATCHER else None
        if spec is None or spec.loader is None:
            return None
        spec.loader = _Amending(spec.loader)
        return spec


class _Amending(Loader):
    def __init__(self, loader: Loader) -> None:
        self._loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        _amend(module)


def _amend(dispatcher: Any) -> None:
    """Give the kernels of the engines caches of this kind; whatever else is compiled has that of Numba."""
    enable_caching = dispatcher.Dispatcher.enable_caching

    def enable(self: Any) -> None:
        if self.py_func.__module__.startswith(_OURS):
            self._cache = KeptKernel(self)
        else:
            enable_caching(self)

    dispatcher.Dispatcher.enable_caching = enable
    name_uniquely(import_module("numba.core.bytecode").FunctionIdentity)
