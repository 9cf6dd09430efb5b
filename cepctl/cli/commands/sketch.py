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
    help="Attributes to know beside types: ATTR by its values, for =, IN and [ATTR]; ATTR:range by its "
    "extremes, for < <= > >= and BETWEEN.  May be given several times.",
)
@click.option(
    "--share",
    type=float,
    default=USUAL_SHARE,
    show_default=True,
    metavar="SHARE",
    help="Of the rarest types so large a part of all events, more than 0 and at most 1, is kept one by one.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(),
    metavar="DIR",
    help="Write one sketch of all EVENTS, which may be sketches, too.  [default: EVENTS.sketch beside each]",
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

    A sketch takes a few bits per event and outlives the events.  One that is there already is replaced.
    """
    tell_sketches(sketched(events, on, output, share), quiet=quiet)
