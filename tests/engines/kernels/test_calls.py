"""Kernels that call kernels: failures reach Python from any depth, and nothing leaks on the way."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engines.kernels.started_module import lines_of

FAILING = """
from typing import NamedTuple
import numpy as np
from numba.core.runtime.nrt import rtsys
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kernels.stages import only

class Found(NamedTuple):
    values: np.ndarray
    used: bool
    size: int

@inner
def _checked(values, least):
    if len(values) < least:
        raise ValueError("too few")
    return Found(values[least:], len(values) > least, least)

@inner
def _either(values, least):
    if least < 0:
        return None
    return len(values) - least

@inner
def _nothing(values):
    values[0] += 1.0

@kernel
def deep(values, least):
    copied = values + 1.0
    _nothing(copied)
    found = _checked(copied, least)
    again = _checked(found.values, 1 if found.used else 9)
    left = _either(again.values, least - 2)
    return copied, again.values, -1 if left is None else left

@kernel
def caught(values, least):
    try:
        found = _checked(values, least)
    except Exception:
        return -1
    return found.size

def told(call, *arguments):
    try:
        found = call(*arguments)
    except (ValueError, MemoryError) as problem:
        return f"{type(problem).__name__}: {problem}"
    return [np.asarray(each).tolist() for each in (found if isinstance(found, tuple) else (found,))]

for mode in ("interpreted", "compiled"):
    with only(mode):
        print([told(call, np.arange(4.0), least) for call in (deep, caught) for least in (1, 2, 3, 4, 9)])
with only("compiled"):
    before = rtsys.get_allocation_stats()
    for _ in range(50):
        told(deep, np.arange(4.0), 2)
    after = rtsys.get_allocation_stats()
print(after.mi_alloc - before.mi_alloc == after.mi_free - before.mi_free)
(checked,) = _checked.dispatcher().overloads.values()
text = str(checked.library._final_module)
print("alloca ptr" in text, "7cpython" in text, "cfunc" in text)
"""


def test_a_failure_reaches_python_from_any_depth_and_what_may_be_nothing_is_told(tmp_path: Path) -> None:
    interpreted, compiled, freed, *_ = lines_of(tmp_path, FAILING)
    assert compiled == interpreted
    assert interpreted.count("ValueError: too few") == 2
    assert freed == "True"


@pytest.mark.slow
def test_inner_kernels_have_no_place_for_failures_and_no_way_in_from_python(tmp_path: Path) -> None:
    assert lines_of(tmp_path, FAILING)[-1] == "False False False"
