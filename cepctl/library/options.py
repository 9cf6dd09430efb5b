"""The keyword options of the library: those of the command line, by their names, with the types of Python."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from difflib import get_close_matches
from functools import cache
from typing import Any, Literal, TypedDict

from cepctl.errors import UsageError
from cepctl.library.exclusions import refuse_excluded
from cepctl.library.raw_input import RawInput
from cepctl.uncertainty.short_rules import words_of

PathText = str | os.PathLike[str]
"""A path of this machine or, as text, a URI of any filesystem that Arrow knows."""
Uncertainty = PathText | Sequence[str] | Mapping[str, str]
"""A model file, a rule in one line, several, or the same by what they are about."""
Writer = str | Sequence[str] | Mapping[str, str | Sequence[str]]
"""What events of one writer share; or that as `by`, and as `along` what tells their order."""
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
        Length of a tick, such as `1 us`; without it told from the digits of the times, 1 ms at most.
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


@cache
def keywords() -> frozenset[str]:
    """What the calls of the library take, by their names; they are imported for it."""
    from inspect import signature

    import cepctl

    calls = (getattr(cepctl, name) for name in cepctl.__all__ if name.islower())
    taken = (signature(each).parameters.values() for each in calls if hasattr(each, "__wrapped__"))
    own = {each.name for parameters in taken for each in parameters if each.kind is each.KEYWORD_ONLY}
    return frozenset({*own, *EventOptions.__annotations__})


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
