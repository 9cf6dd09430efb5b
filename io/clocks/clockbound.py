"""ClockBound's sync.log, which is known and refused: what its fields mean has not been verified.

It is JSON lines, whose envelope differs between versions of the daemon:

    3.0.0-beta.0        {"timestamp", "event": "<kind>", "<kind>": {...}, "version"}
    3.0.0-beta.1        {"event": "<kind>", "seq", "<kind>": {...}, "version"}

What is inside stands in the daemon's src/daemon/logging/synchronization.rs.  The source up to 2.0.2 could be
read, which writes no such log (it keeps its bound in shared memory); of 3.0 only what the modules beside it
say.  A bound that was misread would promise what does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO

from cepctl.errors import LogFormatError
from cepctl.io.clocks.contract import Account, ClockLog, ClockRows
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.source.text_encoding import decoded


def _first(head: bytes) -> dict[str, object]:
    line = decoded(head).lstrip().partition("\n")[0]
    try:
        found = json.loads(line) if line.startswith("{") else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def recognises(head: bytes) -> bool:
    """Whether the first line has the keys of such a log, of whatever version."""
    line = _first(head)
    return "version" in line and isinstance(line.get(str(line.get("event"))), dict)


def read(stream: IO[bytes], source: str, options: ReadOptions, account: Account) -> Iterator[ClockRows]:
    """Refuse the log by the version that it names.

    Raises
    ------
    LogFormatError
        Always.
    """
    version = _first(stream.readline()).get("version")
    raise LogFormatError(
        f"{source}: ClockBound's sync.log of version {version} is not read, as the meaning of its fields is "
        "not known for certain; write its bounds as a CSV with the columns host,time,ahead,bound (ahead 0)"
    )
    yield  # pragma: no cover


LOG = ClockLog("sync.log", "ClockBound", recognises, read)
