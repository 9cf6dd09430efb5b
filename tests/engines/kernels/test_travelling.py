"""Kernels for any processor of the platform: where they are carried to, nothing is compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cepctl.engines.kernels import folders
from cepctl.engines.kernels.files import kernels_in
from cepctl.engines.kernels.folders import VARIABLE, folders_to_read
from cepctl.engines.kernels.keys import ANY, OTHERS, OWN

CALL = """
import numpy as np
from cepctl.process.doctor.warming import compiled_here
from cepctl.engines.columns.joins import _running_maximum
from cepctl.engines.kernels.stages import only
values = np.array([3, 1, 4, 1, 5, 9, 2, 6])
with only("compiled"):
    found = _running_maximum(values, np.array([0, 3, 8]))
print((values if found is None else found).tolist(), compiled_here())
"""
FOLDER = "cepctl-kernels"


def called(cache: Path, home: Path, **settings: str) -> tuple[str, int]:
    """Call a kernel in a fresh process and home; what it returned, and how many kernels were compiled."""
    home.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        VARIABLE: str(cache),
        "HOME": str(home),
        "NUMBA_DISABLE_JIT": "0",
        **settings,
    }
    done = subprocess.run(
        [sys.executable, "-c", CALL], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    returned, _, compiled = done.stdout.strip().rpartition(" ")
    return returned, int(compiled)


@pytest.fixture
def carried(tmp_path: Path) -> Path:
    """A folder of kernels for any processor, copied from where they were compiled."""
    first = tmp_path / "first"
    assert called(first, tmp_path / "home", NUMBA_CPU_NAME="generic")[1] > 0
    shutil.copytree(first, tmp_path / "second")
    shutil.rmtree(first)
    (tmp_path / "second").chmod(0o700)
    return tmp_path / "second"


def test_nothing_is_compiled_where_kernels_were_carried_to(carried: Path, tmp_path: Path) -> None:
    returned, compiled = called(carried, tmp_path / "another home")
    assert compiled == 0
    own = called(tmp_path / "nothing kept", tmp_path / "another home")
    assert own[1] > 0
    assert own[0] == returned


@pytest.mark.slow
def test_what_is_kept_is_told_by_the_machines_that_find_it(carried: Path, tmp_path: Path) -> None:
    uses = kernels_in(carried / FOLDER).uses
    assert set(uses) == {ANY}
    called(tmp_path / "own", tmp_path / "another home")
    assert set(kernels_in(tmp_path / "own" / FOLDER).uses) == {OWN}
    called(tmp_path / "others", tmp_path / "another home", NUMBA_CPU_NAME="generic", NUMBA_OPT="2")
    assert set(kernels_in(tmp_path / "others" / FOLDER).uses) == {OTHERS}


@pytest.mark.slow
def test_what_does_not_fit_is_compiled(tmp_path: Path) -> None:
    """Kernels of other settings of the compiler stand for those of another version."""
    cache, home = tmp_path / "cache", tmp_path / "home"
    returned, compiled = called(cache, home, NUMBA_CPU_NAME="generic", NUMBA_OPT="2")
    assert compiled > 0
    assert called(cache, home) == (returned, compiled)


def test_a_folder_that_others_may_write_is_passed_over(
    carried: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it holds: what it would give is compiled anew, unless another folder has it."""
    monkeypatch.setenv(VARIABLE, str(carried))
    monkeypatch.setattr(folders, "_passed_over", {})
    assert carried / FOLDER in folders_to_read()
    (carried / FOLDER).chmod(0o777)
    assert carried / FOLDER not in folders_to_read()
