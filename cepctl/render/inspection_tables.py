"""What an inspection found, as tables and sentences for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import timedelta

from rich.markup import escape
from rich.table import Table
from rich.text import Text

from cepctl.clocks.shared import extremes
from cepctl.inspection.clock_graph import Contradiction, MastersApart
from cepctl.inspection.clocks import ClockBound
from cepctl.inspection.disorder import FileOrder
from cepctl.inspection.granularity import Grain
from cepctl.inspection.keys import SharedKey
from cepctl.inspection.overview import Inspection
from cepctl.inspection.sampling import SampledSeries
from cepctl.inspection.suggestion import length, length_range
from cepctl.inspection.values import AttributeValues
from cepctl.inspection.written_orders import WrittenOrder
from cepctl.process.terminal import visible
from cepctl.render.console import SafeTable
from cepctl.render.counting import counted
from cepctl.schema import TimeUnit, tick_text

_TYPES_SHOWN, _ATTRIBUTES_SHOWN = 7, 9
_NAMES_SHOWN = 4
_VALUES_WIDTH = 44
_LEAST_COUNTED = 1_000
_LAYOUTS = 3


def overview(inspection: Inspection, unit: TimeUnit) -> str:
    """How many events there are, from when to when, and how sure their times are."""
    types = counted(len(inspection.types), "type")
    tied, timed = inspection.ties.tied, inspection.ties.timed
    lines = [f"{counted(inspection.events, 'event')} of {types}, time unit {unit}"]
    if inspection.first is not None and inspection.last is not None:
        lines.append(f"from {tick_text(inspection.first, unit)} to {tick_text(inspection.last, unit)}")
    lines.append(f"intervals longer than one tick: {inspection.uncertain:,}")
    if inspection.shared_clocks:
        name = min(inspection.shared_clocks)
        first, last = extremes(inspection.shared_clocks[name])
        more = "" if len(inspection.shared_clocks) == 1 else ", such as"
        count = counted(len(inspection.shared_clocks), "clock")
        lines.append(f"events share {count}{more or ':'} {name}, {first:,} to {last:,} ticks off")
    lines.append(f"logged times that tie with another event's: {tied:,} of {timed:,}")
    lines.append(f"events without a logged time: {inspection.events - timed:,}")
    lines.append(_order_summary(inspection.orders))
    lines += [f"layout of {name}: {layout}" for name, layout in inspection.layouts[:_LAYOUTS]]
    if len(inspection.layouts) > _LAYOUTS:
        lines.append(f"and of {counted(len(inspection.layouts) - _LAYOUTS, 'more file')}: --format json")
    return "\n".join(lines) + "\n"


def _order_summary(orders: Sequence[FileOrder]) -> str:
    numbered, late = sum(order.numbered for order in orders), sum(order.late for order in orders)
    if not numbered:
        return "order in the files: not known, the events have ids of their own"
    text = f"events that their file has after a later one: {late:,} of {numbered:,}"
    by_trace = sum(order.traces > 0 for order in orders)
    if not by_trace:
        return text
    of_files = "" if by_trace == len(orders) == 1 else f"{by_trace:,} of {counted(len(orders), 'file')}, "
    return f"{text}\n  ({of_files}written trace by trace: judged within each trace)"


def _table(title: str, *columns: str, numbers: Iterable[str] = ()) -> Table:
    table = SafeTable(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    right = set(numbers)
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left", overflow="fold")
    return table


def types(inspection: Inspection, unit: TimeUnit) -> Table:
    """Every type, and how many of its times tie."""
    numbers = ("events", "no time", "tied", "tied across")
    table = _table(
        "Event types (tied: same time as another of the type; across: as one of another type)",
        *("type", "events", "first", "last", "no time", "tied", "tied across"),
        numbers=numbers,
    )
    for facts in inspection.types:
        counts = (f"{count:,}" for count in (facts.untimed, facts.tied, facts.tied_across))
        first, last = tick_text(facts.first, unit), tick_text(facts.last, unit)
        table.add_row(escape(facts.event_type), f"{facts.events:,}", first, last, *counts)
    return table


def commonest_types(inspection: Inspection, unit: TimeUnit) -> Table:
    """The types that most events have."""
    table = _table("Event types", "type", "events", "first", "last", numbers=("events",))
    for facts in inspection.types[:_TYPES_SHOWN]:
        first, last = tick_text(facts.first, unit), tick_text(facts.last, unit)
        table.add_row(escape(facts.event_type), f"{facts.events:,}", first, last)
    return table


def telling_attributes(inspection: Inspection, *, one_line: bool) -> Table:
    """Those that tell events apart: keys first, then those that most events have."""
    keys = [key.name for key in inspection.keys]
    places = {name: place for place, name in reversed([*enumerate(keys)])}
    counts = {each.name: each.values for each in inspection.attributes}
    telling = [each for each in inspection.values if each.distinct > 1] or list(inspection.values)
    telling.sort(key=lambda each: (places.get(each.name, len(keys)), -counts[each.name], each.name))
    return attributes(inspection, [each.name for each in telling[:_ATTRIBUTES_SHOWN]], one_line=one_line)


def attributes(
    inspection: Inspection, names: Sequence[str] | None = None, *, one_line: bool = False
) -> Table:
    """Some attributes, or all, with the values of those that were looked at."""
    columns = ("name", "type", "events with a value", "values", "commonest, or range")
    table = _table("Attributes", *columns, numbers=("events with a value", "values"))
    known = {each.name: each for each in inspection.attributes}
    values = {each.name: each for each in inspection.values}
    for name in known if names is None else names:
        found = values.get(name)
        cells = ("", "") if found is None else (f"{found.distinct:,}", _cell(_values(found), one_line))
        table.add_row(escape(name), known[name].type, f"{known[name].values:,}", *cells)
    return table


def _values(found: AttributeValues) -> str:
    if found.least is not None and found.most is not None and found.distinct > _NAMES_SHOWN:
        return f"{found.least:.6g} .. {found.most:.6g}, half below {found.middle:.6g}"
    shown: list[str] = []
    for value, count in found.top:
        text = f"{value} ({count:,})"
        if shown and len(", ".join([*shown, text])) > _VALUES_WIDTH:
            break
        shown.append(text)
    return ", ".join(shown if len(shown) == found.distinct else [*shown, "..."])


def keys(found: Sequence[SharedKey], *, one_line: bool) -> Table:
    """What types have in common."""
    title = "Keys: types that have the same values (inferred)"
    table = _table(title, "key", "values", "types", numbers=("values",))
    for key in found:
        more = len(key.types) - _NAMES_SHOWN
        types = ", ".join(key.types[:_NAMES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
        table.add_row(escape(key.condition), f"{key.shared:,}", _cell(types, one_line))
    return table


def _cell(text: str, one_line: bool) -> str | Text:
    """What a column folds, or what is cut where the screen ends."""
    return Text(visible(text), no_wrap=True, overflow="ellipsis") if one_line else escape(text)


def orders(found: Sequence[FileOrder]) -> Table:
    """Files, and how late their events stand in them."""
    title = "Files that are not in the order of time"
    table = _table(title, "source", "after a later event", "by at most", numbers=("after a later event",))
    for order in found:
        within = ", within its trace" if order.traces else ""
        late = f"{order.late:,} of {order.numbered:,}{within}"
        table.add_row(escape(order.source), late, length_text(order.worst_microseconds))
    return table


_VERDICTS = {
    "known": "is known, and decides who was first",
    "suggested": "would decide them: --writer source,node",
    "steps back": "too many steps back to be one",
    "decides nothing": "is that of the times",
}


def written(found: Sequence[WrittenOrder]) -> Table:
    """What the order of the records of each source and host says."""
    title = "The order in which records were written"
    counts = ("events", "step back", "share a stamp", "open neighbours")
    table = _table(title, "source", "host", *counts, "the order", numbers=counts)
    for each in found:
        numbers = (each.events, each.steps_back, each.tied, each.open)
        table.add_row(
            *(escape(each.source), escape(each.host or "")),
            *(f"{number:,}" for number in numbers),
            _VERDICTS[each.verdict],
        )
    return table


def grains(found: Sequence[Grain]) -> Table:
    """How coarse the times of each source and type are."""
    title = "Granularity of the logged times (inferred)"
    table = _table(title, "source", "type", "granularity", "evidence")
    for grain in found:
        row = (grain.source, grain.event_type, grain.step or "unknown", _evidence(grain))
        table.add_row(*map(escape, row))
    return table


def _evidence(grain: Grain) -> str:
    if grain.step is None:
        return f"only {counted(grain.distinct_times, 'distinct time')}"
    zone = "the written zone" if grain.local else "UTC"
    distinct = "" if grain.distinct_times == grain.times else f" ({grain.distinct_times:,} distinct)"
    as_all = ", as of all types of the source" if grain.of_source else ""
    return f"{grain.share:.1%} of {counted(grain.times, 'time')}{distinct}, in {zone}{as_all}"


def series(found: Sequence[SampledSeries]) -> Table:
    """What is sampled at steady steps."""
    table = _table("Steady sampling (inferred)", "type", "node", "step", "evidence")
    for one in found:
        lasting = length_range(one.shortest_microseconds, one.longest_microseconds)
        evidence = f"{one.share:.1%} of {one.gaps:,} gaps last {lasting}"
        row = (one.event_type, one.node or "", length(one.step_microseconds or 0), evidence)
        table.add_row(*map(escape, row))
    return table


def clock_summary(clocks: Sequence[ClockBound], skewed: Sequence[ClockBound]) -> str:
    """How many clocks are known to be wrong."""
    bounded = f"clocks bounded by attempts and their tasks: {counted(len(clocks), 'node')}"
    return f"{bounded}, {len(skewed):,} of them provably wrong ({len(skewed) / len(clocks):.1%})\n"


def clocks(found: Sequence[ClockBound]) -> Table:
    """By how much clocks are off at least and at most."""
    columns = ("node", "clock", "offset at least", "at most", "attempts")
    table = _table("Provably wrong clocks (offset from the master's)", *columns, numbers=columns[2:])
    for clock in found:
        bounds = (clock.lowest_microseconds, clock.highest_microseconds)
        offsets = map(length_text, bounds)
        table.add_row(escape(clock.node), clock.verdict, *offsets, f"{clock.attempts:,}")
    return table


def contradictions(found: Sequence[Contradiction]) -> Table:
    """Clocks for which no offsets fit."""
    columns = ("clocks", "by")
    table = _table("Clocks for which no constant offsets fit", *columns, numbers=columns[1:])
    for each in found:
        table.add_row(escape(", ".join(each.clocks)), length_text(each.microseconds))
    return table


def apart(found: Sequence[MastersApart]) -> Table:
    """Pairs of masters, and how far apart their clocks are."""
    columns = ("master of", "and of", "offset at least", "at most")
    table = _table("Masters whose clocks cannot agree", *columns, numbers=columns[2:])
    for each in found:
        bounds = map(length_text, (each.lowest_microseconds, each.highest_microseconds))
        table.add_row(escape(each.master), escape(each.other), *bounds)
    return table


def length_text(microseconds: int) -> str:
    """A length of time to be read: in seconds, or in hours and minutes where it is long.

    Examples
    --------
    >>> length_text(-2_400_000), length_text(5_400_000_000)
    ('-2.400 s', '1:30:00')
    """
    sign, seconds = "-" if microseconds < 0 else "", abs(microseconds) / 1e6
    if seconds < _LEAST_COUNTED:
        return f"{sign}{seconds:.3f} s"
    return f"{sign}{timedelta(seconds=round(seconds))}"
