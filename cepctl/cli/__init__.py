"""The command line: one group whose commands are imported only when they are called.

`cepctl --help` must answer at once, so nothing here imports Arrow, Spark or Rich; a command named
NAME is the object `command` of the module `cepctl.cli.commands.NAME`.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import re
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click

from cepctl.cli.options.help_groups import help_of_all_options
from cepctl.cli.options.settings import (
    CONFIG_VARIABLE,
    SETTINGS,
    blamed,
    defaults,
    file_settings,
    options_of,
    read_from_environment,
    refuse_unknown_variables,
)
from cepctl.cli.output.notices import command_begins, command_said, guess_log_format, say
from cepctl.cli.output.versions import tell_versions
from cepctl.errors import CepctlError, JobError, UsageError
from cepctl.process.interrupts import being_told
from cepctl.process.start_up import light_start

COMMAND_GROUPS: dict[str, dict[str, str]] = {
    "Begin": {
        "demo": "Write sample logs into a folder, ask them a question, and name what to try next.",
    },
    "Take logs in": {
        "ingest": "Turn logs into a dataset of Parquet events.",
        "formats": "List the log formats that can be read, and their events.",
        "assign": "Assign new uncertainty intervals to the events of a dataset.",
        "derive": "Make interval events from runs of samples.",
        "clocks": "Turn logs of clocks into a table of their errors, with hard bounds.",
    },
    "See what can be asked": {
        "inspect": "Show types, attributes, counts, span and granularity of events.",
        "audit": "Tell what the times of logs are worth, and what settles what they leave open.",
        "explain": "Show how a query would run.",
    },
    "Ask": {
        "match": "Run a query and print its probable matches.",
        "state": "Show the progress of incremental runs, and what their state holds.",
    },
    "Look at answers": {
        "show": "Draw one match and explain its confidence.",
        "report": "Draw the matches of a query as a page for a browser.",
    },
    "Test a model of your times, and learn": {
        "calibrate": "Tell whether stated probabilities are right, on events with true times.",
        "learn": "Learn from events with true times in which order they usually happen.",
    },
    "Search an archive without reading it": {
        "sketch": "Sketch datasets, so probes and matches need not read all events.",
        "probe": "Tell from sketches where a pattern can occur, without reading events.",
    },
    "Work with other tools": {
        "export": "Write events as an event log in XES, uncertain times and all.",
        "follows": "Count which types of events directly follow which in a case.",
        "mcp": "Serve inspect, match, why_not and show to an assistant, over standard input and output.",
    },
    "Set up": {
        "doctor": "Check what cepctl needs on this machine, and say what to do.",
        "config": "Show the values of options, and where each comes from.",
        "completion": "Print a script with which a shell completes commands, options and files.",
        "man": "Print manual pages, made from the help of the commands.",
    },
}
"""What each command is for, in the groups and the order in which they are shown."""
COMMANDS: dict[str, str] = {
    name: purpose for group in COMMAND_GROUPS.values() for name, purpose in group.items()
}
INTERRUPTED = 130
_NO_THREAD = "can't start new thread"
"""What Python says where the system gives it none."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = importlib.import_module(f"cepctl.cli.commands.{cmd_name}").command
        assert isinstance(command, click.Command)
        read_from_environment(command)
        return command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            being_told()  # Click ends the line of the terminal next.
            raise
        except EOFError as problem:
            # Click would take it for an interrupt; nothing here asks anybody.
            raise RuntimeError("something ended before its end was read") from problem

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for title, commands in COMMAND_GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), purpose) for name, purpose in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS:
            raise UsageError(f"no such command '{args[0]}'{_nearest_command(args[0])}")
        name, command, rest = super().resolve_command(ctx, args)
        command_begins(name)
        # A completion must not fail because of what the file says, nor what has no options.
        if name is not None and command is not None and options_of(command) and not ctx.resilient_parsing:
            refuse_unknown_variables(command, all_commands)
            settings = file_settings(command, all_commands, COMMANDS, ctx.params.get("config"))
            ctx.default_map = {name: defaults(command, settings)}
            ctx.meta[SETTINGS] = settings
        return name, command, rest


def all_commands() -> list[click.Command]:
    """Every command, imported."""
    context = click.Context(cli)
    return [command for name in COMMANDS if (command := cli.get_command(context, name)) is not None]


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "-V",
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=tell_versions,
    help="Show the versions of cepctl, Python, Spark, Arrow and Java.",
)
@click.option(
    "--config",
    type=click.Path(dir_okay=False),
    envvar=CONFIG_VARIABLE,
    metavar="FILE",
    help="Options in TOML; without it cepctl.toml of the working directory, if there is one.",
)
@click.option(
    "--help-all",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda context, _, asked: _show_all_help(context) if asked else None,
    help="Show the help of all commands, with all options, and exit.",
)
def cli(config: str | None) -> None:
    """Find every match that could have happened in logs with uncertain timestamps.

    Begin with `cepctl demo`.  Logs become a dataset of events (`ingest`), a query is run on it (`match`), and
    every match is printed with its probability.  `cepctl help COMMAND` shows the options of a command.
    """


def _show_all_help(context: click.Context) -> None:
    """Print the help of the group and of each command, and end."""
    if context.resilient_parsing:
        return
    click.echo(context.get_help(), color=context.color)
    for command in all_commands():
        own = click.Context(command, context, command.name)
        click.echo(f"\n\n{help_of_all_options(own)}", color=context.color)
    context.exit()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line; the exit code is the return value, no traceback reaches the user."""
    args = list(sys.argv[1:] if arguments is None else arguments)
    guess_log_format(args)
    if args[:1] == ["help"]:
        args = [*args[1:], "--help"]
    try:
        with light_start():
            outcome: Any = cli.main(args, prog_name="cepctl", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as help_wanted:
        help_wanted.show()
        return 2
    except click.ClickException as problem:
        say("error", usage_error_text(problem))
        _hint(problem.ctx if isinstance(problem, click.UsageError) else None)
        return 2
    except (click.Abort, KeyboardInterrupt):
        being_told()
        say("error", "interrupted")
        return INTERRUPTED
    except CepctlError as problem:
        say("error", str(problem))
        if isinstance(problem, UsageError):
            _hint(None)
        return problem.exit_code
    except (BrokenPipeError, SystemExit) as end:
        return _closed_pipe(end)
    except OSError as problem:
        _leave_standard_output()
        place = f" ({problem.filename})" if problem.filename else ""
        say("error", f"{problem.strerror or problem}{place}")
        return JobError.exit_code
    except (MemoryError, ImportError) as problem:
        # A library whose code the limit of memory keeps out is not there for Python.
        _leave_standard_output()
        reason = str(problem).partition("\n")[0]
        say("error", f"not enough memory, or a part of the installation is missing{reason and f': {reason}'}")
        say("hint", "ulimit -v shows the limit of memory; cepctl doctor looks at the installation")
        return JobError.exit_code
    except RuntimeError as problem:
        if str(problem) != _NO_THREAD:
            raise
        _leave_standard_output()
        say("error", "no thread can be started: memory or the number of processes is limited")
        say("hint", "ulimit -v and ulimit -u show the limits")
        return JobError.exit_code
    return outcome if isinstance(outcome, int) else 0


def usage_error_text(problem: click.ClickException) -> str:
    """What is wrong with the command line, on one line in the style of all errors."""
    if isinstance(problem, click.NoSuchOption) and len(problem.possibilities or ()) > 1:
        near = get_close_matches(problem.option_name, problem.possibilities or (), 1)
        problem = click.NoSuchOption(problem.option_name, possibilities=near, ctx=problem.ctx)
    message = problem.format_message()
    if isinstance(problem, click.MissingParameter) and isinstance(problem.param, click.Option):
        message = _missing(problem.param, problem.ctx)
    line = " ".join(message.split()).removesuffix(".")
    line = re.sub(r"\. ([A-Z])", lambda start: f"; {start[1].lower()}", line[:1].lower() + line[1:])
    place = blamed(problem) if isinstance(problem, click.BadParameter) else None
    return line if place is None else f"{line} (from {place})"


def _missing(option: click.Option, context: click.Context | None) -> str:
    """That an option is missing, how it is written and what it says."""
    named = option.opts[0]
    if context is not None and not option.is_flag:
        named = f"{named} {option.make_metavar(context)}"
    says = (option.help or "").partition(". ")[0]
    return f"missing option {named}: {says[:1].lower()}{says[1:]}"


def _nearest_command(name: str) -> str:
    near = get_close_matches(name, COMMANDS, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def _hint(context: click.Context | None) -> None:
    """Name the help of the command whose command line is wrong."""
    command = context.command_path if context is not None else f"cepctl {command_said() or ''}".strip()
    say("hint", f"try '{command} --help'")


def _closed_pipe(end: BaseException) -> int:
    """Exit code after the reader of our output went away: `cepctl ... | head` is not an error.

    Click and Rich turn a broken pipe into SystemExit(1), which nothing here raises; a signal ends us with
    a SystemExit of its own.
    """
    if isinstance(end, SystemExit) and end.code != 1:
        return end.code if isinstance(end.code, int) else JobError.exit_code
    _leave_standard_output()
    return 0


def _leave_standard_output() -> None:
    """Lead what is still held for standard output away: it would fail once more at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):  # a standard output that is not a file, as in tests
        os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
