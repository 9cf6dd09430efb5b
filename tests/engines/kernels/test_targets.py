"""Kernels over tuples of arrays and of tuples, and what others compile beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.kernels.started_module import lines_of

TOWER = """
from typing import NamedTuple
import numpy as np
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kernels.stages import only

class Part(NamedTuple):
    weights: np.ndarray
    used: bool

class Whole(NamedTuple):
    values: np.ndarray
    part: Part
    flags: np.ndarray

@inner
def _filled(count, value):
    found = np.full(count, value)
    return found

@inner
def _weighted(whole, pair, nothing, used, empty):
    total = 0.0 if nothing is None else 1.0
    for i in range(len(whole.values)):
        if whole.flags[i] and whole.part.used and used:
            total += whole.values[i] * whole.part.weights[i] + pair[0] * pair[1]
    return total + len(empty), Part(whole.part.weights[1:], not used)

@inner
def _twice(whole, pair):
    first, part = _weighted(whole, pair, None, True, ())
    second, _ = _weighted(Whole(whole.values[1:], part, whole.flags[1:]), pair, 1, True, ())
    return first, second, _filled(2, first)

@kernel
def weighted(values, weights, flags):
    return _twice(Whole(values, Part(weights, True), flags), (2, 0.5))

arguments = np.array([1.0, 2.0, 4.0]), np.array([0.5, 0.25, 8.0]), np.array([True, False, True])
told = []
for mode in ("interpreted", "compiled"):
    with only(mode):
        first, second, filled = weighted(*arguments)
        told.append((float(first), float(second), filled.tolist()))
print(told[0], told[0] == told[1])
"""

# What others compile in the same process, with the same functions of NumPy, after the kernels were.
OTHERS = """
import numba

@numba.njit(nogil=True)
def filled(count, value):
    if count < 0:
        raise ValueError("negative")
    return np.full(count, value), np.zeros(count), np.arange(count)

@numba.njit
def put(target, source):
    target[:] = source

print([each.tolist() for each in filled(2, 1.5)])
for call in (filled, numba.njit(lambda size: np.empty(size))):
    try:
        call(-1, 1.5) if call is filled else call(-1)
    except ValueError as problem:
        print(problem)
try:
    put(np.zeros(2), np.zeros(3))
except ValueError as problem:
    print(str(problem)[: len("cannot assign slice")])
"""

# A slice is filled in a kernel before others fill one.
FILLING = """
@kernel
def put_in_a_kernel(target, source):
    target[:] = source

target = np.zeros(2)
with only("compiled"):
    put_in_a_kernel(target, np.array([1.0, 2.0]))
    print(target.tolist())
    try:
        put_in_a_kernel(target, np.zeros(3))
    except ValueError:
        print("refused")
"""

EXPECTED = "(34.5, 1.0, [34.5, 34.5]) True"


def test_tuples_of_arrays_and_of_tuples_have_the_same_bits_compiled(tmp_path: Path) -> None:
    assert lines_of(tmp_path, TOWER) == [EXPECTED]
    assert lines_of(tmp_path, TOWER) == [EXPECTED]  # what the first one kept


@pytest.mark.slow
def test_what_others_compile_in_the_same_process_is_as_before(tmp_path: Path) -> None:
    found = lines_of(tmp_path, TOWER + FILLING + OTHERS)
    assert found == [
        EXPECTED,
        "[1.0, 2.0]",
        "refused",
        "[[1.5, 1.5], [0.0, 0.0], [0, 1]]",
        "negative",
        "negative dimensions not allowed",
        "cannot assign slice",
    ]
