"""What came of every file of an ingest, as a table on standard error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TextIO

from rich.markup import escape

from cepctl.ingestion.results import FileAccount
from cepctl.render.console import SafeConsole, SafeTable
from cepctl.render.counting import counted

_FILES_SHOWN = 40
_NAME_LENGTH = 48
_PIPE_WIDTH = 160


def print_accounts(accounts: Sequence[FileAccount], file: TextIO | None = None) -> None:
    """Print a row for each file, those with something left out first where there are too many.

    `file` is standard error by default; NO_COLOR and pipes get plain text.
    """
    file = file or sys.stderr
    console = SafeConsole(file, width=None if file.isatty() else _PIPE_WIDTH, highlight=False)
    table = SafeTable(box=None, pad_edge=False, header_style="bold")
    for column in ("file", "format", "events", "types", "from", "to", "steps", "left out"):
        counts = column in {"events", "types"}
        table.add_column(column, justify="right" if counts else "left", no_wrap=column != "left out")
    shown = sorted(accounts, key=lambda account: not _left_out(account))[:_FILES_SHOWN]
    for account in sorted(shown, key=accounts.index):
        table.add_row(*map(escape, _cells(account)))
    console.print(table)
    if len(accounts) > len(shown):
        console.print(f"... and {counted(len(accounts) - len(shown), 'more file', 'more files')}")


def _cells(account: FileAccount) -> list[str]:
    return [
        _name(account.file),
        account.format,
        f"{account.events:,}",
        f"{len(account.event_types):,}",
        _second(account.first),
        _second(account.last),
        account.granularity or "",
        _left_out(account),
    ]


def _name(file: str) -> str:
    """The end of a long path, which tells more than its beginning."""
    return file if len(file) <= _NAME_LENGTH else "…" + file[1 - _NAME_LENGTH :]


def _second(time: str | None) -> str:
    """A time to the second, which is enough to see where a file lies."""
    return "" if time is None else time.partition(".")[0].removesuffix("Z").replace("T", " ")


def _left_out(account: FileAccount) -> str:
    if account.unreadable is not None:
        return "the file"
    bad = [f"{cause}: {count:,}" for cause, count in account.rejected.items()]
    skipped = sum(account.skipped.values())
    return ", ".join([*bad, *([f"skipped: {skipped:,}"] if skipped else [])])
