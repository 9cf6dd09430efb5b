"""Kernels whose variables, elements and tuples become fewer instructions: same values, and nothing leaks."""

from __future__ import annotations

from pathlib import Path

from tests.engines.kernels.started_module import lines_of

BEGIN = """
from typing import NamedTuple
import numpy as np
from numba.core.runtime.nrt import rtsys
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kernels.stages import only

class Whole(NamedTuple):
    values: np.ndarray
    grid: np.ndarray
    flags: np.ndarray
    size: int
"""

VARIABLES = """
@inner
def _longer(whole, more):
    values = whole.values
    if more:
        values = np.concatenate((values, values))
    held = [whole.values, values]
    return values, held[0], whole.grid

@inner
def _later(whole, count):
    total, before, last = 0.0, whole, whole.size
    for i in range(count):
        step = whole.values[i % whole.size]
        if step > 1.5:
            before = Whole(before.grid[i % 2], whole.grid, whole.flags, i)
        elif whole.flags[i % 3]:
            last = before.size
        total += step * before.values[-1] - last
    return total, before

@kernel
def asked(values, grid, flags):
    whole = Whole(values, grid, flags, len(values))
    short, own, rows = _longer(whole, False)
    long, _, _ = _longer(whole, True)
    total, later = _later(whole, 7)
    again, _ = _later(later, 2)
    rows[-1, -2] += 1.0
    return short, long, own, rows, total, later.values, again

def told(found):
    return [each.tolist() if isinstance(each, np.ndarray) else float(each) for each in found]

def arguments():
    return np.array([1.0, 2.0, 4.0]), np.arange(6.0).reshape(2, 3), np.array([True, False, True])

with only("interpreted"):
    expected = told(asked(*arguments()))
with only("compiled"):
    print(told(asked(*arguments())) == expected)
    before = rtsys.get_allocation_stats()
    for _ in range(50):
        found = asked(*arguments())
    print(told(found) == expected)
    del found
    after = rtsys.get_allocation_stats()
    print(after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free)
"""

ELEMENTS = """
@kernel
def elements(steps, rows, line, cube, small, wide):
    out = np.zeros(8)
    out[0] = steps[-1] + steps[1]
    rows[-1, wide] = 2.5
    out[1] = rows[1, 2] + rows[-2, -1] + line[small]
    out[2] = cube[1, -1, small]
    line[-1] = 7
    out[3] = line[2] + len(steps) + len(cube)
    out[-1] = cube[0, 0, 0] > 3.0
    return out

def arguments():
    rows = np.arange(24.0).reshape(4, 6)[::2, ::2]
    return np.arange(9.0)[::-2], rows, np.arange(3), np.ones((2, 2, 2)), np.uint8(1), np.int32(2)

for mode in ("interpreted", "compiled"):
    given = arguments()
    with only(mode):
        print(elements(*given).tolist(), given[1].tolist(), given[2].tolist())
"""

COUNTED = """
@inner
def _sum(whole, count):
    total = 0.0
    for i in range(count):
        values = whole.values
        total += values[i] + whole.grid[0, i]
    return total

@inner
def _passed(whole, count):
    return _sum(whole, count)

@kernel
def summed(values, grid, flags):
    return _passed(Whole(values, grid, flags, 1), len(values))

with only("compiled"):
    print(summed(np.ones(3), np.ones((2, 3)), np.ones(2)))
for each in (_sum, _passed):
    (found,) = each.dispatcher().overloads.values()
    text = str(found.library._final_module)
    print("call void @NRT_incref" in text, "call void @NRT_decref" in text)
print("insertvalue" in text)
"""


def test_variables_have_the_same_values_compiled_and_every_array_is_freed_once(tmp_path: Path) -> None:
    assert lines_of(tmp_path, BEGIN + VARIABLES) == ["True"] * 3


def test_elements_are_found_from_both_ends_with_and_without_gaps_between_them(tmp_path: Path) -> None:
    interpreted, compiled = lines_of(tmp_path, BEGIN + ELEMENTS)
    assert compiled == interpreted


def test_what_arguments_hold_is_neither_counted_nor_put_together_again(tmp_path: Path) -> None:
    assert lines_of(tmp_path, BEGIN + COUNTED) == ["6.0", "False False", "False False", "False"]
