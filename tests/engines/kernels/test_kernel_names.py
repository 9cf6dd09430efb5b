"""Kernels that several processes compiled call their own functions where one process loads them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cepctl.engines.kernels.keys import name_uniquely

# Sorting is done by the seventh function that Numba compiles for the first kernel, and so is what the second
# does; to Numba both are `run_quicksort1` of an array of whole numbers.
KERNELS = """
import sys
import numpy as np
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kernels.stages import only

@kernel
def ordered(values):
    return np.sort(values)

@inner
def _first(values):
    return values

@inner
def _second(values):
    return values

@inner
def _third(values):
    return values

@kernel
def order(values):
    return np.argsort(_first(_second(_third(values))))

values = np.random.default_rng(1).permutation(40)
with only("compiled"):
    for name in sys.argv[2:]:
        called = globals()[name]
        print(np.array_equal(called.function(values), called(values.copy())))
"""
STARTED = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
import cepctl.engines
found = spec_from_file_location("cepctl.engines.sorting", sys.argv[1])
sys.modules[found.name] = module = module_from_spec(found)
found.loader.exec_module(module)
"""
FORKED = """
import os
import cepctl.engines, numba
from numba.core.bytecode import FunctionIdentity
child = os.fork()
os.write(1, f"{next(FunctionIdentity._unique_ids)} ".encode())
if child:
    print(os.waitpid(child, 0)[1])
"""


def told(*command: str, cache: Path) -> list[str]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-c", *command], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize("together", [("ordered", "order"), ("order", "ordered")], ids=" ".join)
def test_kernels_of_two_processes_meet_without_taking_the_functions_of_each_other(
    together: tuple[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "sorting.py"
    file.write_text(KERNELS)
    for name in together:
        assert told(STARTED, str(file), name, cache=tmp_path) == ["True"]
    assert told(STARTED, str(file), *together, cache=tmp_path) == ["True", "True"]


def test_processes_that_are_forked_number_apart(tmp_path: Path) -> None:
    first, second, failed = (int(number) for number in told(FORKED, cache=tmp_path))
    assert not failed
    assert abs(first - second) >= 1 << 32


def test_numbers_of_one_process_follow_each_other() -> None:
    class Identity:
        pass

    name_uniquely(Identity)
    numbers = Identity._unique_ids  # type: ignore[attr-defined]
    first = next(numbers)
    assert next(numbers) == first + 1
    assert first >= 1 << 32
