"""How the rows of an incremental run are handed over, and the notices beside them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cepctl.cli.match.request import MatchRequest
from cepctl.cli.output.metrics import RunFigures
from cepctl.cli.output.notices import say
from cepctl.cli.output.rows import write_rows
from cepctl.errors import UsageError
from cepctl.io.rows.forms import RowFile
from cepctl.render.counting import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.plan.plan import Plan
    from cepctl.state.advancing import Outcome
    from cepctl.state.store import Saved


@dataclass(frozen=True)
class ComputedRun:
    """A run that has been computed and changes nothing yet; `segments` are those of its sketch, by name."""

    plan: Plan
    saved: Saved
    outcome: Outcome
    rows: pa.Table
    events: int
    segments: Mapping[str, Path]


def hand_over(request: MatchRequest, run: ComputedRun) -> None:
    """Write the state aside, hand the rows over, and make both valid at once."""
    from cepctl.io.rows.encoding import TimeFormat, encoded_rows
    from cepctl.io.rows.forms import Encoded
    from cepctl.io.rows.shown import PresentedRows
    from cepctl.state.store import deliver, prepare, run_name

    is_table = request.rows.output is None and sys.stdout.isatty()
    form = request.rows.form or ("table" if is_table else "csv")
    guarded = request.rows.guarded(form)
    request.rows.require_writable(form)

    times = cast(TimeFormat, request.rows.times)
    ticks = run.plan.tick_columns
    shown = PresentedRows(run.plan.time_unit, times, form, request.rows.chosen, guarded, ticks)
    shown(run.rows)  # What cannot be written changes no state.
    target = None
    pieces: Iterator[Encoded] = iter(())
    if request.rows.output is not None:
        target = Path(request.rows.output, f"{run_name(run.saved.run)}.{form}")
        if target.exists():
            raise UsageError(f"{target} exists and is not of this state; name another directory with -o")
        pieces = encoded_rows([run.rows], form, shown)
    place = prepare(request.directory, run.saved, pieces, run.segments)
    if request.incremental.late is not None:
        _list_late(Path(request.incremental.late), run)
    if target is None and not (request.continued and form == "table" and not run.rows.num_rows):
        chosen = bool(request.rows.chosen)
        write_rows(
            iter([run.rows]),
            shown,
            RowFile(form),
            None,
            quiet=request.quiet,
            chosen=chosen,
            header=not request.continued,
        )
    deliver(place, target)


def _list_late(file: Path, run: ComputedRun) -> None:
    """Append the late events of this run; a run that is repeated lists them again."""
    import polars as pl

    from cepctl.errors import JobError

    columns = ["event_id", "event_type", "source", "lower", "upper", "time"]
    late = pl.from_arrow(run.outcome.late.select(columns))
    assert isinstance(late, pl.DataFrame)
    lines = late.with_columns(run=pl.lit(run.saved.run)).write_ndjson()
    try:
        with file.open("a", encoding="utf-8") as stream:
            stream.write(lines)
    except OSError as problem:
        raise JobError(f"cannot write {file}: {problem.strerror}") from None


def tell(request: MatchRequest, run: ComputedRun, figures: RunFigures) -> None:
    """Say on standard error what came too late, and the summary of the run."""
    from cepctl.schema import tick_text

    progress, outcome = run.outcome.progress, run.outcome
    if outcome.late.num_rows and not request.incremental.reopen:
        late = f"{counted(outcome.late.num_rows, 'event')} came too late"
        say("warning", f"{late} and {_left_out(outcome.late, can_reopen=not run.plan.given)}")
    if outcome.too_late:
        say(
            "warning",
            f"{counted(outcome.too_late, 'late event')} can no longer be taken in; a longer --keep "
            "takes in later ones",
        )
    if request.quiet:
        return
    line = f"run {run.saved.run}: {counted(run.rows.num_rows, 'row')}"
    line += f" from {counted(figures.events, 'new event')}"
    line += f", {counted(progress.events.num_rows, 'event')} kept, {figures.seconds:.1f} s"
    if progress.closed:
        line += "; all rows are emitted, the state is closed"
    elif progress.watermark is not None:
        line += f"; watermark {tick_text(progress.watermark, run.plan.time_unit)}"
    say("summary", line, **figures.known(), run=run.saved.run)
    if outcome.waiting.matches:
        say("note", _waiting(request, run))


def _waiting(request: MatchRequest, run: ComputedRun) -> str:
    """How many matches wait for how far the logs must come, and what decides that."""
    from cepctl.language.printer import duration_text
    from cepctl.schema import tick_text

    unit, waiting = run.plan.time_unit, run.outcome.waiting
    until = (
        "the end (--final)" if waiting.until is None else f"the logs reach {tick_text(waiting.until, unit)}"
    )
    within = run.plan.query.within
    window = "no window"
    if within is not None and run.plan.window is not None:
        window = f"window {duration_text(within)}"
    line = f"{counted(waiting.matches, 'match', 'matches')} pending until {until}"
    return f"{line} (slack {request.incremental.slack or '0 s'}, {window}); --eager says them now"


def _left_out(late: pa.Table, *, can_reopen: bool) -> str:
    were = "was" if late.num_rows == 1 else "were"
    taken_in = "--reopen takes them in, " if can_reopen else ""
    return f"{were} left out; --late lists them, {taken_in}a longer --slack waits for them"
