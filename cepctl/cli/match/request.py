"""All that a call of `cepctl match` requests, in the words of the command line."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cepctl.cli.options.exclusions import refuse_or_leave_out
from cepctl.cli.options.help_groups import HelpGroup, grouped_option
from cepctl.cli.options.incremental import Incremental
from cepctl.cli.options.shared import gathered, with_options
from cepctl.cli.output.rows import refuse_unwritable
from cepctl.errors import UsageError
from cepctl.io.rows.forms import FORMS
from cepctl.library.question import Question


@dataclass(frozen=True)
class RowChoice:
    """Which columns of rows go where in which form: `output` is None for standard output.

    `chosen` are their names, all of them where there are none; `limit` is how many rows go there.
    """

    form: str | None
    output: str | None
    times: str
    csv_safe: bool
    chosen: tuple[str, ...]
    limit: int | None
    no_clobber: bool

    def require_writable(self, form: str) -> None:
        """Raise UsageError where a column cannot be written in the form."""
        if "signature" in self.chosen and not FORMS[form].nested:
            raise UsageError(
                f"--columns: signature is a nested list, which {form} cannot hold; match has the ids as text"
            )
        if self.chosen and form == "trace":
            because = "with --format trace: a trace draws whole matches"
            refuse_or_leave_out(click.get_current_context(), "columns", because)

    def refuse_unwritable(self) -> None:
        """Raise UsageError where the file can never be written, or is there and must stay."""
        if self.output is not None:
            refuse_unwritable(self.output, no_clobber=self.no_clobber)

    def nested(self, form: str) -> bool:
        """Whether rows are written with their signatures as nested lists."""
        return FORMS[form].nested and (not self.chosen or "signature" in self.chosen)

    def guarded(self, form: str) -> bool:
        """Whether cells are to be kept from being formulas; raises UsageError where the form has no cells."""
        if self.csv_safe and not FORMS[form].cells:
            because = f"to rows that are written as {form}: it is for CSV and TSV"
            refuse_or_leave_out(click.get_current_context(), "csv-safe", because)
        return self.csv_safe and FORMS[form].cells


def _names(context: click.Context, option: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Names between commas; one that has a comma itself stands in double quotes, as in CSV."""
    if text is None:
        return ()
    names = [name.strip() for name in next(csv.reader([text], skipinitialspace=True), [])]
    twice = next((name for name in names if names.count(name) > 1), None)
    if not all(names) or twice is not None:
        wrong = "a name is empty" if twice is None else f"'{twice}' is named twice"
        raise click.BadParameter(f"{wrong}; name columns between commas", context, option)
    return tuple(names)


_ROW_OPTIONS = (
    grouped_option(
        "--format",
        "form",
        type=click.Choice([*FORMS]),
        help="Form of the rows; trace draws them for Perfetto.  [default: told by FILE's name, such as "
        "rows.jsonl.gz; without FILE table on a terminal, else csv]",
        group=HelpGroup.PRINT,
    ),
    grouped_option(
        "-o",
        "--output",
        type=click.Path(),
        metavar="FILE",
        help="Write the rows to FILE, whole or not at all.  ROWS/ is a folder of Parquet files, with "
        "the rows in the order of their names; there --max-matches is 10000000000 by default.",
        group=HelpGroup.PRINT,
    ),
    grouped_option(
        "--columns",
        "chosen",
        callback=_names,
        metavar="NAMES",
        help="Write these columns, in this order, such as a.task_id,confidence.  [default: all; those of "
        "RETURN, then confidence, start, end and match]",
        group=HelpGroup.PRINT,
    ),
    grouped_option(
        "--no-clobber",
        is_flag=True,
        help="Refuse to replace an existing FILE.",
        group=HelpGroup.PRINT_FURTHER,
    ),
    grouped_option(
        "--limit",
        type=click.IntRange(min=0),
        metavar="N",
        help="Write the first N rows; all are counted.",
        group=HelpGroup.PRINT,
    ),
    grouped_option(
        "--time",
        "times",
        type=click.Choice(["iso", "ticks"]),
        default="iso",
        show_default=True,
        help="How start and end are written.",
        group=HelpGroup.PRINT_FURTHER,
    ),
    grouped_option(
        "--csv-safe",
        is_flag=True,
        help="In CSV and TSV, put an apostrophe before texts and column names that a spreadsheet would "
        "evaluate (they begin with = + - @, a tab or a carriage return).",
        group=HelpGroup.PRINT_FURTHER,
    ),
)


def row_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Which rows' columns go where in which form: the parameter rows (RowChoice)."""
    return with_options(gathered(command, "rows", RowChoice), _ROW_OPTIONS)


@dataclass(frozen=True)
class MatchRequest:
    """One call of the command; `metrics` names the file of its figures.

    `continued`: rows have been printed before, and these go on below them.  `overwrite`: a folder of rows is
    replaced.  `as_json`: the rows stand in the one answer that `--json` prints.
    `unordered`: rows are written as they are found.
    """

    question: Question
    paths: tuple[str, ...]
    incremental: Incremental
    rows: RowChoice
    why_not: bool
    metrics: str | None
    quiet: bool
    continued: bool = False
    overwrite: bool = False
    as_json: bool = False
    unordered: bool = False

    @property
    def directory(self) -> Path:
        """The directory of the state of incremental runs."""
        assert self.incremental.state is not None
        return Path(self.incremental.state)
