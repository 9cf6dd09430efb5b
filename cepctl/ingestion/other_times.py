"""Attributes that are times, too, such as when a record arrived: how far they lie from the times of events.

    column                                   is one of times if
    text                                     its first values are dates with a time of day
    numbers, also in text                    its name says so, and its first values are of that size
    timestamps of Arrow                      always

What the first values of a column are, all of it is taken for; a value that is none is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.ingestion.chunks import is_attribute, numbers_of
from cepctl.io.contract.reader import ReadOptions, ReadReport
from cepctl.io.tabular.epoch_times import TICKS, counts, fitting, since_1970, unit_of
from cepctl.io.tabular.times import parse_times
from cepctl.numeric.arrays import Flags, Numbers
from cepctl.numeric.lengths import seconds_text
from cepctl.schema import ARRIVAL

_LOOKED_AT = 20
_MOST_COLUMNS = 50
_SHOWN = 4
_DATE = re.compile(r"\s*\d{4}([-/.])\d\d?\1\d\d?(?:[Tt]|\s+)\d\d?:\d\d", re.ASCII)
_NAMED = re.compile(r"(?i)time|date|arriv|received|created|updated|start|end|_at$|_ts$|^ts$|when|epoch")
_SECOND = 1_000_000


@dataclass(frozen=True)
class OtherTimes:
    """The times of one attribute, held against the times of the events that have both.

    Attributes
    ----------
    events
        How many these are.
    earliest, latest
        By how many microseconds such a time is later than that of its event, at least and at most; below 0
        where it is earlier.
    before
        How many are earlier than the time of their event.
    record
        The record in which both lie farthest apart.
    """

    events: int
    earliest: int
    latest: int
    before: int
    record: int

    @property
    def apart(self) -> int:
        """By how many microseconds both differ at most."""
        return max(-self.earliest, self.latest, 0)

    @property
    def distances(self) -> list[str]:
        """How much earlier and how much later it is at most, in words, where it is."""
        ways = ((-self.earliest, "earlier"), (self.latest, "later"))
        return [f"up to {seconds_text(micros / _SECOND)} {way}" for micros, way in ways if micros > 0]

    def joined(self, other: OtherTimes) -> OtherTimes:
        """Of the events of both."""
        return OtherTimes(
            self.events + other.events,
            min(self.earliest, other.earliest),
            max(self.latest, other.latest),
            self.before + other.before,
            self.record if self.apart >= other.apart else other.record,
        )


@dataclass
class OtherTimesSeen:
    """The other times of one file; `by_name` has those of attributes that are times."""

    options: ReadOptions
    by_name: dict[str, OtherTimes] = field(default_factory=dict)
    _are_none: set[str] = field(default_factory=set)

    def add(self, table: pa.Table) -> None:
        """Look at the events of one more batch."""
        known = pc.is_valid(table.column("time"))
        usable = table if pc.all(known).as_py() else table.filter(known)
        if not len(usable):
            return
        times = np.asarray(usable.column("time").cast(pa.timestamp("us", "UTC")).cast(pa.int64()).to_numpy())
        for name, column in self._columns(usable):
            found = _micros(column, name, self.options)
            if found is None:
                self._are_none.add(name)
                continue
            micros, known = found
            if not known.any():
                continue
            later = (micros - times)[known]
            worst = int(np.argmax(np.abs(later)))
            record = int(numbers_of(usable)[known][worst])
            new = OtherTimes(
                len(later), int(later.min()), int(later.max()), int(np.count_nonzero(later < 0)), record
            )
            self.by_name[name] = new.joined(self.by_name[name]) if name in self.by_name else new

    def _columns(self, table: pa.Table) -> Iterator[tuple[str, pa.Array]]:
        for name in filter(is_attribute, table.column_names):
            column = table.column(name)
            if name in self._are_none or column.null_count == len(column):
                continue
            if name not in self.by_name and len(self.by_name) >= _MOST_COLUMNS:
                return
            yield name, column.combine_chunks()


def _micros(column: pa.Array, name: str, options: ReadOptions) -> tuple[Numbers, Flags] | None:
    """Microseconds since 1970, and which rows have some; None for a column that is none of times."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        return _filled(column.cast(pa.timestamp("us", kind.tz), safe=False))
    first = column.drop_null()[:_LOOKED_AT]
    if pa.types.is_string(kind) and all(map(_DATE.match, first.to_pylist())):
        return _filled(_written(column, options))
    if not (pa.types.is_string(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return None
    if _NAMED.search(name.rpartition(".")[2]) is None:
        return None
    looked_at = counts(first)
    unit = unit_of(looked_at, 0) if looked_at.known.all() else None
    if unit in (None, TICKS) or not fitting(looked_at, str(unit)).all():
        return None
    numbers = counts(column)
    known = fitting(numbers, str(unit))
    return since_1970(numbers, str(unit)).micros, known


def _written(texts: pa.Array, options: ReadOptions) -> pa.Array:
    """Written times: all at once where they are as Arrow reads them, else one by one."""
    for kind in (pa.timestamp("us", "UTC"), pa.timestamp("us")):
        if kind.tz is None and options.time_zone is not None:
            break
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    return parse_times(texts, options, ReadReport()).time


def _filled(column: pa.Array) -> tuple[Numbers, Flags]:
    known = column.is_valid().to_numpy(zero_copy_only=False)
    return pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False), known


def notes_on_other_times(found: Mapping[str, OtherTimes]) -> list[str]:
    """A line on fields that are times, the farthest from the times of their events first."""
    apart = sorted((name for name in found if found[name].apart), key=lambda name: -found[name].apart)
    notes = []
    if apart:
        shown = "; ".join(f"{name} ({', '.join(found[name].distances)})" for name in apart[:_SHOWN])
        more = f"; and {len(apart) - _SHOWN:,} more" if len(apart) > _SHOWN else ""
        notes.append(f"fields that are times, too, and stay attributes: {shown}{more}; --map time=FIELD")
    if ARRIVAL in found and found[ARRIVAL].before:
        notes.append(
            f"records that arrive before they can have happened: {found[ARRIVAL].before:,} of "
            f"{found[ARRIVAL].events:,}, as where two clocks disagree"
        )
    return notes
