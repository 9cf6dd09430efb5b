"""`cepctl.match`: run a query and get its probable matches."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cepctl.errors import UsageError
from cepctl.laws.choices import MOST_SETS_ALIVE, Beyond
from cepctl.library.events import paths_of
from cepctl.library.exclusions import asked_of, refuse_excluded, refuse_for_datasets
from cepctl.library.execution import execution_of
from cepctl.library.finding import find_matches
from cepctl.library.keywords import told_in_keywords
from cepctl.library.laws import law_choice
from cepctl.library.matches import TIMES, Matches, Times
from cepctl.library.options import EventOptions, raw_input, require_choice
from cepctl.library.query_text import query_text
from cepctl.library.question import Question
from cepctl.library.selection import Matching, nanoseconds, nanoseconds_now
from cepctl.library.sketch import SKETCH_USES, SketchUse
from cepctl.matching.execution import AUTO
from cepctl.plan.choices import KLEENE_ROWS, Engine, KleeneRows
from cepctl.plan.evaluation_order import OrderName
from cepctl.process.memory import budget_of, default_budget

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cepctl.library.events import Events


@told_in_keywords
def match(
    query: str | Path,
    events: Events,
    *,
    engine: Engine = "event",
    order: OrderName = "auto",
    min_confidence: float | None = None,
    top_k: int | None = None,
    max_matches: int = 10_000_000,
    max_memory: str | None = None,
    approximate: float | None = None,
    since: str | datetime | None = None,
    until: str | datetime | None = None,
    kleene: KleeneRows = "groups",
    exists: bool = False,
    closed: bool = False,
    no_given: bool = False,
    laws: str | Path | None = None,
    no_laws: bool = False,
    beyond: Beyond = "refuse",
    law_limit: int = MOST_SETS_ALIVE,
    lawless: bool = False,
    sketch: SketchUse = "auto",
    time: Times = "iso",
    runner: str = AUTO,
    spark: SparkSession | None = None,
    master: str | None = None,
    conf: Mapping[str, str] | None = None,
    **reading: Unpack[EventOptions],
) -> Matches:
    """Run a query on events.

    Parameters
    ----------
    query
        Its text, or the path of its file.
    events
        Paths (datasets, plain event files, raw logs), a `pyarrow.Table`, a frame of Polars, pandas or Spark,
        or a list of such.  Tables follow the rules of plain Parquet files.
    engine
        `event`; `point` and `worlds` are for small inputs.
    order
        The order in which components are bound; changes no row.
    min_confidence
        Keep matches with at least this confidence; the larger of it and CONFIDENCE applies.
    top_k
        Keep this many matches, the most probable.
    max_matches
        Fail where there are more matches than this.
    max_memory
        Take at most so much memory, such as `2GB`; half of what the machine has, where it is None.
    approximate
        Estimate confidences that are too costly to compute exactly, to within so much (0.0001 to 0.5).
    since, until
        Keep matches that start at that time or later, at that time or earlier: ISO 8601, `-24h`, `today`,
        `yesterday`, or a datetime; UTC where it names no zone.
    kleene
        `groups`: a row for each group of a Type+; `summary`: one row for all groups between the same events.
    exists
        Say only whether there is a match, and the first one, of smallest `start`, then `match`; with
        GROUP BY for each key that has one.
    closed
        Leave out rows that the end of the events leaves open: what must not happen after them may come later.
    no_given
        Leave out what the datasets say that every world satisfies (`[[given]]` in their models).
    laws
        A model file whose laws of order (`[[law]]`) weigh the orders of events, instead of those of the
        datasets.
    no_laws
        Leave out the laws of order of the datasets.
    beyond, law_limit
        A key of which more than `law_limit` sets of events may have happened in some cell of time is too
        much work under a law: `refuse`, or with `lawless` compute it without, which the column `law` says.
    lawless
        Add a column `lawless`, the confidence without the law.
    sketch
        `auto`: where every dataset has a sketch beside it, only row groups that can hold a match are read,
        which changes no row; `off`: all are.
    time
        `iso`: rows say `start` and `end` as timestamps; `ticks`: as numbers.
    runner
        `auto`: Spark where a session runs, this process otherwise; `spark` starts a session where none runs,
        and stops it; `local` needs no Java.  All give the same rows.
    spark
        A session that runs, which is used and left as it is.
    master, conf
        Where a session is started, and with which settings.
    reading
        How raw logs and tables are read: `ReadingOptions` of cepctl/library/options.py, and `input_format`.

    Returns
    -------
    Matches
        The rows, the most probable first; see there.

    Raises
    ------
    CepctlError
        What the user can mend: of the query, the events, the options, the job.

    Examples
    --------
    >>> import pyarrow as pa
    >>> events = pa.table({"event_type": ["A", "B"], "lower": [1, 3], "upper": [4, 6]})
    >>> [(row["match"], row["confidence"]) for row in match("PATTERN SEQ(A a, B b)", events)]
    [('table#1 table#2', 0.8125)]
    """
    from cepctl.language.parser import parse

    text = query_text(query)
    require_choice("kleene", kleene, KLEENE_ROWS)
    require_choice("sketch", sketch, SKETCH_USES)
    require_choice("time", time, TIMES)
    law = law_choice(laws, beyond, law_limit, no_laws=no_laws)
    now = nanoseconds_now()
    matching = Matching(
        engine=engine,
        order=order,
        min_confidence=min_confidence,
        top_k=top_k,
        max_matches=max_matches,
        approximate=approximate,
        since=nanoseconds("since", since, now),
        until=nanoseconds("until", until, now),
        memory=default_budget() if max_memory is None else budget_of(max_memory),
        no_given=no_given,
        exists=exists,
        closed=closed,
        under=law,
    )
    asked = asked_of(matching) | asked_of(law) | {"kleene": kleene, "master": master, "conf": conf}
    refuse_excluded(asked)
    question = Question(
        text=text,
        query=parse(text),
        matching=matching,
        kleene=kleene,
        raw_input=raw_input(reading),
        execution=execution_of(engine, runner, spark, master, conf),
        judged=kleene == "groups" and not exists,
        lawless=lawless,
        sketch=sketch,
    )
    question.execution.require_startable()
    with ExitStack() as opened:
        paths = paths_of(events, opened)
        refuse_for_datasets(paths, reading)
        found = find_matches(question, paths, times=time, opened=opened)
        if lawless and not found.found.plan.laws:
            found.close()
            raise UsageError("lawless compares with a law of order, and these events are under none")
        return found
