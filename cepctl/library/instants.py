"""Instants as people name them to a command: `2026-03-03T09:00:00Z`, `-24h`, `yesterday`.

What is relative counts from now, as with `journalctl --since`; a run that starts late therefore
sees less, and a scheduled one that must see everything names absolute times.
"""

from __future__ import annotations

import time

from cepctl.errors import CepctlError, UsageError

_DAY = 86_400_000_000_000
_PER_MICROSECOND = 1_000
_DAYS_BACK = {"today": 0, "yesterday": 1}


def instant(text: str, now: int) -> int:
    """The instant that a text names, in nanoseconds since 1970 UTC.

    Parameters
    ----------
    text
        An ISO 8601 time (UTC where it names no zone), `now`, `today` or `yesterday` (its midnight,
        UTC), or a duration with a minus sign: so long before now.
    now
        Nanoseconds since 1970 UTC.

    Raises
    ------
    UsageError
        If the text is nothing of these.

    Examples
    --------
    >>> instant("-2h", now=10_000_000_000_000), instant("now", now=7)
    (2800000000000, 7)
    >>> instant("yesterday", now=_DAY * 5 + 17) == _DAY * 4
    True
    """
    from cepctl.io.contract.times import parse_time
    from cepctl.schema import parse_duration

    word = text.strip().lower()
    if word == "now":
        return now
    if word in _DAYS_BACK:
        return (now // _DAY - _DAYS_BACK[word]) * _DAY
    written = parse_time(text, None)
    if written is not None:
        return written.micros * _PER_MICROSECOND + written.nanos
    try:
        length = parse_duration(word)
    except CepctlError:
        length = None
    if length is None or length > 0:
        raise UsageError(
            f"'{text}' is not an ISO 8601 time, such as 2026-03-03T09:00:00Z, a duration before now, such as "
            "-24h, or one of now, today, yesterday"
        )
    return now + round(length * _PER_MICROSECOND)


def nanoseconds_now() -> int:
    """The time on the clock of this machine, in nanoseconds since 1970 UTC."""
    return time.time_ns()
