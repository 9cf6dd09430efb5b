"""An inspection as tables for people, or as JSON for programs.

One screen says what there is to ask; the rest is told where all is asked for.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any, TextIO

from rich.markup import escape
from rich.table import Table

from cepctl.inspection.keys import law_to_learn
from cepctl.inspection.overview import Inspection
from cepctl.process.terminal import on_one_line
from cepctl.render import inspection_tables as tables
from cepctl.render.clocks_in_use import hosts_in_use, missing_in_use
from cepctl.render.console import SafeConsole
from cepctl.render.counting import counted
from cepctl.schema import TimeUnit

_ROWS_SHOWN = 40
_KEYS_SHOWN = 4
_HOSTS_ON_SCREEN = 5
_SHELL = re.compile(r'["$`\\!]')
"""What a shell would not leave alone between double quotes."""
_PIPE_WIDTH = 120


def print_inspection(
    inspection: Inspection, file: TextIO | None = None, *, full: bool = False, events: str = "EVENTS"
) -> None:
    """Print it to a file, standard output by default; NO_COLOR and pipes get plain text.

    `inspection`, `file`: what goes where.  `full`: print everything, not just one screen.  `events`: how the
    commands that can be asked name the events.
    """
    file = file or sys.stdout
    console = SafeConsole(file, width=None if file.isatty() else _PIPE_WIDTH, highlight=False)
    with console.capture() as captured:
        (_print_parts if full else _print_screen)(console, inspection, events)
    # Rich fills every line of a table with blanks.
    file.write("".join(f"{line.rstrip()}\n" for line in captured.get().rstrip().split("\n")))


def _print_screen(console: SafeConsole, inspection: Inspection, events: str) -> None:
    unit = TimeUnit.parse(inspection.time_unit)
    console.print(tables.overview(inspection, unit))
    _print(console, tables.commonest_types(inspection, unit), len(inspection.types), "--full")
    on_screen = console.is_terminal
    attributes = tables.telling_attributes(inspection, one_line=on_screen)
    _print(console, attributes, len(inspection.attributes), "--full")
    _print_questions(console, inspection, events, one_line=on_screen)
    skewed = [clock for clock in inspection.clocks if clock.provably_skewed]
    if inspection.clocks:
        console.print(tables.clock_summary(inspection.clocks, skewed))
    _print_recorded(console, inspection, _HOSTS_ON_SCREEN)
    _print_sketches(console, inspection)


def _print_recorded(console: SafeConsole, inspection: Inspection, most: int) -> None:
    """What hosts recorded of their clocks, the worst first."""
    found = inspection.recorded_clocks
    if found is None:
        return
    for each in found.tables:
        console.print(escape(each.lost or f"Clocks as recorded in {each.file}, which is unchanged"))
        _print(console, hosts_in_use(each, most), len(each.hosts))
    for line in missing_in_use(found):
        console.print(escape(line), soft_wrap=True)
    console.print()


def _print_sketches(console: SafeConsole, inspection: Inspection) -> None:
    """What the sketches take, and how often they take another value for one that is there."""
    for sketch in inspection.sketches:
        text = f"{sketch.bits} bits per event" if sketch.problem is None else f"not used: {sketch.problem}"
        for name, distinct in sketch.distinct.items():
            text += f"; at most {counted(distinct, 'value')} of {name}, another passes for one of them with "
            text += f"probability {distinct / 2**32:.2g}"
        console.print(f"Sketch: {escape(text)}", soft_wrap=True)


def _print_questions(
    console: SafeConsole, inspection: Inspection, events: str, *, one_line: bool = False
) -> None:
    """Keys, and queries that can be copied whole."""
    keys = tables.keys(inspection.keys[:_KEYS_SHOWN], one_line=one_line)
    _print(console, keys, len(inspection.keys), "--format json")
    if inspection.examples:
        console.print("What to ask", style="bold")
    for example in inspection.examples:
        console.print(f"# {escape(on_one_line(example.asks))}", style="dim", soft_wrap=True)
        console.print(f"cepctl match {escape(_quoted(example.query))} {escape(events)}", soft_wrap=True)
    lesson = law_to_learn(inspection.keys, inspection.examples, inspection.events, inspection.uncertain)
    if lesson is not None:
        by, jitter = map(_word, lesson)
        question = f"in which order events of one {lesson[0]} usually happen, for logs with coarser times"
        console.print(f"# {escape(on_one_line(question))}", style="dim", soft_wrap=True)
        command = f"cepctl learn {events} --by {by} --jitter {jitter} -o laws.toml"
        console.print(escape(command), soft_wrap=True)
    console.print()


def _quoted(query: str) -> str:
    """A query as a word of a shell, in the quotes that are easier to read."""
    return f'"{query}"' if "'" in query and not _SHELL.search(query) and "\n" not in query else _word(query)


def _word(text: str) -> str:
    """A text as a word of a shell, on one line."""
    written = on_one_line(text.replace("\\", "\\\\")).replace("'", "\\'")
    return shlex.quote(text) if text == on_one_line(text) else f"$'{written}'"


def _print_parts(console: SafeConsole, inspection: Inspection, events: str) -> None:
    unit = TimeUnit.parse(inspection.time_unit)
    console.print(tables.overview(inspection, unit))
    _print(console, tables.types(inspection, unit))
    _print(console, tables.attributes(inspection))
    _print_questions(console, inspection, events)
    late = [order for order in inspection.orders if order.late]
    _print(console, tables.orders(late[:_ROWS_SHOWN]), len(late))
    _print(console, tables.written(inspection.written[:_ROWS_SHOWN]), len(inspection.written))
    _print(console, tables.grains(inspection.grains[:_ROWS_SHOWN]), len(inspection.grains))
    steady = [one for one in inspection.series if one.step_microseconds is not None]
    _print(console, tables.series(steady[:_ROWS_SHOWN]), len(steady))
    skewed = [clock for clock in inspection.clocks if clock.provably_skewed]
    if inspection.clocks:
        console.print(tables.clock_summary(inspection.clocks, skewed))
    _print_recorded(console, inspection, _ROWS_SHOWN)
    _print_sketches(console, inspection)
    _print(console, tables.clocks(skewed[:_ROWS_SHOWN]), len(skewed))
    graph = inspection.clock_graph
    _print(
        console,
        tables.contradictions(graph.contradictions[:_ROWS_SHOWN]),
        len(graph.contradictions),
    )
    _print_hull_question(console, inspection, events)
    _print(console, tables.apart(graph.apart[:_ROWS_SHOWN]), len(graph.apart))


def _print_hull_question(console: SafeConsole, inspection: Inspection, events: str) -> None:
    """A command that can be copied whole, which looks for drifts where no offsets fit."""
    asked = inspection.hull_question
    if asked is None:
        return
    given = " ".join(f"--given {_quoted(text)}" for text in asked.given)
    command = f"cepctl clocks {events} --by node --reference {_word(asked.reference)} {given}"
    console.print("# Do clocks fit that drift, and by how much?", style="dim", soft_wrap=True)
    console.print(f"{escape(command)} -o clocks.parquet", soft_wrap=True)
    console.print()


def inspection_facts(inspection: Inspection) -> dict[str, Any]:
    """All of it as JSON has it; lengths of time are microseconds, first and last are ticks."""
    content = asdict(replace(inspection, types=(), grains=()))
    content["types"] = _flat(inspection.types)
    content["grains"] = _flat(inspection.grains)
    if inspection.recorded_clocks is None:
        del content["recorded_clocks"]
    for clock, facts in zip(inspection.clocks, content["clocks"], strict=True):
        facts |= {"verdict": clock.verdict, "provably_skewed": clock.provably_skewed}
    return content


def _flat(found: Sequence[Any]) -> list[dict[str, Any]]:
    """Dataclasses of plain values as JSON has them: of a million, `asdict` would take half a minute."""
    names = [each.name for each in fields(found[0])] if found else []
    return [{name: getattr(each, name) for name in names} for each in found]


def _print(console: SafeConsole, table: Table, rows: int | None = None, rest: str = "--format json") -> None:
    """A table that has rows, how many of all its rows it leaves out, and the option that has them."""
    if not table.row_count:
        return
    console.print(table)
    hidden = (table.row_count if rows is None else rows) - table.row_count
    if hidden > 0:
        console.print(f"... and {hidden:,} more; {rest} has them all")
    console.print()
