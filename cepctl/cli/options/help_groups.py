"""Help that fits a head: `--help` shows options that most runs need, in groups, `--help-all` all of them.

An option states its group where it is declared; one without is its command's own.  Those of the usual groups
are shown by `--help` alone, which says how many there are besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.settings import options_of
from cepctl.cli.output.terminal_line import reading_shown

Command = TypeVar("Command", bound=Callable[..., Any])


class HelpGroup(Enum):
    """The groups by their titles, in the order in which they are shown."""

    OWN = "Options"
    ASK = "What to ask"
    READ = "What to read"
    PRINT = "What to print"
    WRITE = "What to write"
    WHERE = "Where to run"
    ASK_FURTHER = "What to ask, further"
    PRINT_FURTHER = "What to print, further"
    WRITE_FURTHER = "What to write, further"
    INCREMENTAL = "Incremental runs: --state DIR, and options that need it"
    SKETCHES = "Sketches: --sketch, and options that need it"
    WHICH_LOGS = "Which logs are read"
    LOGS = "How logs are read"
    LINES = "Of log lines, by patterns"
    TABLES = "Of tables (CSV, JSONL, Parquet) and object-centric logs"
    RUNNING = "How it is run; --master and --conf are Spark's"
    MESSAGES = "Messages"

    @property
    def usual(self) -> bool:
        """Whether most runs need its options."""
        return self in _USUAL


_USUAL = (HelpGroup.OWN, HelpGroup.ASK, HelpGroup.READ, HelpGroup.PRINT, HelpGroup.WRITE, HelpGroup.WHERE)


class GroupedOption(click.Option):
    """An option that stands in a group of the help."""

    def __init__(self, *args: Any, group: HelpGroup, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.group = group


def grouped_option(*spellings: str, group: HelpGroup, **settings: Any) -> Callable[[Command], Command]:
    """`click.option` of an option that stands in a group."""
    return click.option(*spellings, cls=GroupedOption, group=group, **settings)


class GroupedCommand(CheckedCommand):
    """A command whose help shows its options in groups, those of the `further` ones with `--help-all` only.

    `moved` are options that it shares with others and shows in another group than they do.  Both `usual` and
    `further` give the names of options by the title of their group.
    """

    def __init__(
        self, *args: Any, moved: Mapping[HelpGroup, Sequence[str]] | None = None, **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        moved = {HelpGroup.ASK: ["uncertainty"]} if moved is None else moved
        options = options_of(self)
        elsewhere = {name: group for group, names in moved.items() for name in names}
        groups = {name: elsewhere.get(name) or _group(each) for name, each in options.items()}
        shown = {group: tuple(name for name in groups if groups[name] is group) for group in HelpGroup}
        self.usual = {each.value: names for each, names in shown.items() if names and each.usual}
        self.further = {each.value: names for each, names in shown.items() if names and not each.usual}
        self._help_all = _help_all(len(options))

    def invoke(self, ctx: click.Context) -> Any:
        """Whatever logs the command reads, a terminal shows how far it is."""
        with reading_shown(quiet=bool(ctx.params.get("quiet"))):
            return super().invoke(ctx)

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


def _group(option: click.Option) -> HelpGroup:
    return option.group if isinstance(option, GroupedOption) else HelpGroup.OWN


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
    click.echo(help_of_all_options(context), color=context.color)
    context.exit()


def help_of_all_options(context: click.Context) -> str:
    """The help of a command with the options of all groups."""
    context.meta[_EVERYTHING] = True
    return context.get_help()


def _records(context: click.Context, options: Sequence[click.Parameter]) -> Iterator[tuple[str, str]]:
    for option in options:
        record = option.get_help_record(context)
        if record is not None:
            yield record
