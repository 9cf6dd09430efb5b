"""Commands on damaged kernels: the same rows, a warning, and the next run finds them whole."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from cepctl.engines.kernels.folders import folder_to_write

EVENTS = "event_type,event_id,lower,upper\nA,a,1,5\nB,b,3,7\nC,c,6,9\n"
QUERY = "PATTERN SEQ(A a, B b, C c) WITHIN 9 ticks"
_COMPILED = "compiled"
PROGRAM = f"""
import sys
from cepctl.cli import main
from cepctl.engines.kernels.stages import only
with only("compiled"):
    code = main(sys.argv[1:])
from cepctl.process.doctor.warming import compiled_here
print("{_COMPILED}", compiled_here(), file=sys.stderr)
sys.exit(code)
"""
Damage = Callable[[bytes], bytes]


def flipped(share: float) -> Damage:
    def flip(content: bytes) -> bytes:
        at = min(int(share * len(content)), len(content) - 1)
        return content[:at] + bytes([content[at] ^ 0x10]) + content[at + 1 :]

    return flip


DAMAGES: tuple[Damage, ...] = (
    lambda content: b"",
    lambda content: content[: len(content) // 2],
    lambda content: content[:-1],
    *map(flipped, (0.1, 0.8)),
)
# Called from Python, so that they are loaded; quickly compiled.
DAMAGED = (
    *("columns.joins._candidates", "columns.joins._pairs", "search.search._extended"),
    *("confidence.chain.closed_form.sum_chains", "pattern.difference_constraints._tighten"),
)


@dataclass(frozen=True)
class Ended:
    """What one command left."""

    code: int
    rows: str
    said: str

    @property
    def compiled(self) -> int:
        return int(self.said.rpartition(_COMPILED)[2])


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A copy of the kernels that this checkout has, for one query and its events beside them."""
    (tmp_path / "events.csv").write_text(EVENTS)
    kernels = folder_to_write()
    assert kernels is not None
    shutil.copytree(kernels, tmp_path / "cache" / kernels.name)
    (tmp_path / "cache").chmod(0o700)
    assert match(tmp_path).code == 0
    return tmp_path


def match(folder: Path) -> Ended:
    command = [sys.executable, "-c", PROGRAM, "match", QUERY, str(folder / "events.csv"), "--runner", "local"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return Ended(done.returncode, done.stdout, done.stderr)


@pytest.mark.slow
def test_rows_are_right_whatever_is_damaged_and_the_next_run_loads_what_is_mended(kept: Path) -> None:
    whole = match(kept)
    assert (whole.code, whole.compiled) == (0, 0)
    folder = kept / "cache" / "cepctl-kernels"
    for name, damage in zip(DAMAGED, DAMAGES, strict=True):
        files = [*folder.glob(f"{name}-*")]
        assert files
        for file in files:
            file.write_bytes(damage(file.read_bytes()))
    damaged, after = match(kept), match(kept)
    assert (damaged.code, damaged.rows) == (after.code, after.rows) == (0, whole.rows)
    assert damaged.compiled >= len(DAMAGES)
    assert damaged.said.count("is damaged; it is recompiled") >= len(DAMAGES)
    assert (after.compiled, "warning" in after.said) == (0, False)


def test_doctor_names_what_is_damaged(kept: Path) -> None:
    file = next((kept / "cache" / "cepctl-kernels").iterdir())
    content = file.read_bytes()
    file.write_bytes(content[:-1])
    command = [sys.executable, "-m", "cepctl", "doctor", "--runner", "local"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kept / "cache")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    file.write_bytes(content)
    assert f"{file.name} is damaged" in done.stdout
    assert "warning  kernels" in done.stdout
