"""Options that cannot apply beside others: refused on the command line, left out where they stand elsewhere.

What the environment or `cepctl.toml` says is meant for many runs, and must not make one impossible that it
does not fit; `-v` tells what is left out.  An option that says what would hold without it asks for nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

import click
from click.core import ParameterSource

from cepctl.cli.options.settings import options_of, origin
from cepctl.cli.output.notices import say
from cepctl.errors import UsageError
from cepctl.library.exclusions import EXCLUSIONS, Exclusion, beyond_datasets
from cepctl.library.raw_input import RawInput

_COMMENT = re.compile(r"--\s")


class CheckedCommand(click.Command):
    """A command that looks at its options together before it runs.

    A query may begin with a comment, `-- such as this`, which no option is called like.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [f" {each}" if _COMMENT.match(each) else each for each in args])

    def invoke(self, ctx: click.Context) -> Any:
        settle(ctx)
        return super().invoke(ctx)


def settle(context: click.Context) -> None:
    """Refuse or leave out every option that cannot apply beside the others."""
    for exclusion in EXCLUSIONS:
        for name in _excluded(exclusion, context):
            refuse_or_leave_out(context, name, _sentence(exclusion, context))
    # The model of an assign is for the dataset that it reads.
    reading = of_raw_input(context.command) if context.command.name != "assign" else ()
    asked = [*asked_for(context, reading)]
    if context.command.name == "explain" and not _inputs(context):
        for name in asked:
            refuse_or_leave_out(context, name, "without EVENTS: no log is read")
    elif asked:
        _settle_datasets(context, asked)


def _inputs(context: click.Context) -> tuple[str, ...]:
    """The PATHs or EVENTS of a command, in which the query is not an input."""
    for name in ("paths", "events"):
        if name in context.params:
            return tuple(context.params[name])
    without_query = context.params.get("query_file") or context.params.get("pairs")
    return tuple(context.params["arguments"][0 if without_query else 1 :])


def _settle_datasets(context: click.Context, asked: Sequence[str]) -> None:
    """What says how logs are read cannot apply to datasets; where logs stand beside them, that is said."""
    inputs, ingesting = _inputs(context), context.command.name == "ingest"
    for name, why, wholly in beyond_datasets(inputs, asked, ingesting=ingesting):
        if wholly:
            refuse_or_leave_out(context, name, why)
        elif origin(context, name) is None and not context.params.get("quiet"):
            say("note", f"--{name} applies to the other inputs, not {why}")


def refuse_or_leave_out(context: click.Context, name: str, why: str) -> None:
    """Refuse an option of the command line that cannot apply; put one from elsewhere back to its default.

    Raises
    ------
    UsageError
        If the option stands on the command line.
    """
    option = options_of(context.command)[name]
    place = origin(context, name)
    if place is None:
        raise UsageError(f"--{name} cannot apply {why}")
    if context.params.get("verbose") and not context.params.get("quiet"):
        say("note", f"--{name} from {place} is left out: it cannot apply {why}")
    assert option.name is not None
    context.params[option.name] = default_of(context, option)
    context.set_parameter_source(option.name, ParameterSource.DEFAULT)


def of_raw_input(command: click.Command) -> tuple[str, ...]:
    """The options of a command that say how logs are read."""
    parameters = {each.name for each in fields(RawInput)}
    return tuple(name for name, option in options_of(command).items() if option.name in parameters)


def asked_for(context: click.Context, names: Sequence[str]) -> Iterator[str]:
    """Those of the options that the command has and that say something else than their default."""
    known = options_of(context.command)
    for name in names:
        if name not in known:
            continue
        option = known[name]
        assert option.name is not None
        source = context.get_parameter_source(option.name)
        said = source not in (None, ParameterSource.DEFAULT)
        if said and context.params.get(option.name) != default_of(context, option):
            yield name


def default_of(context: click.Context, option: click.Option) -> Any:
    """What a parameter is where nothing is said of its option."""
    bare = click.Context(context.command, context.parent, context.info_name)
    value = option.get_default(bare, call=True)
    # Click has a mark of its own for an option without a default.
    return option.process_value(bare, value if isinstance(value, str | int | float | tuple | list) else None)


def _excluded(exclusion: Exclusion, context: click.Context) -> Iterator[str]:
    deciding = options_of(context.command).get(exclusion.beside)
    if deciding is None or deciding.name is None:
        return
    value = context.params.get(deciding.name)
    if exclusion.holds(value):
        for name in asked_for(context, exclusion.options):
            given = context.params.get(options_of(context.command)[name].name or name)
            if not exclusion.asking or given in exclusion.asking:
                yield name


def _sentence(exclusion: Exclusion, context: click.Context) -> str:
    """`with --engine worlds (from cepctl.toml): it estimates nothing`."""
    name = exclusion.beside
    value = context.params.get(options_of(context.command)[name].name or name)
    if value is None:
        return f"without --{name}: {exclusion.because}"
    place = origin(context, name)
    text = ",".join(map(str, value)) if isinstance(value, tuple) else value
    said = f"--{name}" if value is True else f"--{name} {text}"
    return f"with {said}{f' (from {place})' if place else ''}: {exclusion.because}"
