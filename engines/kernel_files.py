"""How compiled kernels are written and read: none is taken for another, and reading one compiles nothing.

A kernel has a file of code for every combination of types that it was called with, and an index of them.
Numba reads the index, takes the next number that is free for a name, writes the index, and then the code.
Of two processes that do this for different types at one time, one can leave an index that names the code of
the other: what is then loaded reads whole numbers as if they were fractions, without an error.  Here the
name of a file of code follows from what it is for, code is there before an index names it, and indexes
change under a lock of their folder.  Where folders cannot be locked, an entry may be lost, which is
compiled again.

Before Numba loads a kernel it fills the tables that compiling needs: a tenth of the time of a small match.
Compiled code needs none of them but the functions that count references.

Runs before Numba is imported: imports the standard library only.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

_CACHING = "numba.core.caching"
_OURS = "cepctl.engines."


def amend_numba() -> None:
    """Have Numba keep kernels so: at once if it is there, else as soon as it is imported."""
    if _CACHING in sys.modules:
        _amend(sys.modules[_CACHING])
    else:
        sys.meta_path.insert(0, _WhenImported())


class _WhenImported(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(fullname, path) if fullname == _CACHING else None
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


def _amend(caching: Any) -> None:
    load_with_tables = caching.FunctionCache.load_overload

    def load_overload(self: Any, signature: Any, target: Any) -> Any:
        """What is kept of a function for arguments of some types; None where nothing is."""
        if not self._py_func.__module__.startswith(_OURS):
            return load_with_tables(self, signature, target)
        from numba.core.runtime.nrt import rtsys

        rtsys.initialize(target)
        return self._load_overload(signature, target)

    caching.IndexDataCacheFile.save = _save
    caching.FunctionCache.load_overload = load_overload


def _save(self: Any, key: Any, code: Any) -> None:
    """Keep the code of a function for arguments of some types."""
    told = hashlib.blake2b(self._dump((self._source_stamp, key)), digest_size=8)
    name = self._data_name(int.from_bytes(told.digest()))
    self._save_data(name, code)
    with _locked(self._cache_path):
        kept = self._load_index()
        if kept.get(key) != name:
            self._save_index(kept | {key: name})


@contextmanager
def _locked(folder: str) -> Iterator[None]:
    """Let no other process change indexes in a folder; some file systems know no locks."""
    opened = None
    try:
        with suppress(OSError):
            opened = os.open(folder, os.O_RDONLY)
            fcntl.flock(opened, fcntl.LOCK_EX)
        yield
    finally:
        if opened is not None:
            os.close(opened)
