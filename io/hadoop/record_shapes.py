"""Records of one kind that have the same fields, in the same types, as columns.

A history has few shapes of records and many records of each, and an event has few of all the attributes
that occur in a batch.  So what follows from the fields alone is worked out once per shape, and values are
gathered field by field.

Counters of any Hadoop history as one JSON text: `{group: {counter: value}}`.

    Hadoop 2 and 3     {"groups": [{"name", "counts": [{"name", "value"}]}]}
    Hadoop 0.20, 1.x   {(group)(its name)[(COUNTER)(its name)(value)][...]}{...}, brackets in names escaped

Text that is written otherwise, as by the oldest versions, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

import numpy as np

from cepctl.io.contract.natural_columns import Value
from cepctl.io.hadoop.facts import HOSTS, EventColumns, HistoryFacts, LastingFact
from cepctl.io.hadoop.records import (
    FIRST_BEYOND_TIME,
    IDS_OF_JOBS,
    TIME_FIELDS,
    Record,
    attribute_name,
    job_of,
    json_text,
    micros,
    scalar,
    task_of,
    text,
)
from cepctl.numeric.arrays import Indexes

COUNTER_FIELDS = frozenset({"counters", "mapCounters", "reduceCounters", "totalCounters"})

_NAME = r"\(([^()\\]*(?:\\.[^()\\]*)*)\)"
_GROUP = re.compile(r"\{" + _NAME + _NAME, re.DOTALL)
_COUNTER = re.compile(r"\[" + _NAME + _NAME + r"\((-?\d{1,18})\)\]", re.DOTALL | re.ASCII)
_ESCAPED = re.compile(r"\\([](){}[\\])")


def compact_counters(value: Any) -> str | None:
    """Counters as `{group: {counter: value}}`; null where there are none.

    Examples
    --------
    >>> compact_counters("{(FS)(File systems)[(READ)(Bytes read)(7)]}")
    '{"FS":{"READ":7}}'
    """
    if isinstance(value, str):
        return _from_text(value) if value else None
    if not isinstance(value, dict):
        return None
    try:
        groups = {
            group["name"]: {count["name"]: count["value"] for count in group.get("counts", ())}
            for group in value.get("groups", ())
        }
    except (KeyError, TypeError, AttributeError):
        return json_text(value)
    return json_text(groups) if groups else None


def _from_text(text: str) -> str:
    groups: dict[str, dict[str, int]] = {}
    position = 0
    while group := _GROUP.match(text, position):
        position = group.end()
        counts = groups.setdefault(_name(group[1]), {})
        while counter := _COUNTER.match(text, position):
            counts[_name(counter[1])] = int(counter[3])
            position = counter.end()
        if text[position : position + 1] != "}":
            return text
        position += 1
    return json_text(groups) if position == len(text) else text


def _name(written: str) -> str:
    return _ESCAPED.sub(r"\1", written) if "\\" in written else written


Times = tuple[tuple[str, str], ...]
"""The fields of times of a kind of records, and what happened then."""
Column = tuple[str, Sequence[Value], Indexes, Indexes]
"""An attribute, values of it, and which events have which of them."""
ROWS_AT_ONCE = 256
"""So many records of a shape may wait: the processor's cache holds them."""
_IDS = ("job_id", "task_id", "attempt_id")
# Their values are told record by record: as text they take less memory, and they may be nested too deeply.
_TOLD_AT_ONCE = (dict, list, bytes)
_FIRST_ROW = np.zeros(1, dtype=np.int64)


@dataclass
class RecordShape:
    """The records of one shape that wait for their batch.

    Attributes
    ----------
    times
        Those of its kind.
    attributes
        The attributes of every event of such a record beside its ids, and their fields.
    last_attributes
        Those of the last event of a record: with counters.
    host_field
        The field that names the host, if one does.
    tells
        The fields that `told` is about.
    rows
        The values of the records, by `fields`.
    fields
        The fields of every record.
    usable
        The times of each record, and what happened then, where `times` are several.
    """

    times: Times
    attributes: Mapping[str, str]
    last_attributes: Mapping[str, str]
    host_field: str | None
    tells: tuple[str, ...]
    fields: tuple[str, ...]
    rows: list[Sequence[Any]] = field(default_factory=list)
    usable: list[list[tuple[int | None, str]]] = field(default_factory=list)
    _first: list[int] = field(default_factory=list)
    _facts: list[HistoryFacts] = field(default_factory=list)
    _texts: dict[str, list[Value]] = field(default_factory=dict)
    _spans: list[tuple[int, int, LastingFact]] = field(default_factory=list)
    _columns: dict[str, tuple[Any, ...]] = field(default_factory=dict)
    _places_told: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        self._places_told = tuple(map(self.fields.index, self.tells))

    @property
    def names(self) -> tuple[str, ...]:
        """All attributes, in their order."""
        return (*_IDS, *HOSTS, *self.last_attributes)

    def texts(self, fields: Mapping[str, Any]) -> dict[str, Value]:
        """What nested values and counters say, as text; raises RecursionError where that is too deep."""
        return {
            name: compact_counters(fields[name]) if name in COUNTER_FIELDS else scalar(name, fields[name])
            for name in self.tells
        }

    def add(
        self, values: Sequence[Any], told: Mapping[str, Value] | None, first: int, facts: HistoryFacts
    ) -> None:
        """Take a record, whose events begin at the place `first` in the batch."""
        if told is not None:
            values = list(values)
            for place in self._places_told:
                values[place] = None
            for name, text_ in told.items():
                self._texts.setdefault(name, []).append(text_)
        self.rows.append(values)
        self._first.append(first)
        self._facts.append(facts)

    def add_span(self, span: LastingFact, place: int) -> None:
        """The interval event that the last record closes stands at a place of its own in the batch."""
        self._spans.append((len(self.rows) - 1, place, span))

    def columns(self, batch: EventColumns) -> Iterator[Column]:
        """Attributes with their values; what all events have goes to the batch.

        Afterwards no record waits.
        """
        self._columns = dict(zip(self.fields, zip(*self.rows, strict=True), strict=True))
        first = np.array(self._first)
        counts = np.fromiter(map(len, self.usable), np.int64) if self.usable else np.ones_like(first)
        events, rows = _spread(first, counts), np.repeat(np.arange(len(first)), counts)
        self._add_times(batch, events)
        spanned, places = (np.array([span[k] for span in self._spans], dtype=np.int64) for k in (0, 1))
        every = np.concatenate([events, places]), np.concatenate([rows, spanned])
        yield from self._of_spans(batch)
        jobs = self._ids("jobid", dict.fromkeys(IDS_OF_JOBS, job_of))
        attempts, tasks = self._texts_of("attemptId"), self._ids("taskid", {"attemptId": task_of})
        for name, values in zip(_IDS, (jobs, tasks, attempts), strict=True):
            yield name, values, *every
        raws = self._hosts()
        batch.add_hosts(every[0], raws, every[1])
        if None in raws:
            self._look_elsewhere(batch, raws, tasks, attempts, counts)
        ends = np.cumsum(counts) - 1
        for name, source in self.last_attributes.items():
            before = self.attributes.get(name)
            if before == source:
                yield name, self._values(source), *every
                continue
            yield name, self._values(source), events[ends], rows[ends]
            if before is not None:
                others = np.delete(every[0], ends), np.delete(every[1], ends)
                yield name, self._values(before), *others
        self.rows, self.usable, self._first, self._facts = [], [], [], []
        self._texts, self._spans, self._columns = {}, [], {}

    def _add_times(self, batch: EventColumns, events: Indexes) -> None:
        if len(self.times) == 1:
            ((source, event_type),) = self.times
            batch.add(events, event_type, *self._micros(source))
        else:
            found = [time for usable in self.usable for time, _ in usable]
            types = [event_type for usable in self.usable for _, event_type in usable]
            batch.add(
                events, types, np.array([time or 0 for time in found]), [time is not None for time in found]
            )

    def _of_spans(self, batch: EventColumns) -> Iterator[Column]:
        """What the beginnings of interval events say that their ends do not."""
        taken = {*_IDS, *HOSTS, *self.attributes}
        for _, place, span in self._spans:
            batch.add(np.array([place]), span.event_type, np.array([span.start]), True)
            for name in filter(lambda name: name not in taken, span.attributes):
                yield name, [span.attributes[name]], np.array([place]), _FIRST_ROW

    def _look_elsewhere(
        self,
        batch: EventColumns,
        raws: Sequence[str | None],
        tasks: Sequence[str | None],
        attempts: Sequence[str | None],
        counts: Indexes,
    ) -> None:
        """Note which attempts know the hosts of the records that do not name theirs."""
        known = [facts.attempts_of(task) for facts, task in zip(self._facts, tasks, strict=True)]
        asked = list(zip(known, attempts, self._texts_of("successfulAttemptId"), strict=True))
        places = [*zip(self._first, counts.tolist(), range(len(raws)), strict=True)]
        places += [(place, 1, row) for row, place, _ in self._spans]
        batch.elsewhere.extend(
            (first, count, *asked[row]) for first, count, row in places if raws[row] is None
        )

    def _ids(self, given: str, derived: Mapping[str, Callable[[Any], str | None]]) -> Sequence[str | None]:
        """The ids in a field, where it is empty as they follow from other fields, the first that has one."""
        ids = self._texts_of(given)
        for source, id_of in derived.items():
            if None not in ids:
                break
            values = self._columns.get(source, repeat(None, len(ids)))
            ids = [id_of(value) if known is None else known for known, value in zip(ids, values, strict=True)]
        return ids

    def _texts_of(self, source: str) -> Sequence[str | None]:
        """The texts in a field that say something."""
        values = self._columns.get(source)
        if values is None:
            return [None] * len(self.rows)
        return values if isinstance(values[0], str) and all(values) else list(map(text, values))

    def _hosts(self) -> Sequence[str | None]:
        if self.host_field is None:
            return [None] * len(self.rows)
        if self.host_field not in self._texts:
            return self._texts_of(self.host_field)
        return list(map(text, self._texts[self.host_field]))

    def _values(self, source: str) -> Sequence[Any]:
        if source in self._texts:
            return self._texts[source]
        values = self._columns[source]
        if source in TIME_FIELDS:
            timed = self._micros(source)[1]
            return [value if known else None for value, known in zip(values, timed, strict=True)]
        return values

    def _micros(self, source: str) -> tuple[Indexes, Sequence[bool]]:
        """The times in a field, and which records have one; see `micros`."""
        values = self._columns.get(source) or [None] * len(self.rows)
        if type(values[0]) is int and min(values) > 0 and max(values) < FIRST_BEYOND_TIME:
            return np.array(values) * 1_000, [True] * len(values)
        found = list(map(micros, values))
        return np.array([time or 0 for time in found]), [time is not None for time in found]


def shape_of(record: Record, times: Times) -> RecordShape:
    """The shape of a record, still without records."""
    named = {attribute_name(name): name for name in record.fields if name not in COUNTER_FIELDS}
    host = named.pop("node_raw", None)
    attributes = {name: source for name, source in named.items() if name not in (*_IDS, *HOSTS)}
    counters = {attribute_name(name): name for name in sorted(COUNTER_FIELDS & record.fields.keys())}
    told = [
        name
        for name, value in record.fields.items()
        if name in COUNTER_FIELDS or isinstance(value, _TOLD_AT_ONCE)
    ]
    return RecordShape(times, attributes, attributes | counters, host, tuple(told), tuple(record.fields))


def _spread(first: Indexes, counts: Indexes) -> Indexes:
    """The places from each `first` on, so many as its count says."""
    before = np.cumsum(counts) - counts
    places: Indexes = np.arange(counts.sum()) + np.repeat(first - before, counts)
    return places
