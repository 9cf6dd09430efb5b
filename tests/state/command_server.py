"""Commands of cepctl, each in a process of its own that has started up already, to be killed at work.

Reads per line a JSON list: the words of a command, and after how many seconds to kill it, null for never.
Writes how it ended, as subprocess gives it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time

import cepctl.cli.match
import cepctl.cli.match_state
import cepctl.engines.local
import cepctl.ingest.jobs
import cepctl.state.intake
import cepctl.state.store  # noqa: F401
from cepctl.cli import main
from cepctl.io.formats import known_readers

if __name__ == "__main__":
    known_readers()
    for line in sys.stdin:
        words, seconds = json.loads(line)
        # Only imports have happened here: no library has begun threads that a fork would lose.
        child = os.fork()
        if not child:
            os.dup2(2, 1)
            os._exit(main(words))
        if seconds is not None:
            time.sleep(seconds)
            os.kill(child, signal.SIGKILL)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])}\n")
        sys.stdout.flush()
