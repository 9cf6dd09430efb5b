"""Kernels that count through ranges: the same numbers as interpreted, and no division where the step is 1."""

from __future__ import annotations

from pathlib import Path

from tests.engines.kernels.started_module import lines_of

COUNTING = """
import numpy as np
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kernels.stages import only

@kernel
def up(start, stop, values):
    total, last = 0, 0
    for i in range(stop):
        for j in range(i):
            total += values[i - j] * (i + j)
    for i in range(start, stop):
        total = 3 * total + values[i]
        last = i
    return total, last

@kernel
def down(start, stop, values):
    total = 0
    for i in range(start, stop, -1):
        if values[i] == 3:
            continue
        total = 3 * total + i
    for place in range(len(values) - 1, -1, -1):
        total += values[place] * place
        if place == 1:
            break
    return total

@kernel
def wide(start, stop, step):
    total = 0
    for i in range(start, stop, 2):
        total = 3 * total + i
    for i in range(start, stop, step):
        total = 3 * total + i
    return total, len(range(start, stop, step)), start in range(stop)

@kernel
def from_the_end(values, count):
    total = 0
    for i in range(-2, count):
        total = 3 * total + values[i] + values[i + 1]
    for i in range(count):
        total += values[-1 - i] + values[i - 1] + values[len(values) - 1 - i]
    return total

@kernel
def all_of(values, rows):
    total = 0
    for i, each in enumerate(values):
        for j, row in enumerate(rows):
            total = total * 2 + each * row[i % len(row)] + i * j + rows[j, -1]
    return total

@inner
def _summed(values):
    total = 0
    for i in range(len(values)):
        for j in range(i, len(values)):
            total += values[i] + values[j]
    return total

@inner
def _thinned(values, step):
    total = 0
    for i in range(0, len(values), step):
        total += values[i]
    return total

@kernel
def both(values):
    return _summed(values) + _thinned(values, 2)

def told(call, *arguments):
    try:
        found = call(*arguments)
    except ValueError as problem:
        return str(problem)
    return np.asarray(found, int).tolist()

values, rows = np.arange(7) * 5 % 6, np.arange(6).reshape(2, 3)
cases = [(up, start, stop, values) for start in (-3, 0, 2, 6) for stop in (-2, 0, 1, 5)]
cases += [(down, start, stop, values) for start in (-3, 0, 2, 6) for stop in (-2, 0, 1, 5)]
cases += [(wide, start, stop, step) for start in (-3, 0, 4) for stop in (-2, 0, 5) for step in (-3, -1, 1, 2)]
cases += [(wide, 1, 2, 0), *((from_the_end, values, count) for count in (-2, 0, 3)), (all_of, values, rows)]
for mode in ("interpreted", "compiled"):
    with only(mode):
        print([told(*case) for case in cases])
"""

DIVISIONS = """
with only("compiled"):
    print(int(both(values)))
for each in (_summed, _thinned):
    (found,) = each.dispatcher().overloads.values()
    text = str(found.library._final_module)
    print("sdiv" in text)
"""


def test_ranges_of_any_start_and_step_give_the_same_numbers_compiled(tmp_path: Path) -> None:
    interpreted, compiled = lines_of(tmp_path, COUNTING)
    assert compiled == interpreted


def test_a_step_of_one_needs_no_division(tmp_path: Path) -> None:
    _, _, total, by_one, by_any = lines_of(tmp_path, COUNTING + DIVISIONS)
    assert int(total) > 0
    assert (by_one, by_any) == ("False", "True")
