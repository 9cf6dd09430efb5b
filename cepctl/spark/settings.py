"""The settings of a Spark session: quiet, quick to start, and the user's own, which win."""

from __future__ import annotations

from collections.abc import Sequence

from cepctl.spark.jobs import persistent

# What keeps a command quiet and quick to start.
QUIET = {
    "spark.app.name": "cepctl",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_LOCAL_SETTINGS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.python.daemon.module": "cepctl.spark.worker_daemon",
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
