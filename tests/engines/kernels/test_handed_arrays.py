"""Kernels that hand arrays to each other: what follows from less is the same, and memory is shared."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.kernels.started_module import lines_of

HANDING = """
from typing import NamedTuple
import numpy as np
from numba.core.runtime.nrt import rtsys
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kernels.stages import only

class Pair(NamedTuple):
    first: np.ndarray
    second: np.ndarray

@inner
def _told(values):
    total, rows = 0.0, values.copy()
    for each in rows.flat:
        total = 2 * total + each
    return total, values.shape, values.size, values.itemsize, values.nbytes, values.strides, len(values)

@kernel
def told(values):
    return _told(values)

@inner
def _written(pair, row):
    pair.first[row] = pair.second[row] + 1
    return Pair(pair.second, pair.first[row:])

@kernel
def written(pair, row):
    swapped = _written(pair, row)
    again = _written(Pair(swapped.first, swapped.second.copy()), 0)
    return again.first, swapped.second, pair.first

@kernel
def same(values):
    return values

def shown(found):
    return [np.asarray(each).tolist() for each in found]

def strides_aside(found):  # NumPy's are any where there is nothing
    total, shape, size, width, count, strides, length = found
    return [float(total), shape, size, width, count, strides if size else None, length]

shapes = [(0,), (5,), (1,), (0, 3), (3, 0), (1, 4), (4, 1), (3, 4), (2, 3, 4), (2, 0, 4)]
arrays = [np.arange(np.prod(shape)).reshape(shape).astype(kind) * 3
          for shape in shapes for kind in (np.int64, np.uint64, np.float64, np.bool_)]
table = np.arange(24.0).reshape(4, 6)
fixed = np.arange(4)
fixed.flags.writeable = False
arrays += [table[::2], table[:, 1:3], table.T, np.asfortranarray(table), np.arange(9)[::-2], fixed]
for mode in ("interpreted", "compiled"):
    with only(mode):
        rows = [strides_aside(told(each)) for each in arrays]
        pairs = [shown(written(Pair(np.arange(4), np.arange(4) * 5), row)) for row in (0, 2, 3)]
        given = np.arange(6)
        back = same(given)
        given[2] = 77
        print(rows, pairs, back.tolist(), np.shares_memory(given, back))
del back
counts = rtsys.get_allocation_stats()
print(counts.mi_alloc > 0, counts.mi_alloc == counts.mi_free)
"""

ARGUMENTS = """
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kernels.stages import only
import numpy as np

@inner
def _first(values, table):
    return values[0] + table[0, 0]

@kernel
def first(values, table):
    return _first(values, table)

with only("compiled"):
    print(int(first(np.arange(3) + 1, np.ones((2, 2), np.int64))))
(found,) = _first.dispatcher().overloads.values()
(function,) = [each for each in found.library._final_module.functions if "first" in each.name]
print(len(list(function.arguments)))
"""


@pytest.mark.slow
def test_what_follows_from_type_and_shape_is_as_interpreted(tmp_path: Path) -> None:
    interpreted, compiled, counts = lines_of(tmp_path, HANDING)
    assert compiled == interpreted
    assert counts == "True True"


def test_an_array_is_handed_over_as_memory_place_and_shape(tmp_path: Path) -> None:
    """Three values for the one, four for the other, and where the answer and what went wrong are told."""
    assert lines_of(tmp_path, ARGUMENTS) == ["2", "9"]
