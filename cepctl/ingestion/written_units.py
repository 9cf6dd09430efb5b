"""How fine the times of a file are written: the digits that occur, and the unit of times without a fraction.

Both are facts of a whole file, but intervals are assigned chunk by chunk.  So a file is read with what is
known of it up to now (`KnownTimes`), and read again from its beginning in the rare case that a later chunk
says otherwise than those that are already written.

Where times of a column have d digits of a fraction, one without has either lost its zeros, which happens to
one of 10^d, or is written to the second.  Those without are exact where they are no more than ten times as
many as that; else each stands for its whole unit, as does one that would be before the record before it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.ingestion.chunks import RAW_AFTER, RAW_END_AFTER, RAW_END_TIME, RAW_PREFIX, has_column
from cepctl.ingestion.resolution import cut_by, has_nanoseconds, in_resolution, micros_and_nanos
from cepctl.ingestion.spans import unit_of_spans
from cepctl.io.contract.reader import CUT_TIMES, END_GRAIN, END_SPAN, GRAIN, SPAN, ReadReport
from cepctl.numeric.arrays import Flags, Numbers
from cepctl.schema import END_TIME, MICROSECOND, MILLISECOND, NANOSECOND, TimeUnit
from cepctl.uncertainty.model import Rule

_FORM = "{} fractions"
_NANO_DIGITS, _SECOND = 9, 1_000_000
_BEHIND = RAW_PREFIX + "behind"
EXACT, LOST_ZEROS = -1, -2
"""Mark times that are exact: not for their digits, or without a fraction among others that have one."""


@dataclass(frozen=True)
class _TimeColumn:
    """A column of times in a chunk: its name in logs, and the columns beside it."""

    name: str
    times: str
    grain: str
    after: str
    given: str
    span: str


_COLUMNS = (
    _TimeColumn("time", "time", GRAIN, RAW_AFTER, "lower", SPAN),
    _TimeColumn(END_TIME, RAW_END_TIME, END_GRAIN, RAW_END_AFTER, "end_lower", END_SPAN),
)


@dataclass(frozen=True, slots=True)
class Fractions:
    """Of the times of a column: how many have no fraction, how many have one, and how many digits it has."""

    without: int = 0
    having: int = 0
    digits: int = 0

    def __add__(self, other: Fractions) -> Fractions:
        return Fractions(
            self.without + other.without, self.having + other.having, max(self.digits, other.digits)
        )

    @property
    def are_units(self) -> bool:
        """Whether times without a fraction stand for their whole units.

        Examples
        --------
        >>> [each.are_units for each in (Fractions(3, 0), Fractions(1, 4, 6), Fractions(9, 991, 3))]
        [True, True, False]
        """
        if not self.having:
            return self.without > 0
        return bool(self.without * 10**self.digits > 10 * (self.without + self.having))


@dataclass(frozen=True, slots=True)
class KnownTimes:
    """What is known of the times of a file.

    `unit` is the tick, which digits make finer where it `may_be_finer`.  `before` and `seen` are the
    fractions by column, in earlier parts of a log and in this.  Once all of a file is known it is `settled`
    in which columns times without a fraction stand for whole units.
    """

    unit: TimeUnit = MILLISECOND
    may_be_finer: bool = False
    before: Mapping[str, Fractions] = field(default_factory=dict)
    seen: Mapping[str, Fractions] = field(default_factory=dict)
    settled: frozenset[str] | None = None

    def with_forms(self, forms: Mapping[str, str]) -> KnownTimes:
        """With what earlier parts of a log tell of its rest, in the forms of its times."""
        forms_before = {
            column.name: Fractions(*map(int, forms[form].split()))
            for column in _COLUMNS
            if (form := _FORM.format(column.name)) in forms
        }
        return replace(self, before=forms_before)

    @property
    def fractions(self) -> dict[str, Fractions]:
        """Of all times that are known."""
        return _sum(self.before, self.seen)

    @property
    def forms(self) -> dict[str, str]:
        """What is to be told of the rest of a log, as `ReadReport.time_forms` has it."""
        return {
            _FORM.format(name): f"{each.without} {each.having} {each.digits}"
            for name, each in sorted(self.fractions.items())
            if each.having
        }

    @property
    def whole(self) -> frozenset[str]:
        """The columns in which times without a fraction stand for whole units."""
        if self.settled is not None:
            return self.settled
        return frozenset(name for name, each in self.fractions.items() if each.are_units)

    @property
    def is_mixed(self) -> bool:
        """Whether times of starts are written with and without a fraction."""
        found = self.fractions.get("time", Fractions())
        return found.having > 0 and found.without > 0

    def after(self, table: pa.Table) -> KnownTimes:
        """What is known when the events of a chunk are, too."""
        if self.settled is not None:
            return self
        unit = finest([self.unit, _digits_in(table)]) if self.may_be_finer else self.unit
        return replace(self, unit=unit, seen=_sum(self.seen, _fractions_in(table)))

    def joined(self, others: Iterable[KnownTimes]) -> KnownTimes:
        """What is known when parts of the same file, which all began with this, tell this."""
        every = tuple(others)
        unit = finest([self.unit, *(each.unit for each in every)])
        known = replace(self, unit=unit, seen=_sum(self.seen, *(each.seen for each in every)), settled=None)
        return replace(known, settled=known.whole)

    def anew(self) -> KnownTimes:
        """What is known when the file is read from its beginning once more."""
        return replace(self, seen={})

    def agrees_with(self, known: KnownTimes) -> bool:
        """Whether what was read with this is as it would be with all that is `known`."""
        open_columns = {name for name, each in self.seen.items() if each.without}
        return self.unit == known.unit and not open_columns & (self.whole ^ known.whole)


def _sum(*several: Mapping[str, Fractions]) -> dict[str, Fractions]:
    names = dict.fromkeys(name for each in several for name in each)
    nothing = Fractions()
    return {name: sum((each.get(name, nothing) for each in several), nothing) for name in names}


class WrittenOtherwiseError(Exception):
    """A chunk says otherwise of the times of its file than what the `chunks` before it were written with."""

    def __init__(self, known: KnownTimes, chunks: Sequence[str]) -> None:
        super().__init__("times are written otherwise than they were at first")
        self.known = known
        self.chunks = tuple(chunks)


def finest(units: Iterable[TimeUnit]) -> TimeUnit:
    """The shortest of some units, a millisecond of none."""
    return min(units, key=lambda unit: unit.microseconds, default=MILLISECOND)


def unit_of_rules(rules: Iterable[Rule]) -> TimeUnit:
    """A tick that holds the durations of rules, as far as nanoseconds do: the longest up to a millisecond."""
    lengths = [length for rule in rules for length in _durations(rule)]
    units = (unit for unit in (MILLISECOND, MICROSECOND) if _are_whole(lengths, unit))
    return next(units, NANOSECOND)


def _are_whole(lengths: Iterable[Fraction | int], unit: TimeUnit) -> bool:
    return all((Fraction(length) / unit.microseconds).denominator == 1 for length in lengths)


def _durations(rule: Rule) -> list[Fraction]:
    intervals = [each for each in (rule.interval, rule.end, rule.length) if each is not None]
    lengths = [Fraction(length) for each in intervals for length in (each.before, each.after)]
    if rule.shape is not None:
        lengths += rule.shape.lengths
    if rule.clock is not None:
        lengths += rule.clock.offset.lengths
    return lengths


def in_whole_units(
    table: pa.Table,
    known: KnownTimes,
    whole: Collection[str],
    report: ReadReport,
    source: str,
    before: int | None = None,
) -> tuple[pa.Table, Numbers]:
    """A chunk in the resolution of its ticks; times reach to the end of the unit that they are written to.

    `whole`: the columns in which times without a fraction stand for their whole units.  `before`: the time of
    the record before the first one, in halves of a microsecond, None for none.

    Returns
    -------
    table, units
        The events, and the unit for which each start stands, in microseconds, below 0 where its reader
        promised that; 0 or LOST_ZEROS where it is exact, -1 where that does not follow from its digits.
    """
    for column in () if known.may_be_finer else _COLUMNS:
        cut = int(np.count_nonzero(cut_by(table, column.times, known.unit) & _assigned(table, column)))
        if cut:
            report.notes[CUT_TIMES.format(known.unit)] += cut
    # Events that ticks cannot reach are left out.
    table = in_resolution(
        table.append_column(_BEHIND, pa.array(_is_behind(table, before))), known.unit, report, source
    )
    behind = table.column(_BEHIND).to_numpy()
    table = table.drop_columns([_BEHIND])
    units = np.full(len(table), EXACT)
    for column in _COLUMNS:
        if not has_column(table, column.grain):
            continue
        covers = (column.name in whole) | (behind if column.times == "time" else np.zeros(len(table), bool))
        grain = pc.fill_null(table.column(column.grain), -1).to_numpy()
        after = table.column(column.after).to_numpy()
        counts = np.where(grain > 0, grain * known.unit.per_microsecond - 1, 0)
        promised = np.where(covers, (counts > 0) & (after >= counts), after > 0)
        if column.times == "time":
            coarse = np.where(covers, np.where(promised, -grain, grain), LOST_ZEROS)
            units = np.where(grain > 0, coarse, np.where(promised, EXACT, grain))
            units = np.where(_assigned(table, column), units, EXACT)
        reach = np.where(covers, np.maximum(after, counts), np.where(grain > 0, 0, after))
        place = table.column_names.index(column.after)
        table = table.set_column(place, table.schema.field(place), pa.array(reach))
        table = table.drop_columns([column.grain])
    return table, units


@dataclass(frozen=True)
class EndTimes:
    """The times of the first and the last record that have one, in halves of a microsecond.

    `unit`: that to which the first one is written, 0 where it has a fraction.
    """

    first: int
    unit: int
    last: int

    @classmethod
    def of(cls, table: pa.Table) -> EndTimes | None:
        """Those of a chunk; None where no record has a time."""
        known = np.flatnonzero(pc.is_valid(table.column("time")).to_numpy())
        if not len(known):
            return None
        times, units = _halves(table, _COLUMNS[0]), _units_in_halves(table, _COLUMNS[0])
        return cls(int(times[known[0]]), int(units[known[0]]), int(times[known[-1]]))

    def before(self, other: EndTimes | None) -> EndTimes:
        """Those of what has these, and of what follows."""
        return self if other is None else replace(self, last=other.last)

    def is_reached_from(self, last: int) -> bool:
        """Whether the first one has no fraction, and is before a time that its unit reaches."""
        return self.first < last < self.first + self.unit


def _halves(table: pa.Table, column: _TimeColumn) -> Numbers:
    """Times in halves of a microsecond: what has nanoseconds lies between two."""
    micros, nanos = micros_and_nanos(table, column.times)
    return np.asarray(2 * micros + (0 if nanos is None else nanos > 0))


def _units_in_halves(table: pa.Table, column: _TimeColumn) -> Numbers:
    """The units that times without a fraction are written to, 0 for all others."""
    if not has_column(table, column.grain):
        return np.zeros(len(table), np.int64)
    return np.asarray(2 * np.maximum(pc.fill_null(table.column(column.grain), 0).to_numpy(), 0))


def _is_behind(table: pa.Table, before: int | None) -> Flags:
    """Which starts without a fraction are before that of the record before, which their unit reaches."""
    if not len(table) or not has_column(table, _COLUMNS[0].grain):
        return np.zeros(len(table), dtype=bool)
    times, units = _halves(table, _COLUMNS[0]), _units_in_halves(table, _COLUMNS[0])
    known = pc.is_valid(table.column("time")).to_numpy()
    latest = np.maximum.accumulate(np.where(known, np.arange(len(table)), -1))
    at = np.append(-1, latest[:-1])
    earlier = np.where(at < 0, times if before is None else before, times[np.maximum(at, 0)])
    return np.asarray(known & (earlier > times) & (earlier < times + units))


def _fractions_in(table: pa.Table) -> dict[str, Fractions]:
    """Of the columns of a chunk whose readers tell to which unit times are written."""
    found = {}
    for column in _COLUMNS:
        if has_column(table, column.grain):
            grain = pc.fill_null(table.column(column.grain), -1).to_numpy()
            having = np.flatnonzero(grain == 0)
            micros, nanos = micros_and_nanos(table, column.times)
            parts = micros[having] % _SECOND * 1_000 + (0 if nanos is None else nanos[having])
            common = int(np.gcd.reduce(parts)) if len(parts) else 0
            digits = next(
                each for each in range(_NANO_DIGITS + 1) if common % 10 ** (_NANO_DIGITS - each) == 0
            )
            found[column.name] = Fractions(int(np.count_nonzero(grain > 0)), len(having), digits)
    return found


def written_by_file(known: KnownTimes, table: pa.Table, bounds: Numbers) -> list[KnownTimes] | None:
    """What is known of the files whose events lie between these bounds, each after `known`.

    None where it is not the same of all: how long a tick is, whether times without a fraction are units, and
    whether there are such times beside others.
    """
    if known.settled is not None or known.seen:
        return None
    whole = known.after(table)
    found = []
    for start, stop in pairwise(bounds.tolist()):
        own = known.after(table.slice(start, stop - start))
        if own.unit != whole.unit or own.whole != whole.whole or own.is_mixed:
            return None
        found.append(own)
    return found


def ends_by_file(table: pa.Table, bounds: Numbers) -> list[EndTimes]:
    """The times of the first and the last record of each file, all of which have one."""
    times, units = _halves(table, _COLUMNS[0]), _units_in_halves(table, _COLUMNS[0])
    return [
        EndTimes(int(times[start]), int(units[start]), int(times[stop - 1]))
        for start, stop in pairwise(bounds.tolist())
    ]


def _digits_in(table: pa.Table) -> TimeUnit:
    """The finest digit of the times that intervals follow from, a millisecond where none is finer."""
    return finest([unit_of_spans(table), _digits_of_times(table)])


def _digits_of_times(table: pa.Table) -> TimeUnit:
    rows = [(column.times, _assigned(table, column)) for column in _COLUMNS]
    if has_nanoseconds(table) and any(np.any(cut_by(table, name, MICROSECOND)[used]) for name, used in rows):
        return NANOSECOND
    is_finer = any(np.any(cut_by(table, name, MILLISECOND)[used]) for name, used in rows)
    return MICROSECOND if is_finer else MILLISECOND


def _assigned(table: pa.Table, column: _TimeColumn) -> Flags:
    """Events that have a time, and neither an interval nor a span beside it."""
    known = pc.and_(pc.is_valid(table.column(column.times)), pc.is_null(table.column(column.given)))
    if has_column(table, column.span):
        known = pc.and_(known, pc.is_null(table.column(column.span)))
    return np.asarray(known.to_numpy(), dtype=np.bool_)
