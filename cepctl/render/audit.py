"""An audit as text for people: each source, its verdict, and its findings, the worst first."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

from rich.markup import escape

from cepctl.inspection.auditing.findings import (
    ACROSS_HOSTS,
    BY_FILE,
    CERTAIN,
    OPEN,
    WEIGHTED,
    WRONG,
    Audit,
    SourceAudit,
)
from cepctl.render.console import SafeConsole, SafeTable
from cepctl.render.counting import counted

_PIPE_WIDTH = 140
_SOURCES_SHOWN, _FINDINGS_SHOWN = 6, 5
_COLOURS = {ACROSS_HOSTS: "red", WEIGHTED: "yellow", BY_FILE: "cyan", CERTAIN: "green"}
_SIGNS = {WRONG: "!!", OPEN: " !", 1: "  "}
_NAMES_SHOWN = 8


def print_audit(audit: Audit, file: TextIO | None = None, *, full: bool = False) -> None:
    """Print it to a file, standard output by default; NO_COLOR and pipes get plain text.

    Of many sources and findings one screen is shown, where it is not all in `full`.
    """
    file = file or sys.stdout
    console = SafeConsole(file, width=None if file.isatty() else _PIPE_WIDTH, highlight=False)
    with console.capture() as captured:
        _print(console, audit, full=full)
    file.write("".join(f"{line.rstrip()}\n" for line in captured.get().rstrip().split("\n")))


def _print(console: SafeConsole, audit: Audit, *, full: bool) -> None:
    telling = [each for each in audit.sources if each.findings]
    silent = [each for each in audit.sources if not each.findings]
    shown = telling if full else telling[:_SOURCES_SHOWN]
    for source in shown:
        _print_source(console, source, full=full)
    if len(telling) > len(shown):
        console.print(
            f"... and {counted(len(telling) - len(shown), 'more source', 'more sources')}; --full has all"
        )
    if silent:
        console.print(f"{_names(silent)}: [green]{CERTAIN}[/], nothing to settle", soft_wrap=True)
    if not audit.sources:
        console.print("no events")


def _print_source(console: SafeConsole, source: SourceAudit, *, full: bool) -> None:
    colour = _COLOURS[source.verdict]
    console.print(
        f"[bold]{escape(source.source)}[/]: [{colour}]{source.verdict}[/] "
        f"({counted(source.events, 'event')} of {counted(source.types, 'type')})",
        soft_wrap=True,
    )
    table = SafeTable(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(ratio=3)
    table.add_column(ratio=1)
    findings = source.findings if full else source.findings[:_FINDINGS_SHOWN]
    for each in findings:
        line = "" if each.line is None else f", line {each.line:,}"
        at = "" if each.worst is None else f" (worst: {each.worst}{line})"
        settles = "" if each.settles is None else each.settles
        table.add_row(*map(escape, (f"  {_SIGNS[each.severity]} {each.kind}", f"{each.said}{at}", settles)))
    console.print(table)
    if len(source.findings) > len(findings):
        console.print(f"     ... and {len(source.findings) - len(findings):,} more; --full has all")
    console.print()


def _names(sources: Sequence[SourceAudit]) -> str:
    more = len(sources) - _NAMES_SHOWN
    names = ", ".join(each.source for each in sources[:_NAMES_SHOWN])
    return escape(names) + (f" and {more:,} more" if more > 0 else "")
