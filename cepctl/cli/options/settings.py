"""Where options come from beside the command line: the environment, and a TOML file.

The file is `cepctl.toml` of the working directory, or what `--config` names.  Keys at its top apply to
every command that has such an option, a table such as `[match]` to that command alone.  Options are
named as on the command line:

    cepctl match --top-k 10
    CEPCTL_MATCH_TOP_K=10, for every command CEPCTL_TOP_K=10
    [match]
    top-k = 10

The command line wins over the environment, the environment over the file; in each of the two, what is
said of one command wins over what is said of all.

A file that nobody named may have come with the logs.  It sets how things are read and look, never what is
run, or what is written and where.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from cepctl.cli.options.file_values import as_on_the_command_line
from cepctl.errors import UsageError
from cepctl.process.trust.ownership import fault_of, unsafe_because
from cepctl.process.trust.toml_text import toml_document

DEFAULT_FILE = "cepctl.toml"
SETTINGS = "cepctl.settings"  # where a click context keeps what the file says
_PREFIX = "CEPCTL"
CONFIG_VARIABLE = f"{_PREFIX}_CONFIG"
OF_ANY_FOLDER = frozenset((
    "approximate", "beyond", "bound", "by", "closed", "columns", "csv-safe", "drift", "drop-domain",
    "engine", "epoch", "epoch-unit", "exact-times", "exists", "explain", "fail-on", "fail-on-match",
    "format", "full", "granularity", "hold", "host", "input-format", "intervals", "json", "keep-unmatched",
    "kleene", "law-limit", "limit", "log-format", "map", "max-errors", "max-keys", "max-matches",
    "max-memory", "min-confidence", "name", "no-clobber", "no-given", "no-laws", "no-writer", "order",
    "per-object", "quiet", "since", "step", "strict", "time", "time-format", "time-unit", "top-k", "types",
    "tz", "unordered", "until", "verbose", "why-not", "window", "writer", "zone",
))  # fmt: skip
"""Options that a file may set which nobody named: how logs are read, what is asked, how answers look."""
OF_TESTS = frozenset(
    f"{_PREFIX}_{name}"
    for name in (
        *("REALDATA", "LABELLED_LOGS", "EXAMPLES", "KILLS", "MUTATIONS", "CRON_MINUTES", "SCREENSHOTS"),
        "FOREIGN_LINES",
        "WRITE_GOLDEN",
    )
)
"""Variables under our prefix that the tests of cepctl read, and no command."""
_OF_SERVICES = re.compile(
    r"SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?"
)
"""What Kubernetes, as Docker once, tells every container of a service that is called as we are, or
`cepctl-...`: https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables"""

Commands = Callable[[], Sequence[click.Command]]


@dataclass(frozen=True)
class FileSetting:
    """What the file says of one option, and where: `cepctl.toml` or `cepctl.toml [match]`."""

    value: Any
    place: str


def option_name(option: click.Option) -> str:
    """An option as a user names it: the first long spelling, without its dashes."""
    return next(spelling for spelling in option.opts if spelling.startswith("--"))[2:]


@cache  # asked for each option of a call
def options_of(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by the names that users know."""
    options = (parameter for parameter in command.params if isinstance(parameter, click.Option))
    return {option_name(option): option for option in options}


def variables(command: str, option: str) -> list[str]:
    """Environment variables that set an option; the first that is set holds.

    Examples
    --------
    >>> variables("match", "top-k")
    ['CEPCTL_MATCH_TOP_K', 'CEPCTL_TOP_K']
    """
    name = option.upper().replace("-", "_")
    return [f"{_PREFIX}_{command.upper()}_{name}", f"{_PREFIX}_{name}"]


def refuse_unknown_variables(command: click.Command, commands: Commands) -> None:
    """Refuse what stands in the environment under our prefix and is not an option of any command.

    `commands` gives all of them; asked only for what this one does not know.

    Raises
    ------
    UsageError
        If there is such a variable, with the one that is nearest to it.
    """
    said = {name for name, value in os.environ.items() if value and name.startswith(f"{_PREFIX}_")}
    unknown = said - {CONFIG_VARIABLE} - OF_TESTS - _variables_of(command)
    if not unknown:
        return
    known = {CONFIG_VARIABLE}.union(*map(_variables_of, commands()))
    for name in sorted(unknown - known):
        if _is_of_service(name):
            continue
        bare = sorted(each.removeprefix(f"{_PREFIX}_") for each in known)
        near = get_close_matches(name.removeprefix(f"{_PREFIX}_"), bare, 1)
        hint = f"did you mean {_PREFIX}_{near[0]}?" if near else "cepctl config lists what may be set"
        raise UsageError(f"{name} in the environment is an option of no command; {hint}")


def _is_of_service(name: str) -> bool:
    """Whether a variable tells where a service is, not what we are to do."""
    words = name.split("_")
    return any(_OF_SERVICES.fullmatch("_".join(words[place:])) for place in range(1, len(words)))


@cache
def _variables_of(command: click.Command) -> set[str]:
    return {each for name in options_of(command) for each in variables(command.name or "", name)}


@cache
def read_from_environment(command: click.Command) -> None:
    """Let every option of a command be set by its environment variables."""
    for name, option in options_of(command).items():
        option.envvar = variables(command.name or "", name)


def file_settings(
    command: click.Command, commands: Commands, names: Collection[str], file: str | None
) -> dict[str, FileSetting]:
    """What the file says of the options of one command, by the names that users know.

    `command`: whose options.  `commands`: gives all commands; asked only when the file sets an option that
    this one has not.  `names`: names of all commands.  `file`: the file, if one was named.

    Raises
    ------
    UsageError
        If the file is missing (when named) or could be another's (when not), is not TOML, or sets what no
        command has, or to what no option can be set.
    """
    path = Path(file or DEFAULT_FILE)
    if file is None and not path.is_file():
        return {}
    content = {_spelled(key): value for key, value in _load(path, named=file is not None).items()}
    name, options = command.name or "", options_of(command)
    tables = {key: value for key, value in content.items() if isinstance(value, dict)}
    common = {key: value for key, value in content.items() if key not in tables}
    for key in tables:
        _require(key in names, path, f"there is no command '{key}'", key, names)
    for key in names:
        if key in common:
            raise UsageError(f"{path}: '{key}' must be a table: [{key}]")
    if not common.keys() <= options.keys():
        known = {option for each in commands() for option in options_of(each)}
        for key in common:
            _require(key in known, path, f"no command has an option '{key}'", key, known)
    own = {_spelled(key): value for key, value in tables.get(name, {}).items()}
    for key in own:
        _require(key in options, path, f"'{name}' has no option '{key}'", key, options)
    said = {key: FileSetting(value, str(path)) for key, value in common.items() if key in options}
    said |= {key: FileSetting(value, f"{path} [{name}]") for key, value in own.items()}
    said = {
        key: replace(each, value=as_on_the_command_line(each.value, options[key], key, each.place))
        for key, each in said.items()
    }
    if file is None:
        _refuse_what_only_named_files_set(path, said)
    return said


def found_beside_the_logs(context: click.Context) -> str | None:
    """What a file that nobody named sets for a command, as a line for people; None if nothing."""
    settings = context.meta.get(SETTINGS)
    if not settings or context.find_root().params.get("config") is not None:
        return None
    names = ", ".join(f"--{name}" for name in sorted(settings))
    return f"{DEFAULT_FILE} of this directory sets {names}; --config {os.devnull} leaves it out"


def _refuse_what_only_named_files_set(path: Path, names: Collection[str]) -> None:
    """Raise UsageError if a file that nobody named sets what is run or written."""
    for name in sorted({*names} - OF_ANY_FOLDER):
        raise UsageError(
            f"{path}: '{name}' is not taken from a file that nobody named, since it may have come with the "
            f"logs; name it with --config {path} or {CONFIG_VARIABLE}, or do without it with "
            f"--config {os.devnull}"
        )


def defaults(command: click.Command, settings: dict[str, FileSetting]) -> dict[str, Any]:
    """Settings of the file as click takes defaults: by parameter name."""
    options = options_of(command)
    return {options[name].name or name: setting.value for name, setting in settings.items()}


def effective(
    command: click.Command, settings: dict[str, FileSetting], parent: click.Context | None = None
) -> list[tuple[str, Any, str]]:
    """What holds for a command of the group `parent` where its command line says nothing.

    Returns
    -------
        For each option its name, its value (None where there is none) and where that comes from: a
        variable, a place in the file, or `default`.

    Raises
    ------
    click.BadParameter
        If an option cannot have the value.
    """
    context = click.Context(command, parent, command.name, default_map=defaults(command, settings))
    context.meta[SETTINGS] = settings
    rows = []
    for name, option in options_of(command).items():
        value, source = option.consume_value(context, {})
        context.set_parameter_source(option.name or name, source)
        place = _place(command, name, source, settings)
        shown = None if source is ParameterSource.DEFAULT else option.type_cast_value(context, value)
        rows.append((name, option.get_default(context, call=True) if shown is None else shown, place))
    return [(name, _plain(value), place) for name, value, place in rows]


def borrowed(context: click.Context) -> list[str]:
    """What a command takes from the environment and the file, a line for each option."""
    notes = []
    for name, option in options_of(context.command).items():
        source = context.get_parameter_source(option.name or name)
        if source in {ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP}:
            place = _place(context.command, name, source, context.meta.get(SETTINGS, {}))
            notes.append(f"--{name} comes from {place}")
    return notes


def blamed(problem: click.BadParameter) -> str | None:
    """Where a value that is refused comes from, unless it stands on the command line."""
    context, option = problem.ctx, problem.param
    if context is None or not isinstance(option, click.Option):
        return None
    return origin(context, option_name(option))


def origin(context: click.Context, name: str) -> str | None:
    """The variable or the place in the file that an option comes from; None for the command line."""
    source = context.get_parameter_source(options_of(context.command)[name].name or name)
    if source not in {ParameterSource.ENVIRONMENT, ParameterSource.DEFAULT_MAP}:
        return None
    return _place(context.command, name, source, context.meta.get(SETTINGS, {}))


def _place(
    command: click.Command, name: str, source: ParameterSource | None, settings: dict[str, FileSetting]
) -> str:
    if source is ParameterSource.ENVIRONMENT:
        return next(each for each in variables(command.name or "", name) if os.environ.get(each))
    return settings[name].place if source is ParameterSource.DEFAULT_MAP else "default"


def _plain(value: Any) -> Any:
    """A value as TOML and JSON have it; None where click has none."""
    if isinstance(value, (tuple, list)):
        return [_plain(each) for each in value]
    return value if isinstance(value, (str, int, float, bool)) else None


def _require(holds: bool, path: Path, fault: str, name: str, known: Collection[str]) -> None:
    if not holds:
        near = get_close_matches(name, known, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        raise UsageError(f"{path}: {fault}{hint}")


def _refuse_others(path: Path, found: os.stat_result) -> None:
    """Refuse a file that happens to lie in the working directory and may be another's: it can start programs.

    Raises
    ------
    UsageError
        If the file or its directory belongs to somebody else, or can be written by others.
    """
    fault, directory = fault_of(found), unsafe_because(path.absolute().parent, sticky=True)
    if fault is None and directory is None:
        return
    what = f"it {fault}" if fault is not None else f"its directory {directory}"
    raise UsageError(
        f"{path.absolute()} is not obeyed: {what}; name it with --config {path} if you trust it, or do "
        f"without it with --config {os.devnull}"
    )


def _spelled(key: str) -> str:
    return key.replace("_", "-")


def _load(path: Path, *, named: bool) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            if not named:
                _refuse_others(path, os.fstat(stream.fileno()))
            found = toml_document(stream.read().decode())
    except OSError as problem:
        raise UsageError(f"cannot read the configuration {path}: {problem.strerror}") from problem
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise UsageError(f"{path} is not valid TOML: {problem}") from problem
    for key, value in found.items():
        if _has_nul(value):
            raise UsageError(f"{path}: '{key}' has a NUL character in it, which no option can have")
    return found


def _has_nul(value: Any) -> bool:
    if isinstance(value, dict | list):
        return any(map(_has_nul, value.values() if isinstance(value, dict) else value))
    return isinstance(value, str) and "\0" in value
