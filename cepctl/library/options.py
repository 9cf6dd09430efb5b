"""The keyword options of the library: those of the command line, by their names, with the types of Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from cepctl.errors import UsageError
from cepctl.laws.choices import Beyond
from cepctl.library.exclusions import refuse_excluded
from cepctl.library.raw_input import RawInput
from cepctl.uncertainty.short_rules import words_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PathText = str | os.PathLike[str]
"""A path of this machine or, as text, a URI of any filesystem that Arrow knows."""
Uncertainty = PathText | Sequence[str] | Mapping[str, str]
"""A model file, a rule in one line, several, or the same by what they are about."""
Writer = str | Sequence[str] | Mapping[str, str | Sequence[str]]
"""What events of one writer share; or that as `by`, and as `along` what tells their order."""
SketchUse = Literal["auto", "off"]
SKETCH_USES: tuple[SketchUse, ...] = ("auto", "off")
EpochUnit = Literal["s", "ms", "us", "ns"]
_EPOCH_UNITS = ("s", "ms", "us", "ns")


class ReadingOptions(TypedDict, total=False):
    """How raw logs, plain event files and tables are read; a dataset needs none of it.

    uncertainty
        How far times can be off: the file of a model (TOML); a rule such as `±500 ms`, `-16 s..+2 s` or
        `1 day`; or such by what they are about, `{"fw.csv": "±90 s", "node=n7": "±2 s", "*": "±1 s"}`.
    tz
        IANA zone of times that are written without one.
    zone
        IANA zones by the words behind times that name them, such as `{"CST": "America/Chicago"}`.
    name
        New names of event types, by the old ones.
    drop_domain
        Whether host names are shortened to their first label.
    patterns
        File of patterns (TOML) that make events of log lines, tried before the built-in ones.
    keep_unmatched
        Whether log lines that no pattern fits become LogLine events.
    templates
        File of templates of messages (TOML), tried before new ones are mined.
    intervals
        Whether what lasts (tasks, attempts, jobs, activities) gives interval events, too.
    epoch
        Instant that logs with relative times count from, 1970 by default.
    map
        Columns of plain files and tables by what they are, such as `{"event_type": "activity"}`.
    columns_of
        Names of the columns of tables without a header: in the first line of a file, or a list.
    follow_links
        Whether what links in a directory show outside of it is read, too.
    epoch_unit
        Unit of the numbers in columns of times, counted from 1970.  [default: by their size]
    time_format
        How times are written, where not as ISO 8601, such as `%d.%m.%Y %H:%M`.
    per_object
        Type of object of which an event of an object-centric log becomes one event for each.
    time_unit
        Length of a tick, such as `1 us`; without it derived from the digits of the times, 1 ms at most.
    exact_times
        Whether times are exact that have no fraction of a second; else each stands for its whole second,
        minute or day where no time of its file has one.
    writer
        What events of one file share that one process wrote, such as `"node"`, or `"source"` for no more
        than the file: the order of its records is then that in which they happened, and ticks are so fine
        that all have room.  `{"by": "node", "along": "seq"}` names another column that tells the order,
        and `"of": "end"` says that what lasts is written as it ends.  Without it lines of logs are in
        order by file and host.
    no_writer
        Leave the order out in which events were written, also where a dataset knows it.
    """

    uncertainty: Uncertainty | None
    tz: str | None
    zone: Mapping[str, str]
    name: Mapping[str, str]
    drop_domain: bool
    patterns: PathText | None
    keep_unmatched: bool
    templates: PathText | None
    intervals: bool
    epoch: str | datetime | None
    map: Mapping[str, str]
    columns_of: PathText | Sequence[str] | None
    follow_links: bool
    epoch_unit: EpochUnit | None
    time_format: str | None
    per_object: str | None
    time_unit: str | None
    exact_times: bool
    writer: Writer
    no_writer: bool


class EventOptions(ReadingOptions, total=False):
    """How events are read where a query is asked; `input_format` is one of `cepctl formats`."""

    input_format: str | None


class RunnerKeywords(TypedDict, total=False):
    """Who does the work.

    runner
        `auto`: Spark where a session runs, this process otherwise; `spark` starts a session where none runs,
        and stops it; `local` needs no Java.  All give the same rows.
    spark
        A session that runs, which is used and left as it is.
    master, conf
        Where a session is started, and with which settings.
    """

    runner: str
    spark: SparkSession | None
    master: str | None
    conf: Mapping[str, str] | None


class RowKeywords(TypedDict, total=False):
    """Which matches are kept, and by what they are weighed.

    min_confidence
        Keep matches with at least this confidence; the larger of it and CONFIDENCE applies.
    top_k
        Keep this many matches, the most probable.
    max_matches
        Fail where there are more matches than this, 10,000,000 by default.
    approximate
        Estimate confidences that are too costly to compute exactly, to within so much (0.0001 to 0.5).
    since, until
        Keep matches that start at that time or later, at that time or earlier: ISO 8601, `-24h`, `today`,
        `yesterday`, or a datetime; UTC where it names no zone.
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
    """

    min_confidence: float | None
    top_k: int | None
    max_matches: int
    approximate: float | None
    since: str | datetime | None
    until: str | datetime | None
    exists: bool
    closed: bool
    no_given: bool
    laws: PathText | None
    no_laws: bool
    beyond: Beyond
    law_limit: int


class MatchKeywords(EventOptions, RunnerKeywords, RowKeywords, total=False):
    """What `cepctl.match` takes beside what it names itself.

    lawless
        Add a column `lawless`, the confidence without the law.
    sketch
        `auto`: where every dataset has a sketch beside it, only row groups that can hold a match are read,
        which changes no row; `off`: all are.
    """

    lawless: bool
    sketch: SketchUse


class IngestKeywords(ReadingOptions, RunnerKeywords, total=False):
    """What `cepctl.ingest` takes beside what it names itself.

    strict
        Fail when a file in a directory cannot be read, which is named and left out otherwise, or when an XES
        log marks uncertainty that has no model here, which is counted otherwise.
    report, rejects
        Files for an account of every file (JSON) and for the bad records (JSON lines).
    max_errors
        Fail when there are more bad records; the larger of 10 and 0.1 % by default.
    sketch, sketch_on, sketch_share
        Whether the dataset is sketched, too, and what that keeps, as `cepctl.sketch` has it; each of the
        last two asks for it.
    """

    strict: bool
    report: PathText | None
    rejects: PathText | None
    max_errors: int | None
    sketch: bool
    sketch_on: str | Sequence[str]
    sketch_share: float | None


class TruthKeywords(EventOptions, total=False):
    """What `cepctl.calibrate` and `cepctl.learn` take beside what they name themselves.

    coarsen, jitter, model
        How times are hidden, one of them: `"1 day"` tells the unit alone, `"60 s"` adds an error of up to so
        much either way, and an uncertainty model (TOML) adds what its rules say.
    step
        The attribute, or attributes, that tell the types of rows apart; `event_type` by default.
    part
        `"I/K"`: only the keys whose place in code-point order is I modulo K.
    seed
        Of the draws, 1 by default; of `learn` also of which keys are taken and of their folds.
    no_given
        Leave out what the datasets say that every world satisfies.
    max_memory
        Take at most so much memory, such as `2GB`; half of what the machine has, where it is None.
    """

    coarsen: str | None
    jitter: str | None
    model: PathText | None
    step: str | Sequence[str]
    part: str | None
    seed: int
    no_given: bool
    max_memory: str | None


_ALL_KEYWORDS = (MatchKeywords, IngestKeywords, TruthKeywords)


def reading_in(keywords: Mapping[str, Any], known: type) -> dict[str, Any]:
    """Those that say how events are read, and those that no `known` ones are, which `raw_input` refuses."""
    own = known.__annotations__.keys() - EventOptions.__annotations__.keys()
    return {name: value for name, value in keywords.items() if name not in own}


@cache
def keywords() -> frozenset[str]:
    """What the calls of the library take, by their names; they are imported for it."""
    from inspect import signature

    import cepctl

    calls = (getattr(cepctl, name) for name in cepctl.__all__ if name.islower())
    taken = (signature(each).parameters.values() for each in calls if hasattr(each, "__wrapped__"))
    own = {each.name for parameters in taken for each in parameters if each.kind is each.KEYWORD_ONLY}
    return frozenset(own.union(*(each.__annotations__ for each in _ALL_KEYWORDS)))


_CLAUSES = {
    **{name: name.upper() for name in ("pattern", "where", "strategy", "within", "confidence", "given")},
    **{"returns": "RETURN", "group_by": "GROUP BY"},
}


def _option_meant(name: str) -> str:
    """The tail of a message about an option that is none: where that is said, or the nearest one."""
    if name in _CLAUSES:
        return f"; the query says it: {_CLAUSES[name]} ..."
    near = get_close_matches(name, {*EventOptions.__annotations__, *keywords()}, 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def raw_input(options: Mapping[str, Any], input_format: str | None = None) -> RawInput:
    """The choices in keyword options.

    Raises
    ------
    TypeError
        If there is no such option.
    UsageError
        If an option cannot have its value.
    """
    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in EventOptions.__annotations__:
            raise TypeError(f"there is no option '{name}'{_option_meant(name)}")
    refuse_excluded(given)
    require_choice("epoch_unit", given.get("epoch_unit"), (None, *_EPOCH_UNITS))
    return RawInput(
        input_format=given.get("input_format", input_format),
        uncertainty=words_of(given.get("uncertainty")),
        tz=given.get("tz"),
        zones=tuple(given.get("zone", {}).items()),
        renames=tuple(given.get("name", {}).items()),
        drop_domain=given.get("drop_domain", False),
        patterns=_path(given.get("patterns")),
        keep_unmatched=given.get("keep_unmatched", False),
        templates=_path(given.get("templates")),
        intervals=given.get("intervals", False),
        epoch=_instant(given.get("epoch")),
        columns=tuple(_mapped(field, column) for field, column in given.get("map", {}).items()),
        columns_of=_columns_of(given.get("columns_of")),
        follow_links=given.get("follow_links", False),
        epoch_unit=given.get("epoch_unit"),
        time_format=given.get("time_format"),
        per_object=given.get("per_object"),
        time_unit=given.get("time_unit"),
        exact_times=given.get("exact_times", False),
        **_writer(given.get("writer")),
        no_writer=given.get("no_writer", False),
    )


def require_choice(option: str, value: object, choices: Sequence[object]) -> None:
    """Raise UsageError unless the value is one of the choices."""
    if value not in choices:
        named = ", ".join(repr(each) for each in choices if each is not None)
        raise UsageError(f"{option} cannot be {value!r}; choose one of {named}")


def _columns_of(named: PathText | Sequence[str] | None) -> str | None:
    if named is None or isinstance(named, str | os.PathLike):
        return _path(named)
    return ",".join('"{}"'.format(name.replace('"', '""')) for name in named)


def _path(path: PathText | None) -> str | None:
    return None if path is None else os.fspath(path)


def _instant(instant: str | datetime | None) -> str | None:
    return instant.isoformat() if isinstance(instant, datetime) else instant


def _mapped(field: str, column: str) -> str:
    """One pair as the command line writes it, where quotes protect a comma."""
    text = f"{field}={column}".replace('"', '""')
    return f'"{text}"'


def _writer(asked: Writer | None) -> dict[str, Any]:
    """The choices of `RawInput` that say who wrote events; raises UncertaintyModelError where they cannot."""
    from cepctl.schema import RECORD
    from cepctl.uncertainty.writer_rules import read_writer

    if not asked:
        return {}
    rule = read_writer(asked if isinstance(asked, Mapping) else _names(asked))
    along = None if rule.along == RECORD else rule.along
    return {"writer": rule.by, "writer_along": along, "writer_of_ends": rule.of_ends}


def _names(asked: str | Sequence[str]) -> tuple[str, ...]:
    """Names in a sequence, or in one text with commas as on the command line."""
    return tuple(filter(None, asked.split(","))) if isinstance(asked, str) else tuple(asked)
