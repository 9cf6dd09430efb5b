"""Asks the command server for commands, and has them killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SERVER = ROOT / "tests" / "command_server.py"


class Commands:
    """Commands of cepctl by the local runner, each in a process of its own."""

    def __init__(self, said: Path) -> None:
        """What the commands say goes into the file `said`."""
        self._said = said.open("ab")
        self._server = subprocess.Popen(
            [sys.executable, str(SERVER)],
            env={**os.environ, "CEPCTL_RUNNER": "local", "PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
        )

    def run(
        self,
        words: Sequence[str],
        folder: Path,
        *,
        killed_after: float | None = None,
        strace: Sequence[str] = (),
    ) -> int:
        """One command; its exit code, negative where a signal ended it."""
        asked = {"words": [*words], "folder": str(folder), "seconds": killed_after, "strace": [*strace]}
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(asked) + "\n")
        self._server.stdin.flush()
        return int(self._server.stdout.readline())

    def end(self) -> None:
        """Let the server end."""
        self._server.communicate()
        self._said.close()
