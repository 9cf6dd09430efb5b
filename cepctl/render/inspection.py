"""An inspection as tables."""

from __future__ import annotations

import sys
from datetime import UTC, datetime, timedelta
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cepctl.inspection import Grain, Inspection
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
    """A tick as ISO 8601 in UTC, or as a bare tick where the calendar does not reach."""
    try:
        return (_EPOCH + timedelta(microseconds=tick * unit.microseconds)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return f"tick {tick}"


def _overview(inspection: Inspection, unit: TimeUnit) -> str:
    lines = [f"{inspection.events:,} events of {len(inspection.types):,} types, time unit {unit}"]
    if inspection.first is not None and inspection.last is not None:
        lines.append(f"from {tick_text(inspection.first, unit)} to {tick_text(inspection.last, unit)}")
    lines.append(f"{inspection.uncertain:,} have an interval longer than one tick")
    lines.append(f"{inspection.tied:,} of {inspection.timed:,} logged times tie with another event's")
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
        return f"only {grain.distinct_times:,} distinct times"
    zone = "the written zone" if grain.local else "UTC"
    return f"{grain.share:.1%} of {grain.distinct_times:,} distinct times, in {zone}"
