"""`cepctl sketch`: summaries of datasets that tell where a pattern cannot occur."""

from __future__ import annotations

import click

from cepctl.cli.options.shared import verbosity_options
from cepctl.cli.output.accounts import tell_sketches
from cepctl.library.sketch import USUAL_SHARE, sketched


@click.command("sketch")
@click.argument("events", nargs=-1, required=True, type=click.Path(), metavar="EVENTS...")
@click.option(
    "--on",
    multiple=True,
    metavar="ATTR,ATTR:range",
    help="Attributes to include in addition to types: ATTR by its values, for =, IN and [ATTR]; "
    "ATTR:range by its "
    "extremes, for < <= > >= and BETWEEN.  May be given several times.",
)
@click.option(
    "--share",
    type=float,
    default=USUAL_SHARE,
    show_default=True,
    metavar="SHARE",
    help="Events of the rarest types are listed one by one, up to this part of all events: more than 0, "
    "at most 1.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="DIR",
    help="Write one sketch of all EVENTS, which may be sketches, too.  [default: EVENTS.sketch next to each]",
)
@verbosity_options
def command(
    events: tuple[str, ...],
    on: tuple[str, ...],
    share: float,
    output: str | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Sketch datasets, so that `probe` and `match` need not read all of their events.

    A sketch takes a few bits per event and outlives the events.  An existing one is replaced.
    """
    tell_sketches(sketched(events, on, output, share), quiet=quiet)
