"""Options that cannot apply beside others: refused on the command line, left out where they stand elsewhere.

What the environment or `cepctl.toml` says is meant for many runs, and must not make one impossible that it
does not fit; `-v` tells what is left out.  An option that says what would hold without it asks for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import click
from click.core import ParameterSource

from cepctl.cli.options.settings import options_of, origin
from cepctl.cli.output.notices import say
from cepctl.errors import UsageError
from cepctl.library.raw_input import RawInput


@dataclass(frozen=True)
class Exclusion:
    """The `options` (with one of `asking`, if there are any) cannot apply where `beside` has one of `values`.

    Without `values` it is enough that `beside` is given.
    """

    options: tuple[str, ...]
    beside: str
    values: tuple[object, ...]
    because: str
    asking: tuple[object, ...] = ()


_IN_PROCESS = ("point", "worlds")
EXCLUSIONS = (
    Exclusion(("master", "conf"), "runner", ("local",), "no Spark is started"),
    Exclusion(("master", "conf"), "engine", _IN_PROCESS, "it runs in this process, without Spark"),
    Exclusion(("order",), "engine", _IN_PROCESS, "it binds components in an order of its own"),
    Exclusion(("approximate",), "engine", _IN_PROCESS, "it estimates nothing"),
    Exclusion(("approximate",), "kleene", ("summary",), "a summary sums what would be estimates"),
    Exclusion(("format",), "kleene", ("summary",), "a summary names no events to draw", ("trace",)),
    Exclusion(("format",), "state", (), "draw the matches of one run over everything instead", ("trace",)),
    Exclusion(("time",), "format", ("trace",), "a trace has times of its own"),
    Exclusion(("why-not", "kleene"), "state", (), "it takes all events at once"),
    Exclusion(("top-k",), "state", (), "the best of all runs are not known in any of them"),
    Exclusion(("approximate",), "state", (), "estimates change with the events that are kept"),
    Exclusion(
        ("slack", "final", "eager", "late", "reopen", "keep"),
        "state",
        (None,),
        "it is for incremental runs alone; name their state with --state",
    ),
    Exclusion(("epoch-unit",), "time-format", (), "every time is read by the form, also one of digits alone"),
    Exclusion(("file", "format", "order", "max-memory"), "support", (True,), "its table is of no query"),
)


_OF_EVENTS = ("format", "uncertainty", "name", "follow-links")
"""What an ingest applies to the events of a dataset, too, and every command to the parts of one."""
_REMEDIES = {
    "uncertainty": "its events have their intervals; cepctl assign gives them others",
    "name": "its events have their types; cepctl ingest --name makes another dataset of it",
}


class CheckedCommand(click.Command):
    """A command that looks at its options together before it runs."""

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
    return tuple(context.params["arguments"][0 if context.params.get("query_file") else 1 :])


def _settle_datasets(context: click.Context, asked: Sequence[str]) -> None:
    """What says how logs are read cannot apply to datasets; where logs stand beside them, that is said."""
    from cepctl.datasets.parts import names_parts
    from cepctl.datasets.stored import stored_dataset

    inputs = dict.fromkeys(_inputs(context))
    wholes = [path for path in inputs if stored_dataset(path) is not None]
    in_parts = [path for path in inputs if path not in wholes and names_parts(path)]
    for name in asked:
        taken_whole = [] if context.command.name == "ingest" and name in _OF_EVENTS else wholes
        taken_in_parts = [] if name in _OF_EVENTS else in_parts
        stored = [f"the dataset {path}" for path in taken_whole]
        stored += [f"{path}, parts of a dataset" for path in taken_in_parts]
        remedy = _REMEDIES.get(name, "what is read from logs is known by their ingest")
        if stored and len(stored) == len(inputs):
            refuse_or_leave_out(context, name, f"to {stored[0]}: {remedy}")
        elif stored and origin(context, name) is None and not context.params.get("quiet"):
            say("note", f"--{name} applies to the other inputs, not to {stored[0]}: {remedy}")


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
    if (value in exclusion.values) if exclusion.values else (value is not None):
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
    said = f"--{name}" if value is True else f"--{name} {value}"
    return f"with {said}{f' (from {place})' if place else ''}: {exclusion.because}"
