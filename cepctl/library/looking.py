"""`cepctl.show`, `cepctl.why_not`, `cepctl.report`: looking at answers, as the command line does."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from cepctl.errors import NoMatchError, QueryTooLargeError, UnsupportedQueryError, UsageError
from cepctl.laws.choices import MOST_SETS_ALIVE, Beyond
from cepctl.library.events import paths_of
from cepctl.library.exclusions import refuse_for_datasets
from cepctl.library.finding import planned
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.laws import LawChoice, law_choice
from cepctl.library.match import match as matches_of
from cepctl.library.options import EventOptions, PathText, raw_input
from cepctl.library.query_text import query_text
from cepctl.library.raw_input import given_ingest_options
from cepctl.library.selection import Matching
from cepctl.process.memory import budget_of, default_budget

if TYPE_CHECKING:
    from cepctl.engines.diagnosis.shown import OneMatch
    from cepctl.engines.diagnosis.why_not import WhyNot
    from cepctl.library.events import Events
    from cepctl.matching.inputs import EventInputs
    from cepctl.plan.plan import Plan


@dataclass(frozen=True)
class Shown:
    """One match: `str` draws its events on one axis of time and explains its confidence; `ids` names them."""

    ids: str
    match: OneMatch

    def to_json(self) -> dict[str, Any]:
        """What `cepctl show --json` answers."""
        from cepctl.render.one_match_facts import match_facts

        return {"match": self.ids, **match_facts(self.match)}

    def __str__(self) -> str:
        from cepctl.render.one_match import print_match

        held = io.StringIO()
        print_match(self.match, "iso", held)
        return held.getvalue().rstrip()

    __repr__ = __str__


@dataclass(frozen=True)
class Reasons:
    """Why a query matches so little; `str` tells it, `never` where it can never match."""

    never: str | None
    why: WhyNot | None

    def to_json(self) -> dict[str, Any]:
        """What `--why-not --format jsonl` says."""
        from cepctl.render.why_not import why_not_json

        if self.why is None:
            return {"never": self.never}
        found: dict[str, Any] = json.loads(why_not_json(self.why))
        return found

    def __str__(self) -> str:
        from cepctl.render.why_not import print_why_not

        if self.why is None:
            return f"the query can never match: {self.never}"
        held = io.StringIO()
        print_why_not(self.why, held)
        return held.getvalue().rstrip()

    __repr__ = __str__


@errors_in_keywords
def show(
    query: str | Path,
    events: Events,
    *,
    match: str | None = None,
    rank: int | None = None,
    max_memory: str | None = None,
    no_given: bool = False,
    laws: PathText | None = None,
    no_laws: bool = False,
    beyond: Beyond = "refuse",
    law_limit: int = MOST_SETS_ALIVE,
    **reading: Unpack[EventOptions],
) -> Shown:
    """Explain one match: when its events can have happened, its rivals, how its confidence comes about.

    Parameters
    ----------
    query, events
        As `cepctl.match` takes them.
    match
        The ids of its events, as the column `match` has them.
    rank
        Instead, its place among the rows, 1 for the most probable; that where neither is named.
    max_memory, no_given, laws, no_laws, beyond, law_limit, reading
        As `cepctl.match` has them.

    Raises
    ------
    CepctlError
        What the user can mend; NoMatchError where these events are no match, with the reason.

    Examples
    --------
    >>> import pyarrow as pa
    >>> events = pa.table({"event_type": ["A", "B"], "lower": [1, 3], "upper": [4, 6]})
    >>> show("PATTERN SEQ(A a, B b)", events).ids
    'table#1 table#2'
    """
    from cepctl.engines.diagnosis.one_match import ids_of, one_match
    from cepctl.render.one_match import reason_text

    if match is not None and rank is not None:
        raise UsageError("match and rank each name a match; name one of them")
    if match is None:
        under_laws = {"laws": laws, "no_laws": no_laws, "beyond": beyond, "law_limit": law_limit}
        match = _ranked(query, events, rank or 1, {**reading, **under_laws, "no_given": no_given})
    ids, under = match, law_choice(laws, beyond, law_limit, no_laws=no_laws)
    with _opened(query, events, reading, max_memory, no_given=no_given, under=under) as (plan, inputs):
        found = one_match(plan, inputs.read(plan.attributes), ids_of(ids))
    if found.reasons:
        reasons = "; ".join(reason_text(found, each) for each in found.reasons)
        raise NoMatchError(f"'{ids}' is not a match of the query: {reasons}")
    return Shown(ids, found)


@errors_in_keywords
def why_not(
    query: str | Path, events: Events, *, max_memory: str | None = None, **reading: Unpack[EventOptions]
) -> Reasons:
    """Tell why a query matches so little: how far partial matches got, what stopped them, what came nearest.

    Parameters
    ----------
    query, events, max_memory, reading
        As `cepctl.match` takes them.

    Raises
    ------
    CepctlError
        What the user can mend.

    Examples
    --------
    >>> import pyarrow as pa
    >>> events = pa.table({"event_type": ["A", "B"], "lower": [1, 3], "upper": [4, 6], "x": [1, 2]})
    >>> "No event fits a: a.x > 1 leaves out 1 of 1" in str(why_not("PATTERN A a WHERE a.x > 1", events))
    True
    """
    from cepctl.engines.diagnosis import why_not as diagnosis
    from cepctl.matching.run import types_read

    with _opened(query, events, reading, max_memory) as (plan, inputs):
        if plan.never is not None:
            return Reasons(plan.never, None)
        try:
            return Reasons(None, diagnosis.why_not(plan, inputs.read(plan.attributes, types_read(plan))))
        except (QueryTooLargeError, UnsupportedQueryError) as problem:
            raise type(problem)(f"why_not cannot tell: {problem}") from None


@errors_in_keywords
def report(
    query: str | Path,
    events: Events,
    output: PathText | None = None,
    *,
    listed: int = 10_000,
    **matching: Any,
) -> str:
    """Draw the matches of a query as one HTML page, which needs no network.

    Parameters
    ----------
    query, events
        As `cepctl.match` takes them.
    output
        The file that the page is written to, whole or not at all; None for none.
    listed
        How many matches the page lists, the most probable; its charts count all.
    matching
        All that `cepctl.match` takes besides: which matches are kept, under which laws, who runs it, and how
        logs are read.

    Returns
    -------
    str
        The page.
    """
    from cepctl.atomic.files import write_whole_file
    from cepctl.library.pages import report_page

    with matches_of(query, events, **matching) as matches:
        page = report_page(matches.found, listed)
    if output is not None:
        write_whole_file(Path(os.fspath(output)), [page.encode()])
    return page


def _ranked(query: str | Path, events: Events, rank: int, matching: dict[str, Any]) -> str:
    with matches_of(query, events, top_k=rank, **matching) as found:
        rows = found.table()
        if rows.num_rows < rank:
            raise NoMatchError(f"there is no row {rank}: the query has {rows.num_rows} here")
        column = "match" if found.found.plan.group_by is None else "best"
        ids: str = rows.column(column)[rank - 1].as_py()
        return ids


@contextmanager
def _opened(
    query: str | Path,
    events: Events,
    reading: EventOptions,
    max_memory: str | None,
    *,
    no_given: bool = False,
    under: LawChoice | None = None,
) -> Iterator[tuple[Plan, EventInputs]]:
    from cepctl.language.parser import parse
    from cepctl.matching.inputs import open_events

    memory = default_budget() if max_memory is None else budget_of(max_memory)
    asked = parse(query_text(query))
    with ExitStack() as stack:
        paths = paths_of(events, stack)
        refuse_for_datasets(paths, reading)
        inputs = stack.enter_context(open_events(paths, given_ingest_options(raw_input(reading)), memory))
        matching = Matching(memory=memory, no_given=no_given, under=under or LawChoice())
        yield planned(asked, inputs, matching), inputs
