"""What is said on standard error of a dataset that was written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING

from cepctl.cli.output.metrics import RunFigures, rejects_in, write_metrics
from cepctl.cli.output.notices import in_json, say
from cepctl.render.counting import counted
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from cepctl.ingestion.results import FileAccount
    from cepctl.library.ingest import Ingested
    from cepctl.library.sketch import Sketched


def report(dataset: Ingested, metrics: str | None = None, *, quiet: bool) -> None:
    """Say on standard error what was written, file by file; write the metrics."""
    summary = dataset.summary
    figures = RunFigures(summary.events, rejects_in(summary), dataset.seconds)
    if not quiet:
        beside(SideFigure.ACCOUNTS, partial(_tell_accounts, summary.accounts), None)
        beside(SideFigure.SUMMARY, lambda: say("summary", str(dataset), **figures.known()), None)
    write_metrics(metrics, figures)


def _tell_accounts(accounts: Sequence[FileAccount]) -> None:
    if in_json():
        for account in accounts:
            say("file", f"{counted(account.events, 'event')} from {account.file}", **asdict(account))
    elif len(accounts) > 1:
        from cepctl.render.ingest import print_accounts

        print_accounts(accounts)


def tell_sketches(sketches: Sequence[Sketched], *, quiet: bool) -> None:
    """Say on standard error which sketches were written."""
    for made in [] if quiet else sketches:
        say("summary", f"sketched {made}", events=made.events, bytes=made.size)
