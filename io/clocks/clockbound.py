"""ClockBound's sync.log, which is known and refused: what its fields mean has not been verified.

It is JSON lines `{"event", "seq", "<kind>": {...}, "version"}`, whose fields differ between versions of the
daemon.  A bound that was misread would promise what does not hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO

from cepctl.errors import LogFormatError
from cepctl.io.clocks.contract import Account, Batch, ClockLog
from cepctl.io.contract.reader import ReadOptions
from cepctl.io.source.text_encoding import decoded

_KEYS = {"event", "seq", "version"}


def _first(head: bytes) -> dict[str, object]:
    line = decoded(head).lstrip().partition("\n")[0]
    try:
        found = json.loads(line) if line.startswith("{") else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def recognises(head: bytes) -> bool:
    """Whether the first line has the keys of such a log."""
    return _first(head).keys() >= _KEYS


def read(stream: IO[bytes], source: str, options: ReadOptions, account: Account) -> Iterator[Batch]:
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
