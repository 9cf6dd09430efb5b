"""All that a call of `cepctl match` requests, in the words of the command line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cepctl.cli.options.exclusions import refuse_or_leave_out
from cepctl.cli.options.incremental import Incremental
from cepctl.cli.options.shared import gathered, with_options
from cepctl.io.rows.forms import DELIMITED_FORMS, ROW_FORMS
from cepctl.library.finding import Question


@dataclass(frozen=True)
class RowChoice:
    """In which form rows go where: `output` is None for standard output."""

    form: str | None
    output: str | None
    times: str
    csv_safe: bool

    def guarded(self, form: str) -> bool:
        """Whether cells are to be kept from being formulas; raises UsageError where the form has no cells."""
        if self.csv_safe and form not in DELIMITED_FORMS:
            because = f"to rows that are written as {form}: it is for CSV and TSV"
            refuse_or_leave_out(click.get_current_context(), "csv-safe", because)
        return self.csv_safe and form in DELIMITED_FORMS


_ROW_OPTIONS = (
    click.option(
        "--format",
        "form",
        type=click.Choice(ROW_FORMS),
        help="Form of the rows; trace draws them for Perfetto.  [default: told by FILE's name, such as "
        "rows.jsonl.gz; without FILE table on a terminal, else csv]",
    ),
    click.option(
        "-o",
        "--output",
        type=click.Path(),
        metavar="FILE",
        help="Write the rows to FILE, whole or not at all.",
    ),
    click.option(
        "--time",
        "times",
        type=click.Choice(["iso", "ticks"]),
        default="iso",
        show_default=True,
        help="How start and end are written.",
    ),
    click.option(
        "--csv-safe",
        is_flag=True,
        help="In CSV and TSV, put an apostrophe before texts that a spreadsheet would evaluate (those that "
        "begin with = + - @, a tab or a carriage return).",
    ),
)


def row_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """In which form rows go where: the parameter rows (RowChoice)."""
    return with_options(gathered(command, "rows", RowChoice), _ROW_OPTIONS)


@dataclass(frozen=True)
class MatchRequest:
    """One call of the command; `metrics` names the file of its figures."""

    question: Question
    paths: tuple[str, ...]
    incremental: Incremental
    rows: RowChoice
    why_not: bool
    metrics: str | None
    quiet: bool

    @property
    def directory(self) -> Path:
        """The directory of the state of incremental runs."""
        assert self.incremental.state is not None
        return Path(self.incremental.state)
