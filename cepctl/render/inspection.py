"""An inspection as tables."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cepctl.inspection import Grain, Inspection
from cepctl.render.counting import counted
from cepctl.schema import TimeUnit

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_GRAINS_SHOWN = 40
_PIPE_WIDTH = 120


def print_inspection(inspection: Inspection, file: TextIO | None = None) -> None:
    """Print it to a file, standard output by default; NO_COLOR and pipes get plain text."""
    file = file or sys.stdout
    console = Console(file=file, width=None if file.isatty() else _PIPE_WIDTH, highlight=False)
    unit = TimeUnit.parse(inspection.time_unit)
    console.print(_overview(inspection, unit))
    console.print(_types(inspection, unit))
    if inspection.attributes:
        console.print(_attributes(inspection))
    if inspection.grains:
        console.print(_grains(inspection.grains))
    hidden = len(inspection.grains) - _GRAINS_SHOWN
    if hidden > 0:
        console.print(f"... and {hidden:,} more sources and types")


def tick_text(tick: int, unit: TimeUnit) -> str:
    """A tick as ISO 8601 in UTC with the digits of its unit; bare where the calendar does not reach."""
    digits = "seconds" if unit.microseconds % 1_000_000 == 0 else "milliseconds"
    if unit.microseconds % 1_000:
        digits = "microseconds"
    try:
        moment = _EPOCH + timedelta(microseconds=tick * unit.microseconds)
    except OverflowError:
        return f"tick {tick}"
    return moment.isoformat(timespec=digits).replace("+00:00", "Z")


def _overview(inspection: Inspection, unit: TimeUnit) -> str:
    types = counted(len(inspection.types), "type")
    lines = [f"{counted(inspection.events, 'event')} of {types}, time unit {unit}"]
    if inspection.first is not None and inspection.last is not None:
        lines.append(f"from {tick_text(inspection.first, unit)} to {tick_text(inspection.last, unit)}")
    lines.append(f"intervals longer than one tick: {inspection.uncertain:,}")
    lines.append(f"logged times that tie with another event's: {inspection.tied:,} of {inspection.timed:,}")
    return "\n".join(lines) + "\n"


def _table(title: str, *columns: str, numbers: tuple[str, ...] = ()) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left", overflow="fold")
    return table


def _types(inspection: Inspection, unit: TimeUnit) -> Table:
    table = _table("Event types", "type", "events", "first", "last", numbers=("events",))
    for facts in inspection.types:
        first, last = tick_text(facts.first, unit), tick_text(facts.last, unit)
        table.add_row(escape(facts.event_type), f"{facts.events:,}", first, last)
    return table


def _attributes(inspection: Inspection) -> Table:
    table = _table("Attributes", "name", "type", "events with a value", numbers=("events with a value",))
    for attribute in inspection.attributes:
        table.add_row(escape(attribute.name), attribute.type, f"{attribute.values:,}")
    return table


def _grains(grains: tuple[Grain, ...]) -> Table:
    table = _table(
        "Granularity of the logged times (inferred)",
        "source",
        "type",
        "granularity",
        "evidence",
    )
    for grain in grains[:_GRAINS_SHOWN]:
        table.add_row(
            escape(grain.source), escape(grain.event_type), grain.step or "unknown", _evidence(grain)
        )
    return table


def _evidence(grain: Grain) -> str:
    if grain.step is None:
        return f"only {counted(grain.distinct_times, 'distinct time')}"
    zone = "the written zone" if grain.local else "UTC"
    return f"{grain.share:.1%} of {grain.distinct_times:,} distinct times, in {zone}"
