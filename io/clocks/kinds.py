"""Which logs of clocks there are, in the order in which they are asked, and which rows of a host count.

Of several kinds of rows of one host the first gives the rows; the others lend their bounds.
"""

from __future__ import annotations

from cepctl.io.clocks import chrony, clockbound, messages, ntpd, plain, prometheus
from cepctl.io.clocks.contract import ClockLog

LOGS: tuple[ClockLog, ...] = (
    plain.LOG,
    prometheus.LOG,
    clockbound.LOG,
    *chrony.LOGS,
    *ntpd.LOGS,
    messages.LOG,
)

RANKS = (
    "csv",
    "tracking",
    "measurements",
    "statistics",
    "loopstats",
    "peerstats",
    "phc2sys",
    "ptp4l",
    "ts2phc",
    "prometheus",
)
"""The kinds of rows, from those that are preferred: what a user has made, then each daemon's best."""


def clock_log(head: bytes) -> ClockLog | None:
    """The log that begins so; None for any other."""
    return next((log for log in LOGS if log.recognises(head)), None)
