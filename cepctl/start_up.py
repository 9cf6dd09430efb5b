"""What a process spares itself: a third of the processor time of a small match, a fifth of reading XES.

PyArrow looks for pandas when it is first given a list, PySpark when it is imported, and importing pandas
takes longer than a small match itself.  Neither needs it for what is done here.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

# The libraries and the readers make hundreds of thousands of objects that stay; looking for garbage among
# them is vain.
_COLLECT_AFTER = (100_000, 50, 100)


class _PandasLeftOut(MetaPathFinder, Loader):
    """Finds a pandas that cannot be imported."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname == "pandas" else None

    def exec_module(self, module: ModuleType) -> None:
        raise ModuleNotFoundError("cepctl leaves pandas out", name="pandas")


def leave_pandas_out() -> MetaPathFinder:
    """Hide pandas from imports; what is returned can be taken from `sys.meta_path` again."""
    finder = _PandasLeftOut()
    sys.meta_path.insert(0, finder)
    return finder


def collect_rarely() -> None:
    """Let Python look for garbage in cycles after this many more objects than by default."""
    gc.set_threshold(*_COLLECT_AFTER)


@contextmanager
def light_start() -> Iterator[None]:
    """While a command runs, without pandas and with rare garbage collection; afterwards as it was."""
    finder, thresholds = leave_pandas_out(), gc.get_threshold()
    collect_rarely()
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        gc.set_threshold(*thresholds)
