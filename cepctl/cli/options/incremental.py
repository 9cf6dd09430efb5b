"""Options of incremental runs: `cepctl match --state DIR`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from cepctl.cli.options.shared import gathered, with_options


@dataclass(frozen=True)
class Incremental:
    """What was asked for, in the words of the command line."""

    state: str | None
    slack: str | None
    final: bool
    eager: bool
    late: str | None
    reopen: bool
    keep: str | None
    follow: bool
    keep_sketch: bool
    sketch_on: tuple[str, ...]


_OPTIONS = (
    click.option(
        "--state",
        metavar="DIR",
        help="Take only what is new since the last run with this state, and emit each match once; FILE of -o "
        "is then a directory, which gets a file for each run.",
    ),
    click.option(
        "--slack",
        metavar="DURATION",
        help="How much later than a younger event an event may come, such as 1h.  [default: 0]",
    ),
    click.option("--final", is_flag=True, help="Emit all pending rows, and close the state."),
    click.option(
        "--eager",
        is_flag=True,
        help="Emit matches at once; those that turn out wrong are retracted (- in the column change).",
    ),
    click.option("--late", metavar="FILE", help="Append the events that came too late to FILE (JSON lines)."),
    click.option(
        "--reopen", is_flag=True, help="Take late events in after all, and emit what they change (- and +)."
    ),
    click.option(
        "--keep",
        metavar="DURATION",
        help="How late an event may be to be taken in by --reopen.  [default: as far as the state reaches]",
    ),
    click.option(
        "--follow",
        is_flag=True,
        help="Run again when the inputs have grown (looked at once a second), until interrupted.",
    ),
    click.option(
        "--keep-sketch",
        is_flag=True,
        help="Begin a state that keeps a sketch of all events that its runs take in, for cepctl probe.",
    ),
    click.option(
        "--sketch-on",
        multiple=True,
        metavar="ATTR,ATTR:range",
        help="Attributes that this sketch knows beside types, as --on of cepctl sketch; asks for "
        "--keep-sketch.",
    ),
)


def state_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How incremental runs go: the parameter incremental (Incremental)."""
    return with_options(gathered(command, "incremental", Incremental), _OPTIONS)
