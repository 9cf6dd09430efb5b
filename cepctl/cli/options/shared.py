"""Options that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import CompletionItem

from cepctl.cli.options.help_groups import HelpGroup, grouped_option
from cepctl.cli.options.settings import SETTINGS, borrowed, found_beside_the_logs
from cepctl.cli.output.notices import LOG_FORMATS, heard, log_format_chosen, say
from cepctl.cli.output.rows import refuse_unwritable
from cepctl.library.raw_input import RawInput
from cepctl.matching.run import AUTO, RunnerChoice
from cepctl.memory import (
    PROGRAM_BYTES,
    READING_PROGRAM_BYTES,
    MemoryBudget,
    budget_of,
    default_budget,
)
from cepctl.runners.kinds import RUNNERS, Conf
from cepctl.spark.settings import require_master


def gathered(command: Callable[..., Any], name: str, kind: type) -> Callable[..., Any]:
    """A command that takes parameters named like the fields of a dataclass as one value of it."""
    names = [each.name for each in fields(kind)]

    @wraps(command)
    def gathering(**values: Any) -> Any:
        own = {each: values.pop(each) for each in names if each in values}
        return command(**values, **{name: kind(**own)})

    return gathering


no_given_option = grouped_option(
    "--no-given",
    is_flag=True,
    help="Ignore the conditions of the dataset on every world ([[given]] in its model).",
    group=HelpGroup.ASK_FURTHER,
)


def _writable(context: click.Context, parameter: click.Parameter, file: str | None) -> str | None:
    """A file that can be written; another is refused before any work is done."""
    if file is not None:
        refuse_unwritable(file)
    return file


metrics_option = grouped_option(
    "--metrics",
    callback=_writable,
    type=click.Path(),
    metavar="FILE",
    help="Write the figures of this run for Prometheus (node_exporter's textfile collector).",
    group=HelpGroup.PRINT_FURTHER,
)
words_or_json = click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Words for people, JSON for machines.",
)
json_option = grouped_option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the answer as one JSON object, of one schema for all commands (docs/json.md).",
    group=HelpGroup.PRINT,
)


def _pairs(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> Conf:
    """Split `key=value` texts; a text without `=` is an error of the command line."""
    pairs = []
    for value in values:
        key, equals, setting = value.partition("=")
        if not equals or not key.strip():
            raise click.BadParameter(f"'{value}' is not of the form key=value", context, parameter)
        pairs.append((key.strip(), setting))
    return tuple(pairs)


def _columns(context: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Split `a,b`."""
    return None if value is None else tuple(each.strip() for each in value.split(","))


def _master(context: click.Context, parameter: click.Parameter, master: str) -> str:
    return require_master(master)


def with_options(command: Callable[..., Any], options: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    """A command with these options, in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def _memory_option(program: int) -> Callable[..., Any]:
    """`--max-memory` of a command that takes so many bytes itself: the parameter memory (MemoryBudget)."""

    def budget(context: click.Context, option: click.Parameter, text: str | None) -> MemoryBudget:
        return default_budget(program) if text is None else budget_of(text, program)

    return grouped_option(
        "--max-memory",
        "memory",
        callback=budget,
        metavar="SIZE",
        help="Use at most this much memory, such as 2GB; concurrent tasks share it.  [default: half of "
        "the memory of the machine or its container]",
        group=HelpGroup.RUNNING,
    )


memory_option = _memory_option(PROGRAM_BYTES)
reading_memory_option = _memory_option(READING_PROGRAM_BYTES)


def _with_runner(command: Callable[..., Any]) -> Callable[..., Any]:
    """A command that takes `--runner`, `--master` and `--conf` as one; who says how Spark runs wants it."""

    @wraps(command)
    def choosing(runner: str, master: str, conf: Conf, **values: Any) -> Any:
        choice = RunnerChoice(runner, master, conf)
        source = click.get_current_context().get_parameter_source
        said = {name for name in ("master", "conf") if source(name) is not ParameterSource.DEFAULT}
        return command(**values, runner=choice.on_spark_where_open() if said else choice)

    return choosing


def runner_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--runner`, `--master` and `--conf`: the parameter runner (RunnerChoice)."""
    return with_options(
        _with_runner(command),
        [
            grouped_option(
                "--runner",
                type=click.Choice([AUTO, *RUNNERS]),
                default=AUTO,
                show_default=True,
                help="Where the work is done; auto uses Spark for more than 5,000,000 events or 256 MB of "
                "logs, or if --master or --conf is given; local needs no Java. All write the same bytes.",
                group=HelpGroup.WHERE,
            ),
            grouped_option(
                "--master",
                callback=_master,
                default="local[*]",
                show_default=True,
                metavar="URL",
                help="Spark master.",
                group=HelpGroup.RUNNING,
            ),
            grouped_option(
                "--conf",
                multiple=True,
                callback=_pairs,
                metavar="KEY=VALUE",
                help="A Spark setting; may be given several times.",
                group=HelpGroup.RUNNING,
            ),
        ],
    )


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
        callback=_pairs,
        metavar="WORD=ZONE",
        help="Zone that a word behind times names, such as CST=America/Chicago; may be given several times.",
        group=HelpGroup.LOGS,
    ),
    grouped_option(
        "--name",
        "renames",
        multiple=True,
        callback=_pairs,
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
)


_TEMPLATES = grouped_option(
    "--templates",
    type=click.Path(),
    metavar="FILE",
    help="Templates (TOML) that type messages of logs of lines, as inspect --templates prints them.",
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


def reject_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--rejects` and `--max-errors`: parameters rejects (path or None), max_errors (int or None)."""
    return with_options(
        command,
        [
            grouped_option(
                "--rejects",
                type=click.Path(),
                metavar="FILE",
                help="Write the bad records to this JSON lines file.",
                group=HelpGroup.WRITE,
            ),
            grouped_option(
                "--max-errors",
                type=click.IntRange(min=0),
                metavar="N",
                help="Fail if there are more bad records than this.  [default: the larger of 10 and 0.1 %]",
                group=HelpGroup.WRITE_FURTHER,
            ),
        ],
    )


class _Quietness(click.IntRange):
    """How often -q was said; the environment and the file may also say true or false."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not value.strip().isdecimal():
            return int(click.BOOL.convert(value, param, ctx))
        return super().convert(value, param, ctx)


strict_option = grouped_option(
    "--strict",
    "warnings_are_errors",
    is_flag=True,
    help="Make warnings errors (exit code 2), such as of a type that no event has.",
    group=HelpGroup.MESSAGES,
)


def verbosity_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """`--quiet` and `-v`: parameters quiet, verbose; notices.py keeps `--log-format` and `--strict`.

    A command first says what a file sets that nobody named, and with -v which options it takes from the
    environment and the file.
    """

    @wraps(command)
    def telling(**values: Any) -> Any:
        level, strict = values["quiet"], values.pop("warnings_are_errors", False)
        values["quiet"] = level > 0
        context = click.get_current_context()
        found = found_beside_the_logs(context)
        # Such a file cannot hide itself.
        if found and not (level and "quiet" not in context.meta[SETTINGS]):
            say("note", found)
        if values["verbose"] and not level:
            for line in borrowed(context):
                say("note", line)
        with heard(quiet=level, strict=strict):
            return command(**values)

    return with_options(
        telling,
        [
            grouped_option(
                "--quiet",
                "-q",
                count=True,
                type=_Quietness(),
                help="Print only results, warnings and errors; -qq no warnings either.",
                group=HelpGroup.MESSAGES,
            ),
            grouped_option(
                "--verbose",
                "-v",
                is_flag=True,
                help="Say where options come from, and show warnings of Spark.",
                group=HelpGroup.MESSAGES,
            ),
            grouped_option(
                "--log-format",
                type=click.Choice(LOG_FORMATS),
                default="text",
                show_default=True,
                is_eager=True,
                expose_value=False,
                callback=log_format_chosen,
                help="Form of messages on standard error: lines for people, or JSON objects for programs.",
                group=HelpGroup.MESSAGES,
            ),
        ],
    )
