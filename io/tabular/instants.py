"""Columns of times of a plain event file as instants: numbers, written times, Arrow's timestamps.

    value                 in `lower`, `upper` and their like    in `time`, `end_time`
    number                a tick                                ticks or a time since 1970 (epoch_times.py)
    number, in a record   a tick                                a tick
      that gives ticks
    text                  ISO 8601, or of the form that the user names (io/contract/written_times.py)
    timestamp             itself

What most numbers in the first block of a column are, and its written times, all of its file must be: one that
is damaged is no time, wherever it stands.  So is a lone number among many written times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.errors import LogFormatError
from cepctl.event_table import TIME_TYPE
from cepctl.io.contract.reader import BELOW_NANOSECONDS, CUT_TIMES, ReadOptions, ReadReport
from cepctl.io.contract.written_times import forms_of_all, is_like_a_date, is_like_iso, possible_forms
from cepctl.io.tabular.epoch_times import (
    TICKS,
    UNITS,
    EpochNumbers,
    Since1970,
    counts,
    digits_of_a_date,
    fitting,
    since_1970,
    unit_of,
)
from cepctl.io.tabular.plain_values import blanks, filled, flags, simple, without
from cepctl.io.tabular.times import localised, parse_times
from cepctl.numeric.arrays import Flags, Numbers
from cepctl.schema import EARLIEST_TICK, LATEST_TICK, TimeUnit

_AS_EPOCH = "numbers in the column {column} read as {unit} since 1970: {{:,}}; --epoch-unit names another"
_AS_TICKS = "small numbers in the column {column} read as ticks of {unit}: {{:,}}; --epoch-unit names a unit"
_WIDE = (
    "numbers in the column {column} that have fewer digits than their times, each as wide as the spacing of "
    "floats there, or as its last digit: {{:,}}"
)
_OTHER_FORM = "a time that is not written as '{}', which --time-format names"
# From 1982 to 2064.
_DAYS_OF_SHEETS = (30_000, 60_000)
_TEXTS_LOOKED_AT, _TEXTS_COMPARED = 100, 10_000
_FEWEST_WRITTEN = 20
SECOND, DAY, NO_UNIT = 1_000_000, 86_400_000_000, -1


@dataclass(frozen=True)
class ReadContext:
    """How a block is read, and where warnings go; `place` says where a row of it stands."""

    options: ReadOptions
    report: ReadReport
    place: Callable[[int], str]

    @property
    def unit(self) -> TimeUnit:
        """How long a tick is."""
        return self.options.time_unit

    def column(self, field: str) -> str:
        """What the file calls the column of a field."""
        return dict(self.options.columns).get(field, field)


@dataclass
class WrittenInstants:
    """Times in epoch microseconds and `nanos` beyond; `known`: rows that have one; zones as offsets from UTC.

    `beyond`: rows whose number 64 bits of microseconds do not hold; `misfits`: rows with a number of another
    size than the first of the column.  They have no time.  `grain`: microseconds of the unit that each is
    written to, 0 where it has a fraction of a second, NO_UNIT where there is none, as of ticks.  `fold`: to
    the later of two instants.  `problems`: why rows have no time although one is written there.  `width`:
    nanoseconds around a time, any of which may be it; 0 for none, None where all are exact.
    """

    microseconds: Numbers
    zone_seconds: Numbers
    fold: Numbers
    known: Flags
    beyond: Flags
    misfits: Flags
    grain: Numbers
    nanos: Numbers
    problems: Mapping[int, str] = dataclass_field(default_factory=dict)
    width: Numbers | None = None

    def ticks(self, unit: TimeUnit) -> Numbers:
        """The ticks that hold the times; beyond the ends of time they are just there."""
        if unit.resolution == "us":
            return np.asarray(self.microseconds // unit.counts)
        limit = LATEST_TICK // 1_000 + 1
        inside = np.abs(self.microseconds) <= limit
        instants = np.where(inside, self.microseconds, 0) * 1_000 + self.nanos
        beyond = np.where(self.microseconds > 0, LATEST_TICK + 1, EARLIEST_TICK - 1)
        return np.where(inside, instants // unit.counts, beyond)

    def finer_than(self, unit: TimeUnit) -> Flags:
        """The times that have digits finer than a tick."""
        if unit.resolution == "us":
            return np.asarray(self.known & ((self.microseconds % unit.counts != 0) | (self.nanos != 0)))
        rest = self.microseconds % unit.nanoseconds * 1_000 + self.nanos
        return np.asarray(self.known & (rest % unit.nanoseconds != 0))


def ticks(column: pa.Array | None, name: str, count: int, read: ReadContext) -> tuple[Numbers, Flags]:
    """Ticks of a column such as `lower`, and which rows have one; they saturate at 64 bits."""
    if column is None or pa.types.is_null(column.type):
        return np.zeros(count, np.int64), np.zeros(count, np.bool_)
    column = simple(column)
    numbers = counts(column)
    whole = numbers.known & (numbers.nanos == 0)
    if pa.types.is_timestamp(column.type):
        found = _from_timestamps(column, read)
    elif pa.types.is_string(column.type) and np.count_nonzero(numbers.known) < count - column.null_count:
        found = _written(without(column, numbers.known), name, read, int(np.count_nonzero(numbers.known)))
    else:
        found = _no_instants(count)
    cut = np.count_nonzero(found.finer_than(read.unit))
    read.report.notes[CUT_TIMES.format(read.unit)] += int(cut)
    return np.where(whole, numbers.sign * numbers.whole, found.ticks(read.unit)), whole | found.known


def instants(column: pa.Array | None, name: str, as_ticks: Flags, read: ReadContext) -> WrittenInstants:
    """Instants of a column such as `time`; the numbers of rows that are `as_ticks` are ticks.

    Raises
    ------
    LogFormatError
        If the first number, or the first written time, may mean several things or nothing.
    """
    if column is None or pa.types.is_null(column.type):
        return _no_instants(len(as_ticks))
    is_days = pa.types.is_date(column.type)
    column = simple(column)
    if pa.types.is_timestamp(column.type):
        found = _from_timestamps(column, read)
        return replace(found, grain=np.full(len(column), DAY)) if is_days else found
    is_text = pa.types.is_string(column.type)
    if read.options.time_format is not None and (is_text or pa.types.is_integer(column.type)):
        return _written(column.cast(pa.string()), name, read)
    numbers = counts(column)
    if not is_text:
        return _from_numbers(numbers, name, as_ticks, read)
    texts = _written(without(column, numbers.known), name, read, int(np.count_nonzero(numbers.known)))
    lone = numbers.known & ~as_ticks
    if not 0 < _FEWEST_WRITTEN * np.count_nonzero(lone) <= np.count_nonzero(texts.known):
        lone = np.zeros(len(lone), np.bool_)
    found = _from_numbers(replace(numbers, known=numbers.known & ~lone), name, as_ticks, read)
    found = replace(found, misfits=found.misfits | lone)
    return WrittenInstants(
        np.where(numbers.known, found.microseconds, texts.microseconds),
        texts.zone_seconds,
        texts.fold,
        found.known | texts.known,
        found.beyond,
        found.misfits,
        np.where(numbers.known, found.grain, texts.grain),
        np.where(numbers.known, found.nanos, texts.nanos),
        texts.problems,
        found.width,
    )


def _no_instants(count: int) -> WrittenInstants:
    zeros, nowhere = np.zeros(count, np.int64), np.zeros(count, np.bool_)
    return WrittenInstants(zeros, zeros, zeros, nowhere, nowhere, nowhere, np.full(count, NO_UNIT), zeros)


# --- numbers -------------------------------------------------------------------------------


def _from_numbers(numbers: EpochNumbers, name: str, as_ticks: Flags, read: ReadContext) -> WrittenInstants:
    chosen = read.options.epoch_unit
    if chosen is not None:
        times = since_1970(numbers, chosen)
        _note_cut(times, times.known, read)
        grain = _grain_of(numbers, chosen)
        counted = _counted(times.micros, times.nanos, times.known, numbers.known & ~times.known, grain=grain)
        return _as_wide(counted, times.width, times.known, name, read)
    guessed = numbers.known & ~as_ticks
    beyond = guessed & (numbers.whole > LATEST_TICK) & ~fitting(numbers, "ns")
    guessed &= ~beyond
    unit = _unit_of_column(numbers, guessed, name, read)
    fits = guessed & (fitting(numbers, unit) if unit is not None else False)
    counted = (numbers.known & as_ticks & (numbers.nanos == 0)) | (fits if unit == TICKS else False)
    micros, nanos, known, too_far = _of_ticks(numbers.sign * numbers.whole, counted, read.unit)
    grain = np.full(len(known), NO_UNIT)
    if unit is not None and unit != TICKS:
        times = since_1970(numbers, unit)
        micros, nanos = np.where(fits, times.micros, micros), np.where(fits, times.nanos, nanos)
        known, grain = known | fits, np.where(fits, _grain_of(numbers, unit), NO_UNIT)
        _note_cut(times, fits, read)
    counted_times = _counted(micros, nanos, known, beyond | too_far, guessed & ~fits, grain)
    if unit is None or unit == TICKS:
        return counted_times
    return _as_wide(counted_times, times.width, fits, name, read)


def _as_wide(
    found: WrittenInstants, width: Numbers, rows: Flags, name: str, read: ReadContext
) -> WrittenInstants:
    """Times of these rows as wide as their numbers are coarse, which is said."""
    wide = rows & (width > 0)
    if not wide.any():
        return found
    read.report.notes[_WIDE.format(column=_spelt(read.column(name)))] += int(np.count_nonzero(wide))
    grain = np.where(wide, NO_UNIT, found.grain)
    return replace(found, grain=grain, width=np.where(wide, width, 0))


def _note_cut(times: Since1970, rows: Flags, read: ReadContext) -> None:
    """Count the times of which digits are lost."""
    read.report.notes[BELOW_NANOSECONDS] += int(np.count_nonzero(rows & times.cut))


def _grain_of(numbers: EpochNumbers, unit: str) -> Numbers:
    return np.where(numbers.decimals | (unit != "s"), 0, SECOND)


def _counted(
    micros: Numbers,
    nanos: Numbers,
    known: Flags,
    beyond: Flags,
    misfits: Flags | None = None,
    grain: Numbers | None = None,
) -> WrittenInstants:
    none = _no_instants(len(known))
    return WrittenInstants(
        np.where(known, micros, 0), none.zone_seconds, none.fold, known, beyond,
        none.misfits if misfits is None else misfits,
        none.grain if grain is None else grain,
        np.where(known, nanos, 0),
    )  # fmt: skip


def _of_ticks(values: Numbers, known: Flags, unit: TimeUnit) -> tuple[Numbers, Numbers, Flags, Flags]:
    """Microseconds and nanoseconds of ticks, which rows have such, and for which 64 bits are too few."""
    limit = (2**63 - 1) // unit.counts
    inside = known & (values <= limit) & (values >= -limit)
    instants = np.where(inside, values, 0) * unit.counts
    micros, finer = np.divmod(instants, unit.per_microsecond)
    return micros, finer, inside, known & ~inside


def _unit_of_column(numbers: EpochNumbers, guessed: Flags, name: str, read: ReadContext) -> str | None:
    """The unit of a column, found from most of its first numbers in the file; None where it has none yet."""
    places = np.flatnonzero(guessed)
    if not len(places):
        return None
    unit = read.report.time_forms.get(f"{name} numbers")
    if unit is None:
        sizes = [fitting(numbers, each) & guessed for each in (*UNITS, TICKS)]
        most = max(sizes, key=np.count_nonzero)
        row = int(np.argmax(most)) if 2 * np.count_nonzero(most) > len(places) else int(places[0])
        unit = _shown(numbers, row, name, read)
        read.report.time_forms[f"{name} numbers"] = unit
    column = _spelt(read.column(name))
    if unit == TICKS:
        note = _AS_TICKS.format(column=column, unit=read.options.time_unit)
    else:
        note = _AS_EPOCH.format(column=column, unit=UNITS[unit])
    read.report.notes[note] += int(np.count_nonzero(fitting(numbers, unit) & guessed))
    return unit


def _shown(numbers: EpochNumbers, row: int, name: str, read: ReadContext) -> str:
    unit, date = unit_of(numbers, row), digits_of_a_date(numbers, row)
    if unit is not None and date is None:
        return unit
    sign, nanos = "-" if numbers.sign[row] < 0 else "", f"{int(numbers.nanos[row]):09}".rstrip("0")
    number = f"{sign}{int(numbers.whole[row])}" + (f".{nanos}" if nanos else "")
    whole = int(numbers.whole[row])
    if _DAYS_OF_SHEETS[0] < whole < _DAYS_OF_SHEETS[1] and numbers.nanos[row]:
        raise LogFormatError(
            f"{read.place(row)}: the {_what(name, read)} {number} may be the day number of a spreadsheet, "
            f"{_day_of_sheet(whole)}; give its column a format of dates with times there, such as yyyy-mm-dd "
            "hh:mm:ss, and export it again"
        )
    unit_named = "name its unit with --epoch-unit s, ms, us or ns"
    said = f"may be a date; say its form with --time-format '{date}', or {unit_named}"
    raise LogFormatError(
        f"{read.place(row)}: the {_what(name, read)} {number} "
        + (said if date else f"has a size that does not tell its unit; {unit_named}")
    )


def _day_of_sheet(number: int) -> str:
    """The day that a spreadsheet has for a number, counted from the end of 1899."""
    return (date(1899, 12, 30) + timedelta(days=number)).isoformat()


def _what(name: str, read: ReadContext) -> str:
    column = read.column(name)
    return name if column == name else f"{name} (column '{column}')"


def _spelt(column: str) -> str:
    """A name inside of a note, which gets a number where it has braces."""
    return "'" + column.replace("{", "{{").replace("}", "}}") + "'"


# --- written times -------------------------------------------------------------------------


def _written(texts: pa.Array, name: str, read: ReadContext, numbers: int = 0) -> WrittenInstants:
    """Written times of a column, in which so many `numbers` stand beside them."""
    texts = without(texts, blanks(texts))
    parsed = parse_times(texts, read.options, read.report, numbers)
    known = flags(parsed.time.is_valid())
    form, problems = read.options.time_format, parsed.problems
    if form is not None and name == "time":
        unread = np.flatnonzero(flags(texts.is_valid()) & ~known)
        problems = {**dict.fromkeys(unread.tolist(), _OTHER_FORM.format(form)), **problems}
    if form is None:
        like_times = known.copy()
        like_times[list(parsed.problems)] = True
        _require_iso(texts, like_times, name, read, numbers)
    none = _no_instants(len(known))
    return WrittenInstants(
        filled(parsed.time.cast(pa.int64())),
        filled(parsed.zone_seconds),
        filled(parsed.fold),
        known,
        none.beyond,
        none.misfits,
        np.where(known, filled(parsed.grain), NO_UNIT),
        filled(parsed.nanos),
        problems,
    )


def _require_iso(texts: pa.Array, known: Flags, name: str, read: ReadContext, numbers: int) -> None:
    """Raise LogFormatError when written dates of a column are in another form than ISO 8601.

    One among many that are of ISO 8601, or among many `numbers`, is damaged.
    """
    forms = read.report.time_forms
    if f"{name} texts" in forms or f"{name} numbers" in forms or not len(known):
        return
    first = int(np.argmax(known)) if known.any() else len(known)
    unread = np.flatnonzero(flags(texts.is_valid())[:first])
    if _FEWEST_WRITTEN * len(unread) <= np.count_nonzero(known) + numbers:
        unread = unread[:0]
    for row in unread[:_TEXTS_LOOKED_AT]:
        text = texts[int(row)].as_py()
        found = possible_forms(text)
        if found or (is_like_a_date(text) and not is_like_iso(text)):
            others = (texts[int(other)].as_py() for other in unread[:_TEXTS_COMPARED])
            remedy = " or ".join(f"--time-format '{form}'" for form in forms_of_all(found, others))
            remedy = remedy or "--time-format, with codes such as '%d.%m.%Y %H:%M'"
            raise LogFormatError(
                f"{read.place(int(row))}: the {_what(name, read)} '{text}' is not written as ISO 8601; name "
                f"its form: {remedy}"
            )
    if first < len(known):
        forms[f"{name} texts"] = "ISO 8601"


# --- columns -------------------------------------------------------------------------------


def _from_timestamps(column: pa.Array, read: ReadContext) -> WrittenInstants:
    """Arrow timestamps; those without a zone are in the zone of the options, else UTC."""
    none = _no_instants(len(column))
    fold, nanos = none.fold, none.nanos
    problems: Mapping[int, str] = {}
    if column.type.unit == "ns":
        # Downwards, also before 1970.
        instants, nanos = np.divmod(filled(column.cast(pa.int64())), 1_000)
        micros = pa.array(instants, mask=column.is_null().to_numpy(zero_copy_only=False))
        column = micros.cast(pa.timestamp("us", column.type.tz))
    if column.type.tz is None:
        column, later, problems = localised(column, read.options.time_zone, read.report)
        fold = filled(later)
    known = flags(column.is_valid())
    exact = filled(column.cast(TIME_TYPE, safe=False).cast(pa.int64()))
    shown = filled(pc.local_timestamp(column).cast(pa.timestamp("us"), safe=False).cast(pa.int64()))
    zone_seconds = np.where(known, (shown - exact) // SECOND, 0)
    has_fraction = (exact % SECOND != 0) | (nanos != 0)
    grain = np.where(known, np.where(has_fraction, 0, SECOND), NO_UNIT)
    fold = np.where(known, fold, 0)
    return WrittenInstants(
        exact, zone_seconds, fold, known, none.beyond, none.misfits, grain, nanos, problems
    )
