"""`cepctl inspect`: what is in a set of events, and how coarse its times are."""

from __future__ import annotations

import click

from cepctl.cli.ingest import ingest_options, report_reading
from cepctl.cli.options import Conf, raw_input_options, verbosity_options


@click.command("inspect")
@click.argument("events", nargs=-1, required=True, metavar="EVENTS...")
@raw_input_options("--input-format")
@verbosity_options
def command(
    events: tuple[str, ...],
    input_format: str | None,
    uncertainty: str | None,
    tz: str | None,
    renames: Conf,
    drop_domain: bool,
    intervals: bool,
    epoch: str | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Show types, attributes, counts, span, ties and granularity of EVENTS.

    EVENTS are ingested datasets, plain event files or raw logs.
    """
    from cepctl.dataset import open_events
    from cepctl.inspection import inspect_events
    from cepctl.render.inspection import print_inspection

    options = ingest_options(
        input_format=input_format,
        uncertainty=uncertainty,
        tz=tz,
        renames=renames,
        drop_domain=drop_domain,
        intervals=intervals,
        epoch=epoch,
    )
    with open_events(events, options) as inputs:
        if inputs.summary is not None:
            report_reading(inputs.summary, quiet=quiet)
        print_inspection(inspect_events(inputs))
