"""What came of every file of an ingest, as a table on standard error."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TextIO

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cepctl.ingest.results import FileAccount
from cepctl.render.counting import counted

_FILES_SHOWN = 40
_TYPES_SHOWN = 3
_PIPE_WIDTH = 160


def print_accounts(accounts: Sequence[FileAccount], file: TextIO | None = None) -> None:
    """Print a row for each file, those with something left out first where there are too many.

    `file` is standard error by default; NO_COLOR and pipes get plain text.
    """
    file = file or sys.stderr
    console = Console(file=file, width=None if file.isatty() else _PIPE_WIDTH, highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("file", "format", "events", "types", "left out", "from", "to", "times in steps of"):
        table.add_column(column, justify="right" if column == "events" else "left", overflow="fold")
    shown = sorted(accounts, key=lambda account: not _left_out(account))[:_FILES_SHOWN]
    for account in sorted(shown, key=accounts.index):
        table.add_row(*map(escape, _cells(account)))
    console.print(table)
    if len(accounts) > len(shown):
        console.print(f"... and {counted(len(accounts) - len(shown), 'more file', 'more files')}")


def _cells(account: FileAccount) -> list[str]:
    if account.unreadable is not None:
        return [account.file, account.format, "", "", "the whole file", "", "", ""]
    return [
        account.file,
        account.format,
        f"{account.events:,}",
        _types(account.event_types),
        _left_out(account),
        account.first or "",
        account.last or "",
        account.granularity or "",
    ]


def _types(event_types: Mapping[str, int]) -> str:
    """The most frequent types, and how many more there are."""
    names = sorted(event_types, key=lambda name: (-event_types[name], name))
    more = len(names) - _TYPES_SHOWN
    return ", ".join(names[:_TYPES_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _left_out(account: FileAccount) -> str:
    if account.unreadable is not None:
        return account.unreadable
    bad = [f"{count:,} {cause}" for cause, count in account.rejected.items()]
    skipped = [f"{count:,} skipped ({cause})" for cause, count in account.skipped.items() if count]
    return ", ".join([*bad, *skipped])
