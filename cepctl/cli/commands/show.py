"""`cepctl show`: one match of a query, drawn and explained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import click

from cepctl.cli.match.last_match import recall
from cepctl.cli.options.help_groups import GroupedCommand
from cepctl.cli.options.laws import law_options
from cepctl.cli.options.query_text import query_argument, read_query
from cepctl.cli.options.reading import raw_input_options
from cepctl.cli.options.shared import in_one, json_option, memory_option, no_given_option, verbosity_options
from cepctl.cli.output.answers import print_answer
from cepctl.errors import NoMatchError, UsageError
from cepctl.library.clock_evidence import clock_evidence
from cepctl.library.laws import LawChoice, LawFile
from cepctl.library.notices import tell_reading
from cepctl.library.question import Question
from cepctl.library.raw_input import RawInput, given_ingest_options
from cepctl.library.selection import Matching
from cepctl.matching.execution import Execution, RunnerChoice
from cepctl.process.memory import MemoryBudget
from cepctl.render.counting import counted

if TYPE_CHECKING:
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan

_COPIES = 4
"""Events are held as they are read, joined, in order, and as what the engine computes of each."""


@dataclass(frozen=True)
class _MatchAsked:
    """A match of a query in events: by its ids, or (where there are none) by its rank among all rows."""

    query: str
    events: tuple[str, ...]
    raw_input: RawInput
    signature: str | None
    rank: int
    no_given: bool
    under: LawChoice


@dataclass(frozen=True)
class _Which:
    """Which match is shown."""

    signature: str | None
    rank: int | None
    last: bool


@dataclass(frozen=True)
class _ShownAs:
    """In which form."""

    times: str
    as_json: bool
    quiet: bool
    verbose: bool


@click.command("show", cls=GroupedCommand)
@query_argument("EVENTS...")
@click.option(
    "--match",
    "signature",
    metavar="IDS",
    help="The match, as in the column `match` of `cepctl match`, such as 'a1 b3+b4 c2'.",
)
@click.option(
    "--rank",
    type=click.IntRange(min=1),
    metavar="N",
    help="The match in row N of `cepctl match`: 1 is the most probable.",
)
@click.option(
    "--last",
    is_flag=True,
    help="The first row, or that of --rank, of your last `cepctl match` without --quiet and --state.  "
    "QUERY and EVENTS are left out.",
)
@click.option(
    "--time",
    "times",
    type=click.Choice(["iso", "ticks"]),
    default="iso",
    show_default=True,
    help="How times are written.",
)
@json_option
@no_given_option
@law_options
@raw_input_options("--input-format")
@memory_option
@verbosity_options
@in_one("which", _Which)
@in_one("form", _ShownAs)
def command(
    arguments: tuple[str, ...],
    query_file: str | None,
    which: _Which,
    form: _ShownAs,
    no_given: bool,
    under: LawChoice,
    raw_input: RawInput,
    memory: MemoryBudget,
) -> None:
    """Show one match of QUERY in EVENTS: its events, their times, its rivals, its confidence.

    The events are drawn on one axis of time.  Where hosts recorded the errors of their clocks, it is said
    what they recorded of each event.  If they are not a match, the command names the failed
    condition and fails.  QUERY is the text itself, or @FILE.
    """
    from cepctl.engines.diagnosis.one_match import ids_of, one_match
    from cepctl.render.clock_evidence import evidence_facts, print_evidence
    from cepctl.render.match_times import Times
    from cepctl.render.one_match import drawing_width, print_match, reason_text
    from cepctl.render.one_match_facts import match_facts

    if which.last:
        asked = _asked_of_last(arguments, which.rank or 1, no_given, under)
    elif which.signature is None and which.rank is None:
        raise UsageError("name the match: --match IDS, --rank 1, or --last of the last cepctl match")
    else:
        text, events = read_query(arguments, query_file)
        if not events:
            raise UsageError("EVENTS is missing: name a dataset, an event file or a log after the query")
        asked = _MatchAsked(text, events, raw_input, which.signature, which.rank or 1, no_given, under)
    with _found(asked, memory) as (plan, inputs, ids):
        inputs.require_room(plan.attributes, _COPIES, memory, "show")
        match = one_match(
            plan, inputs.read(plan.attributes), ids_of(ids), drawing_width(), asked.under.law_limit
        )
        recorded = clock_evidence(match, inputs)
    if form.as_json:
        facts = match_facts(match, cast(Times, form.times))
        print_answer("show", {"match": ids, **facts, **(evidence_facts(recorded) if recorded else {})})
    else:
        print_match(match, cast(Times, form.times))
        if recorded is not None:
            print_evidence(recorded)
    if match.reasons:
        reasons = "; ".join(reason_text(match, each) for each in match.reasons)
        raise NoMatchError(f"'{ids}' is not a match of the query: {reasons}")


def _asked_of_last(arguments: tuple[str, ...], rank: int, no_given: bool, under: LawChoice) -> _MatchAsked:
    if arguments:
        raise UsageError("--last has QUERY and EVENTS of the last match; leave them out, or name --rank")
    last = recall()
    if "-" in last.events:
        raise UsageError("the last match read its events from standard input, which is gone; name a file")
    if under.laws is None and not under.no_laws:
        laws = None if last.laws is None else LawFile.read(last.laws)
        under = replace(under, laws=laws, no_laws=last.no_laws)
    signature = last.matches[rank - 1] if rank <= len(last.matches) else None
    return _MatchAsked(last.query, last.events, last.raw_input, signature, rank, no_given, under)


@contextmanager
def _found(asked: _MatchAsked, memory: MemoryBudget) -> Iterator[tuple[Plan, EventInputs, str]]:
    """Plan and events, and the ids of the match; only a rank makes the query run."""
    from cepctl.language.parser import parse
    from cepctl.library.finding import find_matches, planned
    from cepctl.matching.inputs import open_events

    query = parse(asked.query)
    matching = Matching(top_k=asked.rank, memory=memory, no_given=asked.no_given, under=asked.under)
    if asked.signature is not None:
        with open_events(asked.events, given_ingest_options(asked.raw_input), memory) as inputs:
            tell_reading(inputs.summary)
            yield planned(query, inputs, matching), inputs, asked.signature
        return
    execution = Execution("event", RunnerChoice("local", "", ()), verbose=False)
    question = Question(asked.query, query, matching, "groups", asked.raw_input, execution, judged=False)
    with find_matches(question, asked.events) as matches:
        found, plan = matches.table(), matches.found.plan
        if found.num_rows < asked.rank:
            has = counted(found.num_rows, "match", "matches")
            raise NoMatchError(f"there is no row {asked.rank}: the query has {has} here")
        column = "match" if plan.group_by is None else "best"
        yield plan, matches.found.inputs, found.column(column)[asked.rank - 1].as_py()
