"""`cepctl state`: look at the state of incremental runs."""

from __future__ import annotations

from pathlib import Path

import click

from cepctl.cli.options.shared import words_or_json
from cepctl.errors import StateError


@click.group("state")
def command() -> None:
    """Look at the state that `cepctl match --state` keeps between runs."""


@command.command("show")
@click.argument("directory", metavar="DIR")
@words_or_json
def show(directory: str, output_format: str) -> None:
    """Show how far the runs with the state DIR have come, what it is bound to and what it keeps."""
    from cepctl.render.state import print_state
    from cepctl.state.overview import overview
    from cepctl.state.store import load

    saved = load(Path(directory))
    if saved is None:
        raise StateError(f"{directory} holds no state yet; cepctl match --state {directory} begins one")
    print_state(overview(Path(directory), saved), as_json=output_format == "json")
