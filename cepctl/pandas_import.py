"""Keeping pandas out of a process until Spark asks for it.

Arrow imports pandas, where it is installed, the first time that it is given an array.  That is a quarter
of a second of a short command, nothing here uses it, and an interrupt in the middle of it would be lost.
PySpark does need it, before it hands Arrow columns to Python.

Imports the standard library only.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Refusal(MetaPathFinder, Loader):
    """Finds pandas, and does not load it: who looks whether it is installed is told the truth."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname == "pandas" else None

    def exec_module(self, module: ModuleType) -> None:
        raise ModuleNotFoundError("pandas is kept out of this process", name="pandas")


_refusal = _Refusal()


def keep_pandas_out() -> None:
    """Make `import pandas` fail, unless it has been imported already."""
    if _refusal not in sys.meta_path:
        sys.meta_path.insert(0, _refusal)


def let_pandas_in() -> None:
    """Make `import pandas` work again."""
    if _refusal in sys.meta_path:
        sys.meta_path.remove(_refusal)
