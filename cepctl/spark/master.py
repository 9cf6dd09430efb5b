"""The URL of a Spark master: told to be wrong at once, where Spark itself would try for minutes."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator

from cepctl.errors import JobError, UsageError

SECONDS_TO_CONNECT = 5.0
_HERE = re.compile(r"local(\[ *(\*|[1-9]\d*) *(, *\d+ *)?\])?|local-cluster\[ *\d+ *, *\d+ *, *\d+ *\]")
_HOST = r"(?:\[[0-9A-Fa-f:.]+\]|[^\s,:/@\[\]]+)"
_STANDALONE = re.compile(rf"spark://{_HOST}:\d{{1,5}}(?:,{_HOST}:\d{{1,5}})*")
_KUBERNETES = re.compile(rf"k8s://(?:https?://)?{_HOST}(?::\d{{1,5}})?(?:/\S*)?")
_PLACE = re.compile(rf"({_HOST}):(\d+)")


def require_master(master: str) -> str:
    """The URL, if Spark knows its form; raises UsageError.

    Examples
    --------
    >>> require_master("spark://one:7077,two:7077"), require_master("local[*]")
    ('spark://one:7077,two:7077', 'local[*]')
    """
    known = (_HERE, _STANDALONE, _KUBERNETES)
    fits = master == "yarn" or any(form.fullmatch(master) for form in known)
    if not fits or any(port > 65_535 for _, port in _places(master)):
        raise UsageError(
            f"--master '{master}' is not the URL of a Spark master; write local[*], local[4], "
            "spark://HOST:7077, yarn or k8s://HOST:PORT"
        )
    return master


def require_reachable(master: str) -> None:
    """Raise JobError where no master of a standalone cluster takes a connection; others are not asked."""
    causes = []
    for host, port in _places(master) if master.startswith("spark://") else ():
        try:
            with socket.create_connection((host, port), SECONDS_TO_CONNECT):
                return
        except OSError as problem:
            told = "no answer" if isinstance(problem, TimeoutError) else problem.strerror or problem
            causes.append(f"{host}:{port}: {told}")
    if causes:
        raise JobError(f"cannot reach the Spark master {master} ({'; '.join(causes)}); is it running there?")


def _places(master: str) -> Iterator[tuple[str, int]]:
    for host, port in _PLACE.findall(master.partition("://")[2]):
        yield host.strip("[]"), int(port)
