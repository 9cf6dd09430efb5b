"""A column of times in text as instants: every text that differs is read once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.event_table import TIME_TYPE
from cepctl.io.contract.local_instants import instants_of_shaped
from cepctl.io.contract.reader import BELOW_NANOSECONDS, NO_ZONE, TWICE, ReadOptions, ReadReport, zones_said
from cepctl.io.contract.shaped_times import shaped_times
from cepctl.io.contract.times import LogTime, named_zone, read_time, skipped_by
from cepctl.io.contract.written_times import parse_written
from cepctl.io.contract.zone_words import ZoneWords
from cepctl.numeric.arrays import Flags, Numbers

_SECOND, _DAY = 1_000_000, 86_400_000_000
_CUT_DAY = re.compile(r"\s*\d{4}([-/.])\d\d\1\d\s*", re.ASCII)


@dataclass(frozen=True)
class ParsedTimes:
    """Instants, the offsets from UTC they were written with, and how much later each may also be.

    `fold` is in microseconds: above 0 where a clock that was set back shows a time twice.  `grain` is the
    unit that each is written to, in microseconds, 0 where it has a fraction; `nanos` are those beyond the
    microseconds of the time.  `problems`: why texts that are written like times are none, by their rows.
    """

    time: pa.Array
    zone_seconds: pa.Array
    fold: pa.Array
    grain: pa.Array
    nanos: pa.Array
    problems: Mapping[int, str]


@dataclass(frozen=True)
class _Distinct:
    """Texts that differ as times, with an entry for each: as LogTime has them, and whether it is one."""

    micros: Numbers
    zone_seconds: Numbers
    fold: Numbers
    grain: Numbers
    nanos: Numbers
    zone_given: Flags
    cut: Flags
    known: Flags
    problems: dict[int, str]

    @classmethod
    def of(cls, texts: pa.Array, options: ReadOptions, numbers: int) -> _Distinct:
        """Those of shapes that most times have at once, the others one by one; `numbers` stand beside."""
        zone, words = zones_said(options)
        form = options.time_format
        times = shaped_times(texts if form is None else pa.nulls(len(texts), pa.string()))
        shown = instants_of_shaped(times, zone)
        found = cls(
            shown.micros, shown.zone_seconds, shown.fold,
            np.where(times.digits > 0, 0, _SECOND), times.nanos, times.zoned,
            np.zeros(len(texts), np.bool_), times.read & (shown.problems == ""), {},
        )  # fmt: skip
        rows = np.flatnonzero(~found.known)
        for row, text in zip(rows.tolist(), texts.take(pa.array(rows)).to_pylist(), strict=True):
            found._add(row, _read(text, form, zone, words))
        if form is None:
            found._leave_out_cut(texts, numbers)
        return found

    def _add(self, row: int, time: LogTime | None) -> None:
        if time is None:
            return
        if time.problem:
            self.problems[row] = time.problem
            return
        self.known[row] = True
        for name in ("micros", "zone_seconds", "fold", "grain", "nanos", "zone_given", "cut"):
            getattr(self, name)[row] = getattr(time, name)

    def _leave_out_cut(self, texts: pa.Array, numbers: int) -> None:
        """Dates that were cut in their day, as among times of day or numbers `2026-06-1` is, are no times."""
        days = np.flatnonzero(self.known & (self.grain >= _DAY))
        clocks = int(self.known.sum()) + len(self.problems) - len(days) + numbers
        if 2 * clocks > len(texts) + numbers:
            for row, text in zip(days.tolist(), texts.take(pa.array(days)).to_pylist(), strict=True):
                self.known[row] = _CUT_DAY.fullmatch(text) is None


def _read(text: str | None, form: str | None, zone: ZoneInfo | None, words: ZoneWords) -> LogTime | None:
    return read_time(text, zone, words) if form is None else parse_written(text, form, zone, words)


def parse_times(texts: pa.Array, options: ReadOptions, report: ReadReport, numbers: int = 0) -> ParsedTimes:
    """Parse a string column; null where a text is not a time.

    Of the `options` count the zone of times written without one, UTC when None (the report warns), the words
    that name zones, and the form of the times (io/contract/written_times.py), ISO 8601 when None.
    `numbers`: how many stand beside the texts.
    """
    encoded = texts.dictionary_encode()
    found = _Distinct.of(encoded.dictionary, options, numbers)
    _note(found, encoded.indices, options.time_zone, report)

    def spread(values: Numbers) -> pa.Array:
        return pa.array(values, pa.int64(), mask=~found.known).take(encoded.indices)

    return ParsedTimes(
        spread(found.micros).cast(TIME_TYPE),
        spread(found.zone_seconds),
        spread(found.fold),
        spread(found.grain),
        pa.array(np.where(found.known, found.nanos, 0)).take(encoded.indices),
        _by_rows(found.problems, encoded.indices),
    )


def _by_rows(problems: Mapping[int, str], indices: pa.Array) -> dict[int, str]:
    """What is wrong with distinct texts, by the rows that have them."""
    if not problems:
        return {}
    places = pc.fill_null(indices, -1).to_numpy()
    rows = np.flatnonzero(np.isin(places, list(problems)))
    return {int(row): problems[int(places[row])] for row in rows}


def _note(found: _Distinct, indices: pa.Array, time_zone: str | None, report: ReadReport) -> None:
    """Count the times of a column whose zone had to be assumed, and those that it makes doubtful."""
    counts = np.bincount(indices.drop_null().to_numpy(), minlength=len(found.known))
    unzoned = found.known & ~found.zone_given
    for note, which in (
        (BELOW_NANOSECONDS, found.known & found.cut),
        (NO_ZONE, unzoned & (time_zone is None)),
        (TWICE, unzoned & (found.fold > 0)),
    ):
        if which.any():
            report.notes[note] += int(counts[which].sum())


def localised(
    column: pa.Array, time_zone: str | None, report: ReadReport
) -> tuple[pa.Array, pa.Array, dict[int, str]]:
    """Arrow timestamps without a zone as instants of the user's zone, UTC when None.

    Returns
    -------
    instants, fold, problems
        Microseconds since the epoch (timestamps in the zone), null for those that the clocks skipped, and how
        many microseconds later each may also be; why rows are null that are written.
    """
    naive = column.cast(pa.timestamp("us"), safe=False)
    named_zone(time_zone)
    earliest, latest = (
        pc.assume_timezone(naive, time_zone or "UTC", ambiguous=choice, nonexistent=choice)
        for choice in ("earliest", "latest")
    )
    written, micros, later, shown = (
        pc.fill_null(times.cast(pa.int64()), 0)
        for times in (naive, earliest, latest, pc.local_timestamp(earliest))
    )
    # Arrow moves a skipped time to the end of the gap, where the clocks show another time.
    skipped = pc.not_equal(shown, written)
    fold = pc.if_else(skipped, 0, pc.subtract(later, micros))
    known = len(naive) - naive.null_count
    report.notes[NO_ZONE] += known * (time_zone is None)
    report.notes[TWICE] += int(pc.sum(pc.greater(fold, 0)).as_py() or 0)
    usable = pc.and_(naive.is_valid(), pc.invert(skipped))
    instants = pc.if_else(usable, micros, pa.scalar(None, pa.int64()))
    rows = np.flatnonzero(skipped.to_numpy(zero_copy_only=False))
    problems = {int(row): skipped_by(time_zone or "UTC") for row in rows}
    return instants.cast(pa.timestamp("us", time_zone or "UTC")), fold, problems
