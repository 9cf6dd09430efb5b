"""Options of incremental runs: `cepctl match --state DIR`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cepctl.cli.options.help_groups import HelpGroup, grouped_option
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
    grouped_option(
        "--state",
        metavar="DIR",
        help="Read only input that is new since the last run with this state, and emit each match once; "
        "-o then names a directory, which gets a file for each run.",
        group=HelpGroup.INCREMENTAL,
    ),
    grouped_option(
        "--slack",
        metavar="DURATION",
        help="How late an event may come after a later one, such as 1h.  [default: 0]",
        group=HelpGroup.INCREMENTAL,
    ),
    grouped_option(
        "--final",
        is_flag=True,
        help="Emit all pending rows, and close the state.",
        group=HelpGroup.INCREMENTAL,
    ),
    grouped_option(
        "--eager",
        is_flag=True,
        help="Emit matches at once, and retract wrong ones later (- in the column change).",
        group=HelpGroup.INCREMENTAL,
    ),
    grouped_option(
        "--late",
        metavar="FILE",
        help="Append the events that came too late to FILE (JSON lines).",
        group=HelpGroup.INCREMENTAL,
    ),
    grouped_option(
        "--reopen",
        is_flag=True,
        help="Read late events after all, and emit the changes (- and +); lines of logs have no order then.",
        group=HelpGroup.INCREMENTAL,
    ),
    grouped_option(
        "--keep",
        metavar="DURATION",
        help="How late an event may be for --reopen.  [default: as far as the state reaches]",
        group=HelpGroup.INCREMENTAL,
    ),
    grouped_option(
        "--follow",
        is_flag=True,
        help="Run again when the inputs have grown (checked once a second), until interrupted.",
        group=HelpGroup.INCREMENTAL,
    ),
    grouped_option(
        "--keep-sketch",
        is_flag=True,
        help="Begin a state that keeps a sketch of all events of its runs, for cepctl probe.",
        group=HelpGroup.INCREMENTAL,
    ),
    grouped_option(
        "--sketch-on",
        multiple=True,
        metavar="ATTR,ATTR:range",
        help="Attributes for this sketch in addition to types, like --on of cepctl sketch; needs "
        "--keep-sketch.",
        group=HelpGroup.INCREMENTAL,
    ),
)


def state_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """How incremental runs go: the parameter incremental (Incremental)."""
    return with_options(gathered(command, "incremental", Incremental), _OPTIONS)
