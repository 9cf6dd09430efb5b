"""One match for people: its events, a drawing of them, and how its confidence comes about."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from rich.table import Table
from rich.text import Text

from cepctl.laws.law import BEGIN, END
from cepctl.render.clock_sentences import clock_sentence
from cepctl.render.counting import ticks_text
from cepctl.render.match_drawing import drawing
from cepctl.render.match_times import MatchTimes, Times
from cepctl.render.pages import page_width, plain_table, print_page
from cepctl.render.short_ids import short_names
from cepctl.schema import OF_WRITERS, WRITTEN_ORDERS, TimeUnit

if TYPE_CHECKING:
    from cepctl.engines.diagnosis.failed_conditions import Reason
    from cepctl.engines.diagnosis.shown import OneMatch
    from cepctl.engines.diagnosis.worlds_left import FactorShown, GivenShown, LawShown

_PIPE_WIDTH = 120
_HEADINGS = ("event", "type", "raw time", "interval", "of it usable")
_BETWEEN = 2


def drawing_width(file: TextIO | None = None) -> int:
    """Columns of what `print_match` prints, on standard output by default."""
    return page_width(file or sys.stdout, _PIPE_WIDTH)


def print_match(match: OneMatch, times: Times, file: TextIO | None = None) -> None:
    """Print a match; where its events are none, everything but the confidence."""
    width = drawing_width(file)
    print_page(_parts(match, MatchTimes(match, times), width), file or sys.stdout, width)


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
    text = f"{reason.condition.text} does not hold" + (f" for {ids}" if ids else "")
    return text + (f": {values}" if values else "")


def _parts(match: OneMatch, times: MatchTimes, width: int) -> Iterator[Table | Text]:
    if not match.reasons:
        yield _heading(match, times)
        yield Text("")
    names, legend = _names(match, times, width)
    yield _event_table(_event_rows(match, times, names), width)
    if legend is not None:
        yield Text(f"ids: {legend}", style="dim")
    yield Text("")
    yield from drawing(match, times, names, width)
    if match.reasons:
        return
    yield Text("")
    yield from _factors(match)
    if match.law is not None:
        yield Text("")
        yield from _law(match.law)
    if match.given is not None:
        yield Text("")
        yield from _given(match.given, match.confidence)
    if match.offsets:
        yield Text("")
        yield _offset_table(match)
    if match.rivals:
        yield Text("")
        yield _rival_table(match, times, names)
    if match.other_readings:
        yield Text("")
        yield Text(_of_readings(match))


def _heading(match: OneMatch, times: MatchTimes) -> Text:
    """What the row of the match says, whichever reading of the pattern it is of."""
    row = match.whole or match
    text = f"confidence {_probability(row.confidence)}"
    if match.error and match.whole is None:
        text += f" (estimated, off by at most {match.error:g})"
    if match.law is not None:
        text += f" under the law of order of each {', '.join(match.law.by)}"
        text += f" (without it {_probability(match.law.without)})"
    return Text.assemble((text, "bold"), f", from {times.full(row.start)} to {times.full(row.end)}")


def _of_readings(match: OneMatch) -> str:
    """Which of the readings that bind these events is told."""
    if match.whole is None:
        return "Another reading binds the same events; `cepctl match` prints the probability of either."
    others = "Another reading" if match.other_readings == 1 else f"{match.other_readings} other readings"
    return (
        f"{others} can bind the same events: the heading is of all, the rest of the first alone, which has "
        f"{_probability(match.confidence)}."
    )


def _names(match: OneMatch, times: MatchTimes, width: int) -> tuple[dict[str, str], str | None]:
    """What events are called: by their ids where the table of them fits, else by short ones."""
    shown = [*(each.event for each in match.members), *(each.event for each in match.rivals)]
    ids = list(dict.fromkeys(each.event_id for each in shown))
    whole = {each: each for each in ids}
    rows = [_HEADINGS, *_event_rows(match, times, whole)]
    needed = sum(max(map(len, cells)) + _BETWEEN for cells in zip(*rows, strict=True)) - _BETWEEN
    return (whole, None) if needed <= width else short_names(ids)


def _event_rows(match: OneMatch, times: MatchTimes, names: Mapping[str, str]) -> list[tuple[str, ...]]:
    return [
        (
            f"{each.variable} {names[each.event.event_id]}",
            each.event.event_type,
            times.raw_times(each.event),
            times.lasting(each.event.lower, each.event.upper, each.event.until),
            times.lasting(each.valid_lower, each.valid_upper, each.valid_until),
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


def _rival_table(match: OneMatch, times: MatchTimes, names: Mapping[str, str]) -> Table:
    table = plain_table("rival", "type", "interval", "breaks it with", "by")
    for each in match.rivals:
        event = each.event
        table.add_row(
            names[event.event_id],
            event.event_type,
            times.interval(event.lower, event.upper),
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
    without = "" if match.law is None else " without the law"
    yield Text(f"How the confidence comes about{without}", style="bold")
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
    yield from (Text(f"  confidence by: {each.method} ({each.why})", "dim") for each in match.methods)


def _law(law: LawShown) -> Iterator[Text | Table]:
    """What the law makes of the orders in a match, and by which of its factors."""
    yield Text("Under the law", style="bold")
    orders = plain_table("order", "without", "under the law", numbers=("without", "under the law"))
    for each in law.neighbours:
        orders.add_row(
            f"{each.first} before {each.second}", _probability(each.without), _probability(each.under)
        )
    yield orders
    if not law.factors:
        return
    yield Text("")
    factors = plain_table("what matters most", "factor", "confidence were it 1",
                          numbers=("factor", "confidence were it 1"))  # fmt: skip
    for factor in law.factors:
        factors.add_row(_habit(factor), f"{factor.factor:g}", _probability(factor.otherwise))
    yield factors


def _habit(factor: FactorShown) -> str:
    """`B right after A`, `A first`, `A before B`."""
    if factor.kind == "before":
        return f"{factor.first} before {factor.second}"
    if factor.first == BEGIN:
        return f"{factor.second} first"
    return f"{factor.first} last" if factor.second == END else f"{factor.second} right after {factor.first}"


def _given(given: GivenShown, confidence: float) -> Iterator[Text]:
    """What is given, and what the confidence has to do with it."""
    yield Text("Given", style="bold")
    yield from (Text(f"  {OF_WRITERS if text in WRITTEN_ORDERS else text}") for text in given.clauses)
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


def _probability(value: float) -> str:
    return f"{value:.6g}"


def _value(value: object) -> str:
    return f"'{value}'" if isinstance(value, str) else "null" if value is None else str(value)
