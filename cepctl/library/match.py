"""`cepctl.match`: run a query and get its probable matches."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from cepctl.errors import UsageError
from cepctl.laws.choices import MOST_SETS_ALIVE
from cepctl.library.events import paths_of
from cepctl.library.exclusions import asked_of, refuse_excluded, refuse_for_datasets
from cepctl.library.execution import execution_of
from cepctl.library.finding import find_matches
from cepctl.library.keywords import errors_in_keywords
from cepctl.library.laws import law_choice
from cepctl.library.matches import TIMES, Matches, Times
from cepctl.library.options import SKETCH_USES, MatchKeywords, raw_input, reading_in, require_choice
from cepctl.library.query_text import query_text
from cepctl.library.question import Question
from cepctl.library.selection import Matching, nanoseconds, nanoseconds_now
from cepctl.matching.execution import AUTO
from cepctl.plan.choices import KLEENE_ROWS, Engine, KleeneRows
from cepctl.plan.evaluation_order import OrderName
from cepctl.process.memory import budget_of, default_budget

if TYPE_CHECKING:
    from cepctl.library.events import Events

_PLAIN = ("min_confidence", "top_k", "max_matches", "approximate", "no_given", "exists", "closed")
"""What `Matching` has as it is told."""


@errors_in_keywords
def match(
    query: str | Path,
    events: Events,
    *,
    engine: Engine = "event",
    order: OrderName = "auto",
    kleene: KleeneRows = "groups",
    time: Times = "iso",
    max_memory: str | None = None,
    **keywords: Unpack[MatchKeywords],
) -> Matches:
    """Run a query on events.

    Parameters
    ----------
    query
        Its text, or the path of its file.
    events
        Paths (datasets, plain event files, raw logs), a `pyarrow.Table`, a frame of Polars, pandas or Spark,
        or a list of such.  Tables follow the rules of plain Parquet files.
    engine, order
        `event`; `point` and `worlds` are for small inputs.  The order in which components are bound changes
        no row.
    kleene
        `groups`: a row for each group of a Type+; `summary`: one row for all groups between the same events.
    time
        `iso`: rows say `start` and `end` as timestamps; `ticks`: as numbers.
    max_memory
        Take at most so much memory, such as `2GB`; half of what the machine has, where it is None.
    keywords
        As `help(cepctl.library.options)` says by groups: which rows are kept (`min_confidence`, `top_k`,
        `max_matches`, `approximate`, `since`, `until`, `exists`, `closed`, `no_given`, `laws`, `no_laws`,
        `beyond`, `law_limit`, `lawless`, `sketch`), who does the work (`runner`, `spark`, `master`, `conf`),
        how logs are read (`input_format`, `uncertainty`, `tz`, `zone`, `map`, `writer`, ...).

    Returns
    -------
    Matches
        The rows, the most probable first; see there.

    Raises
    ------
    CepctlError
        What the user can mend.

    Examples
    --------
    >>> import pyarrow as pa
    >>> events = pa.table({"event_type": ["A", "B"], "lower": [1, 3], "upper": [4, 6]})
    >>> [(row["match"], row["confidence"]) for row in match("PATTERN SEQ(A a, B b)", events)]
    [('table#1 table#2', 0.8125)]
    """
    require_choice("time", time, TIMES)
    matching = _matching(engine, order, max_memory, keywords)
    question = _question(query, matching, kleene, keywords)
    question.execution.require_startable()
    with ExitStack() as opened:
        paths = paths_of(events, opened)
        refuse_for_datasets(paths, reading_in(keywords, MatchKeywords))
        return _with_laws(question, find_matches(question, paths, times=time, opened=opened))


def _with_laws(question: Question, found: Matches) -> Matches:
    """Matches, unless they are to be compared with those without a law, and there is none."""
    if question.lawless and not found.found.plan.laws:
        found.close()
        raise UsageError("lawless compares with a law of order, and these events are under none")
    return found


def _matching(engine: Engine, order: OrderName, max_memory: str | None, keywords: MatchKeywords) -> Matching:
    """Which matches are kept, in the words of a program."""
    now, named = nanoseconds_now(), dict[str, Any](keywords)
    return Matching(
        engine=engine,
        order=order,
        since=nanoseconds("since", keywords.get("since"), now),
        until=nanoseconds("until", keywords.get("until"), now),
        memory=default_budget() if max_memory is None else budget_of(max_memory),
        under=law_choice(
            keywords.get("laws"),
            keywords.get("beyond", "refuse"),
            keywords.get("law_limit", MOST_SETS_ALIVE),
            no_laws=keywords.get("no_laws", False),
        ),
        **{name: named[name] for name in _PLAIN if name in named},
    )


def _question(query: str | Path, matching: Matching, kleene: KleeneRows, keywords: MatchKeywords) -> Question:
    """What is asked; raises UsageError where choices exclude each other."""
    from cepctl.language.parser import parse

    text, sketch = query_text(query), keywords.get("sketch", "auto")
    require_choice("kleene", kleene, KLEENE_ROWS)
    require_choice("sketch", sketch, SKETCH_USES)
    master, conf = keywords.get("master"), keywords.get("conf")
    asked = asked_of(matching) | asked_of(matching.under)
    refuse_excluded(asked | {"kleene": kleene, "master": master, "conf": conf})
    runner, spark = keywords.get("runner", AUTO), keywords.get("spark")
    return Question(
        text=text,
        query=parse(text),
        matching=matching,
        kleene=kleene,
        raw_input=raw_input(reading_in(keywords, MatchKeywords)),
        execution=execution_of(matching.engine, runner, spark, master, conf),
        judged=kleene == "groups" and not matching.exists,
        lawless=keywords.get("lawless", False),
        sketch=sketch,
    )
