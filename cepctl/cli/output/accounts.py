"""What is said on standard error of an ingest: what was skipped, left out, noticed and written."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from cepctl.cli.output.metrics import write_metrics
from cepctl.cli.output.notices import in_json, say
from cepctl.cli.output.run_figures import RunFigures, rejects_in
from cepctl.library.notices import tell_reading
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.ingestion.summary import IngestSummary


def report(
    summary: IngestSummary, output: str, seconds: float, metrics: str | None = None, *, quiet: bool
) -> None:
    """Say on standard error what was written in so many seconds, after what went wrong; write the metrics."""
    from cepctl.render.ingest import print_accounts

    figures = RunFigures(summary.events, rejects_in(summary), seconds)
    tell_reading(summary)
    if not quiet:
        if in_json():
            for account in summary.accounts:
                say("file", f"{counted(account.events, 'event')} from {account.file}", **asdict(account))
        elif len(summary.accounts) > 1:
            print_accounts(summary.accounts)
        say(
            "summary",
            f"{counted(summary.events, 'event')} of {counted(len(summary.type_counts), 'type')} from "
            f"{counted(summary.files, 'file')} in {output} (time unit {summary.time_unit})",
            **figures.known(),
        )
    write_metrics(metrics, figures)
