"""What a match says of itself: how many rows, how long, and what raw times would have missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cepctl.cli.match_run import sampling_note, types_read
from cepctl.cli.match_why_not import HINT
from cepctl.cli.notices import say
from cepctl.cli.run_figures import RunFigures
from cepctl.render.counting import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.dataset import EventInputs
    from cepctl.engines.raw_time_counts import RawTimeCounts
    from cepctl.plan.plan import Plan

UNLIKELY = 0.5
_SLACK = 1e-9  # engines agree on confidences up to this


@dataclass(frozen=True)
class Run:
    """What a run came to: `found` rows, of which `matches` are kept.

    Of the `best` rows nobody has counted how many others there are.
    """

    found: int
    matches: pa.Table
    figures: RunFigures
    best: bool


def split_raw_times(plan: Plan, inputs: EventInputs, matches: pa.Table) -> tuple[pa.Table, RawTimeCounts]:
    """The matches as they are shown, and how raw times alone would have done.

    Rows of engines that do not judge them are looked up among the events.
    """
    from cepctl.engines.raw_time_counts import counts_of, missed_by_raw_times
    from cepctl.plan.plan import FOUND_AT_RAW_TIMES

    if FOUND_AT_RAW_TIMES in matches.column_names:
        counts = counts_of(matches.column(FOUND_AT_RAW_TIMES))
        return matches.drop_columns([FOUND_AT_RAW_TIMES]), counts
    events = inputs.read(plan.attributes, types_read(plan))
    return matches, missed_by_raw_times(plan, matches, events)


def tell_summary(run: Run, raw_times: RawTimeCounts | None, *, hint: bool) -> None:
    """Say on standard error what a run came to; `hint`: name --why-not where nothing was found."""
    say("summary", summary(run, raw_times), **run.figures.known())
    if note := sampling_note(run.matches):
        say("note", note)
    if hint and not run.found:
        say("hint", HINT)


def summary(run: Run, raw_times: RawTimeCounts | None) -> str:
    """The line; `raw_times` is None where rows are no matches, as those of groups."""
    kept = run.matches.num_rows
    shown = "" if kept == run.found else f", {kept:,} of them written"
    if run.best:
        shown = ", the most probable"
    line = f"{counted(run.found, 'match', 'matches')} in {counted(run.figures.events, 'event')}{shown}"
    line += f"{_work(run.figures)}, {run.figures.seconds:.1f} s"
    return f"{line}; {_doubts(run.matches, raw_times)}" if kept else line


def _work(figures: RunFigures) -> str:
    """How many events the predicates on single ones have left, and in how many slices they were matched."""
    left = "" if figures.relevant is None else f", {figures.relevant:,} after filters"
    return left if figures.slices is None else f"{left}, {counted(figures.slices, 'slice')}"


def _doubts(matches: pa.Table, raw_times: RawTimeCounts | None) -> str:
    """How many rows raw times alone would have missed, and how many are unlikely."""
    import pyarrow.compute as pc

    unlikely = pc.sum(pc.less(matches.column("confidence"), UNLIKELY - _SLACK)).as_py()
    said = [f"{unlikely:,} with a confidence below {UNLIKELY}"]
    if raw_times is not None and raw_times.judged:
        of = f" of {raw_times.judged:,} with raw times" if raw_times.untimed else ""
        said.insert(0, f"raw times alone would have missed {raw_times.missed:,}{of}")
    elif raw_times is not None:
        said.insert(0, "no raw times to compare with")
    return ", ".join(said)
