"""Options that say how raw logs are read, shared by all commands that take logs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from cepctl.cli.options.help_groups import HelpGroup, grouped_option
from cepctl.cli.options.shared import gathered, pairs, with_options
from cepctl.library.raw_input import RawInput


def _columns(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Split `a,b`."""
    return None if value is None else tuple(each.strip() for each in value.split(","))


def _formats(context: click.Context, option: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
    """What a shell offers as the format of logs."""
    from cepctl.io.formats import known_formats

    names = (known.name for known in known_formats())
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


HOW_UNCERTAIN = (
    "How far times can be off: a model file (TOML); or '±500 ms', '-16 s..+2 s', '1 day' (its unit), for all "
    "events or for a file, a type or attribute=value, such as 'fw.csv=±90 s'; may be given several times."
)
write_model_option = grouped_option(
    "--write-model",
    type=click.Path(),
    metavar="FILE",
    help="Write what --uncertainty says as a model file (TOML), to build on.",
    group=HelpGroup.WRITE_FURTHER,
)
NO_WRITER = grouped_option(
    "--no-writer",
    is_flag=True,
    help="Leave out the order in which events were written: that of lines of logs, or what a dataset knows.",
    group=HelpGroup.LOGS,
)
_RAW_INPUT_OPTIONS = (
    grouped_option(
        "--uncertainty",
        multiple=True,
        type=click.Path(),
        metavar="[WHICH=]HOW",
        help=HOW_UNCERTAIN,
        group=HelpGroup.LOGS,
    ),
    grouped_option(
        "--tz",
        metavar="ZONE",
        help="IANA zone of times that are written without one, such as Europe/Berlin.",
        group=HelpGroup.LOGS,
    ),
    grouped_option(
        "--zone",
        "zones",
        multiple=True,
        callback=pairs,
        metavar="WORD=ZONE",
        help="Zone that a word behind times names, such as CST=America/Chicago; may be given several times.",
        group=HelpGroup.LOGS,
    ),
    grouped_option(
        "--name",
        "renames",
        multiple=True,
        callback=pairs,
        metavar="OLD=NEW",
        help="Rename an event type, such as cpu_user=CPU; may be given several times.",
        group=HelpGroup.LOGS,
    ),
    grouped_option(
        "--drop-domain",
        is_flag=True,
        help="Shorten host names to their first label.",
        group=HelpGroup.LOGS,
    ),
    grouped_option(
        "--patterns",
        type=click.Path(),
        metavar="FILE",
        help="Patterns (TOML) that make events of log lines, tried before the built-in ones.",
        group=HelpGroup.LINES,
    ),
    grouped_option(
        "--keep-unmatched",
        is_flag=True,
        help="Make LogLine events of the log lines that no pattern fits.",
        group=HelpGroup.LINES,
    ),
    grouped_option(
        "--intervals",
        is_flag=True,
        help="Also make interval events of tasks, attempts, jobs and activities.",
        group=HelpGroup.LOGS,
    ),
    grouped_option(
        "--epoch",
        metavar="TIME",
        help="Start (ISO 8601) of relative times [default: 1970], or the day on which a log without "
        "years begins.",
        group=HelpGroup.LINES,
    ),
    grouped_option(
        "--map",
        "columns",
        multiple=True,
        metavar="FIELD=COLUMN",
        help="Columns of plain event files, such as event_type=activity,time=ts; may be given several times.",
        group=HelpGroup.TABLES,
    ),
    grouped_option(
        "--columns-of",
        metavar="FILE|NAME,...",
        help="Names of the columns of tables without a header: the first line of FILE, or a list.",
        group=HelpGroup.TABLES,
    ),
    grouped_option(
        "--follow-links",
        is_flag=True,
        help="Also follow links that lead out of a directory.",
        group=HelpGroup.LOGS,
    ),
    grouped_option(
        "--epoch-unit",
        type=click.Choice(["s", "ms", "us", "ns"]),
        help="Unit of the numbers in columns of times, counted from 1970.  [default: by their size]",
        group=HelpGroup.TABLES,
    ),
    grouped_option(
        "--time-format",
        metavar="FORM",
        help="Format of times in plain event files that are not ISO 8601, such as '%d.%m.%Y %H:%M'.",
        group=HelpGroup.TABLES,
    ),
    grouped_option(
        "--per-object",
        metavar="TYPE",
        help="In object-centric logs (OCEL), make one event for each object of this type.",
        group=HelpGroup.TABLES,
    ),
    grouped_option(
        "--time-unit",
        metavar="UNIT",
        help="Length of a tick, such as '1 us'; without it that of the finest digit of the times, at "
        "most 1 ms.",
        group=HelpGroup.LOGS,
    ),
    grouped_option(
        "--exact-times",
        is_flag=True,
        help="Take times without a fraction of a second as exact; otherwise, if no time of its file has "
        "a fraction, each stands for its whole second, minute or day.",
        group=HelpGroup.LOGS,
    ),
    grouped_option(
        "--writer",
        callback=_columns,
        metavar="COLUMN,...",
        help="Events of one file that share these attributes (source: no more than the file) were written by "
        "one process, in the order in which they happened: however coarse their times are, that order holds.",
        group=HelpGroup.LOGS,
    ),
    NO_WRITER,
)


_TEMPLATES = grouped_option(
    "--templates",
    type=click.Path(),
    metavar="FILE",
    help="Templates of messages (TOML), as inspect --templates prints them.",
    group=HelpGroup.LINES,
)


def raw_input_options(
    format_option: str, *, lists_templates: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """How raw logs are read: the parameter raw_input (RawInput).

    `format_option` is the spelling of the option that names the format: `match` keeps `--format`
    for its output and says `--input-format`.  A command that `lists_templates` has an option of its
    own called --templates.
    """
    named = grouped_option(
        format_option,
        "input_format",
        metavar="FORMAT",
        shell_complete=_formats,
        help="Format of the logs.  [default: recognised by content]",
        group=HelpGroup.WHICH_LOGS,
    )

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        options = (
            (named, *_RAW_INPUT_OPTIONS) if lists_templates else (named, *_RAW_INPUT_OPTIONS, _TEMPLATES)
        )
        return with_options(gathered(command, "raw_input", RawInput), options)

    return decorate
