"""A column of times in text as instants: every distinct text is parsed once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepctl.io.contract.reader import BELOW_NANOSECONDS, ReadReport
from cepctl.io.contract.times import LogTime, named_zone, parse_time
from cepctl.io.contract.written_times import parse_written
from cepctl.schema import TIME_TYPE

_DAY = 86_400_000_000
_CUT_DAY = re.compile(r"\s*\d{4}([-/.])\d\d\1\d\s*", re.ASCII)
# Notes for the report, each completed with a number.
NO_ZONE = "times without a zone, read as UTC: {:,}; name their zone with --tz"
IN_GAP = "times in an hour that the clocks skipped, read with the offset before it: {:,}"
TWICE = "times in an hour that happened twice, with intervals that cover both: {:,}"


@dataclass(frozen=True)
class ParsedTimes:
    """Instants, the offsets from UTC they were written with, and how much later each may be.

    `after` is in microseconds: above 0 where a clock that was set back shows a time twice.  `grain` is the
    unit that each is written to, in microseconds, 0 where it has a fraction; `nanos` are those beyond the
    microseconds of the time.
    """

    time: pa.Array
    zone_seconds: pa.Array
    after: pa.Array
    grain: pa.Array
    nanos: pa.Array


def _without_cut(texts: Sequence[str | None], found: Sequence[LogTime | None]) -> list[LogTime | None]:
    """The times but those of dates that were cut in their day, as among times of day `2026-06-1` is."""
    clocks = sum(time is not None and time.grain < _DAY for time in found)
    if 2 * clocks <= len(found):
        return list(found)
    return [
        None if text is not None and _CUT_DAY.fullmatch(text) else time
        for text, time in zip(texts, found, strict=True)
    ]


def parse_times(
    texts: pa.Array, time_zone: str | None, report: ReadReport, form: str | None = None
) -> ParsedTimes:
    """Parse a string column; null where a text is not a time.

    `time_zone` is the IANA zone of times written without one, UTC when None (the report warns).  The times
    are of this `form` (written_times.py), of ISO 8601 when None.
    """
    encoded = texts.dictionary_encode()
    zone = named_zone(time_zone)
    distinct = encoded.dictionary.to_pylist()
    if form is None:
        found = _without_cut(distinct, [parse_time(text, zone) for text in distinct])
    else:
        found = [parse_written(text, form, zone) for text in distinct]
    _note(found, encoded.indices, time_zone, report)

    def spread(values: Sequence[int | None]) -> pa.Array:
        return pa.array(values, pa.int64()).take(encoded.indices)

    # Few files have any: a look at them takes less than a column of zeros.
    finer = {place: time.nanos for place, time in enumerate(found) if time is not None and time.nanos}
    nanos = np.zeros(len(found), np.int64)
    nanos[list(finer)] = list(finer.values())
    return ParsedTimes(
        spread([time.micros if time else None for time in found]).cast(TIME_TYPE),
        spread([time.zone_seconds if time else None for time in found]),
        spread([time.spread if time else None for time in found]),
        spread([time.grain if time else None for time in found]),
        pa.array(nanos).take(encoded.indices),
    )


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
            report.notes[IN_GAP] += count * time.in_gap
            report.notes[TWICE] += count * (time.spread > 0)


def localised(column: pa.Array, time_zone: str | None, report: ReadReport) -> tuple[pa.Array, pa.Array]:
    """Arrow timestamps without a zone as instants of the user's zone, UTC when None.

    Returns
    -------
    instants, after
        Microseconds since the epoch (timestamps in the zone), and how many microseconds later each may be.
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
    # Arrow moves a skipped time to the end of the gap, where the clocks show another time; its own
    # instant is as far from what they show as the instant before the gap.
    skipped = pc.not_equal(shown, written)
    spread = pc.if_else(skipped, 0, pc.subtract(later, micros))
    micros = pc.if_else(skipped, pc.subtract(written, pc.subtract(shown, micros)), micros)
    known = len(naive) - naive.null_count
    report.notes[NO_ZONE] += known * (time_zone is None)
    report.notes[IN_GAP] += int(pc.sum(skipped).as_py() or 0)
    report.notes[TWICE] += int(pc.sum(pc.greater(spread, 0)).as_py() or 0)
    instants = pc.if_else(naive.is_valid(), micros, pa.scalar(None, pa.int64()))
    return instants.cast(pa.timestamp("us", time_zone or "UTC")), spread
