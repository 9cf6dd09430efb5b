"""How fine the times of a file are written: the digits that occur, and the unit of times without a fraction.

Both are facts of a whole file, but intervals are assigned chunk by chunk.  So a file is read with what is
known of it up to now (`Written`), and read again from its beginning in the rare case that a later chunk says
otherwise than those that are already written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.arrays import Flags, Numbers
from cepctl.ingestion.chunks import RAW_AFTER, RAW_END_AFTER, RAW_END_TIME, has_column
from cepctl.ingestion.resolution import cut_by, has_nanoseconds, in_resolution
from cepctl.ingestion.spans import unit_of_spans
from cepctl.io.contract.reader import CUT_TIMES, END_GRAIN, END_SPAN, GRAIN, SPAN, ReadReport
from cepctl.schema import END_TIME, MICROSECOND, MILLISECOND, NANOSECOND, TimeUnit
from cepctl.uncertainty.model import Rule

_FORM = "{} fractions"


@dataclass(frozen=True)
class _Column:
    """A column of times in a chunk: its name in logs, and the columns beside it."""

    name: str
    times: str
    grain: str
    after: str
    given: str
    span: str


_COLUMNS = (
    _Column("time", "time", GRAIN, RAW_AFTER, "lower", SPAN),
    _Column(END_TIME, RAW_END_TIME, END_GRAIN, RAW_END_AFTER, "end_lower", END_SPAN),
)


@dataclass(frozen=True)
class Written:
    """What is known of the times of a file.

    `unit` is the tick, which digits make finer where it `may_be_finer`.  Of the columns `with_fractions` some
    time has a fraction of a second, so that those without have lost zeros.
    """

    unit: TimeUnit = MILLISECOND
    may_be_finer: bool = False
    with_fractions: frozenset[str] = frozenset()

    def with_forms(self, forms: Mapping[str, str]) -> Written:
        """With what earlier parts of a log tell of its rest, in the forms of its times."""
        told = frozenset(column.name for column in _COLUMNS if _FORM.format(column.name) in forms)
        return replace(self, with_fractions=self.with_fractions | told)

    @property
    def forms(self) -> dict[str, str]:
        """What is to be told of the rest of a log, as `ReadReport.time_forms` has it."""
        return {_FORM.format(name): "some" for name in sorted(self.with_fractions)}

    def after(self, table: pa.Table) -> Written:
        """What is known when the events of a chunk are, too."""
        fractions = {column.name for column in _COLUMNS if _has_fraction(table, column)}
        unit = finest([self.unit, _digits_in(table)]) if self.may_be_finer else self.unit
        return replace(self, unit=unit, with_fractions=self.with_fractions | fractions)

    def joined(self, others: Iterable[Written]) -> Written:
        """What is known when parts of the same file tell this."""
        known = self
        for other in others:
            fractions = known.with_fractions | other.with_fractions
            known = replace(known, unit=finest([known.unit, other.unit]), with_fractions=fractions)
        return known


class WrittenOtherwiseError(Exception):
    """A chunk says otherwise of the times of its file than what the `chunks` before it were written with."""

    def __init__(self, known: Written, chunks: Sequence[str]) -> None:
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
    table: pa.Table, known: Written, report: ReadReport, source: str
) -> tuple[pa.Table, Numbers]:
    """A chunk in the resolution of its ticks; times reach to the end of the unit that they are written to.

    Returns
    -------
    table, units
        The events, and the unit for which each start stands, in microseconds: 0 where it has a fraction,
        below 0 where it is exact for other reasons.
    """
    for column in () if known.may_be_finer else _COLUMNS:
        cut = int(np.count_nonzero(cut_by(table, column.times, known.unit) & _assigned(table, column)))
        if cut:
            report.notes[CUT_TIMES.format(known.unit)] += cut
    table = in_resolution(table, known.unit, report, source)
    units = np.full(len(table), -1)
    for column in _COLUMNS:
        if not has_column(table, column.grain):
            continue
        grain = pc.fill_null(table.column(column.grain), -1)
        is_coarse = column.name not in known.with_fractions
        if column.times == "time":
            written = np.where(_assigned(table, column), grain.to_numpy(), -1)
            units = written if is_coarse else np.where(written == 0, 0, -1)
        if is_coarse:
            counts = pc.multiply(grain, known.unit.per_microsecond)
            reach = pc.add(table.column(column.after), pc.max_element_wise(pc.subtract(counts, 1), 0))
            place = table.column_names.index(column.after)
            table = table.set_column(place, table.schema.field(place), reach)
        table = table.drop_columns([column.grain])
    return table, units


def _has_fraction(table: pa.Table, column: _Column) -> bool:
    return has_column(table, column.grain) and bool(pc.any(pc.equal(table.column(column.grain), 0)).as_py())


def _digits_in(table: pa.Table) -> TimeUnit:
    """The finest digit of the times that intervals follow from, a millisecond where none is finer."""
    return finest([unit_of_spans(table), _digits_of_times(table)])


def _digits_of_times(table: pa.Table) -> TimeUnit:
    rows = [(column.times, _assigned(table, column)) for column in _COLUMNS]
    if has_nanoseconds(table) and any(np.any(cut_by(table, name, MICROSECOND)[used]) for name, used in rows):
        return NANOSECOND
    is_finer = any(np.any(cut_by(table, name, MILLISECOND)[used]) for name, used in rows)
    return MICROSECOND if is_finer else MILLISECOND


def _assigned(table: pa.Table, column: _Column) -> Flags:
    """Events that have a time, and neither an interval nor a span beside it."""
    known = pc.and_(pc.is_valid(table.column(column.times)), pc.is_null(table.column(column.given)))
    if has_column(table, column.span):
        known = pc.and_(known, pc.is_null(table.column(column.span)))
    return np.asarray(known.to_numpy(), dtype=np.bool_)
