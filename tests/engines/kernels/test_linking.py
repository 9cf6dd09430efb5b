"""Kernels that only kernels call: no machine code of their own, the same results, kept and read again."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOWER = """
import numpy as np
from cepctl.engines.kernels.kernel import inner, kernel
from cepctl.engines.kernels.stages import only

@inner
def _least(values):
    if len(values) == 0:
        raise ValueError("no value")
    return values.min()

@inner
def _at(values, place):
    return values[place]

@inner
def _spread(values):
    least = _least(values)
    first, last = _at(values, 0), _at(values, len(values) - 1)
    return max(values.max(), first, last) - least

@kernel
def spread(values):
    return _spread(values)

with only("compiled"):
    print(spread(np.array([3.0, 7.5])))
    try:
        spread(np.zeros(0)[:0])
    except ValueError as problem:
        print(problem)
for each in (spread, _spread, _at, _least):
    overloads = each.dispatcher().overloads
    if not overloads:
        continue
    (found,) = overloads.values()
    machine_code = found.library.get_pointer_to_function(found.fndesc.mangled_name) != 0
    loaded = sum(each.dispatcher().stats.cache_hits.values())
    print(each.__name__, machine_code, loaded)
"""


# The engines alone keep their kernels so.
STARTED = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
import cepctl.engines
found = spec_from_file_location("cepctl.engines.tower", sys.argv[1])
sys.modules[found.name] = module = module_from_spec(found)
found.loader.exec_module(module)
"""


def ran(folder: Path) -> list[str]:
    file = folder / "tower.py"
    file.write_text(TOWER)
    command = [sys.executable, "-c", STARTED, str(file)]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_only_what_python_calls_becomes_machine_code_and_all_is_kept(tmp_path: Path) -> None:
    kinds = ["spread True", "_spread False", "_at False", "_least False"]
    assert ran(tmp_path) == ["4.5", "no value", *(f"{kind} 0" for kind in kinds)]
    assert len(list(tmp_path.rglob("*.kernel"))) == len(kinds)


def test_a_kernel_is_compiled_once_for_constants_and_variables(tmp_path: Path) -> None:
    ran(tmp_path)
    assert len(list(tmp_path.rglob("tower._at-*.kernel"))) == 1


@pytest.mark.slow
def test_what_was_kept_without_machine_code_is_linked_again(tmp_path: Path) -> None:
    """What is called from Python is lost, and compiled anew with what is kept of the others."""
    told = ran(tmp_path)
    (called,) = tmp_path.rglob("tower.spread-*.kernel")
    called.unlink()
    again = ran(tmp_path)
    assert again[:2] == told[:2]
    assert again[2:] == ["spread True 0", "_spread False 1"]
