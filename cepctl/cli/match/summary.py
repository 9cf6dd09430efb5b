"""The summary line of a match on standard error, and its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cepctl.cli.match.why_not import HINT
from cepctl.cli.output.metrics import RunFigures
from cepctl.cli.output.notices import say

if TYPE_CHECKING:
    from cepctl.library.summary import MatchSummary


def tell_summary(summary: MatchSummary, *, hint: bool, limit: int | None = None) -> None:
    """Print the summary line of a run on standard error; `hint`: name --why-not where nothing was found."""
    cut = "" if limit is None or limit >= summary.rows else f"; --limit leaves out {summary.rows - limit:,}"
    say("summary", f"{summary}{cut}", **figures_of(summary).known())
    if hint and not summary.found:
        say("hint", HINT)


def figures_of(summary: MatchSummary) -> RunFigures:
    """The figures of a run that has matched all events at once."""
    return RunFigures(
        events=summary.events,
        rejects=summary.rejects,
        seconds=summary.seconds,
        matches=summary.rows,
        relevant=summary.relevant,
        slices=summary.slices,
    )
