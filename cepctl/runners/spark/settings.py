"""The settings of a Spark session, quiet and quick to start, the user's own, and the URL of its master."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Sequence

from cepctl.errors import JobError, UsageError
from cepctl.runners.spark.jobs import persistent

# What keeps a command quiet and quick to start.
QUIET = {
    "spark.app.name": "cepctl",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_LOCAL_SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.python.daemon.module": "cepctl.runners.spark.worker_daemon",
}
# Half the processor time of a small job is the Java process starting: compile less, collect simply.
_LOCAL_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
JAVA_OPTIONS = "spark.driver.extraJavaOptions"
DEFAULT_MASTER = "local[*]"


def is_local(master: str) -> bool:
    """Whether a Spark master runs in this machine's own process: `local`, `local[4]`, `local[*]`."""
    return master == "local" or master.startswith("local[")


def settings(master: str, conf: Sequence[tuple[str, str]] = ()) -> dict[str, str]:
    """All Spark settings of a session; the user's `conf` wins, Java options are joined.

    Examples
    --------
    >>> settings("local[2]", [("spark.ui.enabled", "true")])["spark.ui.enabled"]
    'true'
    """
    own = {"spark.master": persistent(master), **QUIET, **(_LOCAL_SETTINGS if is_local(master) else {})}
    java_options = [_LOCAL_JAVA_OPTIONS] if is_local(master) else []
    for key, value in conf:
        if key == JAVA_OPTIONS:
            java_options.append(value)
        else:
            own[key] = value
    return own | {JAVA_OPTIONS: " ".join(java_options)}


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
            reason = "no answer" if isinstance(problem, TimeoutError) else problem.strerror or problem
            causes.append(f"{host}:{port}: {reason}")
    if causes:
        raise JobError(f"cannot reach the Spark master {master} ({'; '.join(causes)}); is it running there?")


def _places(master: str) -> Iterator[tuple[str, int]]:
    for host, port in _PLACE.findall(master.partition("://")[2]):
        yield host.strip("[]"), int(port)
