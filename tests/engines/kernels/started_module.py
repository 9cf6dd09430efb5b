"""Programs that define kernels, each run as a module of the engines in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# The engines alone keep their kernels so.
STARTED = """
import sys
from importlib.util import module_from_spec, spec_from_file_location
import cepctl.engines
found = spec_from_file_location("cepctl.engines.tower", sys.argv[1])
sys.modules[found.name] = module = module_from_spec(found)
found.loader.exec_module(module)
"""


def lines_of(folder: Path, program: str) -> list[str]:
    """The lines that a program prints; its kernels are kept in `folder`, and arrays are counted."""
    file = folder / "tower.py"
    file.write_text(program)
    settings = {"NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0", "NUMBA_NRT_STATS": "1"}
    command = [sys.executable, "-c", STARTED, str(file)]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
