"""Commands of cepctl, each in a process of its own that has started up already, to be killed at work.

Reads a JSON object per line and writes how the command ended, as subprocess gives it:

    words       the words of the command
    folder      its working directory; temporary files go into `tmp` in it where that is a directory
    seconds     after how many seconds it is killed
    strace      options of strace, under which it runs: a kill at a system call, or a record of them
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from cepctl.cli import main
from tests.loaded_program import load_program


def run(asked: dict[str, Any]) -> int:
    """Fork a child for one command; returns its exit code, negative where a signal ended it."""
    # Only imports have happened here: no library has begun threads that a fork would lose.
    child = os.fork()
    if not child:
        _be_the_command(asked)
    traced = None
    if asked.get("strace"):
        os.waitpid(child, os.WUNTRACED)
        traced = subprocess.Popen(["strace", "-qq", *asked["strace"], "-p", str(child)], stderr=2)
        while "TracerPid:\t0" in Path(f"/proc/{child}/status").read_text():
            time.sleep(0.002)
        os.kill(child, signal.SIGCONT)
    if asked.get("seconds") is not None:
        time.sleep(asked["seconds"])
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if traced is not None:
        traced.wait()
    return code


def _be_the_command(asked: dict[str, Any]) -> None:
    os.dup2(2, 1)
    os.chdir(asked["folder"])
    if Path("tmp").is_dir():
        tempfile.tempdir = str(Path("tmp").absolute())
    if asked.get("strace"):
        os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(main(asked["words"]))


if __name__ == "__main__":
    load_program()
    for line in sys.stdin:
        sys.stdout.write(f"{run(json.loads(line))}\n")
        sys.stdout.flush()
