"""What is said of hulls of clocks: a line per host, one for all, and orders that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from cepctl.clocks.hulls.event_hulls import HullSummary
from cepctl.clocks.hulls.table import Hulls
from cepctl.render.clock_check import milliseconds, reading_text
from cepctl.render.clocks import instant
from cepctl.render.counting import counted

_MICROSECOND = 1_000
_NAMED = 3


def hull_line(hull: HullSummary, reference: str) -> str:
    """The figures of a host on one line."""
    if hull.host == reference:
        return f"{hull.host}: the reference, {instant(hull.first)} to {instant(hull.last)}"
    ahead, ahead_to = (milliseconds(_rounded(each)) for each in (hull.ahead, hull.ahead_to))
    off = milliseconds(-(-hull.off // _MICROSECOND) * _MICROSECOND)
    return (
        f"{hull.host}: ahead by {ahead} ms at {instant(hull.first)}, {ahead_to} ms at {instant(hull.last)}, "
        f"within {off} ms; {counted(hull.pieces, 'piece')} in "
        f"{counted(hull.epochs, 'epoch')}"
    )


def pairs_line(found: Hulls) -> str:
    """How much the hulls were made of."""
    halved = f", {counted(found.halved, 'window')} without a line halved" if found.halved else ""
    return f"{counted(found.pairs, 'ordered pair')} of events of two hosts{halved}"


def _rounded(nanoseconds: int) -> int:
    """To the nearest microsecond."""
    return (nanoseconds + _MICROSECOND // 2) // _MICROSECOND * _MICROSECOND


def contradiction_lines(found: Hulls, drift: str) -> Iterator[str]:
    """The worst orders that contradict each other, and what to do."""
    table = found.contradictions
    for row in table.head(_NAMED).iter_rows(named=True):
        yield from _contradiction(row, drift)
    if table.height > _NAMED:
        yield f"and {counted(table.height - _NAMED, 'pair')} of orders more"
    yield (
        "so a clock was set between, or an order is wrong; say in IF which events are meant, or allow more "
        "with --drift or --granularity"
    )


def _contradiction(row: dict[str, Any], drift: str) -> Iterator[str]:
    host, other = row["host"], row["other"] or "events without a host"
    yield (
        f"no clocks that drift apart by at most {drift} allow two orders of {host} and {other}, by "
        f"{milliseconds(row['gap'])} ms:"
    )
    sides = (
        (("first", "second", "given", "at_least", "at"), "at least"),
        (("first_to", "second_to", "given_to", "at_most", "to"), "at most"),
    )
    for names, what in sides:
        first, second, given, value, reading = (row[name] for name in names)
        yield (
            f"  {first} before {second} ({given}): {host} is ahead by {what} {milliseconds(value)} ms "
            f"at {reading_text(reading)}"
        )
