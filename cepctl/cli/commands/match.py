"""`cepctl match`: run a query and print its probable matches."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import click

from cepctl.cli.match.request import MatchRequest, RowChoice, row_options
from cepctl.cli.options.exclusions import asked_for, refuse_or_leave_out
from cepctl.cli.options.help_groups import GroupedCommand, HelpGroup, grouped_option
from cepctl.cli.options.incremental import Incremental, state_options
from cepctl.cli.options.matching import matching_options
from cepctl.cli.options.query_text import query_argument, query_file_of, read_query
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import (
    in_one,
    json_option,
    metrics_option,
    runner_options,
    strict_option,
    verbosity_options,
)
from cepctl.cli.output.rows import names_folder
from cepctl.errors import UsageError
from cepctl.laws.choices import LAWLESS
from cepctl.library.options import SKETCH_USES, SketchUse
from cepctl.library.outputs import refuse_overwriting
from cepctl.library.question import Question
from cepctl.library.raw_input import RawInput
from cepctl.library.selection import Matching
from cepctl.matching.execution import Execution, RunnerChoice
from cepctl.plan.choices import KLEENE_ROWS, KleeneRows

if TYPE_CHECKING:
    from cepctl.language.ast import Query

MATCHES_FOUND = 1
MATCHES_IN_PARTS = 10_000_000_000
"""The cap where rows go to a folder and nothing else was said, but for groups, which are tried in memory."""


@dataclass(frozen=True)
class _MatchChoices:
    """What is asked beside which matches are kept, how rows are written, and how logs are read."""

    kleene: KleeneRows
    sketch: SketchUse
    as_json: bool
    overwrite: bool
    unordered: bool
    why_not: bool
    fail_on_match: bool
    metrics: str | None
    quiet: bool
    verbose: bool


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
@in_one("asked", _MatchChoices)
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    matching: Matching,
    rows: RowChoice,
    asked: _MatchChoices,
    incremental: Incremental,
    raw_input: RawInput,
    runner: RunnerChoice,
) -> int:
    """Run QUERY on EVENTS: datasets, plain event files (CSV, JSONL, Parquet) or raw logs.

    QUERY is the text itself, or @FILE.  Every row is one combination of events that could have
    happened, with its possible time range and its probability.
    """
    text, paths = read_query(arguments, query_file)
    if asked.as_json:
        rows = replace(rows, form="json")
    in_parts = incremental.state is None and rows.output is not None and names_folder(rows.output)
    if asked.overwrite and not in_parts:
        because = "without a folder of rows (-o ROWS/): a file is always replaced"
        refuse_or_leave_out(click.get_current_context(), "overwrite", because)
    query, unordered = _query(text, rows, asked, matching, incremental)
    if in_parts or unordered:
        matching = _without_cap(matching, query)
    question = Question(
        text, query, matching, asked.kleene, raw_input, Execution(matching.engine, runner, asked.verbose),
        judged=not (asked.quiet or matching.exists) and asked.kleene == "groups", columns=rows.chosen,
        lawless=LAWLESS in rows.chosen,
        sketch="off" if asked.why_not else asked.sketch,
    )  # fmt: skip
    if incremental.follow and asked.fail_on_match:
        raise UsageError("--fail-on-match cannot apply with --follow: it runs until it is interrupted")
    request = MatchRequest(
        *(question, paths, incremental, rows, asked.why_not, asked.metrics, asked.quiet),
        overwrite=asked.overwrite,
        as_json=asked.as_json,
        unordered=unordered,
    )
    if incremental.state is None:
        rows.refuse_unwritable()
    written = {"-o": rows.output, "--metrics": asked.metrics, "--late": incremental.late}
    file = query_file_of(arguments, query_file)
    replaced = "-o" if in_parts else None
    refuse_overwriting(written, paths, raw_input, file, laws=matching.under.laws, replaced=replaced)
    question.execution.require_startable()
    count = _run(request)
    return MATCHES_FOUND if count and asked.fail_on_match else 0


def _query(
    text: str, rows: RowChoice, asked: _MatchChoices, matching: Matching, incremental: Incremental
) -> tuple[Query, bool]:
    """The query, with columns for people where they are to read the rows; whether these are unordered."""
    from cepctl.language.parser import parse

    query, unordered = parse(text), asked.unordered
    if unordered:
        from cepctl.cli.match.unordered import applies_to

        unordered = applies_to(query)
    if _is_table(rows, incremental) and not (query.returns or matching.exists or unordered):
        from cepctl.plan.returned_items import with_keys

        query = with_keys(query) if query.group_by is None and asked.kleene == "groups" else query
    return query, unordered


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


def _run(request: MatchRequest) -> int:
    """Match all events that are named, or what is new since the last run; returns how many rows came."""
    if request.incremental.state is None:
        from cepctl.cli.match.whole_run import run_once

        return run_once(request)
    from cepctl.cli.match.incremental_run import run_with_state

    if request.incremental.follow:
        from cepctl.cli.match.following import follow

        follow(request, run_with_state)
    return run_with_state(request)
