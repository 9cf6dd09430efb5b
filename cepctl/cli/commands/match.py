"""`cepctl match`: run a query and print its probable matches."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from cepctl.cli.match.kernel_hint import hint_at_kernels
from cepctl.cli.match.last_match import ROWS_REMEMBERED, remember_match
from cepctl.cli.match.progress import shown_progress
from cepctl.cli.match.request import MatchRequest, RowChoice, row_options
from cepctl.cli.match.summary import figures_of, tell_summary
from cepctl.cli.match.unordered import applies, run_unordered
from cepctl.cli.match.why_not import tell_why_not
from cepctl.cli.options.exclusions import asked_for, refuse_or_leave_out
from cepctl.cli.options.help_groups import GroupedCommand, HelpGroup, grouped_option
from cepctl.cli.options.incremental import Incremental, state_options
from cepctl.cli.options.matching import matching_options
from cepctl.cli.options.query_text import query_argument, query_file_of, read_query
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import (
    json_option,
    metrics_option,
    runner_options,
    strict_option,
    verbosity_options,
)
from cepctl.cli.output.answers import answer_around
from cepctl.cli.output.metrics import write_metrics
from cepctl.cli.output.rows import names_folder, row_target, write_pieces, write_rows
from cepctl.errors import UsageError
from cepctl.io.rows.forms import RowFile
from cepctl.library.finding import find_matches
from cepctl.library.matches import Matches
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.question import Question
from cepctl.library.raw_input import RawInput
from cepctl.library.selection import Matching
from cepctl.library.sketch import SKETCH_USES, SketchUse
from cepctl.matching.execution import Execution, RunnerChoice
from cepctl.order_laws.choices import LAWLESS
from cepctl.plan.returned_items import with_keys
from cepctl.plan.summary import KLEENE_ROWS, KleeneRows
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from cepctl.io.rows.folder import RowFolder
    from cepctl.language.ast import Query

MATCHES_FOUND = 1
MATCHES_IN_PARTS = 10_000_000_000
"""The cap where rows go to a folder and nothing else was said, but for groups, which are tried in memory."""


@click.command("match", cls=GroupedCommand)
@query_argument("EVENTS...")
@matching_options
@grouped_option(
    "--kleene",
    type=click.Choice(KLEENE_ROWS),
    default="groups",
    show_default=True,
    help="groups: a row for each group of a Type+; summary: one row for all groups between the same "
    "events, with the probability that there is any.",
    group=HelpGroup.ASK_FURTHER,
)
@grouped_option(
    "--exists",
    is_flag=True,
    help="Say only whether there is a match, and the first one: a row exists,confidence,start,end,match; "
    "with GROUP BY one for each key that has a match.  Ends as soon as that is known.",
    group=HelpGroup.ASK_FURTHER,
)
@grouped_option(
    "--closed",
    is_flag=True,
    help="Leave out rows that the end of the events leaves open: what must not happen after them may still "
    "come.  The column open says which these are.",
    group=HelpGroup.ASK_FURTHER,
)
@grouped_option(
    "--sketch",
    type=click.Choice(SKETCH_USES),
    default="auto",
    show_default=True,
    help="auto: if every dataset has a sketch (cepctl sketch), read only row groups that can hold a "
    "match, which changes no row; a state begun on such datasets keeps a sketch, too.",
    group=HelpGroup.RUNNING,
)
@row_options
@json_option
@grouped_option(
    "--overwrite",
    is_flag=True,
    help="Replace an existing folder of rows, -o ROWS/.",
    group=HelpGroup.PRINT_FURTHER,
)
@grouped_option(
    "--unordered",
    is_flag=True,
    help="Write rows as they are found, in no particular order: the first at once, and in memory that does "
    "not grow with their number.  Local runner only; --max-matches is 10000000000 by default.",
    group=HelpGroup.PRINT_FURTHER,
)
@grouped_option(
    "--why-not",
    "why_not",
    is_flag=True,
    help="Say on standard error how far partial matches got, what stopped them, and what came nearest; with "
    "--format jsonl as one JSON object.",
    group=HelpGroup.PRINT_FURTHER,
)
@grouped_option(
    "--fail-on-match",
    is_flag=True,
    help="Exit with 1 if there are matches.",
    group=HelpGroup.PRINT_FURTHER,
)
@metrics_option
@state_options
@raw_input_options("--input-format")
@runner_options
@strict_option
@verbosity_options
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    matching: Matching,
    kleene: KleeneRows,
    sketch: SketchUse,
    rows: RowChoice,
    as_json: bool,
    overwrite: bool,
    unordered: bool,
    why_not: bool,
    fail_on_match: bool,
    metrics: str | None,
    incremental: Incremental,
    raw_input: RawInput,
    runner: RunnerChoice,
    quiet: bool,
    verbose: bool,
) -> int:
    """Run QUERY on EVENTS: datasets, plain event files (CSV, JSONL, Parquet) or raw logs.

    QUERY is the text itself, or @FILE.  Every row is one combination of events that could have
    happened, with its possible time range and its probability.
    """
    from cepctl.language.parser import parse

    text, paths = read_query(arguments, query_file)
    if as_json:
        rows = replace(rows, form="json")
    in_parts = incremental.state is None and rows.output is not None and names_folder(rows.output)
    if overwrite and not in_parts:
        because = "without a folder of rows (-o ROWS/): a file is always replaced"
        refuse_or_leave_out(click.get_current_context(), "overwrite", because)
    query = parse(text)
    unordered = applies(unordered, query)
    if _is_table(rows, incremental) and not (query.returns or matching.exists or unordered):
        query = with_keys(query) if query.group_by is None and kleene == "groups" else query
    if in_parts or unordered:
        matching = _without_cap(matching, query)
    question = Question(
        text, query, matching, kleene, raw_input, Execution(matching.engine, runner, verbose),
        judged=not (quiet or matching.exists) and kleene == "groups", columns=rows.chosen,
        lawless=LAWLESS in rows.chosen,
        sketch="off" if why_not else sketch,
    )  # fmt: skip
    if incremental.follow and fail_on_match:
        raise UsageError("--fail-on-match cannot apply with --follow: it runs until it is interrupted")
    request = MatchRequest(
        *(question, paths, incremental, rows, why_not, metrics, quiet),
        overwrite=overwrite,
        as_json=as_json,
        unordered=unordered,
    )
    if incremental.state is None:
        rows.refuse_unwritable()
    written = {"-o": rows.output, "--metrics": metrics, "--late": incremental.late}
    file = query_file_of(arguments, query_file)
    replaced = "-o" if in_parts else None
    refuse_overwriting(written, paths, raw_input, file, laws=matching.under.laws, replaced=replaced)
    question.execution.require_startable()
    count = _run_once(request) if incremental.state is None else _run_with_state(request)
    return MATCHES_FOUND if count and fail_on_match else 0


def _is_table(rows: RowChoice, incremental: Incremental) -> bool:
    """Whether people are to read the rows, and have not said which columns."""
    if incremental.state is not None or rows.chosen:
        return False
    return rows.form == "table" or (rows.form is None and rows.output is None and sys.stdout.isatty())


def _without_cap(matching: Matching, query: Query) -> Matching:
    """How a query is run whose rows need not be held, so that only who asks for a cap gets one."""
    from cepctl.language.traversal import components_of

    lists_groups = any(each.kleene for each in components_of(query.pattern))
    if lists_groups or any(asked_for(click.get_current_context(), ["max-matches"])):
        return matching
    return replace(matching, max_matches=MATCHES_IN_PARTS)


def _run_with_state(request: MatchRequest) -> int:
    """Match what is new since the last run, once or until it is interrupted; returns how many rows came."""
    from cepctl.cli.match.incremental_run import run_with_state

    if request.incremental.follow:
        from cepctl.cli.match.following import follow

        follow(request, run_with_state)
    return run_with_state(request)


def _run_once(request: MatchRequest) -> int:
    """Match all events that are named; returns how many rows were written."""
    # A table is laid out when all its rows are known.
    form = request.rows.form or ("csv" if request.unordered and request.rows.output is None else None)
    target = row_target(form, request.rows.output)
    request.rows.require_writable(target.form)
    guarded = request.rows.guarded(target.form)
    if not request.paths:
        raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
    _share_memory()
    if request.unordered:
        with _folder(request, target) as folder:
            return run_unordered(request, target, folder, guarded=guarded)
    with _folder(request, target) as folder, _found(request, folder) as matches:
        plan, inputs = matches.found.plan, matches.found.inputs
        trace = _trace(matches, request.rows.limit) if target.form == "trace" else None
        if request.why_not:
            beside(SideFigure.WHY_NOT, partial(tell_why_not, plan, inputs, target.form), None)
        if not request.quiet:
            _tell(request, matches)
        if trace is not None:
            write_pieces(trace, request.rows.output, target.compression)
        else:
            _write(matches, request, target, folder, guarded=guarded)
        if not request.quiet and request.question.kleene == "groups":
            beside(SideFigure.LAST_MATCH, partial(_remember, request, matches), None)
    write_metrics(request.metrics, figures_of(matches.summary))
    return len(matches)


def _share_memory() -> None:
    """Have Arrow take memory from where all others of this process do.

    Its own allocator gives back what is freed, page by page, and to get it again took a sixth of the
    processor time of a match with many rows.
    """
    import pyarrow as pa

    pa.set_memory_pool(pa.system_memory_pool())


def _tell(request: MatchRequest, matches: Matches) -> None:
    """The summary of a run, and what would have been quicker."""
    execution, hint = request.question.execution, not request.why_not and matches.found.plan.never is None
    tell = partial(tell_summary, matches.summary, hint=hint, limit=request.rows.limit)
    beside(SideFigure.SUMMARY, tell, None)
    beside(SideFigure.KERNEL_HINT, partial(hint_at_kernels, execution), None)


def _remember(request: MatchRequest, matches: Matches) -> None:
    """Keep what was asked and the first rows for `cepctl show --last`."""
    asked, rows = request.question, matches.head(ROWS_REMEMBERED)
    ids = rows.column("match" if "match" in rows.column_names else "best").to_pylist()
    remember_match(asked, request.paths, [each for each in ids if each is not None])


@contextmanager
def _folder(request: MatchRequest, target: RowFile) -> Iterator[RowFolder | None]:
    """Where the parts of a folder of rows are made; None where rows go elsewhere."""
    if not target.parts:
        yield None
        return
    from cepctl.io.rows.folder import row_folder

    assert request.rows.output is not None
    with row_folder(Path(request.rows.output), overwrite=request.overwrite) as made:
        yield made


def _found(request: MatchRequest, folder: RowFolder | None) -> Matches:
    scratch = None if folder is None else folder.scratch
    with shown_progress(quiet=request.quiet) as progress:
        return find_matches(request.question, request.paths, progress, scratch=scratch)


def _write(
    matches: Matches, request: MatchRequest, target: RowFile, folder: RowFolder | None, *, guarded: bool
) -> None:
    from cepctl.io.rows.encoding import TimeFormat, encoded_rows, require_calendar
    from cepctl.io.rows.shown import Shown

    times, counts = cast(TimeFormat, request.rows.times), matches.summary.counts
    unit, ticks = matches.found.plan.time_unit, matches.found.plan.tick_columns
    require_calendar(counts.start, counts.end, unit, times)
    shown = Shown(unit, times, target.form, request.rows.chosen, guarded, ticks)
    if folder is not None:
        from cepctl.library.row_parts import write_parts

        execution, limit = request.question.execution, request.rows.limit
        with shown_progress(quiet=request.quiet) as progress:
            count = write_parts(matches, folder, shown, execution, limit, progress)
        folder.publish(count)
        return
    if request.as_json:
        pieces = encoded_rows(matches.pieces(request.rows.limit), "json", shown)
        write_pieces(answer_around("match", pieces, _beside_rows(request, matches)), None)
        return
    chosen = bool(request.rows.chosen)
    write_rows(
        matches.pieces(request.rows.limit, nested=request.rows.nested(target.form)),
        shown,
        target,
        request.rows.output,
        quiet=request.quiet,
        chosen=chosen,
    )


def _beside_rows(request: MatchRequest, matches: Matches) -> dict[str, object]:
    """What `--json` says beside the rows."""
    summary = matches.summary
    figures = {"found": summary.found, "text": str(summary), **figures_of(summary).known()}
    return {"query": request.question.text, "summary": figures}


def _trace(matches: Matches, limit: int | None) -> Iterator[bytes]:
    """The matches as a trace, or the keys of GROUP BY."""
    from cepctl.pages.matched_events import matched_events
    from cepctl.pages.trace import trace_pieces

    plan, inputs, rows = matches.found.plan, matches.found.inputs, matches.table()[:limit]
    if plan.group_by is None:
        return trace_pieces(matched_events(plan, inputs, rows))
    from cepctl.library.pages import best_matches

    return trace_pieces(best_matches(plan, inputs, rows), rows)
