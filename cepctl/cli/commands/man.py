"""`cepctl man`: manual pages, made from the help of the commands."""

from __future__ import annotations

from pathlib import Path

import click

from cepctl.cli.output.manual import manual_page
from cepctl.cli.output.rows import write_whole
from cepctl.errors import UsageError


@click.command("man")
@click.argument("name", required=False, metavar="[COMMAND]")
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Write the pages of all commands into DIR, such as ~/.local/share/man/man1.",
)
@click.pass_context
def command(context: click.Context, name: str | None, output: str | None) -> None:
    """Print the manual page of COMMAND, or of cepctl itself: cepctl man match | man -l -"""
    root = context.find_root().command
    assert isinstance(root, click.Group)
    names = root.list_commands(context)
    if name is not None and (output is not None or name not in names):
        raise UsageError(f"--output takes every command, so leave out '{name}'" if output is not None else
                         f"no such command '{name}'; there are {', '.join(names)}")  # fmt: skip
    if output is None:
        click.echo(_page(root, context, name), nl=False)
        return
    folder = Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    for each in (None, *names):
        title = "cepctl" if each is None else f"cepctl-{each}"
        write_whole(str(folder / f"{title}.1"), [_page(root, context, each).encode()])


def _page(root: click.Group, context: click.Context, name: str | None) -> str:
    asking = context.help_option_names
    if name is None:
        return manual_page(root, "cepctl", [*root.list_commands(context)], asking)
    found = root.get_command(context, name)
    assert found is not None
    return manual_page(found, f"cepctl {name}", [], asking)
