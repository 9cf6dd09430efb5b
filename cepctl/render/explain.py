"""A plan, a forecast and how records are understood, on standard output: pipes get plain text or JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TextIO

from rich.text import Text

from cepctl.plan.evaluation_order import OrderName
from cepctl.plan.explain import to_json, to_text
from cepctl.plan.plan import Plan
from cepctl.plan.summary import summary_text
from cepctl.render.console import SafeConsole
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.engines.runners.forecast import StatedRange
    from cepctl.engines.solve.stated import StatedMethod
    from cepctl.ingestion.explaining import ExplainedFile

_HEADING = r"^[A-Z][a-z]+(?: (?:between events|\d+ of \d+))?(?=  |$)"
_ALARM = r"^(?:NEVER MATCHES|Warning) .*$"


@dataclass(frozen=True)
class ShownFacts:
    """What is shown beside a plan: events by type, the order asked for, how Spark would split the events.

    `memory` are words, `memory_figures` numbers on what the run would take; `sketch` says what sketches leave
    to be read, `ties` what is given makes of the events, `forecast` what a trial makes of the run,
    `orders` what laws of order leave to be summed, in words and in numbers, `ranges` which pairs are left out
    before they are measured, `methods` by which each reading is measured, `key_methods` by which keys are.
    `records` are the files in which hosts recorded their clocks.
    """

    counts: Mapping[str, int] | None
    order: OrderName
    slices: str | None = None
    memory: str | None = None
    memory_figures: Mapping[str, int] | None = None
    sketch: str | None = None
    ties: str | None = None
    orders: str | None = None
    order_figures: Mapping[str, Any] | None = None
    forecast: str | None = None
    forecast_figures: Mapping[str, int | float] | None = None
    ranges: Sequence[StatedRange] = ()
    methods: Sequence[Sequence[StatedMethod]] = ()
    key_methods: Sequence[StatedMethod] = ()
    records: Sequence[str] = ()


def plan_json(plan: Plan, facts: ShownFacts) -> dict[str, Any]:
    """The plan and the facts as values that JSON has."""
    beside: dict[str, Any] = {"slices": facts.slices, "memory": facts.memory_figures, "sketch": facts.sketch}
    ties = {} if facts.ties is None else {"ties": facts.ties}
    beside |= {"forecast": facts.forecast_figures}
    if facts.ranges:
        beside["ranges"] = [asdict(each) for each in facts.ranges]
    planned = to_json(plan, facts.counts, facts.order)
    for alternative, methods in zip(planned["alternatives"], facts.methods, strict=False):
        alternative["methods"] = [asdict(each) for each in methods]
    if facts.records:
        beside["records"] = list(facts.records)
    if facts.key_methods:
        planned["occurrence"] = [asdict(each) for each in facts.key_methods]
    summary = summary_text(plan)
    if summary is not None:
        planned["summary"] = summary
    orders = {} if facts.order_figures is None else {"orders": facts.order_figures}
    return planned | beside | ties | orders


def _method_lines(facts: ShownFacts) -> Iterator[str]:
    """By which methods the matches of each reading are measured, and the keys."""
    for number, asked in enumerate(facts.methods, start=1):
        reading = f"reading {number} of {len(facts.methods)}, " if len(facts.methods) > 1 else ""
        yield f"Confidence  {reading}by the first of these methods that can measure a match"
        yield from _each_method(asked)
    if facts.key_methods:
        yield "Occurrence  by the first of these methods that can measure a key"
        yield from _each_method(facts.key_methods)


def _each_method(methods: Sequence[StatedMethod]) -> Iterator[str]:
    yield from (f"    {each.method}: {each.why}" for each in methods)


def _range_lines(plan: Plan, ranges: Sequence[StatedRange]) -> Iterator[str]:
    """Which pairs of AND can reach the threshold, by how far apart their intervals end."""
    if not ranges:
        return
    yield f"Ranges      ticks between the upper ends of pairs that can reach {plan.minimum_confidence}"
    for each in ranges:
        ends = f"upper({each.variable_b}) - upper({each.variable_a})"
        shaped = f"{each.variable_a} shaped as {each.example_a}, {each.variable_b} as {each.example_b}"
        yield f"    {ends} {_ends_text(each.least, each.most)}: {shaped}"


def _ends_text(least: int | None, most: int | None) -> str:
    if least is not None and most is not None:
        return "never" if least > most else f"from {least:,} to {most:,}"
    if most is not None:
        return f"at most {most:,}"
    return "any" if least is None else f"at least {least:,}"


def print_plan(plan: Plan, facts: ShownFacts, *, as_json: bool, file: TextIO | None = None) -> None:
    """Print it to a file, standard output by default."""
    file = file or sys.stdout
    if as_json:
        file.write(json.dumps(plan_json(plan, facts), ensure_ascii=False, indent=2) + "\n")
        return
    console = SafeConsole(file, highlight=False, soft_wrap=True)
    lines = to_text(plan, facts.counts, facts.order).splitlines()
    if facts.slices is not None:
        lines.append(f"Slices      {facts.slices}")
    if facts.records:
        files = ", ".join(facts.records)
        lines.append(f"Records     offsets of clocks come from what hosts recorded of them: {files}")
    lines += _method_lines(facts)
    summary = summary_text(plan)
    if summary is not None:
        lines.append(f"Summary     {summary}")
    lines += _range_lines(plan, facts.ranges)
    if facts.ties is not None:
        lines.append(f"Ties        {facts.ties}")
    if facts.orders is not None:
        lines.append(f"Orders      {facts.orders}")
    if facts.sketch is not None:
        lines.append(f"Sketch      {facts.sketch}")
    if facts.forecast is not None:
        lines.append(f"Forecast    {facts.forecast}")
    if facts.memory is not None:
        lines.append(f"Memory      {facts.memory}")
    for line in lines:
        shown = Text(line)
        shown.highlight_regex(_HEADING, "bold")
        shown.highlight_regex(_ALARM, "bold red")
        console.print(shown)


def forecast_text(figures: Mapping[str, int | float], *, grouped: bool = False) -> str:
    """The figures of a forecast (`Forecast.to_json` in engines/runners) in words.

    Examples
    --------
    >>> forecast_text({"matches": 1_649_898, "seconds": 14.0, "tried": 256, "beginning": 40_000})[:60]
    'about 2,000,000 matches, about 10 s with --runner local; jud'
    """
    matches = counted(_rounded(int(figures["matches"])), "match", "matches") + (
        " to group" if grouped else ""
    )
    beginning = counted(_rounded(int(figures["beginning"])), "event")
    judged = f"judged by {figures['tried']:,} of about {beginning} that can begin one"
    return f"about {matches}, {_lasting(figures['seconds'])} with --runner local; {judged}"


def _rounded(count: int) -> int:
    """To one digit, as far as the forecast can be relied on; small counts as they are.

    Examples
    --------
    >>> _rounded(7), _rounded(1_649_898), _rounded(96)
    (7, 2000000, 100)
    """
    if count < 10:
        return count
    unit = int(10 ** (len(str(count)) - 1))
    return round(count / unit) * unit


def _lasting(seconds: float) -> str:
    """About how long that is.

    Examples
    --------
    >>> _lasting(0.2), _lasting(14.0), _lasting(900.0), _lasting(90_000.0)
    ('under 1 s', 'about 10 s', 'about 15 min', 'about 25 h')
    """
    if seconds < 1:
        return "under 1 s"
    if seconds < 120:
        return f"about {_rounded(round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 7_200 else f"about {round(seconds / 3_600)} h"


_LONGEST = 100
Paint = Callable[[str, str], str]
"""A text in the colour of this name."""


def explanation(files: Sequence[ExplainedFile], paint: Paint) -> str:
    """The explanation of files, one behind the other."""
    return "\n\n".join("\n".join(_of_file(file, paint)) for file in files)


def _of_file(file: ExplainedFile, paint: Paint) -> Iterator[str]:
    yield f"{file.name}: {paint(file.format, 'cyan')} ({file.description})"
    for name, form in file.found:
        yield f"  {name}: {form}"
    for record in file.records:
        yield f"  record {record.number:,}"
        yield f"    time  {paint(record.time, 'green')}"
        yield f"    type  {paint(_short(record.event_type), 'yellow')}"
        for name, value in record.attributes:
            yield f"    {paint(name, 'blue')} = {_short(value)}"
    for note in file.notes:
        yield f"  note: {note}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
