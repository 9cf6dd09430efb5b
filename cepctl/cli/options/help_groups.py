"""Help that fits a head: `--help` shows options that most runs need, in groups, `--help-all` all of them.

A command names its options in groups.  Those of its first groups are usual; `--help` shows them alone, and
says how many there are besides.  An option that stands in no group is an error of the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.settings import options_of

Groups = Mapping[str, Sequence[str]]
READING_GROUPS: dict[str, tuple[str, ...]] = {
    "How logs are read": (
        "tz",
        "name",
        "drop-domain",
        "intervals",
        "follow-links",
        "time-unit",
        "exact-times",
    ),
    "Of log lines, by patterns": ("patterns", "templates", "keep-unmatched", "epoch"),
    "Of tables (CSV, JSONL, Parquet) and object-centric logs": (
        "map",
        "epoch-unit",
        "time-format",
        "per-object",
    ),
}
"""Options of raw logs by what they are for; a command that finds one usual leaves it out here."""


class GroupedCommand(CheckedCommand):
    """A command whose help shows the `usual` groups of its options, and with `--help-all` the `further` ones.

    Both give the names of options by the title of their group.
    """

    def __init__(self, *args: Any, usual: Groups, further: Groups, **settings: Any) -> None:
        super().__init__(*args, **settings)
        named = [name for names in usual.values() for name in names]
        left = {title: tuple(each for each in names if each not in named) for title, names in further.items()}
        self.usual, self.further = dict(usual), {title: names for title, names in left.items() if names}
        self._help_all = _help_all(len(options_of(self)))

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Those of the command, and `--help-all` beside `--help`; neither can be set elsewhere."""
        *own, last = super().get_params(ctx)
        return [*own, self._help_all, last]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The groups, and the options of help below the last of them."""
        shown = {**self.usual, **self.further} if ctx.meta.get(_EVERYTHING) else self.usual
        options = options_of(self)
        for title, names in shown.items():
            with formatter.section(title):
                formatter.write_dl(list(_records(ctx, [options[name] for name in names])))
        with formatter.section("Help"):
            of_help = self.get_params(ctx)[-2:]
            formatter.write_dl(list(_records(ctx, of_help)))


_EVERYTHING = f"{__name__}.everything"


def _help_all(count: int) -> click.Option:
    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_show_everything,
        help=f"Show all {count} options and exit.",
    )


def _show_everything(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if not asked or context.resilient_parsing:
        return
    context.meta[_EVERYTHING] = True
    click.echo(context.get_help(), color=context.color)
    context.exit()


def _records(context: click.Context, options: Sequence[click.Parameter]) -> Iterator[tuple[str, str]]:
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            yield record
