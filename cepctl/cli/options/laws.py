"""Options that say under which laws of order a query is run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from cepctl.cli.options.help_groups import HelpGroup, grouped_option
from cepctl.cli.options.shared import gathered, with_options
from cepctl.laws.choices import BEYOND, MOST_SETS_ALIVE
from cepctl.library.laws import LawChoice, LawFile


def law_file(context: click.Context, option: click.Parameter, path: str | None) -> LawFile | None:
    """The laws of a file; a wrong one is refused before any work is done."""
    return None if path is None else LawFile.read(path)


_FILE = grouped_option(
    "--laws",
    callback=law_file,
    type=click.Path(),
    metavar="FILE",
    help="Weigh the orders of events by the laws ([[law]]) of a model file, instead of those that the "
    "dataset keeps.",
    group=HelpGroup.ASK_FURTHER,
)
no_laws_option = grouped_option(
    "--no-laws",
    is_flag=True,
    help="Ignore the laws of order of the dataset ([[law]] in its model).",
    group=HelpGroup.ASK_FURTHER,
)
_BEYOND = grouped_option(
    "--beyond",
    type=click.Choice(BEYOND),
    default="refuse",
    show_default=True,
    help="What to do with a key that is too much work under the law: refuse, or compute it without "
    "(lawless), which the column law then says.",
    group=HelpGroup.ASK_FURTHER,
)
_LIMIT = grouped_option(
    "--law-limit",
    type=click.IntRange(min=1),
    default=MOST_SETS_ALIVE,
    show_default=True,
    metavar="N",
    help="A key is too much work if more than N sets of its events may have happened in some cell of time.",
    group=HelpGroup.ASK_FURTHER,
)
LAW_OPTIONS = (_FILE, no_laws_option, _BEYOND, _LIMIT)


def law_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Under which laws one query is looked at: the parameter under (LawChoice)."""
    return with_options(gathered(command, "under", LawChoice), (_FILE, no_laws_option, _LIMIT))
