"""How much of some work is done, and about how long the rest takes: one forecast for all progress."""

from __future__ import annotations

_TOLD_FROM = 2.0
_MINUTE = 60


def ahead_text(done: int, parts: int, seconds: float) -> str:
    """How much of equal parts is done after some seconds, and about how long the others take.

    The time left is shown from two seconds on: before, it would be no news.

    Examples
    --------
    >>> ahead_text(1, 4, 0.5), ahead_text(1, 4, 5.0), ahead_text(9, 10, 1800.0)
    ('25 %', '25 %, about 15 s left', '90 %, about 3 min left')
    """
    share = f"{100 * done // parts} %"
    if seconds < _TOLD_FROM or not 0 < done < parts:
        return share
    left = max(round(seconds_left(done, parts, seconds)), 1)
    return (
        f"{share}, about {left} s left"
        if left < 2 * _MINUTE
        else f"{share}, about {left // _MINUTE} min left"
    )


def seconds_left(done: float, parts: float, seconds: float) -> float:
    """How long the parts that are left take, as long as those that are done: the model of all forecasts."""
    return seconds * max(parts - done, 0) / done
