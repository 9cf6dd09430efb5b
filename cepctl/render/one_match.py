"""One match for people: its events, a drawing of them on one axis of time, and its confidence.

▁▂▃▄▅▆▇█   where the event lies given the match (or, of rivals and without a match, by itself)
─          part of its interval that the match cannot use
│          its raw time
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, TextIO

from rich.table import Table
from rich.text import Text

from cepctl.render.clock_sentences import clock_sentence
from cepctl.render.lengths import ticks_text
from cepctl.render.pages import page_width, plain_table, print_page
from cepctl.render.short_ids import short_names
from cepctl.schema import TimeUnit, tick_text

if TYPE_CHECKING:
    from cepctl.engines.diagnosis.failed_conditions import Reason
    from cepctl.engines.diagnosis.given_of_match import GivenShown
    from cepctl.engines.diagnosis.one_match import EventShown, Member, OneMatch, Span

_PIPE_WIDTH = 120
_HEIGHTS = "▁▂▃▄▅▆▇█"
_DATE = len("2026-03-03T")
_FEWEST_COLUMNS = 20
_LONGEST_LABEL = 40
_HEADINGS = ("event", "type", "raw time", "interval", "of it usable")
_BETWEEN = 2

Times = Literal["iso", "ticks"]


def drawing_width(file: TextIO | None = None) -> int:
    """Columns of what `print_match` prints, on standard output by default."""
    return page_width(file or sys.stdout, _PIPE_WIDTH)


def print_match(match: OneMatch, times: Times, file: TextIO | None = None) -> None:
    """Print a match; where its events are none, everything but the confidence."""
    width = drawing_width(file)
    print_page(_parts(match, _Clock(match, times), width), file or sys.stdout, width)


def reason_text(match: OneMatch, reason: Reason) -> str:
    """Why the events are not a match, in one sentence without a full stop."""
    ids = ", ".join(match.events.ids[event] for event in reason.events)
    if reason.condition.kind == "absence":
        return reason.condition.text + (f": {ids}" if ids else "") + " breaks it in every world"
    if reason.condition.kind == "given":
        return f"{reason.condition.text} leaves no world in which they happen like that"
    if reason.excess is not None:
        length = ticks_text(reason.excess, match.plan.time_unit)
        how = {"window": "too long", "order": "too early or too late"}.get(reason.condition.kind, "beyond it")
        return f"{reason.condition.text}: even at best {length} {how}"
    values = ", ".join(f"{name} = {_value(value)}" for name, value in reason.values)
    told = f"{reason.condition.text} does not hold" + (f" for {ids}" if ids else "")
    return told + (f": {values}" if values else "")


def _parts(match: OneMatch, clock: _Clock, width: int) -> Iterator[Table | Text]:
    if not match.reasons:
        text = f"confidence {_probability(match.confidence)}"
        if match.error:
            text += f" (estimated, off by at most {match.error:g})"
        yield Text.assemble((text, "bold"), f", from {clock.full(match.start)} to {clock.full(match.end)}")
        yield Text("")
    names, legend = _names(match, clock, width)
    yield _event_table(_event_rows(match, clock, names), width)
    if legend is not None:
        yield Text(f"ids: {legend}", style="dim")
    yield Text("")
    yield from _drawing(match, clock, names, width)
    if match.reasons:
        return
    yield Text("")
    yield from _factors(match)
    if match.given is not None:
        yield Text("")
        yield from _given(match.given, match.confidence)
    if match.offsets:
        yield Text("")
        yield _offset_table(match)
    if match.rivals:
        yield Text("")
        yield _rival_table(match, clock, names)
    if match.other_readings:
        yield Text("")
        yield Text(
            "Another reading of OR binds the same events; `cepctl match` prints the probability of either."
        )


# --- tables ------------------------------------------------------------------------------


def _names(match: OneMatch, clock: _Clock, width: int) -> tuple[dict[str, str], str | None]:
    """What events are called: by their ids where the table of them fits, else by short ones."""
    shown = [*(each.event for each in match.members), *(each.event for each in match.rivals)]
    ids = list(dict.fromkeys(each.event_id for each in shown))
    whole = {each: each for each in ids}
    rows = [_HEADINGS, *_event_rows(match, clock, whole)]
    needed = sum(max(map(len, cells)) + _BETWEEN for cells in zip(*rows, strict=True)) - _BETWEEN
    return (whole, None) if needed <= width else short_names(ids)


def _event_rows(match: OneMatch, clock: _Clock, names: Mapping[str, str]) -> list[tuple[str, ...]]:
    return [
        (
            f"{each.variable} {names[each.event.event_id]}",
            each.event.event_type,
            clock.raw_times(each.event),
            clock.lasting(each.event.lower, each.event.upper, each.event.until),
            clock.lasting(each.valid_lower, each.valid_upper, each.valid_until),
        )
        for each in match.members
    ]


def _event_table(rows: Sequence[tuple[str, ...]], width: int) -> Table:
    table = plain_table(*_HEADINGS)
    # Where there is not room for all, intervals are broken, at their blanks, before ids are.
    table.columns[0].no_wrap = max((len(row[0]) for row in rows), default=0) <= width // 2
    for row in rows:
        table.add_row(*row)
    return table


def _rival_table(match: OneMatch, clock: _Clock, names: Mapping[str, str]) -> Table:
    table = plain_table("rival", "type", "interval", "breaks it with", "by")
    for each in match.rivals:
        event = each.event
        table.add_row(
            names[event.event_id],
            event.event_type,
            clock.interval(event.lower, event.upper),
            _probability(each.probability),
            each.condition.text,
        )
    return table


def _offset_table(match: OneMatch) -> Table:
    """How far the clocks are off, and how far they may be for this match."""
    table = plain_table("clock", "is ahead of", "by", "for this match by", "as probable as")
    for each in match.offsets:
        # What is added to a reading is by how much the clock is behind.
        table.add_row(
            each.clock,
            "the true time" if each.other is None else each.other,
            _lengths(-each.upper, -each.lower, match.plan.time_unit),
            _lengths(-each.valid_upper, -each.valid_lower, match.plan.time_unit),
            _probability(each.probability),
        )
    return table


def _lengths(least: int, most: int, unit: TimeUnit) -> str:
    return " .. ".join(dict.fromkeys((ticks_text(least, unit), ticks_text(most, unit))))


def _factors(match: OneMatch) -> Iterator[Text]:
    yield Text("How the confidence comes about", style="bold")
    before = None
    clocks = [
        (clock_sentence(each, match.plan.time_unit), each.probability)
        for each in match.offsets
        if each.other is None or each.probability < 1
    ]
    widths = [len(each.condition.text) + len("and ") for each in match.factors]
    width = max([*widths, *(len(text) for text, _ in clocks)])
    for each in match.factors:
        text = each.condition.text if before is None else f"and {each.condition.text}"
        line = f"  {text:<{width}}  {_probability(each.probability)}"
        if before:
            line += f"  ({each.probability / before:.1%} of it)"
        before = each.probability
        yield Text(line)
    for text, probability in clocks:
        yield Text(f"  {text:<{width}}  {_probability(probability)}")


def _given(given: GivenShown, confidence: float) -> Iterator[Text]:
    """What is given, and what the confidence has to do with it."""
    yield Text("What is given", style="bold")
    yield from (Text(f"  {text}") for text in given.clauses)
    if not given.changes:
        yield Text("  It says nothing of these events that does not hold anyway.", style="dim")
        return
    lines: list[tuple[str, float | None]] = []
    if given.probability is not None:
        together = confidence * given.probability
        lines = [
            ("it holds for these events in", given.probability),
            ("it holds, and so does the match, in", together),
            ("the confidence is their ratio", confidence),
        ]
    lines.append(("without it the confidence would be", given.without))
    width = max(len(text) for text, _ in lines)
    yield from (
        Text(f"  {text:<{width}}  {_probability(value)}") for text, value in lines if value is not None
    )


# --- drawing -----------------------------------------------------------------------------


def _drawing(match: OneMatch, clock: _Clock, names: Mapping[str, str], width: int) -> Iterator[Text]:
    labels = [f"{each.variable} {names[each.event.event_id]}" for each in match.members]
    labels += [f"rival {names[each.event.event_id]}" for each in match.rivals]
    margin = min(max(map(len, [*labels, "match"])), _LONGEST_LABEL) + 1
    columns = max(width - margin - 1, _FEWEST_COLUMNS)
    first, last = clock.short(math.ceil(match.bins[0])), clock.short(math.ceil(match.bins[-1]) - 1)
    yield Text(f"{'':<{margin}}{first}{last:>{max(columns - len(first), len(last) + 1)}}", style="dim")
    lanes = [_bar(match, each.event, each, columns) for each in match.members]
    lanes += [_bar(match, each.event, None, columns) for each in match.rivals]
    for label, lane in zip(labels, lanes, strict=True):
        yield _shown(label, margin).append_text(lane)
    if not match.reasons:
        line = _shown("match", margin)
        begin, end = _column(match, match.start, columns), _column(match, match.end, columns, at_end=True)
        line.append(" " * begin + "╰" + "─" * max(end - begin - 1, 0) + ("╯" if end > begin else ""), "green")
        yield line
    known = any(each.posterior is not None for each in match.members)
    heights = "how probable its time is, given the match" if known else "how probable its time is"
    if any(each.event.until is not None for each in match.members):
        yield Text(f"{'':<{margin}}▁▄█ how probable it is that it is under way   │ raw times", style="dim")
    else:
        yield Text(f"{'':<{margin}}▁▄█ {heights}   ─ of no use to the match   │ raw time", style="dim")
    yield from (Text(each) for each in match.relations)


def _shown(label: str, margin: int) -> Text:
    shown = label if len(label) < margin else f"{label[: margin - 2]}…"
    return Text(f"{shown:<{margin}}")


def _bar(match: OneMatch, event: EventShown, member: Member | None, columns: int) -> Text:
    """One lane: heights where the event may lie, a line where its interval is of no use, the raw time."""
    shares = event.prior if member is None or member.posterior is None else member.posterior
    ticks = [max(b - a, 1) for a, b in _bin_ticks(match)]
    heights = [float(share) / count for share, count in zip(shares, ticks, strict=True)]
    highest = max(heights)
    lane = []
    for column in range(columns):
        bin_number = column * len(heights) // columns
        height = heights[bin_number]
        if height > 0:
            lane.append(_HEIGHTS[min(math.ceil(height / highest * len(_HEIGHTS)), len(_HEIGHTS)) - 1])
        else:
            lane.append("─" if event.prior[bin_number] > 0 else " ")
    text = Text("".join(lane), style="red" if member is None else "cyan")
    for microseconds in (event.raw_microseconds, event.raw_end_microseconds):
        raw = _raw_tick(match, microseconds)
        if raw is not None and match.bins[0] <= raw <= match.bins[-1]:
            at = _column(match, raw, columns)
            text = Text.assemble(text[:at], ("│", "bold yellow"), text[at + 1 :])
    return text


def _bin_ticks(match: OneMatch) -> list[tuple[int, int]]:
    cuts = [math.ceil(edge) for edge in match.bins]
    return list(pairwise(cuts))


def _column(match: OneMatch, tick: int, columns: int, *, at_end: bool = False) -> int:
    """The column of a tick: the first that shows it, or the last."""
    number = next((n for n, (_, stop) in enumerate(_bin_ticks(match)) if tick < stop), len(match.bins) - 2)
    count = len(match.bins) - 1
    if at_end:
        return -(-(number + 1) * columns // count) - 1
    return -(-number * columns // count)


def _raw_tick(match: OneMatch, microseconds: int | None) -> int | None:
    return None if microseconds is None else microseconds // match.plan.time_unit.microseconds


# --- times -------------------------------------------------------------------------------


class _Clock:
    """How times are written: ticks, or ISO 8601, without the date where all times share it."""

    def __init__(self, match: OneMatch, times: Times) -> None:
        self.unit: TimeUnit = match.plan.time_unit
        self.times = times
        shown = [*(each.event for each in match.members), *(each.event for each in match.rivals)]
        ticks = [tick for each in shown for tick in (each.lower, each.upper)]
        ticks += [each.upper for member in match.members if (each := member.event.until) is not None]
        usable = [each for each in match.members if each.valid_lower <= each.valid_upper]
        ticks += [tick for each in usable for tick in (each.valid_lower, each.valid_upper)]
        self.one_day = times == "iso" and len({self.full(tick)[:_DATE] for tick in ticks}) == 1

    def full(self, tick: int) -> str:
        return str(tick) if self.times == "ticks" else tick_text(tick, self.unit)

    def short(self, tick: int) -> str:
        return self.full(tick)[_DATE:] if self.one_day else self.full(tick)

    def interval(self, lower: int, upper: int) -> str:
        if lower > upper:
            return "none"
        return self.short(lower) if lower == upper else f"{self.short(lower)} .. {self.short(upper)}"

    def lasting(self, lower: int, upper: int, end: Span | None) -> str:
        start = self.interval(lower, upper)
        return (
            start if end is None or lower > upper else f"{start} until {self.interval(end.lower, end.upper)}"
        )

    def raw_times(self, event: EventShown) -> str:
        end = "" if event.until is None else self.raw(event.raw_end_microseconds)
        return self.raw(event.raw_microseconds) + (f" until {end}" if end else "")

    def raw(self, microseconds: int | None) -> str:
        if microseconds is None:
            return ""
        if self.times == "ticks":
            return str(microseconds // self.unit.microseconds)
        precise = TimeUnit(1_000) if microseconds % 1_000 == 0 else TimeUnit(1)
        text = tick_text(microseconds // precise.microseconds, precise)
        return text[_DATE:] if self.one_day else text


def _probability(value: float) -> str:
    return f"{value:.6g}"


def _value(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else "null" if value is None else str(value)
