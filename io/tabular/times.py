"""A column of times in text as instants: every distinct text is parsed once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.reader import BELOW_NANOSECONDS, NO_ZONE, TWICE, ReadOptions, ReadReport, zones_said
from cepctl.io.contract.times import LogTime, named_zone, read_time, skipped_by
from cepctl.io.contract.written_times import parse_written
from cepctl.schema import TIME_TYPE

_DAY = 86_400_000_000
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


def _without_cut(texts: Sequence[str | None], found: Sequence[LogTime | None]) -> list[LogTime | None]:
    """The times but those of dates that were cut in their day, as among times of day `2026-06-1` is."""
    clocks = sum(time is not None and time.grain < _DAY for time in found)
    if 2 * clocks <= len(found):
        return list(found)
    return [
        None if text is not None and _CUT_DAY.fullmatch(text) else time
        for text, time in zip(texts, found, strict=True)
    ]


def parse_times(texts: pa.Array, options: ReadOptions, report: ReadReport) -> ParsedTimes:
    """Parse a string column; null where a text is not a time.

    Of the `options` count the zone of times written without one, UTC when None (the report warns), the words
    that name zones, and the form of the times (written_times.py), ISO 8601 when None.
    """
    encoded = texts.dictionary_encode()
    zone, words = zones_said(options)
    distinct, form = encoded.dictionary.to_pylist(), options.time_format
    if form is None:
        found = _without_cut(distinct, [read_time(text, zone, words) for text in distinct])
    else:
        found = [parse_written(text, form, zone, words) for text in distinct]
    problems = {place: time.problem for place, time in enumerate(found) if time and time.problem}
    found = [None if place in problems else time for place, time in enumerate(found)]
    _note(found, encoded.indices, options.time_zone, report)

    def spread(values: Sequence[int | None]) -> pa.Array:
        return pa.array(values, pa.int64()).take(encoded.indices)

    # Few files have any: a look at them takes less than a column of zeros.
    finer = {place: time.nanos for place, time in enumerate(found) if time is not None and time.nanos}
    nanos = np.zeros(len(found), np.int64)
    nanos[list(finer)] = list(finer.values())
    return ParsedTimes(
        spread([time.micros if time else None for time in found]).cast(TIME_TYPE),
        spread([time.zone_seconds if time else None for time in found]),
        spread([time.fold if time else None for time in found]),
        spread([time.grain if time else None for time in found]),
        pa.array(nanos).take(encoded.indices),
        _by_rows(problems, encoded.indices),
    )


def _by_rows(problems: Mapping[int, str], indices: pa.Array) -> dict[int, str]:
    """What is wrong with distinct texts, by the rows that have them."""
    if not problems:
        return {}
    places = pc.fill_null(indices, -1).to_numpy()
    rows = np.flatnonzero(np.isin(places, list(problems)))
    return {int(row): problems[int(places[row])] for row in rows}


def _note(
    found: Sequence[LogTime | None], indices: pa.Array, time_zone: str | None, report: ReadReport
) -> None:
    """Count the times of a column whose zone had to be assumed, and those that it makes doubtful."""
    counts = np.bincount(indices.drop_null().to_numpy(), minlength=len(found)).tolist()
    for time, count in zip(found, counts, strict=True):
        if time is not None and time.cut:
            report.notes[BELOW_NANOSECONDS] += count
        if time is not None and not time.zone_given:
            report.notes[NO_ZONE] += count * (time_zone is None)
            report.notes[TWICE] += count * (time.fold > 0)


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
