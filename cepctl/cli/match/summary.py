"""What a match says of itself: how many rows, how long, and what raw times would have missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cepctl.cli.match.why_not import HINT
from cepctl.cli.output.notices import say
from cepctl.cli.output.run_figures import RunFigures
from cepctl.matching.run import sampling_note
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.engines.rows.counts import RowCounts


@dataclass(frozen=True)
class Run:
    """What a run came to: `found` rows, of which those that were counted are kept.

    Of the `best` rows nobody has counted how many others there are.
    """

    found: int
    counts: RowCounts
    figures: RunFigures
    best: bool


def tell_summary(run: Run, *, judged: bool, hint: bool) -> None:
    """Say on standard error what a run came to; `hint`: name --why-not where nothing was found.

    `judged`: rows were held to raw times, which those of groups cannot be.
    """
    say("summary", summary(run, judged=judged), **run.figures.known())
    if note := sampling_note(run.counts):
        say("note", note)
    if hint and not run.found:
        say("hint", HINT)


def summary(run: Run, *, judged: bool) -> str:
    """The line of `tell_summary`."""
    kept = run.counts.rows
    shown = "" if kept == run.found else f", {kept:,} of them written"
    found = run.found
    if run.best:
        shown, found = ", the most probable", kept
    line = f"{counted(found, 'match', 'matches')} in {counted(run.figures.events, 'event')}{shown}"
    line += f"{_work(run.figures)}, {run.figures.seconds:.1f} s"
    return f"{line}; {_doubts(run.counts, judged=judged)}" if kept else line


def _work(figures: RunFigures) -> str:
    """How many events the predicates on single ones have left, and in how many slices they were matched."""
    left = "" if figures.relevant is None else f", {figures.relevant:,} after filters"
    return left if figures.slices is None else f"{left}, {counted(figures.slices, 'slice')}"


def _doubts(counts: RowCounts, *, judged: bool) -> str:
    """How many rows raw times alone would have missed, and how many are unlikely."""
    from cepctl.engines.rows.counts import UNLIKELY

    said = [f"{counts.unlikely:,} with a confidence below {UNLIKELY}"]
    if judged and counts.judged:
        of = f" of {counts.judged:,} with raw times" if counts.untimed else ""
        said.insert(0, f"raw times alone would have missed {counts.missed:,}{of}")
    elif judged:
        said.insert(0, "no raw times to compare with")
    return ", ".join(said)
