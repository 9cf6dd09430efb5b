"""Samples of Ganglia as columns: those that become events, until there are enough for a batch.

Whoever parses a poll says where the next samples were taken, and then hands over these samples.  A sample
stays until the next one arrives, so that several polls may show it: it is one event.  Its time then is
shifted by at most 2 s, because all that it follows from is rounded down; its value is the same.

A regular poll has these elements inside of each other:

GANGLIA_XML    GRID, CLUSTER, HOST
GRID           GRID, CLUSTER, HOST; HOSTS, METRICS, which are summaries
CLUSTER        HOST; HOSTS, METRICS
HOST           METRIC, with a NAME
METRIC         EXTRA_DATA, with EXTRA_ELEMENT
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from cepctl.io.contract.batches import BATCH_EVENTS
from cepctl.io.contract.hosts import node_name
from cepctl.io.contract.reader import RAW_COLUMNS, ReadOptions, ReadReport
from cepctl.io.contract.times import LAST_SECOND

T = TypeVar("T")
DEFAULT_TMAX_SECONDS = 60
_LONGEST = 100
_SECOND = 1_000_000
_BEFORE_ARRIVAL = 1 * _SECOND
_AFTER_ARRIVAL = 2 * _SECOND
_OF_PLACES = ("node", "node_raw", "ip", "cluster", "grid")


SAMPLE_FIELDS = ("NAME", "VAL", "TYPE", "UNITS", "TN", "TMAX")
Sample = tuple[str, str | None, str | None, str | None, str | None, str | None]
"""What a METRIC says in SAMPLE_FIELDS, as it is written; None is what it does not say."""


PLACE_FIELDS = ("NAME", "IP", "REPORTED", "TN")


class Place(NamedTuple):
    """What the elements around samples say: the HOST in PLACE_FIELDS, and the names of the others."""

    host: str | None
    ip: str | None
    reported: str | None
    age: str | None
    cluster: str | None
    grid: str | None

    @property
    def raw(self) -> str | None:
        return self.host or self.ip

    @property
    def polled(self) -> int | None:
        """When the host was polled, in seconds since the epoch."""
        reported, age = _known_seconds(self.reported), _known_seconds(self.age)
        return reported + age if reported and age is not None else None


def by_upper_name(attributes: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Attributes by upper-case name: some exporters write them in lower case."""
    return {name.upper(): value for name, value in attributes}


def _remembering(read: Callable[..., T]) -> Callable[..., T]:
    """The function for texts that come again and again; longer ones are not remembered."""
    remembered = lru_cache(maxsize=4_096)(read)

    def result(text: str | None, *others: Any) -> T:
        return remembered(text, *others) if text is None or len(text) <= _LONGEST else read(text, *others)

    return result


def seconds(text: str | None) -> int | None:
    """A number as whole seconds, rounded toward zero; None where it is none, or reaches beyond all dates.

    Examples
    --------
    >>> seconds("12"), seconds("-0.5"), seconds("1e99"), seconds("")
    (12, 0, None, None)
    """
    try:
        number = float(text or "")
    except ValueError:
        return None
    return int(number) if abs(number) <= LAST_SECOND else None


class _Tmax(NamedTuple):
    """What a TMAX means: the number, and how long before its arrival a sample may hold, in microseconds."""

    seconds: int | None
    before: int


def _tmax(text: str | None) -> _Tmax:
    known = seconds(text) or None
    return _Tmax(known, _BEFORE_ARRIVAL + (known or DEFAULT_TMAX_SECONDS) * _SECOND)


_Arrival = tuple[int, str | None]
"""When a sample arrived, in seconds since 1970, and its value as written."""
_known_seconds = _remembering(seconds)
_known_tmax = _remembering(_tmax)
_known_node = _remembering(node_name)


@dataclass
class SampleColumns:
    """The samples that no earlier poll shows, as columns; numbers them from 1 as they come."""

    options: ReadOptions
    report: ReadReport
    _numbered: int = 0
    _last_arrivals: dict[str | None, dict[str, tuple[_Arrival, ...]]] = field(default_factory=dict)
    # Of every event in the order of their columns; of every place, and how many events it has.
    _events: list[tuple[Any, ...]] = field(default_factory=list)
    _places: list[tuple[str | None, ...]] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        """How many events wait."""
        return len(self._events)

    @property
    def full(self) -> bool:
        return len(self._events) >= BATCH_EVENTS

    def add(self, place: Place, samples: Iterable[tuple[Sample, str | None]]) -> None:
        """Take the next samples of a place, each with the group of its metric."""
        polled, node = place.polled, _known_node(place.raw, self.options.drop_domain)
        last_arrivals = self._last_arrivals.setdefault(node, {})
        events, begun, repeated = self._events, len(self._events), 0
        add = events.append
        for (name, text, kind, unit, age_text, tmax_text), group in samples:
            age = _known_seconds(age_text)
            micros = None
            if polled is not None and age is not None:
                arrival = polled - age
                if 0 < arrival <= LAST_SECOND:
                    near: tuple[_Arrival, ...] = ()
                    if name in last_arrivals:
                        known = last_arrivals[name]
                        near = tuple(one for one in known if abs(arrival - one[0]) <= REPEAT_SECONDS)
                    if near and any(text == value for _, value in near):
                        repeated += 1
                        continue
                    last_arrivals[name] = (*near, (arrival, text))
                    micros = arrival * _SECOND
            tmax, before = _known_tmax(tmax_text)
            number, said = _value(text, kind)
            units = unit.strip() or None if unit else None
            stale = None if tmax is None or age is None else age > tmax
            add((name, micros, before, number, said, units, group, tmax, stale))
        new = len(events) - begun
        self.report.records += new + repeated
        if repeated:
            self.report.skipped[REPEATED] += repeated
        if new:
            self._places.append((node, place.raw, place.ip, place.cluster, place.grid))
            self._sizes.append(new)

    def take(self) -> pa.RecordBatch:
        """All waiting events as one batch; afterwards none waits."""
        count = len(self._events)
        names, micros, befores, values, texts, units, groups, tmaxs, stales = zip(*self._events, strict=True)
        metrics, zeros = pa.array(names, pa.string()), pa.array(np.zeros(count, np.int64))
        columns = {
            "number": pa.array(np.arange(self._numbered + 1, self._numbered + 1 + count)),
            "event_id": pa.nulls(count, RAW_COLUMNS["event_id"]),
            "event_type": metrics,
            "time": pa.array(micros, RAW_COLUMNS["time"]),
            "zone_seconds": zeros.cast(RAW_COLUMNS["zone_seconds"]),
            "before": pa.array(befores, RAW_COLUMNS["before"]),
            "after": pa.array(np.full(count, _AFTER_ARRIVAL)),
            "metric": metrics,
            "value": pa.array(values, pa.float64()),
            "value_text": pa.array(texts, pa.string()),
            "units": pa.array(units, pa.string()),
            **self._of_places(),
            "group": pa.array(groups, pa.string()),
            "tmax": pa.array(tmaxs, pa.int64()),
            "stale": pa.array(stales, pa.bool_()),
        }
        self._numbered += count
        self._events, self._places, self._sizes = [], [], []
        return pa.RecordBatch.from_pydict(columns)

    def _of_places(self) -> dict[str, pa.Array]:
        rows = pa.array(np.repeat(np.arange(len(self._places)), self._sizes))
        columns = zip(*self._places, strict=True)
        return {
            name: pa.array(values, pa.string()).take(rows)
            for name, values in zip(_OF_PLACES, columns, strict=True)
        }


def _value(text: str | None, kind: str | None) -> tuple[float | None, str | None]:
    """A number, or the text where it is none; NaN and infinities are text."""
    if text is None or kind == "string":
        return None, text
    try:
        number = float(text)
    except ValueError:
        return None, text
    return (number, None) if math.isfinite(number) else (None, text)


REPEAT_SECONDS = 2
REPEATED = "repeated sample"
_REPEAT_MICROS = REPEAT_SECONDS * 1_000_000


def drop_repeated_samples(table: pa.Table) -> tuple[pa.Table, int]:
    """Keep one event of every sample that several polls show.

    `table`: events of Ganglia files with the columns `node`, `metric`, `time`, `value` and `value_text`;
    samples that agree in all of these but the time must not be spread over several calls.  A row in which one
    of the first three is null is kept.

    Returns
    -------
    table, dropped
        The rows that stay, in their order, and how many went.  Of samples of one node, metric
        and value whose times are at most 2 s from one that stays, only the earliest stays (of
        equal times the one that stands first).
    """
    numbered = pa.table(
        {
            **{name: _places(table, name) for name in ("node", "metric")},
            "time": table.column("time").combine_chunks().cast(pa.int64()),
            **{name: _places(table, name).fill_null(-1) for name in ("value", "value_text")},
            "row": pa.array(np.arange(table.num_rows)),
        }
    ).drop_null()
    by = ("node", "metric", "value", "value_text", "time", "row")
    order = numbered.sort_by([(name, "ascending") for name in by])
    keep = np.ones(table.num_rows, dtype=bool)
    kept: tuple[tuple[int, ...], int] | None = None
    for *same, time, row in zip(*(order.column(name).to_pylist() for name in by), strict=True):
        repeated = kept is not None and tuple(same) == kept[0] and time - kept[1] <= _REPEAT_MICROS
        if repeated:
            keep[row] = False
        else:
            kept = tuple(same), time
    return table.filter(pa.array(keep)), int(table.num_rows - keep.sum())


def _places(table: pa.Table, name: str) -> pa.Array:
    """The places of the values of a column among those that differ; null for null."""
    return table.column(name).combine_chunks().dictionary_encode().indices


ROOT = "GANGLIA_XML"
_CONTAINERS = frozenset({"GRID", "CLUSTER", "HOST"})
SUMMARIES = frozenset({"HOSTS", "METRICS"})
CHILDREN: dict[str, frozenset[str]] = {
    "": frozenset({ROOT}),
    ROOT: _CONTAINERS,
    "GRID": _CONTAINERS | SUMMARIES,
    "CLUSTER": frozenset({"HOST"}) | SUMMARIES,
    "HOST": frozenset({"METRIC"}),
    "METRIC": frozenset({"EXTRA_DATA"}),
    "EXTRA_DATA": frozenset({"EXTRA_ELEMENT"}),
    "EXTRA_ELEMENT": frozenset(),
    **dict.fromkeys(SUMMARIES, frozenset()),
}
PARENTS = {"METRIC": "HOST", "EXTRA_DATA": "METRIC", "EXTRA_ELEMENT": "EXTRA_DATA"}
# What has more is not regular.
_MOST_ATTRIBUTES = 100
_MOST_CHARACTERS = 4_096

Values = Callable[[Sequence[str | None]], tuple[Any, ...]]


class IrregularError(Exception):
    """The poll is not of the shape that is read here."""


@lru_cache(maxsize=1_024)
def values_of(wanted: tuple[str, ...], names: tuple[str, ...]) -> Values:
    """What takes the wanted values of attributes with these names, of names and values and a None in turn.

    Raises IrregularError for names that mean something else with namespaces, which are not looked at here.
    """
    if len(names) > _MOST_ATTRIBUTES or sum(map(len, names)) > _MOST_CHARACTERS:
        raise IrregularError
    for name in names:
        if ":" in name or name == "xmlns" or not name.isascii():
            raise IrregularError
    places = by_upper_name((name, 2 * place + 1) for place, name in enumerate(names))
    return itemgetter(*(places.get(name, -1) for name in wanted))


def require_inner(_name: str, system: str | None, public: str | None, _inner: int) -> None:
    if system is not None or public is not None:
        raise IrregularError


def require_plain_type(_element: str, _name: str, kind: str, _default: str | None, _required: int) -> None:
    if kind != "CDATA" and not kind.startswith("("):
        raise IrregularError


def irregular(*_: object) -> None:
    raise IrregularError
