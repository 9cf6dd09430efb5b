"""What a process spares itself: half of the processor time of a small match, a fifth of reading XES.

PyArrow looks for pandas when it is first given a list, PySpark when it is imported, and importing pandas
takes longer than a small match itself.  Neither needs it for what is done here.

Python writes six methods of each dataclass as text and compiles them, which takes a fifth of the processor
time of a small match.  Most of them are never called.
"""

from __future__ import annotations

import dataclasses
import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# The libraries and the readers make hundreds of thousands of objects that stay; looking for garbage among
# them is vain.
_COLLECT_AFTER = (500_000, 50, 100)


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


def compile_methods_late() -> None:
    """Let methods of dataclasses that are made from now on be compiled when they are first called.

    For a process of our own, before it imports the rest: it changes how the standard library makes classes.
    Python 3.13 makes all methods of a class at once, and is left as it is.
    """
    if hasattr(dataclasses, _MAKES_METHOD):
        setattr(dataclasses, _MAKES_METHOD, _late(getattr(dataclasses, _MAKES_METHOD)))


_MAKES_METHOD = "_create_fn"
_Method = Callable[..., Any]


def _late(make: Callable[..., _Method]) -> Callable[..., _Method]:
    def made_late(name: str, *described: Any, **among: Any) -> _Method:
        made: list[_Method] = []

        def stand_in(*values: Any, **named: Any) -> Any:
            if not made:
                made.append(make(name, *described, **among))
                made[0].__qualname__ = stand_in.__qualname__
                for kind in type(values[0]).__mro__:
                    if kind.__dict__.get(name) is stand_in:
                        setattr(kind, name, made[0])
            return made[0](*values, **named)

        stand_in.__name__ = name
        return stand_in

    return made_late


@contextmanager
def light_start() -> Iterator[None]:
    """While a command runs, without pandas and with rare garbage collection; afterwards as it was."""
    finder, thresholds = leave_pandas_out(), gc.get_threshold()
    collect_rarely()
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        # What was made meanwhile counts as old, or the next object would have all of it looked through.
        gc.freeze()
        gc.unfreeze()
        gc.set_threshold(*thresholds)
