"""How much a process that compiles kernels may hold: what the compiler took it keeps, so another takes over.

Imports the standard library only.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

MOST_BYTES = 400 << 20
"""Of a process that compiles, beside a match in a container of 1 GB; one kernel takes up to 100 MB more."""
_PAGES = Path("/proc/self/statm")


def held_bytes() -> int:
    """Bytes that this process holds; where the system does not say, the most that it has held so far."""
    try:
        return int(_PAGES.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return held if sys.platform == "darwin" else held << 10
