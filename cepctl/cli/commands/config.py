"""`cepctl config`: the values that options have where the command line is silent."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.settings import DEFAULT_FILE, effective, file_settings, options_of
from cepctl.cli.options.shared import json_option
from cepctl.cli.output.answers import print_answer


@click.command("config", cls=CheckedCommand)
@click.argument("names", nargs=-1, metavar="[COMMAND...]")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["toml", "json"]),
    default="toml",
    show_default=True,
    help="A file that --config takes, or JSON for programs.",
)
@json_option
@click.pass_context
def command(context: click.Context, names: tuple[str, ...], output_format: str, as_json: bool) -> None:
    """Show the values of the options of each COMMAND (default: all), and where each comes from.

    They come from the environment, the configuration file or the defaults; the command line overrides
    all of them.  The output is itself a configuration file with these values.
    """
    from cepctl.cli import COMMANDS, all_commands

    for name in names:
        if name not in COMMANDS:
            raise click.BadParameter(f"there is no command '{name}'", context, param_hint="COMMAND")
    file = context.parent.params.get("config") if context.parent else None
    found = {}
    for each in all_commands():
        settings = file_settings(each, all_commands, COMMANDS, file)
        if each.name is not None and each.name in (names or COMMANDS) and options_of(each):
            found[each.name] = effective(each, settings, context.parent)
    if as_json:
        print_answer("config", {"options": _as_objects(found)})
    elif output_format == "json":
        click.echo(json.dumps(_as_objects(found), indent=2, ensure_ascii=False))
    else:
        used = file or (DEFAULT_FILE if Path(DEFAULT_FILE).is_file() else None)
        click.echo("\n".join(_as_toml(found, used)))


def _as_objects(found: dict[str, list[tuple[str, Any, str]]]) -> list[dict[str, Any]]:
    return [
        {"command": name, "option": option, "value": value, "from": place}
        for name, rows in found.items()
        for option, value, place in rows
    ]


def _as_toml(found: dict[str, list[tuple[str, Any, str]]], file: str | None) -> Sequence[str]:
    lines = [
        f"# configuration file: {file or f'none ({DEFAULT_FILE} in the working directory, or --config)'}"
    ]
    for name, rows in found.items():
        lines += ["", f"[{name}]"]
        for option, value, place in rows:
            said = f"# {option} =" if value in (None, []) else f"{option} = {_toml(value)}"
            lines.append(f"{said}  # {place}")
    return lines


def _toml(value: Any) -> str:
    """A value in TOML, whose basic strings, arrays and numbers are those of JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
