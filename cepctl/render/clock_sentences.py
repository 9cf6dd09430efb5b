"""What of a clock's offset explains a match, in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepctl.render.counting import ticks_text
from cepctl.schema import TimeUnit

if TYPE_CHECKING:
    from cepctl.engines.diagnosis.valid_intervals import OffsetShown


def clock_sentence(offset: OffsetShown, unit: TimeUnit) -> str:
    """A clock and where it may be for a match.

    What is added to a reading is by how much the clock is behind.
    """
    least, most = offset.valid_lower, offset.valid_upper
    whose = owner_of(offset.clock)
    if offset.other is None:
        return f"{whose} clock: {_span(least, most, unit, 'on time')} explains it"
    other = owner_of(offset.other)
    if least == most == 0:
        return f"{whose} clock: as far off as {other} explains it"
    return f"{whose} clock: {_span(least, most, unit, 'level')} against {other} explains it"


def owner_of(clock: str) -> str:
    """Whose a clock is, as the rule `by` named it or as it is called.

    Examples
    --------
    >>> owner_of("node=node07"), owner_of("master")
    ("node07's", "master's")
    """
    return f"{clock.partition('=')[2] or clock}'s"


def _span(least: int, most: int, unit: TimeUnit, even: str) -> str:
    """From one offset to another: 0 to 2.5 s behind, 1 s ahead to 2 s behind."""
    if least == most:
        return _off(least, unit, even)
    if least >= 0 or most <= 0:
        near, far = sorted((abs(least), abs(most)))
        begin = ticks_text(near, unit) if near else "0"
        return f"{begin} to {_off(far if least >= 0 else -far, unit, even)}"
    return f"{_off(least, unit, even)} to {_off(most, unit, even)}"


def _off(offset: int, unit: TimeUnit, even: str) -> str:
    if offset == 0:
        return even
    return f"{ticks_text(abs(offset), unit)} {'behind' if offset > 0 else 'ahead'}"
