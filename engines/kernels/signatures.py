"""Of which types the arguments of a kernel are: what tells one compiled form of it from another.

A signature is a plain value that can be told, compared, named and sent to another process without Numba.

Runs before Numba is imported: imports the standard library and NumPy only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Signature = tuple[Any, ...]


def signature_of(arguments: Sequence[Any]) -> Signature:
    """The types of some arguments.

    Examples
    --------
    >>> signature_of((np.arange(3), 2.5, (True, None)))
    (('<i8', 1, 'C', True), ('builtins', 'float'), (('builtins', 'tuple'), ('builtins', 'bool'), None))
    """
    return tuple([_kind_of(each) for each in arguments])


def _kind_of(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        flags = value.flags
        layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
        return value.dtype.str, value.ndim, layout, flags.writeable
    if value is None:
        return None
    kind = type(value)
    name = (kind.__module__, kind.__qualname__)
    return (name, *map(_kind_of, value)) if isinstance(value, tuple) else name


def size_of(arguments: Sequence[Any]) -> int:
    """How many values there are in the arrays of some arguments."""
    size = 0
    for each in arguments:
        if isinstance(each, np.ndarray):
            size += each.size
        elif isinstance(each, tuple):
            size += size_of(each)
    return size


def examples_of(signature: Signature) -> tuple[Any, ...]:
    """Arguments of these types."""
    return tuple(_example_of(kind) for kind in signature)


def _example_of(kind: Any) -> Any:
    if kind is None:
        return None
    first, *parts = kind
    if isinstance(first, tuple):
        values = [_example_of(each) for each in parts]
        made = _class_of(first)
        return tuple(values) if made is tuple else made(*values)
    if len(kind) == 4:
        return _array_of(*kind)
    return _class_of(kind)(1)


def _array_of(dtype: str, dimensions: int, layout: str, writeable: bool) -> np.ndarray:
    if layout == "A":
        made = np.zeros((4,) * dimensions, dtype)[(slice(None, None, 2),) * dimensions]
    else:
        made = np.zeros((2,) * dimensions, dtype, order="F" if layout == "F" else "C")
    made.flags.writeable = writeable
    return made


def _class_of(name: tuple[str, str]) -> Any:
    from importlib import import_module
    from operator import attrgetter

    return attrgetter(name[1])(import_module(name[0]))
