"""Kernels that take rows and stretches of arrays: the same parts as interpreted, and nothing leaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.kernels.started_module import lines_of

TAKING = """
import numpy as np
from numba.core.runtime.nrt import rtsys
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kernels.stages import only

@kernel
def stretches(values, first, last):
    whole, from_first, to_last = values[:], values[first:], values[:last]
    both, counted = values[first:last], values[2 : len(values)]
    return whole.copy(), from_first.copy(), to_last.copy(), both.copy(), counted.copy(), len(both), both.size

@kernel
def stretches_of_apart(values, first, last):
    every = values[::2]
    some = every[first:last]
    total = 0
    for i in range(len(some)):
        total = 3 * total + some[i] + some[-1]
    some[:1] = 77
    return some.copy(), every[1:].copy(), total

@kernel
def rows_of(table, row, first, last):
    own, block = table[row], table[first:last]
    column, corner = table[:, first], table[first:, 1:last]
    own[0] = -5
    block[:, 0] += 3
    return own.copy(), block.copy(), column.copy(), corner.copy(), block.shape, corner.shape, block.size

@kernel
def rows_of_turned(table, row, first, last):
    turned = table.T
    corner = turned[first:, :last]
    return turned[row].copy(), turned[first:last, 1].copy(), turned[:, -1].copy(), corner.sum()

@inner
def _kept(values, first):
    copied = values + 1
    part = copied[first:]
    again = part[1:]
    moved = again
    return moved, part[:1]

@kernel
def through_calls(values, first):
    longest, shortest = _kept(values, first)
    for _ in range(3):
        longest, other = _kept(longest, 0)
        shortest = other if len(other) else shortest
    return longest.copy(), shortest.copy()

def told(call, *arguments):
    copies = [np.array(each) if isinstance(each, np.ndarray) else each for each in arguments]
    found = call(*copies)
    return [np.asarray(each).tolist() for each in (*found, *copies)]

values, table = np.arange(9) * 5 % 7, np.arange(20).reshape(4, 5) * 3 % 11
empty, edges = np.zeros(0, np.int64), (-12, -9, -1, 0, 1, 3, 9, 30)
ends = [(some, i, j) for some in (values, values[1::3].copy()) for i in edges for j in edges]
cases = [(stretches, *each) for each in ends]
cases += [(stretches_of_apart, some, i, j) for some, i, j in ends if len(some[::2][i:j])]
cases += [(stretches, empty, i, j) for i in (-1, 0, 2) for j in (-1, 0, 2)]
cases += [(rows_of, table, row, i, j) for row in (-4, 0, 3) for i in (-4, -1, 0, 2) for j in (-3, 0, 2, 9)]
turned = [(row, i, j) for row in (-5, 0, 3) for i in (-4, 0, 2) for j in (-3, 0, 2, 9)]
cases += [(rows_of_turned, table, *each) for each in turned]
cases += [(through_calls, values, first) for first in (-3, 0, 4, 20)]
for mode in ("interpreted", "compiled"):
    with only(mode):
        print([told(*case) for case in cases])
counts = rtsys.get_allocation_stats()
print(counts.mi_alloc > 0, counts.mi_alloc == counts.mi_free)
"""

TRANSLATED = """
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kernels.stages import only
import numpy as np

@inner
def _summed(values, count):
    part, total = values[:count], 0
    for i in range(len(part)):
        total += part[i]
    return total

@inner
def _thinned(values, count):
    part, total = values[:count:2], 0
    for i in range(len(part)):
        total += part[i]
    return total

@kernel
def both(values, count):
    return _summed(values, count) + _thinned(values, count)

with only("compiled"):
    print(int(both(np.arange(9), 7)))
for each in (_summed, _thinned):
    (found,) = each.dispatcher().overloads.values()
    print("sdiv" in str(found.library._final_module))
"""


@pytest.mark.slow
def test_parts_of_arrays_are_the_same_compiled_and_none_leaks(tmp_path: Path) -> None:
    interpreted, compiled, counts = lines_of(tmp_path, TAKING)
    assert compiled == interpreted
    assert counts == "True True"


def test_a_stretch_without_a_step_needs_no_division(tmp_path: Path) -> None:
    assert lines_of(tmp_path, TRANSLATED) == ["33", "False", "True"]
