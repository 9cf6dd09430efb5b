"""`cepctl state`: look at the state of incremental runs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from cepctl.cli.options.exclusions import CheckedCommand
from cepctl.cli.options.shared import json_option, words_or_json
from cepctl.cli.output.answers import print_answer
from cepctl.errors import StateError


@click.group("state")
def command() -> None:
    """Look at the state that `cepctl match --state` keeps between runs."""


@command.command("show", cls=CheckedCommand)
@click.argument("directory", metavar="DIR")
@words_or_json
@json_option
def show(directory: str, output_format: str, as_json: bool) -> None:
    """Show the progress of the runs with the state DIR, its query and options, and its content."""
    from cepctl.render.state import print_state
    from cepctl.state.overview import overview
    from cepctl.state.store import load

    saved = load(Path(directory))
    if saved is None:
        raise StateError(f"{directory} holds no state yet; cepctl match --state {directory} begins one")
    shown = overview(Path(directory), saved)
    if as_json:
        print_answer("state show", asdict(shown))
    else:
        print_state(shown, as_json=output_format == "json")
