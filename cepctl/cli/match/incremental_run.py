"""`cepctl match --state DIR`: one incremental run, from what is new in the inputs to the rows it emits.

How an incremental run goes, what its state is bound to, and what is refused.
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack
from dataclasses import asdict, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.atomic.folders import temporary_folder
from cepctl.cli.match.delivery import ComputedRun, hand_over, tell
from cepctl.cli.match.request import MatchRequest
from cepctl.cli.match.state_sketch import sketch_after, sketch_before
from cepctl.cli.output.metrics import RunFigures, rejects_in, write_metrics
from cepctl.cli.output.notices import say
from cepctl.errors import CepctlError, StateError, UnsupportedQueryError, UsageError
from cepctl.io.rows.forms import FORMS, forms_by_rows
from cepctl.library.finding import planned
from cepctl.library.notices import tell_reading
from cepctl.library.offered_estimates import offering_no_estimate
from cepctl.library.raw_input import ingest_options
from cepctl.library.selection import Matching
from cepctl.matching.table_engine import TableEngine
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    import pyarrow as pa

    from cepctl.clocks.shared import Clocks
    from cepctl.ingestion.options import IngestOptions
    from cepctl.io.contract.message_template import MessageTemplate
    from cepctl.plan.plan import Plan
    from cepctl.schema import TimeUnit
    from cepctl.state.advancing import RunOptions
    from cepctl.state.intake import Arrivals
    from cepctl.state.kept_sketch import KeptSketch
    from cepctl.state.progress import Progress
    from cepctl.state.sources import Source
    from cepctl.state.store import Saved


def refuse_options(request: MatchRequest) -> None:
    """Reject options that make no sense in an incremental run, and queries that have none yet."""
    if request.question.query.group_by is not None:
        raise UnsupportedQueryError(
            "not supported yet: GROUP BY with --state, because later events change emitted rows; leave it "
            "out, or match all events at once"
        )
    if request.question.query.given:
        raise UnsupportedQueryError(
            "not supported yet: GIVEN with --state, because later events change which worlds are left; leave "
            "it out, or match all events at once"
        )
    form, output = request.rows.form, request.rows.output
    if form is not None and not FORMS[form].by_rows and output is not None:
        raise UsageError(f"--format {form} with --state and -o: choose {', '.join(forms_by_rows())}")
    if not request.paths and not request.incremental.final:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")


def binding_of(request: MatchRequest, options: IngestOptions) -> dict[str, str]:
    """What the rows depend on, beside the events."""
    from cepctl.language.printer import to_text

    records = {"records of clocks": json.dumps(options.model.records, sort_keys=True)}
    reading = {**asdict(request.question.raw_input), "uncertainty": (), "patterns": None}
    del reading["follow_links"]  # says which files are read, not how
    return {
        "query": to_text(request.question.query),
        **request.question.matching.binding(),
        "uncertainty model": options.model.text,
        "reading of logs": json.dumps(reading, sort_keys=True),
        "patterns of log lines": repr(options.read.patterns),
        "mode": "eager" if request.incremental.eager else "delayed",
        **(records if options.model.records else {}),
    }


def require_same(saved: Saved | None, binding: dict[str, str], directory: Path) -> None:
    """Refuse a state that is bound to something else, or closed; raises StateError."""
    if saved is None:
        return
    # A state from before there was a choice had what is usual.
    known = {**Matching().binding(), **saved.binding}
    for name, text in binding.items():
        if known.get(name) != text:
            raise StateError(
                f"the state {directory} was made with another {name}:\n  {known.get(name)}\n"
                f"not with\n  {text}\nend it with the former (--final), and start a new one with "
                "--state"
            )
    if saved.progress.closed:
        raise StateError(f"the state {directory} was closed by --final; start a new one with --state")


def run_options(request: MatchRequest, unit: TimeUnit) -> RunOptions:
    """How the run goes, in ticks."""
    from cepctl.state.advancing import RunOptions

    given = request.incremental
    return RunOptions(
        slack=_ticks("--slack", given.slack, unit),
        keep=_ticks("--keep", given.keep, unit),
        eager=given.eager,
        reopen=given.reopen,
        final=given.final,
    )


def _ticks(option: str, duration: str | None, unit: TimeUnit) -> int:
    """A duration of the command line in ticks, rounded up."""
    from cepctl.schema import parse_duration

    if duration is None:
        return 0
    try:
        length = parse_duration(duration)
    except CepctlError as problem:
        raise UsageError(f"{option}: {problem}") from None
    if length < 0:
        raise UsageError(f"{option}: '{duration}' is negative")
    return int(-(-length // unit.microseconds))


_COPIES = 3
"""New events are held as they are read, once in order, and where they can matter once more."""


def run_with_state(request: MatchRequest) -> int:
    """One run; returns how many rows it emitted.

    Raises
    ------
    StateHeldError
        If another run holds the state.
    StateError
        If the state is damaged, closed, or bound to something else.
    JobError
        If state or rows cannot be written; nothing has changed then.
    """
    from cepctl.state.lock import held
    from cepctl.state.store import clean, load, require_deliverable

    began = time.monotonic()
    refuse_options(request)
    options = ingest_options(request.question.raw_input, memory=request.question.matching.memory.for_reading)
    with held(request.directory), ExitStack() as opened:
        saved = load(request.directory)
        clean(request.directory)
        require_same(saved, binding_of(request, options), request.directory)
        if request.rows.output is not None:
            require_deliverable(request.directory, Path(request.rows.output))
        sketch = sketch_before(request, saved)
        try:
            arrived = _arrivals(request, options, saved, opened)
            scratch = opened.enter_context(temporary_folder())
            with offering_no_estimate(refused=True):
                run = _computed(request, options, saved, arrived, sketch, scratch)
            if run is None:
                return 0
            hand_over(request, run)
        except CepctlError:
            say("note", "the state is as it was: the next run takes the same input again")
            raise
        clean(request.directory)
    figures = RunFigures(
        events=run.events,
        rejects=rejects_in(arrived.summary),
        seconds=time.monotonic() - began,
        matches=run.rows.num_rows,
        late=run.outcome.late.num_rows,
        watermark=_seconds(run.outcome.progress.watermark, run.plan.time_unit),
    )
    beside(SideFigure.SUMMARY, partial(tell, request, run, figures), None)
    write_metrics(request.metrics, figures)
    return len(run.rows)


def _arrivals(
    request: MatchRequest, options: IngestOptions, saved: Saved | None, opened: ExitStack
) -> Arrivals:
    """What is new in the inputs, ingested; `opened` holds its files."""
    from cepctl.state.intake import Known, arrivals
    from cepctl.state.news import InputOptions, look

    scratch = opened.enter_context(temporary_folder())
    parts = scratch / "parts"
    parts.mkdir()
    own = (request.directory, *([] if request.rows.output is None else [Path(request.rows.output)]))
    to_the_end = request.incremental.final
    wanted = InputOptions(parts, options.input_format, options.read, to_the_end, own, options.follow_links)
    news = look(request.paths, saved.sources if saved else (), wanted)
    for reason in news.left_out:
        say("warning", f"left out: {reason}")
    known = Known({}, None, {})
    if saved is not None:
        known = Known(
            *(_attributes(saved), saved.time_unit, saved.type_counts, saved.clocks),
            templates=saved.templates,
            growth=saved.growth,
        )
    if _is_unordered(request, saved):
        options = replace(options, orders_lines=False)
        if saved is None:
            say("note", "--reopen does not take the order of lines of logs, which is left out")
    arrived = opened.enter_context(arrivals(news, known, options, scratch))
    tell_reading(arrived.summary)
    return arrived


def _is_unordered(request: MatchRequest, saved: Saved | None) -> bool:
    """Whether lines of logs are in no order unless somebody says so; a state goes on as it began."""
    return request.incremental.reopen if saved is None else saved.growth is None


def _attributes(saved: Saved) -> dict[str, pa.DataType]:
    """The attributes whose types are bound: those of the query, and those that the sketch knows."""
    from cepctl.datasets.kinds import ARROW_TYPES, Kind
    from cepctl.event_table import is_attribute

    columns = saved.progress.events.schema
    sketched = {} if saved.sketch is None else saved.sketch.kinds
    return {
        **{name: ARROW_TYPES[Kind(kind)] for name, kind in sketched.items()},
        **{each.name: each.type for each in columns if is_attribute(each)},
    }


def _clocks_kept(plan: Plan, progress: Progress) -> Clocks:
    """The clocks of the events that a state keeps, and all that are tied to these."""
    from cepctl.clocks.ties import chains_of
    from cepctl.schema import CLOCK

    if not plan.clocks:
        return {}
    named = [table.column(CLOCK).unique().to_pylist() for table in (progress.events, progress.late)]
    used = {name for names in named for name in names}
    return chains_of(plan.clocks, used)


def _sources_after(saved: Saved | None, arrived: Arrivals, progress: Progress) -> tuple[Source, ...]:
    """What is kept of the inputs: those of which something was read know the newest event."""
    from cepctl.state.sources import kept_sources

    old = {source.uri: source for source in (saved.sources if saved else ())}
    sources = [
        source
        if source.offset == getattr(old.get(source.uri), "offset", -1)
        else replace(source, newest=progress.newest)
        for source in arrived.sources
    ]
    return kept_sources(sources, arrived.seen, progress.watermark)


def _computed(
    request: MatchRequest,
    options: IngestOptions,
    saved: Saved | None,
    arrived: Arrivals,
    sketch: KeptSketch | None,
    scratch: Path,
) -> ComputedRun | None:
    """The run, in memory; None where there has never been an event."""
    from cepctl.matching.inputs import EventInputs
    from cepctl.state.advancing import advance
    from cepctl.state.intake import widened
    from cepctl.state.progress import beginning
    from cepctl.state.store import Saved

    if saved is None and arrived.inputs is None:
        say("note", "the inputs hold no events yet; the state has not begun")
        return None
    matching = request.question.matching
    inputs = EventInputs((), arrived.schema)
    plan = planned(request.question.query, inputs, matching)
    if plan.window is None and not request.quiet:
        what = "the query has no WITHIN" if plan.query.within is None else "WITHIN covers all of time"
        say("warning", f"{what}: the state keeps every event that fits, and grows with the logs")
    if arrived.inputs is not None:
        present = [name for name in plan.attributes if name in arrived.inputs.schema.readable]
        fewer = "take in fewer at a time (run it more often, or name fewer logs)"
        arrived.inputs.require_room(present, _COPIES, matching.memory, "match --state", fewer)
    events = arrived.read(plan.attributes)
    before = saved.progress if saved is not None else beginning(plan, events.schema)
    before = widened(before, events.schema).with_rows_of(plan)
    outcome = advance(
        before,
        events,
        plan,
        TableEngine(
            request.question.execution, matching.order, matching.max_matches, matching.memory, arrived.schema
        ),
        replace(run_options(request, plan.time_unit), ticks_of_a_time=arrived.growth.ticks_of_a_time),
    )
    number = saved.run + 1 if saved else 1
    sketched = sketch_after(request, sketch, arrived, number, scratch)
    after = Saved(
        run=number,
        binding=binding_of(request, options),
        time_unit=arrived.schema.time_unit,
        type_counts=dict(arrived.schema.type_counts or {}),
        sources=_sources_after(saved, arrived, outcome.progress),
        progress=outcome.progress,
        written=datetime.now(UTC).isoformat(timespec="seconds"),
        clocks=_clocks_kept(plan, outcome.progress),
        sketch=None if sketched is None else sketched.sketch,
        templates=_templates_after(saved, arrived),
        growth=None if _is_unordered(request, saved) else arrived.growth,
    )
    rows = matching.kept(plan).rows(outcome.rows)
    return ComputedRun(plan, after, outcome, rows, len(events), {} if sketched is None else sketched.folders)


def _templates_after(saved: Saved | None, arrived: Arrivals) -> tuple[MessageTemplate, ...]:
    """All templates up to now: those of a run without messages are those before."""
    if arrived.summary is not None and arrived.summary.templates:
        return arrived.summary.templates
    return () if saved is None else saved.templates


def _seconds(tick: int | None, unit: TimeUnit) -> float | None:
    return None if tick is None else tick * unit.microseconds / 1e6
