"""What was recorded of the clocks of a match: a line for each event, and for each table that is gone."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO

from rich.text import Text

from cepctl.render.clock_check import place_text, reading_text
from cepctl.render.pages import page_width, print_page

if TYPE_CHECKING:
    from cepctl.clocks.checks.evidence import Evidence, RecordedError

_WIDTH = 120
_MILLISECOND = 1_000_000
_UNITS = (("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1))


def print_evidence(found: Evidence, file: TextIO | None = None) -> None:
    """Print it below a match; nothing where nothing was recorded of its clocks."""
    if not (found.recorded or found.lost):
        return
    file = file or sys.stdout
    lines = [Text(f"  {line}") for line in evidence_lines(found)]
    head = Text("What was recorded of the clocks", style="bold")
    print_page([Text(""), head, *lines], file, page_width(file, _WIDTH))


def evidence_lines(found: Evidence) -> Iterator[str]:
    """The lines; times have their date where not all have the same."""
    yield from (text for _, text in _texts(found))
    yield from found.lost


def evidence_texts(found: Evidence) -> dict[str, str]:
    """What was recorded, by the id of the event; where no table tells, what has become of the tables."""
    gone = "; ".join(found.lost)
    return dict(_texts(found)) | (dict.fromkeys(sorted(found.untold), gone) if gone else {})


def _texts(found: Evidence) -> Iterator[tuple[str, str]]:
    readings = [reading_text(each.reading).partition("T") for each in found.recorded]
    dated = len({day for day, *_ in readings}) > 1
    for each, (day, _, time) in zip(found.recorded, readings, strict=True):
        at = f"{day} {time}" if dated else time
        yield each.event, f"{each.host} at {at.removesuffix('Z').removesuffix('.000')}: {_sentence(each)}"


def _sentence(each: RecordedError) -> str:
    """By how much the clock was ahead, in the largest unit that the bounds reach, to a tenth."""
    (ahead, least, most), unit = in_one_unit(each.ahead, each.least, each.most)
    place = place_text(each.source, each.line)
    return f"{ahead} {unit} ahead, {least} to {most} {unit}{f', {place}' if place else ''}"


def in_one_unit(*nanoseconds: int) -> tuple[list[str], str]:
    """Lengths of time in the largest unit that one of them reaches, to a tenth, and the unit.

    Examples
    --------
    >>> in_one_unit(5_920_000, -28_080_000), in_one_unit(0)
    ((['5.9', '-28.1'], 'ms'), (['0'], 'ns'))
    """
    largest = max(map(abs, nanoseconds))
    unit, size = next((one for one in _UNITS if largest >= one[1]), _UNITS[-1])
    return [_tenths(value / size) for value in nanoseconds], unit


def _tenths(value: float) -> str:
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def evidence_facts(found: Evidence) -> dict[str, Any]:
    """What was recorded, as JSON has it; empty where nothing was of the clocks of the match."""
    recorded = [
        {
            "event": each.event,
            "host": each.host,
            "reading": reading_text(each.reading),
            "ahead_ms": each.ahead / _MILLISECOND,
            "at_least_ms": each.least / _MILLISECOND,
            "at_most_ms": each.most / _MILLISECOND,
            "source": each.source,
            "line": each.line,
        }
        for each in found.recorded
    ]
    kept = {"recorded": recorded, "recorded_lost": list(found.lost)}
    return {name: values for name, values in kept.items() if values}
