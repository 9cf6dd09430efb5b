"""Finding the matches of a query: the one way on which the command line and programs go."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from cepctl.errors import QuerySemanticError
from cepctl.library.assumed_order import without_assumed_order
from cepctl.library.found import Found
from cepctl.library.matches import Matches, Times
from cepctl.library.notices import (
    tell_absent_values,
    tell_doubts,
    tell_exact_times,
    tell_missing_window,
    tell_plan,
    tell_reading,
    tell_shared_stamps,
    tell_texts,
)
from cepctl.library.offered_estimates import offering_no_estimate
from cepctl.library.question import Question
from cepctl.library.raw_input import given_ingest_options
from cepctl.library.selection import Matching
from cepctl.library.sketch import inputs_by_sketches
from cepctl.library.summary import MatchSummary, answer_of
from cepctl.matching.execution import Execution
from cepctl.matching.raw_times import counts_of_rows
from cepctl.matching.run import find_rows
from cepctl.plan.grouping import for_existence, ungrouped
from cepctl.plan.laws import law_name
from cepctl.plan.open_rows import awaits_windows, rests_on_absences
from cepctl.plan.plan import FOUND_AT_RAW_TIMES
from cepctl.side_figures import SideFigure, beside

if TYPE_CHECKING:
    from cepctl.engines.event.options import MatchOptions
    from cepctl.engines.rows.groups import FoundRows
    from cepctl.engines.rows.kept import RowCounts
    from cepctl.engines.runners.progress import RunProgress
    from cepctl.language.ast import Query
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan


def find_matches(
    question: Question,
    paths: Sequence[str],
    progress: RunProgress | None = None,
    *,
    times: Times = "iso",
    opened: ExitStack | None = None,
    scratch: Path | None = None,
) -> Matches:
    """The matches of a query in events at some paths.

    Parameters
    ----------
    question, paths
        What is asked of which datasets, plain event files and raw logs.
    progress
        Is told what the run does.
    times
        How rows say `start` and `end`.
    opened
        What has to be closed together with the matches.
    scratch
        A folder that all workers see, for rows beyond memory; None for one among the temporary files.

    Raises
    ------
    CepctlError
        As `cepctl.matching.inputs.open_events` and `cepctl.matching.run.find_rows` do.
    """
    from cepctl.atomic.folders import temporary_folder
    from cepctl.engines.runners.progress import RunProgress

    began = time.monotonic()
    progress = progress or RunProgress()
    with opened or ExitStack() as stack:
        folder = scratch or stack.enter_context(temporary_folder())
        plan, inputs, options = opened_search(question, paths, stack)
        one_sum = options.exists or question.kleene == "summary"
        with offering_no_estimate(refused=one_sum or bool(plan.laws)):
            rows = find_rows(
                plan, inputs, options, question.execution, folder, progress, shared=scratch is not None
            )
        judged = question.judged and _is_judged(plan, question.execution)
        ran = Ran(progress, began, best=question.matching.top_k is not None)
        counts = counts_of_rows(plan, inputs, rows, judged=judged)
        unanswered = None if plan.group_by is None else ""
        answer = beside(SideFigure.LIKELIEST_KEY, partial(answer_of, plan, rows), unanswered)
        found = counts.rows if options.exists else rows.found
        summary = summary_of(plan, inputs, found, counts, ran, judged=judged, answer=answer)
        tell_doubts(summary)
        _tell_beside(question, plan, inputs, rows, counts)
        behind = None
        if plan.group_by is not None:
            own = folder / "behind-keys"
            behind = partial(
                _rows_behind, plan, inputs, options, question.execution, own, scratch is not None
            )
        return Matches(Found(question.text, plan, inputs, rows, summary, behind), stack.pop_all(), times)


def _tell_beside(
    question: Question, plan: Plan, inputs: EventInputs, rows: FoundRows, counts: RowCounts
) -> None:
    """What else people should know of an answer."""
    if not counts.rows:
        tell_absent_values(plan, inputs)
    tell_exact_times(plan, inputs, counts)
    if not (question.raw_input.no_writer or question.matching.exists or question.kleene == "summary"):
        tell_shared_stamps(plan, inputs, rows, counts)
    tell_missing_window(plan, counts)


def opened_search(
    question: Question, paths: Sequence[str], opened: ExitStack
) -> tuple[Plan, EventInputs, MatchOptions]:
    """The plan of a question, the events it is run on, which `opened` closes, and with which options.

    Raises
    ------
    CepctlError
        As `cepctl.matching.inputs.open_events` does; also where query, columns and events do not fit.
    """
    from cepctl.io.rows.columns import require_columns
    from cepctl.matching.inputs import open_events
    from cepctl.matching.needed import NeededByQuery

    reading = given_ingest_options(question.raw_input)
    here = question.execution.runner.here
    memory, needed = question.matching.memory, None
    if question.execution.engine == "event":
        needed = NeededByQuery(partial(question.matching.plan, question.query), question.kleene)
    inputs = opened.enter_context(open_events(paths, reading, memory, in_arrow=here, needed=needed))
    tell_reading(inputs.summary)
    if question.kleene == "summary":
        inputs = without_assumed_order(inputs, "a summary")
    if question.execution.engine == "point":
        inputs = without_assumed_order(inputs, "the point engine")
    plan = planned(question.query, inputs, question.matching)
    if question.matching.exists:
        plan = for_existence(plan)
    if question.sketch == "auto" and question.execution.engine == "event":
        inputs = inputs_by_sketches(plan, inputs)
    type_counts = inputs.schema.type_counts
    options = question.matching.options(
        *(plan, type_counts, question.kleene),
        judged=question.judged,
        lawless=question.lawless,
    )
    said = any(each.observed is not None for each in inputs.datasets)
    waits = awaits_windows(plan) or (said and rests_on_absences(plan))
    if waits and question.execution.engine != "point":
        options = replace(options, observed=inputs.observed_until())
    require_columns(question.columns, columns_of(plan, options))
    return plan, inputs, options


def _rows_behind(
    plan: Plan, inputs: EventInputs, options: MatchOptions, execution: Execution, folder: Path, shared: bool
) -> FoundRows:
    """The matches of which a run with GROUP BY has told, found again."""
    folder.mkdir(exist_ok=True)
    listing = replace(options, top=None)
    return find_rows(ungrouped(plan), inputs, listing, execution, folder, shared=shared)


@dataclass(frozen=True)
class Ran:
    """What a run was: what it told of its progress, when it began, whether it was for the best rows alone."""

    progress: RunProgress
    began: float
    best: bool


def _is_judged(plan: Plan, execution: Execution) -> bool:
    """Whether rows can be held to raw times: which of these find the groups of the judge is not known."""
    return plan.group_by is None or execution.engine == "event"


def summary_of(
    plan: Plan,
    inputs: EventInputs,
    found: int,
    counts: RowCounts,
    ran: Ran,
    *,
    judged: bool,
    answer: str | None = None,
) -> MatchSummary:
    """The summary of a run that has found so many rows; `counts` are of those that are kept."""
    slicing = ran.progress.slicing
    return MatchSummary(
        found=found,
        counts=counts,
        events=sum((inputs.schema.type_counts or {}).values()),
        rejects=0 if inputs.summary is None else inputs.summary.rejected.total(),
        seconds=time.monotonic() - ran.began,
        relevant=ran.progress.relevant,
        slices=None if slicing is None else slicing.tasks,
        best=ran.best,
        judged=judged,
        answer=answer,
        impossible=ran.progress.impossible,
        laws=tuple(map(law_name, plan.laws)),
    )


def columns_of(plan: Plan, options: MatchOptions) -> list[str]:
    """The columns of the rows of a plan, as they are presented."""
    import pyarrow as pa

    from cepctl.engines.event.match import schema_for
    from cepctl.engines.rows.groups import first_schema
    from cepctl.io.rows.columns import answer_first

    if options.exists:
        first: list[str] = first_schema(plan).names
        return first
    rows = schema_for(plan, options).empty_table()
    if plan.group_by is None:
        rows = rows.append_column("match", pa.array([], pa.string()))
    names: list[str] = answer_first(rows).column_names
    return [name for name in names if name != FOUND_AT_RAW_TIMES]


def planned(query: Query, inputs: EventInputs, matching: Matching) -> Plan:
    """The plan of a query for some events, after it has been said what can hardly be meant.

    Raises
    ------
    QuerySemanticError
        If the query does not fit the events.
    """
    try:
        plan = matching.plan(query, inputs.schema)
    except QuerySemanticError as problem:
        if not problem.texts:
            raise
        from cepctl.library.texts import no_numbers

        raise QuerySemanticError("\n".join([str(problem), *no_numbers(inputs, problem.texts)])) from None
    tell_plan(plan)
    tell_texts(query, inputs)
    return plan
