"""Options that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from cepctl.cli.options.help_groups import HelpGroup, grouped_option
from cepctl.cli.options.settings import SETTINGS, borrowed, found_beside_the_logs
from cepctl.cli.output.notices import LOG_FORMATS, heard, log_format_chosen, say
from cepctl.cli.output.rows import refuse_unwritable
from cepctl.matching.execution import AUTO, RunnerChoice
from cepctl.process.memory import (
    PROGRAM_BYTES,
    READING_PROGRAM_BYTES,
    MemoryBudget,
    budget_of,
    default_budget,
)
from cepctl.runners.kinds import RUNNERS, Conf
from cepctl.runners.spark.settings import require_master


def gathered(command: Callable[..., Any], name: str, kind: type) -> Callable[..., Any]:
    """A command that takes parameters named like the fields of a dataclass as one value of it."""
    names = [each.name for each in fields(kind)]

    @wraps(command)
    def gathering(**values: Any) -> Any:
        own = {each: values.pop(each) for each in names if each in values}
        return command(**values, **{name: kind(**own)})

    return gathering


def in_one(name: str, kind: type) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`gathered` as a decorator, which stands below the options that it takes."""
    return lambda command: gathered(command, name, kind)


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


def pairs(context: click.Context, parameter: click.Parameter, values: Sequence[str]) -> Conf:
    """Split `key=value` texts; a text without `=` is an error of the command line."""
    found = []
    for value in values:
        key, equals, setting = value.partition("=")
        if not equals or not key.strip():
            raise click.BadParameter(f"'{value}' is not of the form key=value", context, parameter)
        found.append((key.strip(), setting))
    return tuple(found)


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
                callback=pairs,
                metavar="KEY=VALUE",
                help="A Spark setting; may be given several times.",
                group=HelpGroup.RUNNING,
            ),
        ],
    )


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
    """`--quiet` and `-v`: parameters quiet, verbose.  `--log-format` and `--strict` are kept
    by cepctl/cli/output/notices.py.

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
